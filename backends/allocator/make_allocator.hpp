// SPDX-License-Identifier: Apache-2.0
// make_allocator: an allocator by the name of its policy.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "backends/abi/assay_backend.h"
#include "backends/allocator/allocator.hpp"
#include "backends/device/device.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

inline constexpr std::array<std::string_view, 2> kPolicyNames{"caching", "direct"};

// `options` in PYTORCH_CUDA_ALLOC_CONF syntax (options.hpp); `direct` takes none. The device must outlive the
// allocator. Errors: usage for an unknown policy (the sentence lists the names) or refused options; a failure of the
// device when the options make it necessary to read its memory.
[[nodiscard]] Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy, std::string_view options,
                                                                const assay_backend& table, assay_device* device);

[[nodiscard]] inline Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy,
                                                                       std::string_view options,
                                                                       const device::Device& device) {
  return make_allocator(policy, options, device.table(), device.handle());
}

}  // namespace assay::allocator
