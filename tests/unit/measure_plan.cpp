// SPDX-License-Identifier: Apache-2.0
// Passes are sound without a device: no slot is used before it is filled or filled twice, nothing is left behind, and
// the bytes they request are those of the model's formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "suite/measure/forward/network.hpp"
#include "suite/model/bytes.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

using allocator::Category;

// Follows passes and complains about any misuse of a slot.
class Checker {
 public:
  explicit Checker(const Network& network) : held_(network.slot_count(), 0) {
    for (std::size_t i = 0; i < network.weights().tensors.size(); ++i) held_[i] = network.weights().tensors[i].bytes;
  }

  void follow(const Pass& pass) {
    for (const auto& step : pass) {
      if (const auto* made = std::get_if<AllocateStep>(&step)) {
        EXPECT_EQ(held_[made->slot], 0) << "slot " << made->slot << " filled twice";
        EXPECT_GT(made->bytes, 0);
        held_[made->slot] = made->bytes;
      } else if (const auto* gone = std::get_if<ReleaseStep>(&step)) {
        EXPECT_GT(held_[gone->slot], 0) << "slot " << gone->slot << " emptied twice";
        held_[gone->slot] = 0;
      } else if (const auto* copied = std::get_if<CopyStep>(&step)) {
        use(copied->to, copied->bytes);
        use(copied->from, copied->bytes);
      } else if (const auto* launched = std::get_if<LaunchStep>(&step)) {
        EXPECT_GE(launched->pointer_count, 2u);
        for (std::uint32_t i = 0; i < launched->pointer_count; ++i) use(launched->pointers[i].operand, 1);
      }
    }
  }

  [[nodiscard]] std::int64_t filled() const {
    return std::count_if(held_.begin(), held_.end(), [](std::int64_t bytes) { return bytes != 0; });
  }

 private:
  void use(const Operand& operand, std::int64_t bytes) {
    EXPECT_GE(operand.offset_bytes, 0);
    EXPECT_LE(operand.offset_bytes + bytes, held_[operand.slot]) << "slot " << operand.slot;
  }
  std::vector<std::int64_t> held_;
};

std::unique_ptr<Network> network_of(const Workload& work) {
  auto made = make_network(work);
  EXPECT_TRUE(made) << made.error().text;
  return *std::move(made);
}

void generate_all(const Network& network, std::int64_t steps, const std::function<void(const Pass&)>& each) {
  Pass pass;
  network.prefill(pass);
  each(pass);
  for (std::int64_t step = 0; step < steps; ++step) {
    pass.clear();
    network.decode(step, pass);
    each(pass);
  }
  pass.clear();
  network.finish(pass);
  each(pass);
}

TEST(MeasurePlan, SlotsAreFilledUsedAndEmptiedInOrder) {
  for (const KvKind kind : {KvKind::growing, KvKind::fixed, KvKind::sliding_window}) {
    for (const std::int64_t prompt : {1, 3, 6, 9}) {
      for (const std::int64_t steps : {0, 1, 4, 5}) {
        Workload work = test::tiny();
        work.kv = kind;
        work.prompt_tokens = prompt;
        work.decode_tokens = steps;
        work.model.attention_bias = steps % 2 != 0;
        const auto network = network_of(work);
        Checker checker(*network);
        Pass pass;
        network->inputs(pass);
        checker.follow(pass);
        const std::int64_t resident = checker.filled();
        pass.clear();
        network->forward(pass);
        checker.follow(pass);
        EXPECT_EQ(checker.filled(), resident) << "a forward pass leaves nothing behind";
        generate_all(*network, steps, [&](const Pass& one) { checker.follow(one); });
        EXPECT_EQ(checker.filled(), resident) << "a generation leaves nothing behind";
      }
    }
  }
}

TEST(MeasurePlan, TheCacheRequestsWhatTheFormulaSays) {
  Workload work = test::tiny();
  const std::int64_t capacity = work.prompt_tokens + work.decode_tokens;
  constexpr auto kKv = static_cast<std::size_t>(Category::kv);
  for (const KvKind kind : {KvKind::growing, KvKind::fixed, KvKind::sliding_window}) {
    work.kv = kind;
    const auto network = network_of(work);
    RequestTracker tracker(network->slot_count());
    std::int64_t last_live = 0;
    generate_all(*network, work.decode_tokens, [&](const Pass& pass) {
      tracker.follow(pass);
      if (tracker.bytes().live[kKv] != 0) last_live = tracker.bytes().live[kKv];
    });
    const std::int64_t formula = *model::kv_bytes(work.model, kind, work.batch, capacity, work.storage_dtype);
    EXPECT_EQ(last_live, formula);
    // While the last tensor of a growing cache is copied, its old contents (one token fewer) are still there.
    const std::int64_t copied = work.batch * (capacity - 1) * work.model.kv_heads * work.model.head_dim * 4;
    EXPECT_EQ(tracker.bytes().peak[kKv], formula + (kind == KvKind::growing ? copied : 0));
    EXPECT_EQ(tracker.bytes().live[kKv], 0);
  }
}

TEST(MeasurePlan, ADenseNetworkKeepsTwoActivationsAtMost) {
  Workload work;
  work.kind = WorkloadKind::dense;
  work.width = 32;
  work.depth = 5;
  work.batch = 2;
  work.prompt_tokens = 3;
  const auto network = network_of(work);
  Checker checker(*network);
  Pass pass;
  network->inputs(pass);
  checker.follow(pass);
  Pass forward;
  network->forward(forward);
  checker.follow(forward);
  RequestTracker tracker(network->slot_count());
  tracker.follow(forward);
  EXPECT_EQ(tracker.bytes().total_peak, 2 * 6 * 32 * 4);
  EXPECT_EQ(tracker.bytes().total_live, 0);
  tracker.reset_peaks();
  EXPECT_EQ(tracker.bytes().total_peak, 0);
}

TEST(MeasurePlan, TheToyLaunchesEveryKernelOfTheWorkload) {
  const auto kernels_of = [](const Workload& work) {
    std::vector<Kernel> kernels;
    const auto network = network_of(work);
    const auto collect = [&](const Pass& pass) {
      for (const auto& step : pass) {
        if (const auto* launched = std::get_if<LaunchStep>(&step)) kernels.push_back(launched->kernel);
      }
    };
    Pass pass;
    network->forward(pass);
    collect(pass);
    generate_all(*network, work.decode_tokens, collect);
    std::sort(kernels.begin(), kernels.end());
    kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
    return kernels;
  };
  Workload dense;
  dense.kind = WorkloadKind::dense;
  dense.width = 4096;
  dense.depth = 3;
  Workload sliding = test::tiny();
  sliding.kv = KvKind::sliding_window;
  for (const Workload& work : {test::tiny(), sliding, dense}) {
    EXPECT_EQ(kernels_of(toy_of(work)), kernels_of(work));
    EXPECT_LT(network_of(toy_of(work))->weights().bytes, 1 << 16);
  }
}

TEST(MeasurePlan, RefusesWorkloadsThatCannotRun) {
  using Change = std::function<void(Workload&)>;
  const std::pair<const char*, Change> changes[] = {
      {"dtype", [](Workload& w) { w.storage_dtype = "fp8"; }},
      {"f16", [](Workload& w) { w.compute_dtype = "f16"; }},
      {"batch", [](Workload& w) { w.batch = 0; }},
      {"prompt", [](Workload& w) { w.prompt_tokens = -1; }},
      {"decode", [](Workload& w) { w.decode_tokens = -1; }},
      {"warm-ups", [](Workload& w) { w.warmups = -1; }},
      {"repeats", [](Workload& w) { w.repeats = 0; }},
      {"occupied", [](Workload& w) { w.occupy_bytes = -1; }},
      {"positions", [](Workload& w) { w.prompt_tokens = 124; }},
      {"decode", [](Workload& w) { w.decode_tokens = INT64_MAX; }},
      {"positions", [](Workload& w) { w.decode_tokens = std::int64_t{1} << 40; }},
      {"window", [](Workload& w) { w.kv = KvKind::sliding_window, w.model.sliding_window = 0; }},
      {"2^53", [](Workload& w) { w.batch = std::int64_t{1} << 50; }},
      {"num_attention_heads", [](Workload& w) { w.model.query_heads = 0; }},
      {"width", [](Workload& w) { w.kind = WorkloadKind::dense; }},
      {"generates no tokens", [](Workload& w) { w.kind = WorkloadKind::dense, w.width = 8, w.depth = 1; }}};
  EXPECT_TRUE(check_workload(test::tiny()));
  for (const auto& [word, change] : changes) {
    Workload work = test::tiny();
    change(work);
    const auto checked = check_workload(work);
    ASSERT_FALSE(checked) << word;
    EXPECT_NE(checked.error().text.find(word), std::string::npos) << checked.error().text;
    EXPECT_FALSE(make_network(work)) << word;
  }
}

}  // namespace
}  // namespace assay::measure
