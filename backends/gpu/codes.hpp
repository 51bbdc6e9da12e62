// SPDX-License-Identifier: Apache-2.0
// Error numbers of the GPU runtimes and what each means for the device table.
#pragma once

#include "backends/abi/assay_backend.h"

namespace assay::gpu {

// CUDA and HIP number their errors alike; each traits file proves it with static_asserts over its own enumerators.
namespace code {
inline constexpr int success = 0;
inline constexpr int invalid_value = 1;
inline constexpr int out_of_memory = 2;
inline constexpr int not_initialised = 3;
inline constexpr int deinitialised = 4;
inline constexpr int insufficient_driver = 35;
inline constexpr int devices_unavailable = 46;
inline constexpr int no_device = 100;
inline constexpr int invalid_device = 101;
inline constexpr int no_binary = 209;
inline constexpr int ecc_uncorrectable = 214;
inline constexpr int nvlink_uncorrectable = 220;
inline constexpr int operating_system = 304;
inline constexpr int invalid_handle = 400;
inline constexpr int not_ready = 600;
inline constexpr int illegal_address = 700;
inline constexpr int launch_out_of_resources = 701;
inline constexpr int launch_timeout = 702;
inline constexpr int context_destroyed = 709;
inline constexpr int assertion = 710;
inline constexpr int hardware_stack = 714;
inline constexpr int illegal_instruction = 715;
inline constexpr int misaligned_address = 716;
inline constexpr int invalid_address_space = 717;
inline constexpr int invalid_program_counter = 718;
inline constexpr int launch_failure = 719;
inline constexpr int contained = 226;
inline constexpr int not_permitted = 800;
inline constexpr int not_supported = 801;
inline constexpr int system_not_ready = 802;
inline constexpr int driver_mismatch = 803;
inline constexpr int compatibility_not_supported = 804;
inline constexpr int capture_first = 900;  // 900 to 908: a call that a capture does not allow
inline constexpr int capture_last = 908;
inline constexpr int unknown = 999;
}  // namespace code

// The table's status for a runtime's error number. Numbers without a meaning of their own are ASSAY_INTERNAL.
constexpr assay_status classify(int number) {
  if (number >= code::capture_first && number <= code::capture_last) return ASSAY_INVALID_VALUE;
  switch (number) {
    case code::success:
      return ASSAY_OK;
    case code::not_ready:
      return ASSAY_NOT_READY;
    case code::invalid_value:
    case code::invalid_device:
    case code::invalid_handle:
    case code::launch_out_of_resources:
      return ASSAY_INVALID_VALUE;
    case code::out_of_memory:
      return ASSAY_OUT_OF_MEMORY;
    case code::insufficient_driver:
    case code::devices_unavailable:
    case code::no_device:
    case code::system_not_ready:
    case code::driver_mismatch:
    case code::compatibility_not_supported:
      return ASSAY_NO_DEVICE;
    case code::no_binary:
    case code::not_permitted:
    case code::not_supported:
      return ASSAY_UNSUPPORTED;
    case code::illegal_address:
    case code::launch_timeout:
    case code::assertion:
    case code::hardware_stack:
    case code::illegal_instruction:
    case code::misaligned_address:
    case code::invalid_address_space:
    case code::invalid_program_counter:
    case code::launch_failure:
      return ASSAY_KERNEL_FAULT;
    case code::deinitialised:
    case code::ecc_uncorrectable:
    case code::nvlink_uncorrectable:
    case code::context_destroyed:
    case code::contained:
      return ASSAY_DEVICE_LOST;
    default:
      return ASSAY_INTERNAL;
  }
}

// After one of these the runtime answers every later call of the process with the same error: remembered, not asked
// again.
constexpr bool is_sticky(assay_status status) {
  return status == ASSAY_KERNEL_FAULT || status == ASSAY_DEVICE_LOST;
}

}  // namespace assay::gpu
