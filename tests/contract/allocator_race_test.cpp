// SPDX-License-Identifier: Apache-2.0
// Reuse without waiting for the other stream is noticed 20 times of 20, and the right allocator is never accused: by
// ThreadSanitizer's reports where it is built in, by the overwritten data elsewhere.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

constexpr int kRuns = 20;

struct Run {
  int exit_code = -1;
  bool race_reported = false;
};

Run run_child(const std::string& policy, const std::string& variant, int busy) {
  // A report must not change the exit code, which speaks of the data; and only that there is one matters.
  const std::string command =
      "TSAN_OPTIONS=\"exitcode=0 atexit_sleep_ms=0 symbolize=0 $TSAN_OPTIONS\" '" ASSAY_RACE_CHILD "' " + variant +
      " " + std::to_string(busy) + " " + policy + " 2>&1";
  Run run;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  std::string output;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) output += buffer.data();
  const int status = ::pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.race_reported = output.find("WARNING: ThreadSanitizer: data race") != std::string::npos;
  if (run.exit_code == 4 || run.exit_code == -1) std::cout << output;
  return run;
}

struct Tally {
  int noticed = 0;
  int failed_runs = 0;
};

#ifdef ASSAY_TSAN
// The order of the accesses decides, not their time: every run counts.
Run conclusive_run(const std::string& policy, const std::string& variant) {
  return run_child(policy, variant, 4);
}
bool noticed(const Run& run) {
  return run.race_reported;
}
bool valid(const Run& run) {
  return run.exit_code == 0 || run.exit_code == 3 || run.exit_code == 5;
}
#else
// On a busy machine the second stream can be read before the first one wrote: such a run says nothing, and is repeated.
Run conclusive_run(const std::string& policy, const std::string& variant) {
  Run run;
  for (int busy = 64; busy <= 4096; busy *= 2) {
    run = run_child(policy, variant, busy);
    if (run.exit_code != 5) break;
  }
  return run;
}
bool noticed(const Run& run) {
  return run.exit_code == 3;
}
bool valid(const Run& run) {
  return run.exit_code == 0 || run.exit_code == 3;
}
#endif

Tally tally(const std::string& policy, const std::string& variant) {
  Tally result;
  for (int i = 0; i < kRuns; ++i) {
    const Run run = conclusive_run(policy, variant);
    if (noticed(run)) ++result.noticed;
    if (!valid(run)) ++result.failed_runs;
  }
  return result;
}

class AllocatorRace : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    const auto module = std::filesystem::path(folder != nullptr ? folder : ".") / "libassay-host.so";
    if (!std::filesystem::exists(module)) GTEST_SKIP() << "no host module at " << module;
  }
};

TEST_P(AllocatorRace, ReuseWithoutTheEventIsAlwaysNoticed) {
  const Tally result = tally(GetParam(), "broken");
  EXPECT_EQ(result.failed_runs, 0);
  EXPECT_EQ(result.noticed, kRuns);
}

TEST_P(AllocatorRace, TheRightAllocatorIsNeverAccused) {
  const Tally result = tally(GetParam(), "right");
  EXPECT_EQ(result.failed_runs, 0);
  EXPECT_EQ(result.noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, AllocatorRace, ::testing::Values("caching", "expandable", "native", "remapping"));

}  // namespace
