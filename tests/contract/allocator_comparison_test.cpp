// SPDX-License-Identifier: Apache-2.0
// The policies against each other on recorded traces, from empty: peak reserved memory and device calls of `remapping`
// are at most those of `caching` and of `expandable`, but for the borders named here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/policy_rig.hpp"
#include "tests/support/pytorch_trace.hpp"
#include "tests/support/synthetic_trace.hpp"

namespace {

using assay::testing::kMiB;
using assay::testing::PolicyRig;
using assay::testing::read_pytorch_trace;
using assay::testing::SyntheticTrace;
using assay::testing::Trace;
using assay::testing::TraceEvent;

std::vector<std::filesystem::path> traces() {
  const char* data = std::getenv("ASSAY_SHARED_DATA");
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  const auto folder = data != nullptr
                          ? std::filesystem::path(data)
                          : std::filesystem::path(source != nullptr ? source : ".") / ".." / "shared" / "data";
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "traces" / "pytorch", error))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Outcome {
  double reserved = 0;  // peaks, bytes
  double active = 0;
  std::int64_t calls = 0;  // malloc, free, map, unmap
};

class FromEmpty {
 public:
  FromEmpty(const char* policy, const char* options) : rig_(policy, options, std::size_t{1} << 40) {}

  // Blocks live at the beginning are allocated first, in address order; or they are left out, and so are their frees.
  Outcome run(const Trace& trace, bool with_live) {
    if (with_live)
      for (const auto& [start, segment] : trace.segments)
        for (const auto& [address, block] : segment.blocks)
          blocks_[address] = rig_.take_on(stream(segment.stream), block.requested_bytes);
    for (const TraceEvent& event : trace.events) {
      if (event.action == TraceEvent::Action::alloc)
        blocks_[event.address] = rig_.take_on(stream(event.stream), event.bytes);
      if (event.action != TraceEvent::Action::free_completed || blocks_.count(event.address) == 0) continue;
      rig_.give(blocks_[event.address]);
      blocks_.erase(event.address);
    }
    return outcome();
  }

  Outcome run(const SyntheticTrace& trace) {
    std::vector<std::uintptr_t> addresses;
    for (const auto& event : trace.events) {
      if (event.is_alloc) {
        addresses.push_back(rig_.take_on(stream(event.stream), event.bytes));
      } else {
        rig_.give(addresses.at(event.block));
      }
    }
    return outcome();
  }

 private:
  Outcome outcome() const {
    assay::testing::expect_consistent(*rig_.allocator);
    const auto s = rig_.stats();
    return {static_cast<double>(s.reserved_bytes[0].peak), static_cast<double>(s.active_bytes[0].peak),
            s.num_device_alloc + s.num_device_free};
  }
  assay_stream* stream(std::int64_t id) {
    auto& own = streams_[id];
    if (own == nullptr) own = rig_.device.new_stream();
    return own;
  }

  PolicyRig rig_;
  std::map<std::int64_t, assay_stream*> streams_;
  std::map<std::uintptr_t, std::uintptr_t> blocks_;
};

void show(const std::string& trace, const char* policy, const Outcome& outcome) {
  std::cout << std::left << std::setw(32) << trace << std::setw(12) << policy << std::right << std::fixed
            << std::setprecision(1) << std::setw(10) << outcome.reserved / kMiB << " MiB reserved " << std::setw(10)
            << outcome.active / kMiB << " active, ratio " << std::setprecision(4) << outcome.reserved / outcome.active
            << ", calls " << outcome.calls << '\n';
}

// Where `remapping` does not reach the better of the two, and by how much: bytes reserved above `expandable`, and
// calls. In cs336-a freed blocks leave two holes of 12 MiB inside mappings that hold live blocks too, and nothing that
// small is asked for again before the peak. Memory is unmapped by whole mappings, as it was mapped; mappings of 10 MiB
// instead of 20 would free them, but need 283 calls where `caching` needs 240. `expandable` has no such holes here
// because its choice among equal blocks falls otherwise, at 672 calls.
struct Border {
  std::size_t reserved = 0;
  std::int64_t calls = 0;
};
Border border_of(const std::string& trace, bool with_live) {
  if (trace == "cs336-a") return {18 * kMiB, with_live ? 0 : 1};
  return {};
}

// Peak reserved / peak active of the best allocator known on the recording without the blocks live at its beginning.
// The aim for cs336-b-forward is 1.008: ninety holes of 2.3 MiB, each less than a mapping, stay between live blocks.
const std::map<std::string, double> kBestKnown{
    {"cs336-b-forward", 1.0143}, {"cs336-medium-1024-training", 1.025}, {"cs336-c", 1.0215}};

class AllocatorComparison : public ::testing::TestWithParam<bool> {};

TEST_P(AllocatorComparison, RemappingNeedsNoMoreMemoryAndNoMoreCalls) {
  const auto paths = traces();
  if (paths.empty()) GTEST_SKIP() << "no PyTorch snapshots; set ASSAY_SHARED_DATA to compare on them";
  for (const auto& path : paths) {
    const std::string name = path.stem().string();
    SCOPED_TRACE(name);
    const Trace trace = read_pytorch_trace(path.string());
    const Outcome caching = FromEmpty("caching", "tie_break:creation").run(trace, GetParam());
    const Outcome expandable = FromEmpty("expandable", "tie_break:creation").run(trace, GetParam());
    const Outcome remapping = FromEmpty("remapping", "").run(trace, GetParam());
    show(name, "caching", caching);
    show(name, "expandable", expandable);
    show(name, "remapping", remapping);
    const Border border = border_of(name, GetParam());
    EXPECT_LE(remapping.reserved, caching.reserved);
    EXPECT_LE(remapping.reserved, expandable.reserved + static_cast<double>(border.reserved));
    EXPECT_LE(remapping.calls, std::min(caching.calls, expandable.calls) + border.calls);
    if (GetParam()) {
      EXPECT_LE(remapping.reserved, 1.05 * remapping.active);
    }
    const auto best = kBestKnown.find(name);
    if (best != kBestKnown.end() && !GetParam()) {
      EXPECT_LE(remapping.reserved, best->second * remapping.active);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Start, AllocatorComparison, ::testing::Values(true, false), [](const auto& test) {
  return std::string(test.param ? "WithTheLiveBlocks" : "WithoutThem");
});

// What the constants were not tuned on. Where `remapping` loses against the better of the two, the line says by how
// much; the bounds are what was seen, with room for little more.
TEST(AllocatorComparisonOnSyntheticTraces, RemappingLosesSeldomAndLittle) {
  constexpr std::uint32_t kTraces = 48;
  Outcome all;
  double best_reserved = 0;
  std::int64_t caching_calls = 0;
  int lost_reserved = 0;
  int lost_calls = 0;
  for (std::uint32_t seed = 0; seed < kTraces; ++seed) {
    const SyntheticTrace trace = assay::testing::synthetic_trace(seed, seed >= kTraces / 2);
    SCOPED_TRACE(std::to_string(seed) + ": " + trace.name);
    const Outcome caching = FromEmpty("caching", "tie_break:creation").run(trace);
    const Outcome expandable = FromEmpty("expandable", "tie_break:creation").run(trace);
    const Outcome remapping = FromEmpty("remapping", "").run(trace);
    const double best = std::min(caching.reserved, expandable.reserved);
    const std::int64_t fewest = std::min(caching.calls, expandable.calls);
    if (remapping.reserved > best || remapping.calls > fewest)
      std::cout << std::left << std::setw(64) << trace.name << std::fixed << std::setprecision(1) << " reserved "
                << remapping.reserved / kMiB << " / " << best / kMiB << " MiB, calls " << remapping.calls << " / "
                << fewest << '\n';
    lost_reserved += remapping.reserved > best ? 1 : 0;
    lost_calls += remapping.calls > fewest ? 1 : 0;
    EXPECT_LE(remapping.reserved, std::max(1.05 * best, best + static_cast<double>(40 * kMiB)));
    EXPECT_LE(remapping.calls, caching.calls + caching.calls / 4 + 8);
    all.reserved += remapping.reserved;
    all.calls += remapping.calls;
    best_reserved += best;
    caching_calls += caching.calls;
  }
  std::cout << kTraces << " traces: more reserved than the better of the two on " << lost_reserved << ", more calls on "
            << lost_calls << "; in sum " << std::setprecision(4) << all.reserved / best_reserved
            << " of the better one's reserved bytes, "
            << static_cast<double>(all.calls) / static_cast<double>(caching_calls) << " of caching's calls\n";
  EXPECT_LE(all.reserved, 1.005 * best_reserved);
  EXPECT_LE(all.calls, caching_calls);
}

}  // namespace
