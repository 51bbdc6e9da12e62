// SPDX-License-Identifier: Apache-2.0
// The estimate of a model that lies on disk: weights as files and as loaded, cache, what serves how many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/estimate/architecture.hpp"
#include "suite/estimate/boards.hpp"
#include "suite/estimate/estimate.hpp"
#include "suite/estimate/executed.hpp"
#include "suite/estimate/kv_cache.hpp"
#include "suite/estimate/training.hpp"
#include "suite/estimate/weights.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::estimate {

struct ModelRequest {
  WeightsRequest weights;
  CacheRequest cache;
  std::optional<std::int64_t> memory_bytes;   // of the device, for concurrency
  std::optional<std::int64_t> reserve_bytes;  // a person's assumption, shown apart
  bool boards = false;
  // Of the workload as assay executes it; no prompt: not followed.
  std::optional<std::int64_t> prompt_tokens;
  std::int64_t decode_tokens = 0;
  KvKind kv = KvKind::fixed;
  std::optional<TrainingRequest> training;
};

struct ModelEstimate {
  Estimate base;  // the figures every estimate has
  std::string name;
  std::string type;  // model_type or GGUF architecture
  std::string config_sha256;
  WeightsEstimate weights;
  CacheEstimate cache;
  Figure active_parameters;
  Figure header_bytes;
  Figure loading_minimum;  // the largest tensor alive twice
  Figure loading_maximum;  // a whole file's tensors alive twice
  std::optional<Concurrency> concurrency;
  std::vector<Variation> variations;  // with boards
  std::vector<BoardRoom> boards;
  std::vector<TrainingLine> training;
  std::vector<ExecutedLine> executed;
  std::string cache_dtype;
  std::vector<std::string> contradictions;
  std::vector<std::string> notes;
  std::vector<weights::WeightFile> files;
};

// Errors: bad_input (a field of the configuration), usage (a dtype, a result beyond 2^53 - 1 bytes).
Result<ModelEstimate> estimate_model(const weights::ModelFiles& files, const ModelRequest& request);

std::string to_text(const ModelEstimate& estimate);
std::string to_json(const ModelEstimate& estimate);

}  // namespace assay::estimate
