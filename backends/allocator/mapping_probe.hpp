// SPDX-License-Identifier: Apache-2.0
// probe_mapping: whether memory can really be mapped at a reserved address on a device.
#pragma once

#include <cstddef>
#include <string_view>

#include "backends/allocator/device_calls.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

// Reserves two granules, maps one, and undoes it all; the granularity in bytes. unsupported, with the device's own
// reason and the policy's name, when a step is not to be had; a limit or a lost device is passed on as it came.
[[nodiscard]] Result<std::size_t> probe_mapping(const DeviceCalls& device, std::string_view policy);

}  // namespace assay::allocator
