// SPDX-License-Identifier: Apache-2.0
// Training: what its states and saved activations take, as named lines; nothing of it is executed by assay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/estimate/architecture.hpp"
#include "suite/estimate/estimate.hpp"

namespace assay::estimate {

struct TrainingRequest {
  std::string optimizer = "adam";         // "adam", "adamw8bit", "sgd"
  std::optional<std::int64_t> trainable;  // parameters that are trained; nothing: all
  std::int64_t stage = 0;                 // of ZeRO: 0 replicas, 1 optimiser, 2 gradients too, 3 parameters too
  std::int64_t replicas = 1;              // data-parallel ranks
  bool checkpointing = false;             // each layer keeps its input and computes the rest again
  std::optional<std::int64_t> tokens;     // of one sequence
  std::int64_t sequences = 1;             // of one step on one rank, without accumulation
};

struct TrainingLine {
  std::string name;
  Figure bytes;  // of one rank
};

// Mixed precision with 16-bit parameters and gradients and F32 master weights and states (ZeRO, arXiv 1910.02054:
// 2 + 2 + 12 bytes a parameter with Adam). `base_bytes`: of the weights as they are loaded, which are not trained where
// `trainable` is given. The last line is the sum of those that are known.
std::vector<TrainingLine> training_lines(const Architecture& architecture, std::optional<std::int64_t> parameters,
                                         std::optional<std::int64_t> base_bytes, const TrainingRequest& request);

}  // namespace assay::estimate
