// SPDX-License-Identifier: Apache-2.0
// The dense decoder (llama, mistral, qwen2) as passes: prefill over the prompt, then one token a step.
#pragma once

#include <array>
#include <cstddef>

#include "suite/measure/forward/network.hpp"

namespace assay::measure {

class DecoderNetwork final : public Network {
 public:
  // The workload has passed check_workload.
  DecoderNetwork(const Workload& workload, model::WeightList weights, std::int64_t element_bytes);

  [[nodiscard]] Slot slot_count() const override;
  [[nodiscard]] const model::WeightList& weights() const override { return weights_; }
  [[nodiscard]] std::vector<Fill> weight_fills() const override;
  void inputs(Pass& pass) const override;
  [[nodiscard]] std::vector<Fill> input_fills() const override;
  void forward(Pass& pass) const override;
  void prefill(Pass& pass) const override;
  void decode(std::int64_t step, Pass& pass) const override;
  void finish(Pass& pass) const override;
  [[nodiscard]] std::vector<Output> forward_outputs() const override;
  [[nodiscard]] std::vector<Output> generation_outputs() const override;
  [[nodiscard]] Output first_tokens() const override;
  [[nodiscard]] std::map<std::string, std::int64_t> executed() const override;

 private:
  // Buffers that are not weights; a cache tensor has two slots so that a growing one can be copied from old to new.
  enum Fixed : Slot { ids, prompt_positions, step_positions, tokens, logits, kFixedCount };
  enum Scratch : Slot { x, normed, q, k, v, mixed, projected, gate, up, activated, last, kScratchCount };

  // One pass over `tokens_each` new tokens of every sequence, the first at position `start`.
  struct Window {
    std::int64_t tokens_each = 0;
    std::int64_t start = 0;
    std::int64_t step = -1;  // of decode; -1 in prefill
    [[nodiscard]] bool prefill() const { return step < 0; }
  };

  [[nodiscard]] Slot fixed(Fixed which) const { return first_fixed_ + which; }
  [[nodiscard]] Slot scratch(Scratch which) const { return first_scratch_ + which; }
  [[nodiscard]] Slot weight(std::int64_t layer, model::Role role) const;
  [[nodiscard]] bool has_weight(std::int64_t layer, model::Role role) const;
  [[nodiscard]] Slot cache(std::int64_t layer, bool value, std::int64_t step) const;
  [[nodiscard]] std::int64_t slots_at(std::int64_t step) const;
  [[nodiscard]] std::int64_t rows(const Window& window) const { return in_.batch * window.tokens_each; }

  void make(Scratch which, std::int64_t elements, Pass& pass) const;
  void drop(Scratch which, Pass& pass) const;
  void gemm(Scratch to, Scratch from, Slot weights, const Slot* bias, std::int64_t m, std::int64_t n,
            std::int64_t depth, Pass& pass) const;
  void norm(Operand to, Operand from, Slot weights, std::int64_t row_count, Pass& pass) const;
  void rotate(Scratch which, std::int64_t heads, const Window& window, Pass& pass) const;
  void project(std::int64_t layer, const Window& window, Pass& pass) const;
  void grow_cache(std::int64_t layer, const Window& window, Pass& pass) const;
  void append(std::int64_t layer, const Window& window, Pass& pass) const;
  void append_tail(std::int64_t layer, const Window& window, Pass& pass) const;
  void attend(std::int64_t layer, const Window& window, Operand keys, Operand values, std::int64_t capacity,
              Pass& pass) const;
  void attention(std::int64_t layer, const Window& window, Pass& pass) const;
  void add_residual(const Window& window, Pass& pass) const;
  void feed_forward(std::int64_t layer, const Window& window, Pass& pass) const;
  void head(const Window& window, Pass& pass) const;
  void run(const Window& window, Pass& pass) const;

  Workload in_;
  DecoderConfig model_;
  model::WeightList weights_;
  std::int64_t element_;
  std::int64_t q_width_;
  std::int64_t kv_width_;
  std::int64_t capacity_;                          // tokens a sequence may reach
  std::vector<std::array<Slot, 18>> layer_slots_;  // by role, 0 where the model has none
  Slot embedding_slot_ = 0;
  Slot norm_slot_ = 0;
  Slot head_slot_ = 0;
  Slot first_fixed_;
  Slot first_cache_;
  Slot first_scratch_;
};

}  // namespace assay::measure
