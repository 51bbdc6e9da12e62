// SPDX-License-Identifier: Apache-2.0
// The NVIDIA board behind a device: identity and sensors from NVML and sysfs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/gpu/board.hpp"
#include "backends/gpu/library.hpp"

namespace assay::gpu::cuda {

// What only the runtime knows.
struct RuntimeFacts {
  std::string module_loading;  // "lazy", "eager", empty when the driver cannot tell
  std::optional<bool> mps;
};

// `load` finds libnvidia-ml.so.1; `root` is where /sys stands ("/" in earnest). Never fails: what cannot be read is
// unknown with its reason.
std::unique_ptr<Board> open_nvml_board(const BoardQuery& query, const RuntimeFacts& facts, const LibraryLoader& load,
                                       const std::string& root);

// "none", or the reasons that hold clocks down, comma-separated; idling and a deliberate setting are none.
std::string throttle_text(unsigned long long reasons);

}  // namespace assay::gpu::cuda
