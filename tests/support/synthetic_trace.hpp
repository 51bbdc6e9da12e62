// SPDX-License-Identifier: Apache-2.0
// Synthetic traces: requests of an invented transformer, for policies to be compared on what they were not tuned on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::testing {

struct SyntheticEvent {
  bool is_alloc = true;
  std::uint32_t block = 0;  // counted from 0 in order of allocation
  std::size_t bytes = 0;    // of an allocation
  std::uint32_t stream = 0;
};

struct SyntheticTrace {
  std::string name;  // what it is made of
  std::vector<SyntheticEvent> events;
};

// Weights, then some iterations of training (activations kept for the backward pass, gradients, optimizer state from
// the first one on) or of inference (decoding with a growing KV cache). Dimensions, number of layers and element size
// are drawn from `seed`; by seed the lengths are constant, random, growing, or the batch changes; every fifth runs on
// two to eight streams, and with `drift` sizes of single tensors vary by up to an eighth.
[[nodiscard]] SyntheticTrace synthetic_trace(std::uint32_t seed, bool drift);

}  // namespace assay::testing
