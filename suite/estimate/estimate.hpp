// SPDX-License-Identifier: Apache-2.0
// Estimate: bytes a model needs, from numbers alone; every figure carries its formula and the numbers put into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/quantity.hpp"
#include "results-schema/types/result.hpp"

namespace assay::estimate {

// What was given. Counts are positive. Weights need `parameters` or `model`; the key-value cache needs layers, kv_heads
// and head_dim together, or `model`.
struct Request {
  std::optional<std::int64_t> parameters;
  std::int64_t bits = 16;  // of one parameter
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> kv_heads;
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> tokens;  // of one sequence; never taken from a model's maximum
  std::int64_t sequences = 1;
  std::int64_t bytes_per_element = 2;  // of the cache
  std::optional<DecoderConfig> model;
  std::string model_name;
  std::int64_t model_parameters = 0;  // counted tensor by tensor; with `model`
  std::optional<std::int64_t> reserve_bytes;
};

// One number. `formula` is in words, `numbers` the same with the values put in; a missing value has a reason.
struct Figure {
  std::optional<std::int64_t> value;
  std::string formula;
  std::string numbers;
  std::string reason;
  Basis basis = Basis::computed;
};

// A figure that could not be computed, and why.
inline Figure absent(std::string formula, std::string reason) {
  Figure figure;
  figure.formula = std::move(formula);
  figure.reason = std::move(reason);
  return figure;
}

// What the cache takes under one way an engine may keep it.
struct Bound {
  std::string name;
  Figure bytes_per_token;
  Figure bytes_per_sequence;
};

struct Estimate {
  Figure parameters;
  Figure file_bytes;
  Figure tensor_bytes;
  Figure resident_bytes;  // a lower bound
  Figure kv_bytes_per_token;
  Figure kv_bytes;
  std::vector<Bound> kv_bounds;
  Figure total_bytes;  // weights and cache; the reserve is never part of it
  std::optional<Figure> reserve_bytes;
  std::optional<Figure> total_with_reserve_bytes;
  std::vector<std::string> not_included;
};

// Errors: usage, when a needed number is missing or a result exceeds 2^53 - 1 bytes.
Result<Estimate> estimate(const Request& request);

}  // namespace assay::estimate
