// SPDX-License-Identifier: Apache-2.0
// The AMD board behind a device: identity and sensors from sysfs, the kernel driver's topology and AMD's libraries.
#pragma once

#include <memory>
#include <string>

#include "backends/gpu/board.hpp"
#include "backends/gpu/library.hpp"

namespace assay::gpu::hip {

// `load` finds libamd_smi.so or librocm_smi64.so; `root` is where /sys and /proc stand ("/" in earnest). Never fails:
// what cannot be read is unknown with its reason.
std::unique_ptr<Board> open_amd_board(const BoardQuery& query, const LibraryLoader& load, const std::string& root);

// "none", "status 0x..." or empty from the bytes of sysfs' gpu_metrics (versions 1.1 to 1.5; layouts of the Linux
// kernel's kgd_pp_interface.h). Empty for any other version, and where the firmware reports nothing (all ones).
std::string throttle_from_metrics(const std::string& bytes);

// The highest clock of a pp_dpm_* file in kHz, e.g. 1600000 from "0: 400Mhz\n1: 1600Mhz *"; 0 when there is none.
std::int64_t highest_clock_khz(const std::string& table);

}  // namespace assay::gpu::hip
