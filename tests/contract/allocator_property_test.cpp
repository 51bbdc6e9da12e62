// SPDX-License-Identifier: Apache-2.0
// Random sequences on several streams against a shadow: live blocks never overlap, and the books balance at each step.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/allocator_walk.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::testing {
namespace {

using allocator::Category;

// What a caller knows: its live blocks, and the memory other streams may still touch.
struct Shadow {
  struct Use {
    std::size_t bytes = 0;
    std::set<assay_stream*> foreign;
  };
  std::map<std::uintptr_t, Use> live;
  std::map<std::uintptr_t, Use> pending;  // freed; each stream leaves when it has finished
  std::int64_t requested = 0;
};

class Sequence {
 public:
  Sequence(std::string_view policy, std::string_view options, std::uint32_t seed)
      : device_(std::size_t{512} << 20), random_(seed), holds_back_(policy != "direct") {
    auto made = allocator::make_allocator(policy, options, FakeDevice::table(), device_.handle());
    if (!made) throw std::runtime_error(made.error().text);
    allocator_ = std::move(*made);
    for (auto*& stream : streams_) stream = device_.new_stream();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      expect_consistent(*allocator_);
      const auto s = allocator_->statistics();
      EXPECT_EQ(s.reserved_bytes[0].current, static_cast<std::int64_t>(device_.held_bytes())) << "step " << i;
      EXPECT_EQ(s.allocation[0].current, static_cast<std::int64_t>(shadow_.live.size())) << "step " << i;
      if (s.segment[0].allocated > 0) {
        EXPECT_EQ(s.num_device_alloc - s.num_device_free, s.segment[0].current) << "step " << i;
      }
    }
  }

 private:
  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random_);
  }
  assay_stream* any_stream() { return streams_[below(3)]; }

  void step() {
    const std::uint32_t choice = below(100);
    if (choice < 48) {
      allocate();
    } else if (choice < 88) {
      deallocate();
    } else if (choice < 97) {
      finish(any_stream());
    } else if (choice < 98) {
      EXPECT_TRUE(allocator_->process_events());
    } else if (choice < 99) {
      EXPECT_TRUE(allocator_->empty_cache());
      shadow_.pending.clear();  // it has waited for every stream
    } else {
      allocator_->reset_peaks();
    }
  }

  void allocate() {
    const std::uint32_t kind = below(10);
    const std::size_t bytes = kind < 5 ? 1 + below(64 * 1024) : kind < 8 ? 1 + below(8 << 20) : 1 + below(48 << 20);
    const auto before = allocator_->statistics();
    const std::size_t waits = device_.calls(Call::synchronize);
    auto pointer = allocator_->allocate(bytes, any_stream(), static_cast<Category>(below(6)));
    if (allocator_->statistics().num_sync_all_streams != before.num_sync_all_streams) shadow_.pending.clear();
    if (device_.calls(Call::synchronize) != waits)  // the allocator has waited for a stream: its work is over
      for (auto* stream : streams_)
        if (device_.idle(stream)) leave(stream);
    if (!pointer) {
      EXPECT_EQ(pointer.error().code, ErrorCode::out_of_memory) << pointer.error().text;
      return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(*pointer);
    expect_apart(shadow_.live, address, bytes, "a live block");
    if (holds_back_) expect_apart(shadow_.pending, address, bytes, "memory another stream may still use");
    shadow_.live[address].bytes = bytes;
    while (below(4) == 0) {
      auto* foreign = any_stream();
      EXPECT_TRUE(allocator_->record_stream(*pointer, foreign));
      shadow_.live[address].foreign.insert(foreign);
    }
  }

  void deallocate() {
    if (shadow_.live.empty()) return;
    auto victim = std::next(shadow_.live.begin(), below(static_cast<std::uint32_t>(shadow_.live.size())));
    auto* pointer = reinterpret_cast<void*>(victim->first);
    assay_stream* own = stream_of(victim->first);
    EXPECT_TRUE(allocator_->deallocate(pointer));
    EXPECT_FALSE(allocator_->deallocate(pointer)) << "a second free";
    victim->second.foreign.erase(own);
    if (!victim->second.foreign.empty()) shadow_.pending[victim->first] = victim->second;
    shadow_.live.erase(victim);
  }

  void finish(assay_stream* stream) {
    device_.finish(stream);
    leave(stream);
  }

  void leave(assay_stream* stream) {
    for (auto use = shadow_.pending.begin(); use != shadow_.pending.end();) {
      use->second.foreign.erase(stream);
      use = use->second.foreign.empty() ? shadow_.pending.erase(use) : std::next(use);
    }
  }

  assay_stream* stream_of(std::uintptr_t address) {
    for (const auto& segment : allocator_->snapshot())
      if (address >= segment.address && address < segment.address + segment.total_bytes) return segment.stream;
    ADD_FAILURE() << "a live block in no segment";
    return nullptr;
  }

  static void expect_apart(const std::map<std::uintptr_t, Shadow::Use>& others, std::uintptr_t address,
                           std::size_t bytes, const char* what) {
    const auto next = others.lower_bound(address);
    const bool above = next == others.end() || next->first >= address + bytes;
    const bool below_it = next == others.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= address;
    EXPECT_TRUE(above && below_it) << "overlaps " << what;
  }

  FakeDevice device_;
  std::mt19937 random_;
  bool holds_back_;
  std::unique_ptr<allocator::Allocator> allocator_;
  assay_stream* streams_[3] = {};
  Shadow shadow_;
};

TEST(AllocatorProperty, RandomSequencesKeepTheBooks) {
  const std::pair<const char*, const char*> policies[] = {
      {"caching", ""},
      {"caching", "tie_break:creation"},
      {"caching", "max_split_size_mb:21,roundup_power2_divisions:[1:8,4:4,>:2]"},
      {"caching", "per_process_memory_fraction:0.8,garbage_collection_threshold:0.4,large_segment_size_mb:12"},
      {"direct", ""},
      {"expandable", ""},
      {"remapping", ""},
      {"expandable", "tie_break:creation,large_segment_size_mb:12,roundup_power2_divisions:4"},
      {"expandable", "max_split_size_mb:21,per_process_memory_fraction:0.8"},
  };
  for (const auto& [policy, options] : policies)
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(policy) + " " + options + " seed " + std::to_string(seed));
      Sequence(policy, options, seed).run(1500);
    }
}

}  // namespace
}  // namespace assay::testing
