// SPDX-License-Identifier: Apache-2.0
// Summary and card: gaps of one instant, never of two peaks; the CPU named as such; failures kept in sight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "results-schema/json/json.hpp"
#include "suite/report/card.hpp"
#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/memory_summary.hpp"
#include "suite/report/summary.hpp"
#include "suite/report/table.hpp"

namespace {

using namespace assay;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kGib = 1LL << 30;

Counter allocator_counter(std::string name, std::int64_t bytes) {
  return {std::move(name), observed_bytes(bytes), "allocator", "caching", Exactness::exact};
}

std::vector<Counter> counters(std::int64_t allocated, std::int64_t reserved, std::int64_t peak_allocated,
                              std::int64_t peak_reserved) {
  return {allocator_counter("requested_bytes.all.current", allocated),
          allocator_counter("allocated_bytes.all.current", allocated),
          allocator_counter("allocated_bytes.all.peak", peak_allocated),
          allocator_counter("active_bytes.all.current", allocated),
          allocator_counter("reserved_bytes.all.current", reserved),
          allocator_counter("reserved_bytes.all.peak", peak_reserved),
          allocator_counter("largest_free_bytes", (reserved - allocated) / 2)};
}

Phase phase(std::string name, std::vector<Counter> start, std::vector<Counter> end) {
  Phase out;
  out.name = std::move(name);
  out.duration = {std::int64_t{2'000'000}, "ns", Basis::observed, {}};
  out.start = std::move(start);
  out.end = std::move(end);
  Ledger ledger;
  ledger.checkpoint = out.name + ":end";
  ledger.balanced = true;
  out.ledger_end = ledger;
  return out;
}

IdentityField text_field(std::string key, std::string value) {
  return {std::move(key), Tier::thing, FieldState::value, std::move(value), {}, "test"};
}

RunDocument document() {
  RunDocument d;
  d.kind = DocumentKind::measure;
  d.status = DocumentStatus::ok;
  d.run.id = "0123";
  d.run.started_at = "2026-01-02T03:04:05Z";
  d.run.suite_version = "0.1.0";
  d.run.suite_commit = "unknown";
  Workload w;
  w.kind = WorkloadKind::dense;
  w.width = 8;
  w.depth = 2;
  d.plan.workloads = {w};
  DeviceSection device;
  device.name = "host:0";
  device.identity.fields = {text_field("backend", "host"), text_field("platform", "cpu"),
                            text_field("execution", "native one-thread blocks"), text_field("arch", "x86_64")};
  Launch launch;
  launch.outcome = LaunchOutcome::ok;
  // Allocated / reserved: 8 / 10, then 6 / 12. The peaks are 8 and 12: their difference, 4, never existed.
  const auto first = counters(8 * kGib, 10 * kGib, 8 * kGib, 10 * kGib);
  const auto second = counters(6 * kGib, 12 * kGib, 8 * kGib, 12 * kGib);
  launch.phases = {phase("cold_forward", counters(0, 0, 0, 0), first), phase("warm_forward", first, second)};
  launch.samples = {{"time_to_first_token", "ns", Basis::observed, {1e6, 3e6, 2e6}, {}},
                    {"decode_tokens_per_second", "tokens/s", Basis::observed, {10, 20}, {"", "throttled"}}};
  launch.checksum = "abcd";
  device.launches = {launch};
  Case good;
  good.name = "copy/f32/portable";
  device.cases = {good, good};
  d.devices = {device};
  return d;
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(report::columns_of(line), report::kScreenColumns) << line;
}

TEST(TwoInstants, GapsAreTwoAndSixAndNeverFour) {
  const auto d = document();
  for (const auto& text : {report::summary(d, false), report::card(d)}) {
    EXPECT_THAT(text, HasSubstr("2.00 GiB"));
    EXPECT_THAT(text, HasSubstr("6.00 GiB"));
    EXPECT_FALSE(std::regex_search(text, std::regex(R"((^|[^0-9.])4(\.0+)? ?G)"))) << text;
    EXPECT_THAT(text, Not(HasSubstr(std::to_string(4 * kGib))));
    expect_narrow(text);
  }
  const auto& phases = d.devices[0].launches[0].phases;
  EXPECT_EQ(report::instant(phases[0].end).gap(), 2 * kGib);
  EXPECT_EQ(report::instant(phases[1].end).gap(), 6 * kGib);
}

// The gap alone says nothing of whether one request could have it.
TEST(TwoInstants, NoGapWithoutTheLargestFreeBlockBesideIt) {
  const auto d = document();
  for (const auto& text : {report::summary(d, false), report::card(d)}) {
    std::istringstream lines(text);
    int shown = 0;
    for (std::string line; std::getline(lines, line);)
      if (std::regex_search(line, std::regex(R"(6\.00 GiB +12\.00 GiB|12\.00 GiB +6\.00 GiB)"))) {
        EXPECT_THAT(line, HasSubstr("3.00 GiB")) << "6 GiB are free, the largest block of them has 3";
        ++shown;
      }
    EXPECT_GE(shown, 1) << text;
    EXPECT_THAT(text, HasSubstr("Largest free"));
  }
}

TEST(TwoInstants, AlsoWhenTheyAreStartAndEndOfOnePhase) {
  auto d = document();
  auto& phases = d.devices[0].launches[0].phases;
  phases.erase(phases.begin());
  for (const auto& text : {report::summary(d, false), report::card(d)}) {
    EXPECT_THAT(text, HasSubstr("2.00 GiB"));
    EXPECT_THAT(text, HasSubstr("6.00 GiB"));
    EXPECT_FALSE(std::regex_search(text, std::regex(R"((^|[^0-9.])4(\.0+)? ?G)"))) << text;
  }
}

TEST(Summary, SaysWhatAReaderNeedsFirst) {
  const auto text = report::summary(document(), false);
  EXPECT_THAT(text, HasSubstr("CPU measurement"));
  EXPECT_THAT(text, HasSubstr("cpu x86_64, backend host, execution native one-thread blocks"));
  EXPECT_THAT(text, HasSubstr("Kernel checks: 2 of 2"));
  EXPECT_THAT(text, HasSubstr("balanced at 2 of 2"));
  EXPECT_THAT(text, HasSubstr("Time to first token: 2.000 ms (median of 3, 1.000 ms to 3.000 ms)"));
  const auto unwrapped = std::regex_replace(text, std::regex("\n +"), " ");
  EXPECT_THAT(unwrapped,
              HasSubstr("Decoded tokens per second, all sequences: 15 tokens/s (median of 2, 10 to 20), WIDE: "
                        "spread 67 % of the median, 1 flagged"));
  EXPECT_THAT(text, HasSubstr("Output checksum: abcd"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(report::summary(document(), true), HasSubstr("\033[32m"));
}

TEST(Summary, FitsTheScreenAndSaysAFailureOnce) {
  auto d = document();
  auto& launch = d.devices[0].launches[0];
  launch.checksum = "sha256:" + std::string(64, 'a') + ":" + std::string(64, 'b');
  const auto text = report::summary(d, false);
  expect_narrow(text);
  EXPECT_THAT(text,
              HasSubstr("Output checksum: sha256:aaaaaaaaaaaaaaaa... (forward), bbbbbbbbbbbbbbbb... (generation)"));
  launch.outcome = LaunchOutcome::failed;
  launch.message = "out of memory: the board is full";
  d.devices[0].cases[0].status = CaseStatus::failed;
  d.devices[0].cases[0].message = "the checks ran into a wall";
  json::finish(d);
  const auto failed = report::summary(d, false);
  for (const char* said : {"the board is full", "the checks ran into a wall"}) {
    const auto first = failed.find(said);
    ASSERT_NE(first, std::string::npos) << failed;
    EXPECT_EQ(failed.find(said, first + 1), std::string::npos) << failed;
  }
}

TEST(Summary, ShowsTheModelsDimensionsAndWhereItCameFrom) {
  Workload w;
  w.model.layers = 30;
  w.model.hidden_size = 576;
  w.model.kv_heads = 3;
  w.model.model_type = "llama";
  w.source = {"mine", "./mine/config.json", ""};
  w.storage_dtype = "bf16";
  w.dtype_from = "torch_dtype";
  const auto line = report::workload_line(w);
  for (const char* shown : {"mine from ./mine/config.json", "30 layers", "hidden 576", "3 KV heads", "torch_dtype"})
    EXPECT_THAT(line, HasSubstr(shown));
}

TEST(Summary, NamesTheEquationThatIsOff) {
  auto d = document();
  auto& ledger = *d.devices[0].launches[0].phases[1].ledger_end;
  ledger.balanced = false;
  ledger.equations = {{"active = requested + slack", observed_bytes(8), observed_bytes(7), observed_bytes(1), false}};
  const auto text = report::summary(d, false);
  EXPECT_THAT(text, HasSubstr("NOT balanced at 1 of 2"));
  EXPECT_THAT(text, HasSubstr("warm_forward:end: active = requested + slack is off by 1 bytes"));
}

TEST(Summary, KeepsFailuresInSight) {
  auto d = document();
  d.status = DocumentStatus::partial;
  auto& launch = d.devices[0].launches[0];
  launch.outcome = LaunchOutcome::failed;
  launch.message = "out of memory";
  auto& failed = launch.phases[1];
  failed.status = PhaseStatus::failed;
  failed.peaks_partial = true;
  failed.failure = PhaseFailure{"out_of_memory", "no room", observed_bytes(7 * kGib), "kv", std::nullopt};
  failed.failure->account = MemoryAccount{"fragmentation", "fragmentation: 7 bytes were needed; a tale of pieces.", {}};
  d.failures = {{"host:0", 0, "warm_forward", "out_of_memory", "no room"}};
  const auto text = report::summary(d, false);
  EXPECT_THAT(text, HasSubstr("0 of 1 ok"));
  EXPECT_THAT(text, HasSubstr("warm_forward (failed)"));
  EXPECT_THAT(text, HasSubstr("Out of memory in warm_forward: fragmentation: 7 bytes were needed; a tale of pieces."));
  EXPECT_THAT(text, HasSubstr("host:0, process 0, warm_forward: out_of_memory: no room"));
  const auto card = report::card(d);
  EXPECT_THAT(card, HasSubstr("no launch finished"));
  EXPECT_THAT(card, HasSubstr("Phases failed: warm_forward (1)"));
  EXPECT_THAT(card, HasSubstr("requested 7.00 GiB"));
  EXPECT_THAT(card, HasSubstr("a tale of pieces"));
  EXPECT_THAT(card, Not(HasSubstr("12884901888")));  // no peak is offered as a need
}

TEST(MemorySummary, HasEveryRowOfPyTorchsAndTheLargestFreeBlock) {
  const auto text = report::memory_summary(document());
  for (const char* row : {"Allocated memory", "Active memory", "Requested memory", "GPU reserved memory",
                          "Non-releasable memory", "Allocations", "Active allocs", "GPU reserved segments",
                          "Non-releasable allocs", "Oversize allocations", "Oversize GPU segments"})
    EXPECT_THAT(text, HasSubstr(row));
  EXPECT_THAT(text, HasSubstr("from large pool"));
  EXPECT_THAT(text, HasSubstr("CUDA OOMs"));
  EXPECT_THAT(text, HasSubstr("Largest free block: 3.00 GiB"));
  // The current value is that of the last phase, the peak that of any: 6 and 8.
  EXPECT_TRUE(std::regex_search(text, std::regex("Allocated memory +6\\.00 GiB +8\\.00 GiB"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("GPU reserved memory +12\\.00 GiB +12\\.00 GiB"))) << text;
  EXPECT_THAT(text, HasSubstr("only the names"));
  expect_narrow(text);
}

TEST(Summary, ShowsTheLatencyOfAllocatorCallsWhereTheyWereTimed) {
  auto d = document();
  EXPECT_THAT(report::summary(d, false), Not(HasSubstr("Allocator call")));
  CallLatency hit;
  hit.call = "hit";
  hit.count = 3;
  hit.p50 = {std::int64_t{250}, "ns", Basis::observed, {}};
  hit.p99 = hit.max = {std::int64_t{1500}, "ns", Basis::observed, {}};
  CallLatency miss;
  miss.call = "miss";
  d.devices[0].launches[0].allocator_latency = {hit, miss};
  const auto text = report::summary(d, false);
  EXPECT_TRUE(std::regex_search(text, std::regex("hit +3 +250 ns +1\\.500 us +1\\.500 us"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("miss +0 +n/a +n/a +n/a"))) << text;
}

TEST(Card, KeepsComputedObservedAndAssumedApart) {
  report::CardOptions options;
  options.reserve_bytes = 5 * kGib;
  const auto text = report::card(document(), options);
  EXPECT_THAT(text, HasSubstr("Computed"));
  EXPECT_THAT(text, HasSubstr("Observed"));
  EXPECT_THAT(text, HasSubstr("Assumed"));
  EXPECT_THAT(text, HasSubstr("Largest load tested whole: dense network 2 x 8"));
  EXPECT_THAT(text, HasSubstr("576 B (576 B)"));  // 2 layers of 8 x 8 + 8 elements of 4 bytes
  EXPECT_THAT(text, HasSubstr("12884901888 B (12.00 GiB)"));
  EXPECT_THAT(text, HasSubstr("5368709120 B (5.00 GiB)"));
  EXPECT_THAT(text, HasSubstr("any GPU: this is a CPU measurement"));
  expect_narrow(text);
}

TEST(Facts, Median) {
  EXPECT_EQ(report::median({3, 1, 2}), 2);
  EXPECT_EQ(report::median({4, 1, 2, 3}), 2.5);
}

}  // namespace
