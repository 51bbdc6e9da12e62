// SPDX-License-Identifier: Apache-2.0
// One flat list of figures: a reader finds a number by its name, whatever kinds of attention the model has.
#include "suite/estimate/to_document.hpp"

#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

void put(EstimateBody& body, std::string name, const Figure& figure, const char* unit = "bytes") {
  EstimateFigure out;
  out.name = std::move(name);
  out.quantity =
      figure.value ? Quantity{*figure.value, unit, figure.basis, {}} : missing(unit, figure.reason, figure.basis);
  out.formula = figure.formula.empty() ? "not worked out" : figure.formula;
  out.inputs = figure.numbers;
  body.figures.push_back(std::move(out));
}

}  // namespace

EstimateBody to_body(const ModelEstimate& e) {
  EstimateBody body;
  body.model = weights::shown(e.name, 255);
  body.model_type = weights::shown(e.type);
  body.config_sha256 = e.config_sha256;
  body.storage_format = e.weights.storage;
  body.compute_format = e.weights.compute;
  body.cache_dtype = e.cache_dtype;
  const auto& b = e.base;
  put(body, "parameters", b.parameters, "1");
  put(body, "active_parameters", e.active_parameters, "1");
  put(body, "weights.file_bytes", b.file_bytes);
  put(body, "weights.header_bytes", e.header_bytes);
  put(body, "weights.tensor_bytes", b.tensor_bytes);
  put(body, "weights.resident_bytes", b.resident_bytes);
  put(body, "weights.loading_minimum_bytes", e.loading_minimum);
  put(body, "weights.loading_maximum_bytes", e.loading_maximum);
  put(body, "kv_cache.bytes_per_token", b.kv_bytes_per_token);
  for (const auto& bound : b.kv_bounds) {
    put(body, "kv_cache.bounds." + bound.name + ".bytes_per_token", bound.bytes_per_token);
    put(body, "kv_cache.bounds." + bound.name + ".bytes_per_sequence", bound.bytes_per_sequence);
  }
  put(body, "kv_cache.bytes", b.kv_bytes);
  put(body, "kv_cache.state_bytes_per_sequence", e.cache.state_bytes_per_sequence);
  put(body, "kv_cache.state_bytes", e.cache.state_bytes);
  if (e.cache.rank_bytes_per_token) {
    put(body, "kv_cache.per_rank.bytes_per_token", *e.cache.rank_bytes_per_token);
    put(body, "kv_cache.per_rank.bytes", *e.cache.rank_bytes);
  }
  put(body, "total_bytes", b.total_bytes);
  if (b.reserve_bytes) put(body, "reserve_bytes", *b.reserve_bytes);
  if (b.total_with_reserve_bytes) put(body, "total_with_reserve_bytes", *b.total_with_reserve_bytes);
  if (e.concurrency) {
    put(body, "concurrency.available_bytes", e.concurrency->available_bytes);
    put(body, "concurrency.blocks", e.concurrency->blocks, "1");
    put(body, "concurrency.tokens", e.concurrency->tokens, "tokens");
    put(body, "concurrency.sequences", e.concurrency->sequences, "1");
  }
  for (const auto& variation : e.variations) put(body, "variations." + variation.name, variation.need_bytes);
  for (const auto& line : e.executed) put(body, "executed." + line.name, line.bytes);
  for (const auto& line : e.training) put(body, "training." + line.name, line.bytes);
  for (const auto& line : e.weights.lines)
    body.lines.push_back({std::string(to_text(line.group)), std::string(to_text(line.part)), line.dtype, line.tensors,
                          line.file_bytes, line.resident_bytes, line.loaded, line.why});
  body.contradictions = e.contradictions;
  body.notes = e.notes;
  body.not_included = b.not_included;
  return body;
}

}  // namespace assay::estimate
