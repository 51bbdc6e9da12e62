// SPDX-License-Identifier: Apache-2.0
// Options of the caching policy: what is read, what is refused, what is printed back; and make_allocator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/allocator/make_allocator.hpp"
#include "backends/allocator/options.hpp"
#include "tests/support/fake_device.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::kMiB;
using assay::allocator::kUnlimited;
using assay::allocator::Options;
using assay::allocator::parse_options;
using assay::allocator::print_options;
using assay::allocator::TieBreak;
using ::testing::HasSubstr;

TEST(AllocatorOptions, NothingSaidIsPyTorchsDefaults) {
  const auto options = parse_options("");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->max_split_bytes, kUnlimited);
  EXPECT_EQ(options->large_segment_bytes, 20 * kMiB);
  EXPECT_EQ(options->max_non_split_rounding_bytes, 20 * kMiB);
  EXPECT_EQ(options->tie_break, TieBreak::address);
  EXPECT_EQ(print_options(*options), "");
}

TEST(AllocatorOptions, EveryKeyIsReadAndPrintedBack) {
  const auto options = parse_options(
      " max_split_size_mb:128, max_non_split_rounding_mb:64,large_segment_size_mb:32,roundup_power2_divisions:4,"
      "per_process_memory_fraction:0.5,garbage_collection_threshold:0.8,tie_break:creation,backend:native,"
      "expandable_segments:False");
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_EQ(options->max_split_bytes, 128 * kMiB);
  EXPECT_EQ(options->max_non_split_rounding_bytes, 64 * kMiB);
  EXPECT_EQ(options->large_segment_bytes, 32 * kMiB);
  for (const std::size_t divisions : options->roundup_power2_divisions) EXPECT_EQ(divisions, 4u);
  EXPECT_EQ(options->memory_fraction, 0.5);
  EXPECT_EQ(options->garbage_collection_threshold, 0.8);
  EXPECT_EQ(options->tie_break, TieBreak::creation);
  EXPECT_EQ(print_options(*options),
            "max_split_size_mb:128,max_non_split_rounding_mb:64,large_segment_size_mb:32,roundup_power2_divisions:4,"
            "per_process_memory_fraction:0.5,garbage_collection_threshold:0.8,tie_break:creation");
  EXPECT_EQ(*parse_options(print_options(*options)), *options);
}

TEST(AllocatorOptions, DivisionsByIntervalFollowPyTorch) {
  const auto options = parse_options("roundup_power2_divisions:[4:1,16:2,256:8,>:16]");
  ASSERT_TRUE(options) << options.error().text;
  // The first entry reaches down, gaps stay off, and '>' covers the last named interval too.
  const std::array<std::size_t, 16> expected{1, 1, 1, 0, 2, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16};
  EXPECT_EQ(options->roundup_power2_divisions, expected);
  EXPECT_EQ(*parse_options(print_options(*options)), *options);
}

TEST(AllocatorOptions, RefusalsAreOneSentenceThatNamesTheOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"max_split_size_mb:20", "at least 21"},
      {"max_split_size_mb:-1", "max_split_size_mb"},
      {"max_split_size_mb:99999999999999999999", "max_split_size_mb"},
      {"max_split_size_mb:1e3", "max_split_size_mb"},
      {"max_split_size_mb", "KEY:VALUE"},
      {"max_split_size_mb:32,max_split_size_mb:64", "twice"},
      {"max_split_size_mb:32,", "KEY:VALUE"},
      {"max_split_size_mb:32,large_segment_size_mb:64", "exceeds max_split_size_mb"},
      {"max_non_split_rounding_mb:64", "no effect without max_split_size_mb"},
      {"garbage_collection_threshold:0.8", "no effect without per_process_memory_fraction"},
      {"per_process_memory_fraction:0.5,garbage_collection_threshold:1", "below 1"},
      {"per_process_memory_fraction:0", "above 0"},
      {"per_process_memory_fraction:nan", "above 0"},
      {"large_segment_size_mb:9", "at least 10"},
      {"roundup_power2_divisions:3", "power of two"},
      {"roundup_power2_divisions:[256:3]", "power of two"},
      {"roundup_power2_divisions:[100:2]", "power of two in MiB"},
      {"roundup_power2_divisions:[256]", "SIZE_MB:DIVISIONS"},
      {"roundup_power2_divisions:[256:2", "never closed"},
      {"expandable_segments:yes", "takes True or False"},
      {"least_page_mb:32", "no effect without expandable_segments:True"},
      {"expandable_segments:True,least_page_mb:1", "at least 2"},
      {"backend:cudaMallocAsync", "backend"},
      {"tie_break:random", "tie_break"},
      {"max_splitsize_mb:32", "'max_splitsize_mb' is unknown"},
  };
  for (const auto& [text, part] : cases) {
    const auto options = parse_options(text);
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().code, ErrorCode::usage) << text;
    EXPECT_THAT(options.error().text, HasSubstr(part)) << text;
    EXPECT_EQ(options.error().text.back(), '.') << text;
  }
}

TEST(AllocatorOptions, AVariableMayStandBeforeTheValue) {
  for (const std::string variable : {"PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_HIP_ALLOC_CONF=", "PYTORCH_ALLOC_CONF="}) {
    const auto read = assay::allocator::parse_options(variable + "max_split_size_mb:64, expandable_segments:True");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(assay::allocator::print_options(*read), "max_split_size_mb:64,expandable_segments:True");
  }
  EXPECT_FALSE(assay::allocator::parse_options("OTHER=max_split_size_mb:64"));
}

TEST(AllocatorOptions, KeysThatMoveNoDeviceMemoryAreAcceptedAndLeftOut) {
  const auto read = assay::allocator::parse_options(
      "pinned_use_cuda_host_register:True,max_split_size_mb:64,release_lock_on_cudamalloc:True,"
      "pinned_num_register_threads:8,graph_capture_record_stream_reuse:False,throw_on_cudamalloc_oom:True");
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(assay::allocator::print_options(*read), "max_split_size_mb:64");
}

TEST(AllocatorOptions, TheRuntimesPoolIsAPolicyNotABackend) {
  const auto refused = assay::allocator::parse_options("backend:cudaMallocAsync");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("choose the policy native"));
}

TEST(MakeAllocator, KnowsItsPoliciesByName) {
  assay::testing::FakeDevice device(1 << 30);
  for (const auto name : assay::allocator::kPolicyNames) {
    const auto made = assay::allocator::make_allocator(name, "", device.table(), device.handle());
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ((*made)->policy(), name);
    EXPECT_EQ((*made)->options(), name == "expandable" ? "expandable_segments:True" : "");
  }
  const auto with =
      assay::allocator::make_allocator("caching", "max_split_size_mb:64", device.table(), device.handle());
  ASSERT_TRUE(with);
  EXPECT_EQ((*with)->options(), "max_split_size_mb:64");
}

TEST(MakeAllocator, RefusesUnknownPoliciesAndInertOptions) {
  assay::testing::FakeDevice device(1 << 30);
  const auto unknown = assay::allocator::make_allocator("cashing", "", device.table(), device.handle());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_THAT(unknown.error().text, HasSubstr("caching, direct"));
  const auto inert =
      assay::allocator::make_allocator("direct", "max_split_size_mb:64", device.table(), device.handle());
  ASSERT_FALSE(inert);
  EXPECT_EQ(inert.error().code, ErrorCode::usage);
}

TEST(MakeAllocator, PassesOnADeviceWhoseMemoryCannotBeRead) {
  assay::testing::FakeDevice device(1 << 30);
  device.fail(assay::testing::Call::memory_info, 1, ASSAY_DEVICE_LOST);
  const auto made =
      assay::allocator::make_allocator("caching", "per_process_memory_fraction:0.5", device.table(), device.handle());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::fault);
}

}  // namespace
