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

inline constexpr std::array<std::string_view, 5> kPolicyNames{"caching", "direct", "expandable", "native", "remapping"};
// What each is, in a few words, in the order of kPolicyNames.
inline constexpr std::array<std::string_view, 5> kPolicySummaries{
    "PyTorch's native allocator", "one device allocation a block, nothing kept", "PyTorch's expandable segments",
    "the runtime's own stream-ordered pool", "one growing range a stream, idle memory moved"};

// Whether the policy exists and takes these options, without a device; the sentences are those of make_allocator.
[[nodiscard]] Result<void> check_policy(std::string_view policy, std::string_view options);

// `options` in PYTORCH_CUDA_ALLOC_CONF syntax (options.hpp); `direct` and `remapping` take none, `native` its own one
// (native.hpp). `caching` with expandable_segments:True is `expandable`. On AMD hardware pages are at least 32 MiB
// unless least_page_mb says otherwise. The device must outlive the allocator. Errors: usage for an unknown policy (the
// sentence lists the names) or refused options; unsupported where the device lacks what the policy needs; a failure of
// the device when its memory must be read or a mapping tried.
[[nodiscard]] Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy, std::string_view options,
                                                                const assay_backend& table, assay_device* device);

[[nodiscard]] inline Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy,
                                                                       std::string_view options,
                                                                       const device::Device& device) {
  return make_allocator(policy, options, device.table(), device.handle());
}

}  // namespace assay::allocator
