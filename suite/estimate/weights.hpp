// SPDX-License-Identifier: Apache-2.0
// Weights: what lies in the files and what a loader keeps, in lines that add up.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/estimate/architecture.hpp"
#include "suite/estimate/quantisation.hpp"
#include "suite/estimate/tensor_list.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::estimate {

// Tensors of one group, part and dtype. file_bytes is what they take as stored, resident_bytes what they take once
// loaded; `why` says why they are not loaded.
struct WeightLine {
  Group group = Group::other;
  Part part = Part::weights;
  std::string dtype;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;  // as stored: of a packed tensor the packed ones
  std::int64_t file_bytes = 0;
  std::int64_t resident_bytes = 0;
  bool loaded = true;
  std::string why;
};

struct WeightsEstimate {
  std::vector<WeightLine> lines;
  std::int64_t tensors = 0;
  std::optional<std::int64_t> parameters;  // logical: packed ones unpacked; without buffers, scales, unloaded layers
  std::string parameters_reason;           // why they are not known
  std::optional<std::int64_t> active_parameters;  // of one token; mixtures of experts
  std::optional<std::int64_t> file_bytes;         // on disk
  std::optional<std::int64_t> header_bytes;
  std::optional<std::int64_t> tensor_bytes;    // of every tensor in the files, or that a configuration implies
  std::optional<std::int64_t> resident_bytes;  // of those a loader keeps
  std::string reason;                          // why bytes are not known
  std::int64_t largest_bytes = 0;              // of the largest tensor: what is alive twice while one is converted
  bool from_files = false;
  std::string storage;                // "BF16", "GPTQ, 4 bits, groups of 128"
  std::string compute;                // dtype of the arithmetic
  std::int64_t unstated_minimum = 0;  // bytes that are known to exist but not exactly: bitsandbytes' quant_state
  std::int64_t unstated_maximum = 0;
  std::vector<std::string> notes;
  std::vector<std::string> contradictions;
};

struct WeightsRequest {
  std::string dtype;           // to load plain floating-point tensors in; empty: as stored
  std::set<std::string> with;  // "towers", "mtp", "buffers": loaded though a text loader leaves them out
};

// Errors: bad_input when a sum goes beyond 2^53 - 1 bytes; usage for a dtype that files cannot be loaded in.
Result<WeightsEstimate> weights_of_files(const weights::ModelFiles& files, const Architecture& architecture,
                                         const Quantisation& scheme, const WeightsRequest& request);
Result<WeightsEstimate> weights_of_config(const Architecture& architecture, const Quantisation& scheme,
                                          const WeightsRequest& request);

}  // namespace assay::estimate
