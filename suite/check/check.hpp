// SPDX-License-Identifier: Apache-2.0
// Runs kernel cases and says whether each kernel may be believed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/device/device.hpp"
#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"
#include "suite/check/case.hpp"

namespace assay::check {

// Runs a case's kernel. `images` hold one image a buffer: kGuardBytes of guard, the array, kGuardBytes of guard. The
// array's address in memory the kernel can reach must be 256-byte aligned. On return the images hold what that memory
// holds afterwards.
using Launch = std::function<Result<void>(const Case& the_case, std::vector<Bytes>& images)>;

inline constexpr std::size_t kGuardBytes = 256;

// One case: the kernel's outputs within tolerance of the reference, every element written, inputs unchanged, and not a
// byte written around any array. An error of the launch is a failed case with its text; unsupported stays unsupported.
assay::Case run_case(const Case& the_case, std::int32_t source_version, const Launch& launch);

// A Launch over the device layer: a fresh allocation a buffer, copies and the kernel on one stream.
Launch device_launch(const device::Module& module, const device::Device& device);

// What check_kernels checks.
struct Scope {
  Depth depth = Depth::quick;
  std::uint64_t seed = 1;
  std::vector<std::string> dtypes;  // storage types; empty: all
};
using Take = std::function<Result<void>(const assay::Case&)>;

// The cases of every kernel of the module, in the order of its table, on `device`, each given to `take` once it is
// known, so that a process that dies in one keeps those before it. The first case that fails to run ends the checks:
// nothing this device computes is believed then, and its message counts the cases that were left. A kernel without a
// check is reported as failed and ends nothing. Errors: the module cannot be asked at all; those of `take`.
Result<void> check_kernels(const device::Module& module, const device::Device& device, const Scope& scope,
                           const Take& take);

// Whether every case is ok.
[[nodiscard]] bool all_correct(const std::vector<assay::Case>& cases);

}  // namespace assay::check
