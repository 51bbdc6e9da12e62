// SPDX-License-Identifier: Apache-2.0
// One decoder layer as steps; each buffer is let go as soon as the last kernel that reads it is queued.
#include <algorithm>
#include <cmath>

#include "kernels/attention/params.hpp"
#include "kernels/gemm/params.hpp"
#include "kernels/kv_append/params.hpp"
#include "kernels/residual_add/params.hpp"
#include "kernels/rmsnorm/params.hpp"
#include "kernels/rope/params.hpp"
#include "kernels/swiglu/params.hpp"
#include "suite/measure/forward/decoder.hpp"

namespace assay::measure {

using allocator::Category;
using model::Role;

void DecoderNetwork::make(Scratch which, std::int64_t elements, Pass& pass) const {
  pass.push_back(AllocateStep{scratch(which), elements * element_, Category::activation});
}

void DecoderNetwork::drop(Scratch which, Pass& pass) const {
  pass.push_back(ReleaseStep{scratch(which)});
}

void DecoderNetwork::gemm(Scratch to, Scratch from, Slot weights, const Slot* bias, std::int64_t m, std::int64_t n,
                          std::int64_t depth, Pass& pass) const {
  make(to, m * n, pass);
  kernels::GemmParams params{};
  params.m = m;
  params.n = n;
  params.k = depth;
  auto step = LaunchStep::make(Kernel::gemm, params,
                               {{offsetof(kernels::GemmParams, a), {scratch(from), 0}},
                                {offsetof(kernels::GemmParams, b), {weights, 0}},
                                {offsetof(kernels::GemmParams, c), {scratch(to), 0}}});
  if (bias != nullptr) {
    step.pointers.at(step.pointer_count++) = {offsetof(kernels::GemmParams, bias), {*bias, 0}};
  }
  pass.push_back(step);
}

void DecoderNetwork::norm(Operand to, Operand from, Slot weights, std::int64_t row_count, Pass& pass) const {
  kernels::RmsNormParams params{};
  params.rows = row_count;
  params.width = model_.hidden_size;
  params.epsilon = static_cast<float>(model_.norm_epsilon);
  pass.push_back(LaunchStep::make(Kernel::rmsnorm, params,
                                  {{offsetof(kernels::RmsNormParams, x), from},
                                   {offsetof(kernels::RmsNormParams, weight), {weights, 0}},
                                   {offsetof(kernels::RmsNormParams, y), to}}));
}

void DecoderNetwork::rotate(Scratch which, std::int64_t heads, const Window& window, Pass& pass) const {
  kernels::RopeParams params{};
  params.tokens = rows(window);
  params.heads = heads;
  params.head_dim = model_.head_dim;
  params.theta = static_cast<float>(model_.rope_theta);
  const Operand positions = window.prefill() ? Operand{fixed(prompt_positions), 0}
                                             : Operand{fixed(step_positions), window.step * in_.batch * 4};
  pass.push_back(LaunchStep::make(Kernel::rope, params,
                                  {{offsetof(kernels::RopeParams, x), {scratch(which), 0}},
                                   {offsetof(kernels::RopeParams, positions), positions}}));
}

// Queries, keys and values of the new tokens, rotated to their positions.
void DecoderNetwork::project(std::int64_t layer, const Window& window, Pass& pass) const {
  const std::int64_t m = rows(window);
  make(normed, m * model_.hidden_size, pass);
  norm({scratch(normed), 0}, {scratch(x), 0}, weight(layer, Role::input_norm), m, pass);
  const auto linear = [&](Scratch to, Role matrix, Role bias, std::int64_t width) {
    const Slot bias_slot = weight(layer, bias);
    gemm(to, normed, weight(layer, matrix), has_weight(layer, bias) ? &bias_slot : nullptr, m, width,
         model_.hidden_size, pass);
  };
  linear(q, Role::query, Role::query_bias, q_width_);
  linear(k, Role::key, Role::key_bias, kv_width_);
  linear(v, Role::value, Role::value_bias, kv_width_);
  drop(normed, pass);
  rotate(q, model_.query_heads, window, pass);
  rotate(k, model_.kv_heads, window, pass);
}

// One tensor at a time: a new one with room for one token more, the old contents of each sequence, the old one gone.
void DecoderNetwork::grow_cache(std::int64_t layer, const Window& window, Pass& pass) const {
  const std::int64_t old_bytes = slots_at(window.step - 1) * kv_width_ * element_;
  const std::int64_t new_bytes = slots_at(window.step) * kv_width_ * element_;
  for (const bool value : {false, true}) {
    const Slot from = cache(layer, value, window.step - 1);
    const Slot to = cache(layer, value, window.step);
    pass.push_back(AllocateStep{to, in_.batch * new_bytes, Category::kv});
    for (std::int64_t i = 0; i < in_.batch; ++i) {
      pass.push_back(CopyStep{{to, i * new_bytes}, {from, i * old_bytes}, old_bytes});
    }
    pass.push_back(ReleaseStep{from});
  }
}

void DecoderNetwork::append(std::int64_t layer, const Window& window, Pass& pass) const {
  kernels::KvAppendParams params{};
  params.batch = in_.batch;
  params.new_tokens = window.tokens_each;
  params.kv_heads = model_.kv_heads;
  params.head_dim = model_.head_dim;
  params.capacity = slots_at(window.step);
  params.start = window.start;
  pass.push_back(
      LaunchStep::make(Kernel::kv_append, params,
                       {{offsetof(kernels::KvAppendParams, k), {scratch(k), 0}},
                        {offsetof(kernels::KvAppendParams, v), {scratch(v), 0}},
                        {offsetof(kernels::KvAppendParams, cache_k), {cache(layer, false, window.step), 0}},
                        {offsetof(kernels::KvAppendParams, cache_v), {cache(layer, true, window.step), 0}}}));
}

// A prompt longer than the ring: its last tokens only, sequence by sequence because they are not contiguous.
void DecoderNetwork::append_tail(std::int64_t layer, const Window& window, Pass& pass) const {
  const std::int64_t slots = slots_at(window.step);
  const std::int64_t token_bytes = kv_width_ * element_;
  kernels::KvAppendParams params{};
  params.batch = 1;
  params.new_tokens = slots;
  params.kv_heads = model_.kv_heads;
  params.head_dim = model_.head_dim;
  params.capacity = slots;
  params.start = window.start + window.tokens_each - slots;
  for (std::int64_t i = 0; i < in_.batch; ++i) {
    const std::int64_t from = ((i + 1) * window.tokens_each - slots) * token_bytes;
    const std::int64_t to = i * slots * token_bytes;
    pass.push_back(
        LaunchStep::make(Kernel::kv_append, params,
                         {{offsetof(kernels::KvAppendParams, k), {scratch(k), from}},
                          {offsetof(kernels::KvAppendParams, v), {scratch(v), from}},
                          {offsetof(kernels::KvAppendParams, cache_k), {cache(layer, false, window.step), to}},
                          {offsetof(kernels::KvAppendParams, cache_v), {cache(layer, true, window.step), to}}}));
  }
}

void DecoderNetwork::attend(std::int64_t layer, const Window& window, Operand keys, Operand values,
                            std::int64_t capacity, Pass& pass) const {
  make(mixed, rows(window) * q_width_, pass);
  kernels::AttentionParams params{};
  params.batch = in_.batch;
  params.q_tokens = window.tokens_each;
  params.q_heads = model_.query_heads;
  params.kv_heads = model_.kv_heads;
  params.head_dim = model_.head_dim;
  params.capacity = capacity;
  params.start = window.start;
  params.window = model_.sliding_window;
  params.scale = 1.0f / std::sqrt(static_cast<float>(model_.head_dim));
  const Kernel kernel = window.prefill() ? Kernel::attention_prefill : Kernel::attention_decode;
  pass.push_back(LaunchStep::make(kernel, params,
                                  {{offsetof(kernels::AttentionParams, q), {scratch(q), 0}},
                                   {offsetof(kernels::AttentionParams, cache_k), keys},
                                   {offsetof(kernels::AttentionParams, cache_v), values},
                                   {offsetof(kernels::AttentionParams, y), {scratch(mixed), 0}}}));
  drop(q, pass);
  const bool biased = has_weight(layer, Role::attention_output_bias);
  const Slot bias = weight(layer, Role::attention_output_bias);
  gemm(projected, mixed, weight(layer, Role::attention_output), biased ? &bias : nullptr, rows(window),
       model_.hidden_size, q_width_, pass);
  drop(mixed, pass);
}

void DecoderNetwork::attention(std::int64_t layer, const Window& window, Pass& pass) const {
  project(layer, window, pass);
  const Operand cached_keys{cache(layer, false, window.step), 0};
  const Operand cached_values{cache(layer, true, window.step), 0};
  if (window.prefill() && in_.kv == KvKind::sliding_window) {
    // The ring may be shorter than the prompt, so the prompt attends to its own keys and values.
    attend(layer, window, {scratch(k), 0}, {scratch(v), 0}, window.tokens_each, pass);
    window.tokens_each > slots_at(window.step) ? append_tail(layer, window, pass) : append(layer, window, pass);
    drop(k, pass);
    drop(v, pass);
  } else {
    if (!window.prefill() && in_.kv == KvKind::growing) grow_cache(layer, window, pass);
    append(layer, window, pass);
    drop(k, pass);
    drop(v, pass);
    attend(layer, window, cached_keys, cached_values, slots_at(window.step), pass);
  }
  add_residual(window, pass);
}

void DecoderNetwork::add_residual(const Window& window, Pass& pass) const {
  kernels::ResidualAddParams params{};
  params.n = rows(window) * model_.hidden_size;
  pass.push_back(LaunchStep::make(Kernel::residual_add, params,
                                  {{offsetof(kernels::ResidualAddParams, x), {scratch(projected), 0}},
                                   {offsetof(kernels::ResidualAddParams, residual), {scratch(x), 0}},
                                   {offsetof(kernels::ResidualAddParams, y), {scratch(x), 0}}}));
  drop(projected, pass);
}

void DecoderNetwork::feed_forward(std::int64_t layer, const Window& window, Pass& pass) const {
  const std::int64_t m = rows(window);
  const std::int64_t inner = model_.intermediate_size;
  make(normed, m * model_.hidden_size, pass);
  norm({scratch(normed), 0}, {scratch(x), 0}, weight(layer, Role::post_attention_norm), m, pass);
  gemm(gate, normed, weight(layer, Role::gate), nullptr, m, inner, model_.hidden_size, pass);
  gemm(up, normed, weight(layer, Role::up), nullptr, m, inner, model_.hidden_size, pass);
  drop(normed, pass);
  make(activated, m * inner, pass);
  kernels::SwigluParams params{};
  params.n = m * inner;
  pass.push_back(LaunchStep::make(Kernel::swiglu, params,
                                  {{offsetof(kernels::SwigluParams, gate), {scratch(gate), 0}},
                                   {offsetof(kernels::SwigluParams, up), {scratch(up), 0}},
                                   {offsetof(kernels::SwigluParams, y), {scratch(activated), 0}}}));
  drop(gate, pass);
  drop(up, pass);
  gemm(projected, activated, weight(layer, Role::down), nullptr, m, model_.hidden_size, inner, pass);
  drop(activated, pass);
  add_residual(window, pass);
}

}  // namespace assay::measure
