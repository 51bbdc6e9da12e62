// SPDX-License-Identifier: Apache-2.0
// The estimate document: named figures with formula and inputs, the lines of the weights, and what contradicts what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results-schema/types/document.hpp"

namespace assay {

// One number: "weights.tensor_bytes", "kv_cache.bounds.sliding window honoured.bytes_per_sequence".
struct EstimateFigure {
  std::string name;
  Quantity quantity;
  std::string formula;  // in words
  std::string inputs;   // the formula with its numbers; empty for a missing value
  bool operator==(const EstimateFigure&) const = default;
};

// Tensors of one group, part and dtype.
struct EstimateLine {
  std::string group;  // "attention"
  std::string part;   // "weights", "scales", "zeros", ...
  std::string dtype;
  std::int64_t tensors = 0;
  std::int64_t file_bytes = 0;
  std::int64_t resident_bytes = 0;  // 0 where it is not loaded
  bool loaded = true;
  std::string why;  // why it is not loaded; empty where it is
  bool operator==(const EstimateLine&) const = default;
};

struct EstimateBody {
  std::string model;
  std::string model_type;
  std::string config_sha256;  // empty without a configuration
  std::string storage_format;
  std::string compute_format;
  std::string cache_dtype;
  std::vector<EstimateFigure> figures;
  std::vector<EstimateLine> lines;
  std::vector<std::string> contradictions;
  std::vector<std::string> notes;
  std::vector<std::string> not_included;
  bool operator==(const EstimateBody&) const = default;
};

struct EstimateDocument {
  DocumentKind kind = DocumentKind::estimate;
  RunInfo run;
  EstimateBody body;
  DocumentStatus status = DocumentStatus::ok;
  std::vector<Failure> failures;
  bool operator==(const EstimateDocument&) const = default;
};

}  // namespace assay
