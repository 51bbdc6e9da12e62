// SPDX-License-Identifier: Apache-2.0
// Verification against recordings made here: random operations on several streams, deferred frees, flushes and new
// segments, written as a PyTorch snapshot of which the oldest events are missing.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "backends/allocator/caching.hpp"
#include "suite/replay/simulated_device.hpp"
#include "suite/replay/trace_input.hpp"
#include "suite/replay/verify.hpp"
#include "tests/support/shared_data.hpp"

namespace assay::replay {
namespace {

using allocator::BlockState;
using allocator::CachingAllocator;
using allocator::SegmentInfo;
using nlohmann::json;

// Runs a caching allocator and writes down what PyTorch's recorder would.
class Recorder {
 public:
  explicit Recorder(std::uint64_t seed, std::string options = "") : random_(seed), options_(std::move(options)) {
    caching_ = std::move(
        *CachingAllocator::create(SimulatedDevice::table(), device_.handle(), *allocator::parse_options(options_)));
    for (int i = 0; i < 3; ++i) streams_.push_back(device_.new_stream());
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      const auto choice = random_() % 100;
      if (choice < 52 || live_.empty())
        allocate();
      else if (choice < 92)
        free(choice < 60);
      else if (choice < 99)
        complete_one();
      else
        flush();
    }
  }

  // The snapshot; of the events only those from `first` on.
  json snapshot(std::size_t first = 0) const {
    json segments = json::array();
    for (const SegmentInfo& info : caching_->snapshot()) {
      json blocks = json::array();
      for (const auto& block : info.blocks)
        blocks.push_back({{"address", block.address},
                          {"size", block.bytes},
                          {"requested_size", block.requested_bytes},
                          {"state", block.state == BlockState::inactive           ? "inactive"
                                    : block.state == BlockState::active_allocated ? "active_allocated"
                                                                                  : "active_pending_free"}});
      segments.push_back({{"device", 0},
                          {"address", info.address},
                          {"total_size", info.total_bytes},
                          {"stream", number(info.stream)},
                          {"segment_type", info.small_pool ? "small" : "large"},
                          {"segment_pool_id", {0, 0}},
                          {"is_expandable", false},
                          {"blocks", blocks}});
    }
    const json events = json::array_t(events_.begin() + static_cast<std::ptrdiff_t>(first), events_.end());
    return {{"segments", segments},
            {"device_traces", {events}},
            {"allocator_settings", {{"PYTORCH_CUDA_ALLOC_CONF", options_}}}};
  }
  [[nodiscard]] std::size_t events() const { return events_.size(); }

 private:
  struct Live {
    std::uint64_t address;
    std::size_t bytes;
    std::size_t stream;
    assay_stream* waits_for;
  };

  std::uint64_t number(const assay_stream* stream) const {
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (streams_[i] == stream) return i;
    return 99;
  }
  void event(const char* action, std::uint64_t address, std::size_t bytes, std::size_t stream) {
    events_.push_back(
        {{"action", action}, {"addr", address}, {"size", bytes}, {"stream", stream}, {"time_us", events_.size()}});
  }
  std::size_t draw_bytes() {
    const std::size_t kind = random_() % 3;
    if (kind == 0) return 1 + random_() % (1 << 20);
    if (kind == 1) return (1 << 20) + random_() % (9 << 20);
    return (10 << 20) + random_() % (60 << 20);
  }

  void allocate() {
    const std::size_t stream = random_() % streams_.size();
    const std::size_t bytes = draw_bytes();
    const auto before = device_.calls().malloc;
    const auto pointer = caching_->allocate(bytes, streams_[stream], allocator::Category::workspace);
    ASSERT_TRUE(pointer) << pointer.error().text;
    const auto address = reinterpret_cast<std::uintptr_t>(*pointer);
    if (device_.calls().malloc != before) event("segment_alloc", address, device_.last_malloc_bytes(), stream);
    event("alloc", address, bytes, stream);
    live_.push_back({address, bytes, stream, nullptr});
  }

  void free(bool deferred) {
    const std::size_t index = random_() % live_.size();
    Live block = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    if (deferred) {
      block.waits_for = device_.new_stream();
      ASSERT_TRUE(caching_->record_stream(reinterpret_cast<void*>(block.address), block.waits_for));
    }
    ASSERT_TRUE(caching_->deallocate(reinterpret_cast<void*>(block.address)));
    event("free_requested", block.address, block.bytes, block.stream);
    if (deferred)
      waiting_.push_back(block);
    else
      event("free_completed", block.address, block.bytes, block.stream);
  }

  void complete_one() {
    if (waiting_.empty()) return;
    const Live block = waiting_.front();
    waiting_.erase(waiting_.begin());
    device_.pass(block.waits_for);
    ASSERT_TRUE(caching_->process_events());
    event("free_completed", block.address, block.bytes, block.stream);
  }

  void flush() {
    while (!waiting_.empty()) complete_one();
    std::map<std::uint64_t, const SegmentInfo*> gone;
    const auto before = caching_->snapshot();
    for (const SegmentInfo& segment : before) gone[segment.address] = &segment;
    ASSERT_TRUE(caching_->empty_cache());
    for (const SegmentInfo& segment : caching_->snapshot()) gone.erase(segment.address);
    for (const auto& [address, segment] : gone)
      event("segment_free", address, segment->total_bytes, number(segment->stream));
  }

  std::mt19937_64 random_;
  std::string options_;
  SimulatedDevice device_;
  std::unique_ptr<CachingAllocator> caching_;
  std::vector<assay_stream*> streams_;
  std::vector<Live> live_;
  std::vector<Live> waiting_;
  std::vector<json> events_;
};

Result<std::vector<Verification>> verify_text(const json& snapshot) {
  const test::ScratchFolder folder;
  const auto trace = TraceInput::open(folder.write("snapshot.json", snapshot.dump()));
  if (!trace) return trace.error();
  return verify(**trace);
}

std::string say(const Verification& v) {
  if (!v.first_divergence) return "none";
  const auto& d = *v.first_divergence;
  return std::to_string(d.event) + " " + d.action + ": expected " + d.expected + ", got " + d.got;
}

TEST(ReplayRecording, AWholeOneMatches) {
  for (const char* options : {"", "roundup_power2_divisions:4", "max_split_size_mb:24", "large_segment_size_mb:40"})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      Recorder recorder(seed, options);
      recorder.run(1500);
      const auto result = verify_text(recorder.snapshot());
      ASSERT_TRUE(result) << result.error().text;
      EXPECT_EQ(result->front().agreement, Agreement::matched)
          << options << ' ' << seed << ": " << say(result->front());
      EXPECT_EQ(result->front().allocations, result->front().allocations_matched);
      EXPECT_EQ(result->front().segment_events, result->front().segment_events_matched);
      EXPECT_GT(result->front().segment_events, 20U);
    }
}

// Of blocks live at the beginning the sizes are not all recorded: what came out differently is never called diverged.
TEST(ReplayRecording, OneWithoutItsStartMatchesOrIsAmbiguous) {
  std::map<Agreement, int> count;
  int inferred = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Recorder recorder(seed);
    recorder.run(1500);
    const auto result = verify_text(recorder.snapshot(recorder.events() / 2));
    ASSERT_TRUE(result) << result.error().text;
    const Verification& v = result->front();
    EXPECT_NE(v.agreement, Agreement::diverged) << seed << ": " << say(v);
    EXPECT_EQ(v.agreement == Agreement::ambiguous, !v.candidates.empty());
    ++count[v.agreement];
    inferred += static_cast<int>(v.sizes_inferred);
  }
  std::cout << count[Agreement::matched] << " matched, " << count[Agreement::ambiguous] << " ambiguous, " << inferred
            << " sizes inferred\n";
  EXPECT_GT(count[Agreement::matched], 20);
}

TEST(ReplayRecording, OneAlteredAddressDiverges) {
  std::mt19937_64 random(3);
  int diverged = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Recorder recorder(seed);
    recorder.run(800);
    json snapshot = recorder.snapshot();
    auto& events = snapshot["device_traces"][0];
    for (int tries = 0; tries < 4; ++tries) {
      json altered = snapshot;
      auto& event = altered["device_traces"][0][random() % events.size()];
      const std::int64_t shift = std::vector<std::int64_t>{512, -512, 2 << 20, 1 << 30}[random() % 4];
      event["addr"] = event["addr"].get<std::int64_t>() + shift;
      const auto result = verify_text(altered);
      if (!result) {  // two live blocks at one address: refused where it is read
        EXPECT_EQ(result.error().code, ErrorCode::bad_input);
        continue;
      }
      EXPECT_EQ(result->front().agreement, Agreement::diverged) << seed << ": " << event;
      EXPECT_TRUE(result->front().first_divergence);
      ++diverged;
    }
  }
  EXPECT_GT(diverged, 60);
}

}  // namespace
}  // namespace assay::replay
