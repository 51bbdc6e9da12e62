// SPDX-License-Identifier: Apache-2.0
// The dense network of the measuring exercise: layers of one width with bias and relu, a softmax at the end.
#pragma once

#include "suite/measure/forward/network.hpp"

namespace assay::measure {

class DenseNetwork final : public Network {
 public:
  // The workload has passed check_workload.
  DenseNetwork(const Workload& workload, model::WeightList weights, std::int64_t element_bytes);

  [[nodiscard]] Slot slot_count() const override { return first_free_ + 4; }
  [[nodiscard]] const model::WeightList& weights() const override { return weights_; }
  [[nodiscard]] std::vector<Fill> weight_fills() const override;
  void inputs(Pass& pass) const override;
  [[nodiscard]] std::vector<Fill> input_fills() const override;
  void forward(Pass& pass) const override;
  void prefill(Pass&) const override {}
  void decode(std::int64_t, Pass&) const override {}
  void finish(Pass&) const override {}
  [[nodiscard]] std::vector<Output> forward_outputs() const override;
  [[nodiscard]] std::vector<Output> generation_outputs() const override { return {}; }
  [[nodiscard]] Output first_tokens() const override { return {}; }
  [[nodiscard]] std::map<std::string, std::int64_t> executed() const override;

 private:
  [[nodiscard]] std::int64_t rows() const { return in_.batch * in_.prompt_tokens; }
  [[nodiscard]] Slot input() const { return first_free_; }
  [[nodiscard]] Slot output() const { return first_free_ + 1; }
  [[nodiscard]] Slot hidden(std::int64_t layer) const { return first_free_ + 2 + static_cast<Slot>(layer % 2); }

  Workload in_;
  model::WeightList weights_;
  std::int64_t element_;
  std::int64_t bytes_;  // of one activation
  Slot first_free_;
};

}  // namespace assay::measure
