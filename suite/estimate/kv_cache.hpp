// SPDX-License-Identifier: Apache-2.0
// The key-value cache of an architecture: bytes of a token, bounds of a sequence, and what serves how many at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/estimate/architecture.hpp"
#include "suite/estimate/estimate.hpp"
#include "suite/weights/tensor_type.hpp"

namespace assay::estimate {

struct CacheRequest {
  std::string dtype = "f16";
  std::optional<std::int64_t> tokens;  // of one sequence
  std::int64_t sequences = 1;
  std::int64_t block_tokens = 1;        // of a block of a paged cache; 1: not paged
  std::int64_t ranks = 1;               // of tensor parallelism
  std::optional<std::int64_t> ubatch;   // llama.cpp's physical batch: adds its bound for windows
  std::optional<std::int64_t> batched;  // vLLM's max_num_batched_tokens: adds its bound for windows
};

// Layers that keep the same.
struct CacheRun {
  std::string kind;  // "full attention", "sliding window of 4096", "latent", "state", "nothing"
  std::int64_t layers = 0;
  std::optional<std::int64_t> bytes_per_token;  // of one layer
  std::optional<std::int64_t> state_bytes;      // of one layer and sequence
};

struct CacheEstimate {
  Figure bytes_per_token;  // every token kept; latent where the attention is latent
  std::vector<Bound> bounds;
  Figure bytes;  // of all sequences, by the first bound
  Figure state_bytes_per_sequence;
  Figure state_bytes;
  std::vector<CacheRun> runs;
  // With more than one rank: of each rank, heads divided or, where they run out, replicated.
  std::optional<Figure> rank_bytes_per_token;
  std::optional<Figure> rank_bytes;
  std::optional<Figure> rank_state_bytes;
};

// Errors: usage (dtype, or a result beyond 2^53 - 1 bytes).
Result<CacheEstimate> cache_of(const Architecture& architecture, const CacheRequest& request);

// What fits into `memory_bytes` beside `other_bytes`, counted in blocks as serving engines do.
struct Concurrency {
  Figure available_bytes;
  Figure blocks;
  Figure tokens;
  Figure sequences;   // whole sequences of the requested length
  Figure hundredths;  // tokens / tokens of one sequence, in hundredths: engines print this as "12.34x"
};
Concurrency concurrency_of(const CacheEstimate& cache, const CacheRequest& request, std::int64_t memory_bytes,
                           std::int64_t other_bytes);

}  // namespace assay::estimate
