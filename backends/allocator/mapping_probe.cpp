// SPDX-License-Identifier: Apache-2.0
// The probe of virtual memory management.
#include "backends/allocator/mapping_probe.hpp"

#include <string>

namespace assay::allocator {
namespace {

Error lacking(std::string_view policy, const Error& reason) {
  if (reason.code != ErrorCode::unsupported && reason.code != ErrorCode::usage && reason.code != ErrorCode::internal)
    return reason;
  return {ErrorCode::unsupported, "Allocator policy " + std::string(policy) +
                                      " needs memory that can be mapped at a chosen address, which this device does "
                                      "not offer (" +
                                      reason.text + "); choose caching."};
}

}  // namespace

Result<std::size_t> probe_mapping(const DeviceCalls& device, std::string_view policy) {
  auto granularity = device.granularity();
  if (!granularity) return lacking(policy, granularity.error());
  if (*granularity == 0) return lacking(policy, {ErrorCode::unsupported, "the device states a granularity of 0 bytes"});
  const std::size_t range = 2 * *granularity;
  auto address = device.reserve(range);
  if (!address) return lacking(policy, address.error());
  auto mapped = device.map(*address, *granularity);
  Result<void> unmapped;
  if (mapped && *mapped) unmapped = device.unmap(*address, *granularity);
  auto unreserved = device.unreserve(*address, range);
  if (!mapped) return lacking(policy, mapped.error());
  if (!*mapped)
    return Error{ErrorCode::out_of_memory,
                 "Out of memory: the device has not the " + std::to_string(*granularity) +
                     " bytes needed to try whether memory can be mapped; free other memory of the device."};
  if (!unmapped) return lacking(policy, unmapped.error());
  if (!unreserved) return lacking(policy, unreserved.error());
  return *granularity;
}

}  // namespace assay::allocator
