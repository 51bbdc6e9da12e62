// SPDX-License-Identifier: Apache-2.0
// Millions of random operations on several streams with injected failures, every policy against its shadow: the laws of
// AllocatorShadow hold after each of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/allocator_shadow.hpp"

namespace assay::testing {
namespace {

struct Configured {
  const char* name;
  const char* policy;
  const char* options;
  friend std::ostream& operator<<(std::ostream& out, const Configured& c) { return out << c.name; }
};

// An allocator with one defect. Test code only.
class Defective : public allocator::Allocator {
 public:
  explicit Defective(std::unique_ptr<allocator::Allocator> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::string_view policy() const override { return inner_->policy(); }
  [[nodiscard]] std::string options() const override { return inner_->options(); }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, allocator::Category category) override {
    return inner_->allocate(bytes, stream, category);
  }
  Result<void> deallocate(void* pointer) override { return inner_->deallocate(pointer); }
  Result<void> record_stream(void* pointer, assay_stream* stream) override {
    return inner_->record_stream(pointer, stream);
  }
  Result<void> empty_cache() override { return inner_->empty_cache(); }
  Result<void> process_events() override { return inner_->process_events(); }
  [[nodiscard]] allocator::Statistics statistics() const override { return inner_->statistics(); }
  void reset_peaks() override { inner_->reset_peaks(); }
  void reset_accumulated() override { inner_->reset_accumulated(); }
  [[nodiscard]] std::vector<allocator::SegmentInfo> snapshot() const override { return inner_->snapshot(); }

 protected:
  std::unique_ptr<allocator::Allocator> inner_;
};

struct ForgetsStreams final : Defective {
  using Defective::Defective;
  Result<void> record_stream(void*, assay_stream*) override { return {}; }
};
struct ForgetsPeaks final : Defective {
  using Defective::Defective;
  void reset_peaks() override {}
};
struct WrongCategory final : Defective {
  using Defective::Defective;
  Result<void*> allocate(std::size_t bytes, assay_stream* stream, allocator::Category) override {
    return inner_->allocate(bytes, stream, allocator::Category::kv);
  }
};
struct HandsOutTheMiddle final : Defective {
  using Defective::Defective;
  Result<void*> allocate(std::size_t bytes, assay_stream* stream, allocator::Category category) override {
    auto pointer = inner_->allocate(bytes + 512, stream, category);
    if (!pointer) return pointer;
    return static_cast<void*>(static_cast<char*>(*pointer) + 512);
  }
};
struct AcceptsASecondFree final : Defective {
  using Defective::Defective;
  Result<void> deallocate(void* pointer) override {
    (void)inner_->deallocate(pointer);
    return {};
  }
};
struct LosesAByte final : Defective {
  using Defective::Defective;
  [[nodiscard]] allocator::Statistics statistics() const override {
    auto s = inner_->statistics();
    if (s.active[0].allocated > 20) s.active_bytes[0].current -= 1;
    return s;
  }
};

// Random bytes for so many steps; a step takes 16 at most.
std::vector<std::uint8_t> random_bytes(std::uint32_t seed, int steps) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(steps) * 16);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

template <class Defect>
void expect_noticed(const char* policy, const char* what) {
  const auto bytes = random_bytes(1, 8'000);
  ByteSource source(bytes.data(), bytes.size());
  AllocatorShadow shadow(policy, "", [](auto inner) { return std::make_unique<Defect>(std::move(inner)); });
  std::string problem;
  while (problem.empty() && !source.empty()) problem = shadow.step(source);
  EXPECT_NE(problem, "") << policy << " " << what;
}

TEST(AllocatorShadowItself, NoticesEveryKindOfDefect) {
  for (const char* policy : {"caching", "expandable", "native", "remapping"}) {
    expect_noticed<ForgetsStreams>(policy, "forgets streams");
    expect_noticed<ForgetsPeaks>(policy, "forgets to reset peaks");
    expect_noticed<WrongCategory>(policy, "books another category");
    expect_noticed<HandsOutTheMiddle>(policy, "hands out the middle of a block");
    expect_noticed<AcceptsASecondFree>(policy, "accepts a second free");
    expect_noticed<LosesAByte>(policy, "loses a byte");
  }
}

class AllocatorProperty : public ::testing::TestWithParam<Configured> {};

// Each sequence begins with an allocator of its own. ASSAY_PROPERTY_SEED chooses other sequences.
TEST_P(AllocatorProperty, RandomSequencesKeepTheLaws) {
  constexpr std::uint32_t kSequences = 30;
  constexpr int kSteps = 8'000;
  const char* seed = std::getenv("ASSAY_PROPERTY_SEED");
  const auto first = static_cast<std::uint32_t>(seed == nullptr ? 1 : std::atoi(seed));
  for (std::uint32_t sequence = first; sequence < first + kSequences; ++sequence) {
    const auto bytes = random_bytes(sequence, kSteps);
    ByteSource source(bytes.data(), bytes.size());
    AllocatorShadow shadow(GetParam().policy, GetParam().options);
    for (int step = 0; step < kSteps && !source.empty(); ++step)
      ASSERT_EQ(shadow.step(source), "") << "seed " << sequence << ", step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, AllocatorProperty,
    ::testing::Values(
        Configured{"caching", "caching", ""}, Configured{"caching_creation", "caching", "tie_break:creation"},
        Configured{"caching_split_limit", "caching", "max_split_size_mb:21,roundup_power2_divisions:[1:8,4:4,>:2]"},
        Configured{"caching_garbage", "caching",
                   "per_process_memory_fraction:0.8,garbage_collection_threshold:0.4,large_segment_size_mb:12"},
        Configured{"direct", "direct", ""}, Configured{"native", "native", ""},
        Configured{"native_threshold", "native", "release_threshold_mb:64"}, Configured{"expandable", "expandable", ""},
        Configured{"expandable_creation", "expandable",
                   "tie_break:creation,large_segment_size_mb:12,roundup_power2_divisions:4"},
        Configured{"expandable_split_limit", "expandable", "max_split_size_mb:21,per_process_memory_fraction:0.8"},
        Configured{"remapping", "remapping", ""}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace assay::testing
