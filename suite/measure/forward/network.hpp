// SPDX-License-Identifier: Apache-2.0
// Network: a workload as passes. Estimate and run read the same passes, so their bytes cannot drift apart.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/measure/forward/fill.hpp"
#include "suite/measure/forward/step.hpp"
#include "suite/model/bytes.hpp"

namespace assay::measure {

// Bytes of the workload's output that a person could compare: final logits and tokens, or the last activations.
struct Output {
  Operand operand;
  std::int64_t bytes = 0;
};

// A workload's network. Immutable and pure; passes are appended to the vector they are given.
// Order of a run: load, inputs, then any number of forward passes, then any number of generations (prefill, decode
// step 0 .. decode_tokens - 1, finish). A forward pass leaves no cache behind.
class Network {
 public:
  virtual ~Network() = default;
  [[nodiscard]] virtual Slot slot_count() const = 0;
  // Slot i holds weights().tensors[i].
  [[nodiscard]] virtual const model::WeightList& weights() const = 0;
  [[nodiscard]] virtual std::vector<Fill> weight_fills() const = 0;
  // Inputs and outputs live from here to the end.
  virtual void inputs(Pass& pass) const = 0;
  [[nodiscard]] virtual std::vector<Fill> input_fills() const = 0;
  virtual void forward(Pass& pass) const = 0;
  virtual void prefill(Pass& pass) const = 0;                    // decoders only; empty otherwise
  virtual void decode(std::int64_t step, Pass& pass) const = 0;  // likewise
  virtual void finish(Pass& pass) const = 0;                     // likewise: lets the cache go
  [[nodiscard]] virtual std::vector<Output> forward_outputs() const = 0;
  [[nodiscard]] virtual std::vector<Output> generation_outputs() const = 0;
  // Where the first generated tokens lie once prefill is done, int32; no bytes for a network without tokens.
  [[nodiscard]] virtual Output first_tokens() const = 0;
  // Shapes of a pass as executed.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> executed() const = 0;
};

// Whether every size of the workload is in range and its parts fit together: dtype, positions within the model's,
// a window where the cache is a ring, no buffer beyond 2^53 - 1 bytes. Errors: usage, bad_input.
Result<void> check_workload(const Workload& workload);

// The workload's shapes as asked for.
std::map<std::string, std::int64_t> configured_shapes(const Workload& workload);

// Errors: as check_workload.
Result<std::unique_ptr<Network>> make_network(const Workload& workload);

// A workload of the same kind, dtype and options that is a few kilobytes large: running it once launches every kernel
// that `workload` launches.
Workload toy_of(const Workload& workload);

// Requested bytes of a pass, as the allocator will count them: what is live after it and the highest sum on the way.
struct RequestedBytes {
  std::array<std::int64_t, allocator::kCategoryCount> live{};
  std::array<std::int64_t, allocator::kCategoryCount> peak{};  // each category's own highest
  std::int64_t total_live = 0;
  std::int64_t total_peak = 0;
  bool operator==(const RequestedBytes&) const = default;
};

// Follows passes one after the other, without a device.
class RequestTracker {
 public:
  explicit RequestTracker(Slot slots) : held_(slots) {}
  void follow(const Pass& pass);
  void reset_peaks();  // peak = live
  [[nodiscard]] const RequestedBytes& bytes() const { return bytes_; }

 private:
  struct Held {
    std::int64_t bytes = 0;
    allocator::Category category = allocator::Category::activation;
  };
  std::vector<Held> held_;
  RequestedBytes bytes_;
};

}  // namespace assay::measure
