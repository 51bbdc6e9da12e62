// SPDX-License-Identifier: Apache-2.0
// The decoder's slots, inputs, outputs, and the frame of a pass; its layers are in decoder_layer.cpp.
#include "suite/measure/forward/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/argmax/params.hpp"
#include "kernels/embedding/params.hpp"
#include "kernels/gemm/params.hpp"
#include "suite/model/config.hpp"

namespace assay::measure {
namespace {

using allocator::Category;
using model::Role;

constexpr std::int64_t kTokenBytes = 4;
// Streams of inputs start where no list of weights reaches.
constexpr std::uint64_t kInputStream = std::uint64_t{1} << 40;

// The law of a weight's contents: matrices keep the variance of what they are given, norms stay near 1, embeddings
// are small against what layers add, so that f16 stays finite and the tokens depend on the layers.
Fill fill_of(const model::Tensor& tensor, Slot slot) {
  Fill fill;
  fill.slot = slot;
  fill.elements = tensor.elements;
  fill.stream = slot;
  switch (tensor.role) {
    case Role::input_norm:
    case Role::post_attention_norm:
    case Role::final_norm:
      fill.mean = 1.0f;
      fill.amplitude = 0.1f;
      break;
    case Role::query_bias:
    case Role::key_bias:
    case Role::value_bias:
    case Role::attention_output_bias:
    case Role::dense_bias:
      fill.amplitude = 0.1f;
      break;
    case Role::embedding:
      fill.amplitude = 0.2f;
      break;
    default:  // uniform on +-a has variance a^2 / 3; fan-in terms of unit variance should sum to unit variance
      fill.amplitude = std::sqrt(3.0f / static_cast<float>(tensor.shape.back()));
  }
  return fill;
}

}  // namespace

DecoderNetwork::DecoderNetwork(const Workload& workload, model::WeightList weights, std::int64_t element_bytes)
    : in_(workload),
      model_(workload.model),
      weights_(std::move(weights)),
      element_(element_bytes),
      q_width_(model_.query_heads * model_.head_dim),
      kv_width_(model_.kv_heads * model_.head_dim),
      capacity_(workload.prompt_tokens + workload.decode_tokens),
      layer_slots_(static_cast<std::size_t>(model_.layers)) {
  for (Slot slot = 0; slot < weights_.tensors.size(); ++slot) {
    const auto& tensor = weights_.tensors[slot];
    if (tensor.role == Role::embedding) {
      embedding_slot_ = slot;
      if (model_.tied_embeddings) head_slot_ = slot;
    } else if (tensor.role == Role::final_norm) {
      norm_slot_ = slot;
    } else if (tensor.role == Role::output_head) {
      head_slot_ = slot;
    } else {
      layer_slots_[static_cast<std::size_t>(tensor.layer)][static_cast<std::size_t>(tensor.role)] = slot;
    }
  }
  first_fixed_ = static_cast<Slot>(weights_.tensors.size());
  first_cache_ = first_fixed_ + kFixedCount;
  first_scratch_ = first_cache_ + static_cast<Slot>(4 * model_.layers);
}

Slot DecoderNetwork::slot_count() const {
  return first_scratch_ + kScratchCount;
}

Slot DecoderNetwork::weight(std::int64_t layer, Role role) const {
  return layer_slots_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(role)];
}

// Slot 0 is the embedding, which belongs to no layer.
bool DecoderNetwork::has_weight(std::int64_t layer, Role role) const {
  return weight(layer, role) != 0;
}

// A growing cache moves between its two slots: even contents after prefill and odd steps, odd ones after even steps.
Slot DecoderNetwork::cache(std::int64_t layer, bool value, std::int64_t step) const {
  const bool odd = in_.kv == KvKind::growing && (step + 1) % 2 != 0;
  return first_cache_ + static_cast<Slot>(4 * layer + (value ? 2 : 0) + (odd ? 1 : 0));
}

// Slots a sequence has in the cache once `step` (-1: prefill) has run.
std::int64_t DecoderNetwork::slots_at(std::int64_t step) const {
  if (in_.kv == KvKind::growing) return in_.prompt_tokens + step + 1;
  return in_.kv == KvKind::sliding_window ? std::min(model_.sliding_window, capacity_) : capacity_;
}

std::vector<Fill> DecoderNetwork::weight_fills() const {
  std::vector<Fill> fills;
  fills.reserve(weights_.tensors.size());
  for (Slot slot = 0; slot < weights_.tensors.size(); ++slot) fills.push_back(fill_of(weights_.tensors[slot], slot));
  return fills;
}

void DecoderNetwork::inputs(Pass& pass) const {
  const std::int64_t prompt = in_.batch * in_.prompt_tokens * kTokenBytes;
  pass.push_back(AllocateStep{fixed(ids), prompt, Category::inputs});
  pass.push_back(AllocateStep{fixed(prompt_positions), prompt, Category::inputs});
  if (in_.decode_tokens > 0) {
    pass.push_back(AllocateStep{fixed(step_positions), in_.batch * in_.decode_tokens * kTokenBytes, Category::inputs});
  }
  pass.push_back(AllocateStep{fixed(tokens), in_.batch * (in_.decode_tokens + 1) * kTokenBytes, Category::output});
  pass.push_back(AllocateStep{fixed(logits), in_.batch * model_.vocabulary * element_, Category::output});
}

std::vector<Fill> DecoderNetwork::input_fills() const {
  Fill prompt;
  prompt.slot = fixed(ids);
  prompt.elements = in_.batch * in_.prompt_tokens;
  prompt.law = FillLaw::token_ids;
  prompt.stream = kInputStream;
  prompt.modulus = model_.vocabulary;
  Fill positions = prompt;
  positions.slot = fixed(prompt_positions);
  positions.law = FillLaw::position_in_sequence;
  positions.modulus = in_.prompt_tokens;
  std::vector<Fill> fills{prompt, positions};
  if (in_.decode_tokens > 0) {
    Fill steps = positions;
    steps.slot = fixed(step_positions);
    steps.elements = in_.batch * in_.decode_tokens;
    steps.law = FillLaw::position_of_step;
    steps.modulus = in_.batch;
    steps.start = in_.prompt_tokens;
    fills.push_back(steps);
  }
  return fills;
}

void DecoderNetwork::forward(Pass& pass) const {
  prefill(pass);
  for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
    pass.push_back(ReleaseStep{cache(layer, false, -1)});
    pass.push_back(ReleaseStep{cache(layer, true, -1)});
  }
}

void DecoderNetwork::prefill(Pass& pass) const {
  for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
    const std::int64_t bytes = in_.batch * slots_at(-1) * kv_width_ * element_;
    pass.push_back(AllocateStep{cache(layer, false, -1), bytes, Category::kv});
    pass.push_back(AllocateStep{cache(layer, true, -1), bytes, Category::kv});
  }
  run({in_.prompt_tokens, 0, -1}, pass);
}

void DecoderNetwork::decode(std::int64_t step, Pass& pass) const {
  run({1, in_.prompt_tokens + step, step}, pass);
}

void DecoderNetwork::finish(Pass& pass) const {
  for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
    pass.push_back(ReleaseStep{cache(layer, false, in_.decode_tokens - 1)});
    pass.push_back(ReleaseStep{cache(layer, true, in_.decode_tokens - 1)});
  }
}

void DecoderNetwork::run(const Window& window, Pass& pass) const {
  make(x, rows(window) * model_.hidden_size, pass);
  const Operand source =
      window.prefill() ? Operand{fixed(ids), 0} : Operand{fixed(tokens), window.step * in_.batch * kTokenBytes};
  kernels::EmbeddingParams params{};
  params.tokens = rows(window);
  params.width = model_.hidden_size;
  params.vocabulary = model_.vocabulary;
  pass.push_back(LaunchStep::make(Kernel::embedding, params,
                                  {{offsetof(kernels::EmbeddingParams, table), {embedding_slot_, 0}},
                                   {offsetof(kernels::EmbeddingParams, ids), source},
                                   {offsetof(kernels::EmbeddingParams, y), {scratch(x), 0}}}));
  for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
    attention(layer, window, pass);
    feed_forward(layer, window, pass);
  }
  head(window, pass);
}

// Only the last token of each sequence is read out: its logits, and the most likely next token.
void DecoderNetwork::head(const Window& window, Pass& pass) const {
  Scratch source = x;
  if (window.tokens_each > 1) {
    const std::int64_t row = model_.hidden_size * element_;
    make(last, in_.batch * model_.hidden_size, pass);
    for (std::int64_t i = 0; i < in_.batch; ++i) {
      const std::int64_t from = ((i + 1) * window.tokens_each - 1) * row;
      pass.push_back(CopyStep{{scratch(last), i * row}, {scratch(x), from}, row});
    }
    drop(x, pass);
    source = last;
  }
  make(normed, in_.batch * model_.hidden_size, pass);
  norm({scratch(normed), 0}, {scratch(source), 0}, norm_slot_, in_.batch, pass);
  drop(source, pass);
  kernels::GemmParams project{};
  project.m = in_.batch;
  project.n = model_.vocabulary;
  project.k = model_.hidden_size;
  pass.push_back(LaunchStep::make(Kernel::gemm, project,
                                  {{offsetof(kernels::GemmParams, a), {scratch(normed), 0}},
                                   {offsetof(kernels::GemmParams, b), {head_slot_, 0}},
                                   {offsetof(kernels::GemmParams, c), {fixed(logits), 0}}}));
  drop(normed, pass);
  kernels::ArgmaxParams choose{};
  choose.rows = in_.batch;
  choose.width = model_.vocabulary;
  const std::int64_t next = (window.step + 1) * in_.batch * kTokenBytes;
  pass.push_back(LaunchStep::make(Kernel::argmax, choose,
                                  {{offsetof(kernels::ArgmaxParams, x), {fixed(logits), 0}},
                                   {offsetof(kernels::ArgmaxParams, out), {fixed(tokens), next}}}));
}

std::vector<Output> DecoderNetwork::forward_outputs() const {
  return {{{fixed(logits), 0}, in_.batch * model_.vocabulary * element_}, first_tokens()};
}

std::vector<Output> DecoderNetwork::generation_outputs() const {
  return {{{fixed(logits), 0}, in_.batch * model_.vocabulary * element_},
          {{fixed(tokens), 0}, in_.batch * (in_.decode_tokens + 1) * kTokenBytes}};
}

Output DecoderNetwork::first_tokens() const {
  return {{fixed(tokens), 0}, in_.batch * kTokenBytes};
}

std::map<std::string, std::int64_t> DecoderNetwork::executed() const {
  return {{"batch", in_.batch},
          {"prompt_tokens", in_.prompt_tokens},
          {"decode_tokens", in_.decode_tokens},
          {"rows", in_.batch * in_.prompt_tokens},
          {"hidden_size", model_.hidden_size},
          {"layers", model_.layers},
          {"vocabulary", model_.vocabulary},
          {"kv_slots", slots_at(in_.decode_tokens - 1)},
          {"parameters", weights_.parameters}};
}

}  // namespace assay::measure
