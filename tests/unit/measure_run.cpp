// SPDX-License-Identifier: Apache-2.0
// Launches on the host module: phases in order, ledgers that balance to the byte, bytes that equal the formulas, seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "suite/measure/forward/network.hpp"
#include "suite/measure/readings.hpp"
#include "suite/measure/runner.hpp"
#include "suite/model/config.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

using test::counter;
using test::launch;
using test::tiny;

void expect_balanced(const test::Ran& ran) {
  for (const auto& phase : ran.phases) {
    for (const auto* ledger : {&phase.ledger_start, &phase.ledger_end}) {
      ASSERT_TRUE(ledger->has_value()) << phase.name;
      EXPECT_TRUE((*ledger)->balanced) << (*ledger)->checkpoint;
      ASSERT_EQ((*ledger)->equations.size(), 5u);
      for (const auto& equation : (*ledger)->equations) {
        EXPECT_TRUE(equation.balanced) << (*ledger)->checkpoint << ": " << equation.text;
      }
      for (const auto& term : (*ledger)->terms) {
        EXPECT_TRUE(term.first.has_value() && term.second.has_value()) << "read twice: " << term.name;
        EXPECT_EQ(term.first.value, term.second.value) << (*ledger)->checkpoint << ": " << term.name;
      }
    }
  }
}

std::vector<std::string> names_of(const test::Ran& ran) {
  std::vector<std::string> names;
  for (const auto& phase : ran.phases) names.push_back(phase.name + "/" + std::to_string(phase.repeat));
  return names;
}

// Requested bytes of each category at the end of each phase, against formulas written nowhere else in the run.
void expect_formulas(const Workload& work, const test::Ran& ran) {
  const std::int64_t weights = model::weights_of(work.model, work.storage_dtype)->bytes;
  const std::int64_t capacity = work.prompt_tokens + work.decode_tokens;
  const std::int64_t cache = *model::kv_bytes(work.model, work.kv, work.batch, capacity, work.storage_dtype);
  for (const auto& phase : ran.phases) {
    const bool loaded = phase.name != "environment";
    EXPECT_EQ(counter(phase.end, "requested_bytes.current", "category:weights"), loaded ? weights : 0) << phase.name;
    if (phase.name == "prefill" && work.kv != KvKind::growing) {
      EXPECT_EQ(counter(phase.end, "requested_bytes.current", "category:kv"), cache);
    }
    if ((phase.name == "decode" || phase.name == "whole_cycle") && work.kv != KvKind::growing) {
      EXPECT_EQ(counter(phase.end, "requested_bytes.peak", "category:kv"), cache) << phase.name;
    }
    if (phase.name == "decode" || phase.name == "warm_forward" || phase.name == "whole_cycle") {
      EXPECT_EQ(counter(phase.end, "requested_bytes.current", "category:kv"), 0) << phase.name;
      EXPECT_EQ(counter(phase.end, "requested_bytes.current", "category:activation"), 0) << phase.name;
    }
  }
}

TEST(MeasureRun, EveryPhaseIsThereInItsOrder) {
  const auto ran = launch(tiny());
  ASSERT_TRUE(ran.result) << ran.result.error().text;
  EXPECT_EQ(names_of(ran), (std::vector<std::string>{"environment/0", "model_load/0", "inputs/0", "cold_forward/0",
                                                     "warmup/0", "warm_forward/0", "warm_forward/1", "prefill/0",
                                                     "decode/0", "prefill/1", "decode/1", "whole_cycle/0"}));
  ASSERT_EQ(ran.started.size(), ran.phases.size());
  for (std::size_t i = 0; i < ran.phases.size(); ++i) {
    const auto& phase = ran.phases[i];
    EXPECT_EQ(ran.started[i].phase, phase.name);
    EXPECT_EQ(ran.started[i].launch_order, 3);
    EXPECT_EQ(phase.status, PhaseStatus::ok) << phase.name;
    EXPECT_FALSE(phase.peaks_partial);
    EXPECT_GT(std::get<std::int64_t>(phase.duration.value), 0) << phase.name;
    EXPECT_EQ(phase.configured.at("prompt_tokens"), 9);
    EXPECT_EQ(phase.start.size(), phase.end.size());
    EXPECT_EQ(phase.start.size(), 108u + 8u + 6u + 72u + 8u + 5u)
        << "every statistic, the account of the blocks and the device's readings";
  }
  EXPECT_EQ(ran.find("prefill")->executed.at("rows"), 18);
  std::set<std::string> samples;
  for (const auto& sample : ran.samples) {
    samples.insert(sample.name);
    EXPECT_GT(sample.value, 0) << sample.name;
    EXPECT_TRUE(sample.flag.empty()) << sample.name << ": " << sample.flag;
  }
  EXPECT_EQ(samples, (std::set<std::string>{"cold_forward", "warm_forward", "time_to_first_token",
                                            "decode_tokens_per_second", "whole_cycle", "device_copy"}));
  EXPECT_EQ(ran.samples.size(), 1u + 2u + 2u + 2u + 1u + 5u);
}

TEST(MeasureRun, TheLedgerBalancesAtEveryCheckpoint) {
  for (const KvKind kind : {KvKind::growing, KvKind::fixed, KvKind::sliding_window}) {
    for (const std::string_view policy : allocator::kPolicyNames) {
      SCOPED_TRACE(policy);
      Workload work = tiny();
      work.kv = kind;
      const auto ran = launch(work, test::host(), std::string(policy));
      ASSERT_TRUE(ran.result) << ran.result.error().text;
      expect_balanced(ran);
      expect_formulas(work, ran);
    }
  }
}

// 32 units, 4 and 2 layers: weights by hand, as in the tests of the formulas. KV of 14 tokens and 2 sequences in f32.
TEST(MeasureRun, WeightsAndCacheEqualBytesWorkedOutByHand) {
  // decoder-tiny: 62,640 parameters; cache of 2 x 14 tokens x (2 x 3 layers x 2 heads x 8) x 4 bytes.
  Workload plain = tiny();
  // The same with one key-value head less, tied, biases of qwen2: embedding 97x48 = 4,656; a layer: 96 + 2x(48x48) + 48
  // + 2x(8x48 + 8) + 3x(80x48) = 17,056; norm 48.
  Workload biased = tiny();
  biased.model.kv_heads = 1;
  biased.model.tied_embeddings = true;
  biased.model.attention_bias = true;
  biased.model.model_type = "qwen2";
  // f16, head_dim 16 over 4 heads of a hidden size of 48: 2 x 4,656; a layer: 96 + 2x(64x48) + 2x(32x48) + 3x(80x48) =
  // 20,832; two layers; norm 48. A ring of 6 tokens.
  Workload ring = tiny();
  ring.model.head_dim = 16;
  ring.model.query_heads = 4;
  ring.model.layers = 2;
  ring.storage_dtype = "f16";
  ring.kv = KvKind::sliding_window;
  const struct {
    Workload work;
    std::int64_t weights;
    std::int64_t cache;
  } expected[] = {{plain, 62640 * 4, 2 * 14 * 96 * 4},
                  {biased, (4656 + 3 * 17056 + 48) * 4, 2 * 14 * 48 * 4},
                  {ring, (9312 + 2 * 20832 + 48) * 2, 2 * 6 * 128 * 2}};
  for (const auto& [work, weights, cache] : expected) {
    const auto ran = launch(work);
    ASSERT_TRUE(ran.result) << ran.result.error().text;
    EXPECT_EQ(counter(ran.find("model_load")->end, "requested_bytes.current", "category:weights"), weights);
    EXPECT_EQ(counter(ran.find("prefill")->end, "requested_bytes.current", "category:kv"), cache);
    EXPECT_EQ(counter(ran.find("whole_cycle")->end, "requested_bytes.peak", "category:weights"), weights);
    EXPECT_EQ(counter(ran.find("whole_cycle")->end, "requested_bytes.peak", "category:kv"), cache);
  }
}

// What the passes say they will request is what the allocator counted, category by category.
TEST(MeasureRun, ThePlannedBytesAreTheObservedBytes) {
  for (const KvKind kind : {KvKind::growing, KvKind::fixed, KvKind::sliding_window}) {
    Workload work = tiny();
    work.kv = kind;
    const auto network = *make_network(work);
    RequestTracker tracker(network->slot_count());
    Pass pass;
    const auto ran = launch(work);
    ASSERT_TRUE(ran.result) << ran.result.error().text;
    const auto expect_peaks = [&](const char* phase) {
      for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
        const auto category = static_cast<allocator::Category>(i);
        if (category == allocator::Category::weights) continue;
        EXPECT_EQ(counter(ran.find(phase)->end, "requested_bytes.peak",
                          "category:" + std::string(allocator::kCategoryNames[i])),
                  tracker.bytes().peak[i])
            << phase << " " << allocator::kCategoryNames[i];
      }
      const std::int64_t weights = network->weights().bytes;
      EXPECT_EQ(counter(ran.find(phase)->end, "requested_bytes.all.peak"), tracker.bytes().total_peak + weights)
          << phase;
      tracker.reset_peaks();
      pass.clear();
    };
    network->inputs(pass);
    tracker.follow(pass);
    expect_peaks("inputs");
    network->forward(pass);
    tracker.follow(pass);
    expect_peaks("warm_forward");
    network->prefill(pass);
    tracker.follow(pass);
    expect_peaks("prefill");
    for (std::int64_t step = 0; step < work.decode_tokens; ++step) network->decode(step, pass);
    network->finish(pass);
    tracker.follow(pass);
    expect_peaks("decode");
  }
}

TEST(MeasureRun, ExternalMemoryAppearsInExternalAndNowhereElse) {
  constexpr std::int64_t kExternal = std::int64_t{64} << 20;
  Workload work = tiny();
  const auto plain = launch(work);
  work.occupy_bytes = kExternal;
  const auto occupied = launch(work);
  ASSERT_TRUE(plain.result);
  ASSERT_TRUE(occupied.result) << occupied.result.error().text;
  expect_balanced(occupied);
  ASSERT_EQ(plain.phases.size(), occupied.phases.size());
  EXPECT_FALSE(occupied.find("model_load")->conditions.empty());
  for (std::size_t i = 1; i < plain.phases.size(); ++i) {
    const auto& before = plain.phases[i].ledger_end->terms;
    const auto& after = occupied.phases[i].ledger_end->terms;
    for (std::size_t t = 0; t < before.size(); ++t) {
      const std::int64_t more =
          std::get<std::int64_t>(after[t].first.value) - std::get<std::int64_t>(before[t].first.value);
      const bool grows = before[t].name == "external" || before[t].name == "device_used";
      EXPECT_EQ(more, grows ? kExternal : 0) << plain.phases[i].name << ": " << before[t].name;
    }
  }
}

// The readings of a loaded device, each made wrong in turn.
TEST(MeasureRun, EachReadingOfARealDeviceCorruptedBreaksTheBalance) {
  auto session = Session::open(test::host(), "caching", "");
  ASSERT_TRUE(session) << session.error().text;
  ASSERT_TRUE((*session)->prepare("f32"));
  const Reading baseline = baseline_of(look(*(*session)->allocator, (*session)->device, nullptr));
  const auto network = *make_network(tiny());
  Runner runner(**session, *network, 1, Storage::f32);
  ASSERT_TRUE(runner.load());
  ASSERT_TRUE(runner.inputs());
  ASSERT_TRUE((*session)->device.synchronize());
  const Look seen = look(*(*session)->allocator, (*session)->device, nullptr);
  const auto balanced = [&](const Look& changed) {
    return build_ledger(ledger_readings(changed, baseline, "test")).balanced;
  };
  EXPECT_TRUE(balanced(seen));
  using Corrupt = std::function<void(Look&)>;
  std::vector<std::pair<std::string, Corrupt>> corruptions = {
      {"used", [](Look& l) { l.device->used_bytes -= 1; }},
      {"walked", [](Look& l) { l.device->walked_bytes -= 1; }},
      {"allocator", [](Look& l) { l.device->allocator_bytes -= 1; }},
      {"external", [](Look& l) { l.device->external_bytes += 1; }},
      {"reserved", [](Look& l) { l.statistics.reserved_bytes[0].current -= 1; }},
      {"active", [](Look& l) { l.statistics.active_bytes[0].current -= 1; }},
      {"allocated", [](Look& l) { l.statistics.allocated_bytes[0].current -= 1; }},
      {"inactive", [](Look& l) { l.statistics.inactive_split_bytes[0].current += 1; }},
      {"requested", [](Look& l) { l.statistics.requested_bytes[0].current -= 1; }}};
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    corruptions.emplace_back(allocator::kCategoryNames[i],
                             [i](Look& l) { l.statistics.categories[i].requested_bytes.current += 1; });
  }
  for (const auto& [name, corrupt] : corruptions) {
    Look wrong = seen;
    corrupt(wrong);
    EXPECT_FALSE(balanced(wrong)) << name;
  }
}

TEST(MeasureRun, EqualSeedsGiveEqualChecksums) {
  Workload work = tiny();
  const auto first = launch(work);
  const auto second = launch(work);
  ASSERT_TRUE(first.result);
  EXPECT_EQ(first.checksum, second.checksum);
  EXPECT_EQ(first.checksum.rfind("sha256:", 0), 0u) << first.checksum;
  work.repeats = 3;
  EXPECT_EQ(launch(work).checksum, first.checksum) << "more repeats compute the same";
  work.kv = KvKind::growing;
  EXPECT_EQ(launch(work).checksum, first.checksum) << "another cache holds the same";
  work.seed = 2;
  EXPECT_NE(launch(work).checksum, first.checksum);
}

TEST(MeasureRun, EmptyCacheIsARecordedCondition) {
  Workload work = tiny();
  work.empty_cache = true;
  const auto ran = launch(work);
  ASSERT_TRUE(ran.result) << ran.result.error().text;
  expect_balanced(ran);
  for (const auto& phase : ran.phases) {
    if (phase.name == "environment") continue;
    ASSERT_FALSE(phase.conditions.empty());
    EXPECT_EQ(phase.conditions.back(), "empty_cache before the phase") << phase.name;
    for (const auto& term : phase.ledger_start->terms) {
      if (term.name != "free_segments") continue;
      EXPECT_EQ(term.first.value, Number(std::int64_t{0})) << phase.name;
    }
  }
}

TEST(MeasureRun, PeaksStartFromWhatIsLive) {
  const auto ran = launch(tiny());
  for (const auto& phase : ran.phases) {
    EXPECT_GE(counter(phase.end, "allocated_bytes.all.peak"), counter(phase.start, "allocated_bytes.all.current"))
        << phase.name << ": a reset frees nothing";
    EXPECT_GE(counter(phase.end, "allocated_bytes.all.peak"), counter(phase.end, "allocated_bytes.all.current"));
  }
}

TEST(MeasureRun, WithoutGenerationThereIsNone) {
  Workload work = tiny();
  work.decode_tokens = 0;
  work.warmups = 0;
  work.repeats = 1;
  const auto ran = launch(work);
  ASSERT_TRUE(ran.result) << ran.result.error().text;
  EXPECT_EQ(names_of(ran), (std::vector<std::string>{"environment/0", "model_load/0", "inputs/0", "cold_forward/0",
                                                     "warm_forward/0", "whole_cycle/0"}));
  expect_balanced(ran);
  EXPECT_EQ(ran.checksum.rfind("sha256:", 0), 0u);
}

TEST(MeasureRun, TheDenseNetworkRunsInEveryDtype) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    Workload work;
    work.kind = WorkloadKind::dense;
    work.width = 64;
    work.depth = 3;
    work.batch = 2;
    work.prompt_tokens = 5;
    work.storage_dtype = dtype;
    const auto ran = launch(work);
    ASSERT_TRUE(ran.result) << ran.result.error().text;
    expect_balanced(ran);
    EXPECT_EQ(counter(ran.find("model_load")->end, "requested_bytes.current", "category:weights"),
              model::dense_weights_of(64, 3, dtype)->bytes);
    EXPECT_EQ(launch(work).checksum, ran.checksum);
  }
}

TEST(MeasureRun, RealBlockShapesRunTheWholeProtocol) {
  Workload work = tiny();
  work.repeats = 1;
  for (const char* wave : {"32", "64"}) {
    const auto ran = launch(work, test::host({{"wave", wave}}));
    ASSERT_TRUE(ran.result) << ran.result.error().text;
    expect_balanced(ran);
  }
}

}  // namespace
}  // namespace assay::measure
