// SPDX-License-Identifier: Apache-2.0
// Estimates of models that a test writes into a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/estimate/model_estimate.hpp"
#include "suite/weights/model_files.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/weight_files.hpp"

namespace assay::test {

inline estimate::ModelRequest request_for(std::int64_t tokens, std::int64_t sequences = 1) {
  estimate::ModelRequest request;
  request.cache.tokens = tokens;
  request.cache.sequences = sequences;
  return request;
}

inline estimate::ModelEstimate estimate_of(const std::filesystem::path& path, const estimate::ModelRequest& request) {
  auto files = weights::read_model({path}, {});
  EXPECT_TRUE(files) << (files ? "" : files.error().text);
  if (!files) return {};
  auto estimate = estimate::estimate_model(*files, request);
  EXPECT_TRUE(estimate) << (estimate ? "" : estimate.error().text);
  return estimate ? *estimate : estimate::ModelEstimate{};
}

inline estimate::ModelEstimate estimate_config(const std::string& config, const estimate::ModelRequest& request) {
  const ScratchFolder folder;
  (void)folder.write("config.json", config);
  return estimate_of(folder.path(), request);
}

// A row of estimates.json by the beginning of its name; nothing where the shared data is absent.
inline std::optional<nlohmann::json> row_of(std::string_view model) {
  const auto path = shared_data("estimates.json");
  if (!path) return std::nullopt;
  std::ifstream file(*path);
  for (const auto& row : nlohmann::json::parse(file))
    if (row.at("model").get<std::string>().starts_with(model)) return row;
  ADD_FAILURE() << "estimates.json has no row " << model;
  return std::nullopt;
}

inline const estimate::Bound* bound_named(const estimate::ModelEstimate& estimate, std::string_view name) {
  for (const auto& bound : estimate.base.kv_bounds)
    if (bound.name == name) return &bound;
  return nullptr;
}

// Bytes of the lines with this part (and group, when given).
inline std::int64_t bytes_of_part(const estimate::ModelEstimate& estimate, estimate::Part part) {
  std::int64_t out = 0;
  for (const auto& line : estimate.weights.lines)
    if (line.part == part) out += line.file_bytes;
  return out;
}
inline std::int64_t not_loaded(const estimate::ModelEstimate& estimate, estimate::Group group) {
  std::int64_t out = 0;
  for (const auto& line : estimate.weights.lines)
    if (line.group == group && !line.loaded) out += line.file_bytes;
  return out;
}

// The tensors of a llama checkpoint as transformers saves them, written down apart from the estimator's own list.
struct LlamaShape {
  std::int64_t hidden, inner, layers, heads, kv_heads, head_dim, vocabulary;
  bool head = true;
};
inline std::vector<SafeTensor> llama_tensors(const LlamaShape& s, const std::string& dtype, std::int64_t bytes) {
  std::vector<SafeTensor> out;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    out.push_back(safe_tensor(name, dtype, std::move(shape), bytes));
  };
  add("model.embed_tokens.weight", {s.vocabulary, s.hidden});
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const auto p = "model.layers." + std::to_string(i) + ".";
    add(p + "input_layernorm.weight", {s.hidden});
    add(p + "mlp.down_proj.weight", {s.hidden, s.inner});
    add(p + "mlp.gate_proj.weight", {s.inner, s.hidden});
    add(p + "mlp.up_proj.weight", {s.inner, s.hidden});
    add(p + "post_attention_layernorm.weight", {s.hidden});
    add(p + "self_attn.k_proj.weight", {s.kv_heads * s.head_dim, s.hidden});
    add(p + "self_attn.o_proj.weight", {s.hidden, s.heads * s.head_dim});
    add(p + "self_attn.q_proj.weight", {s.heads * s.head_dim, s.hidden});
    add(p + "self_attn.v_proj.weight", {s.kv_heads * s.head_dim, s.hidden});
  }
  add("model.norm.weight", {s.hidden});
  if (s.head) add("lm_head.weight", {s.vocabulary, s.hidden});
  return out;
}

}  // namespace assay::test
