// SPDX-License-Identifier: Apache-2.0
// FakeMapping: the simulated device's virtual memory management.
#pragma once

#include <string>

#include "tests/support/fake_device.hpp"

namespace assay::testing {

// Sets the calling thread's last_error and returns `status`.
assay_status fake_failure(assay_status status, std::string text);

// Table entries.
struct FakeMapping {
  static assay_status granularity(assay_device* handle, std::size_t* minimum, std::size_t* recommended);
  static assay_status reserve(assay_device* handle, std::size_t bytes, void** out);
  static assay_status unreserve(assay_device* handle, void* pointer, std::size_t bytes);
  static assay_status create(assay_device* handle, std::size_t bytes, std::uint32_t owner, assay_physical** out);
  static assay_status release(assay_device* handle, assay_physical* physical);
  static assay_status map(assay_device* handle, void* pointer, std::size_t bytes, assay_physical* physical);
  static assay_status unmap(assay_device* handle, void* pointer, std::size_t bytes);

 private:
  static void drop_unused(FakeDevice& device, FakeDevice::Physical* physical);
};

}  // namespace assay::testing
