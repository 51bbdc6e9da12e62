// SPDX-License-Identifier: Apache-2.0
// Limits of the operating system, each met in a child of its own and reported as what it is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "tests/contract/host_support.hpp"
#include "tests/support/refuse_call.hpp"
#include "tests/support/scenario.hpp"

namespace assay::contract {
namespace {

std::int64_t first_number(const char* path) {
  std::int64_t value = 0;
  if (FILE* file = std::fopen(path, "r")) {
    if (std::fscanf(file, "%ld", &value) != 1) value = 0;
    std::fclose(file);
  }
  return value;
}

// Uses up this process's mappings: single pages of alternating protection cannot merge, so each is one.
class EveryMapping {
 public:
  EveryMapping() : limit_(first_number("/proc/sys/vm/max_map_count")), page_(::sysconf(_SC_PAGESIZE)) {
    pages_ = static_cast<char*>(::mmap(nullptr, static_cast<std::size_t>(limit_ * page_), PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    EXPECT_NE(pages_, MAP_FAILED);
    std::int64_t i = 0;
    while (i < limit_ && ::mprotect(pages_ + i * page_, static_cast<std::size_t>(page_), PROT_READ) == 0) i += 2;
    reached_ = i < limit_;
  }
  // One protection for all merges them; ThreadSanitizer takes memory away only where there is a mapping to spare.
  void give_back() {
    EXPECT_EQ(::mprotect(pages_, static_cast<std::size_t>(limit_ * page_), PROT_NONE), 0);
    EXPECT_EQ(::munmap(pages_, static_cast<std::size_t>(limit_ * page_)), 0);
  }
  [[nodiscard]] bool reached() const { return reached_; }
  [[nodiscard]] std::string limit() const { return std::to_string(limit_); }

 private:
  std::int64_t limit_;
  std::int64_t page_;
  char* pages_ = nullptr;
  bool reached_ = false;
};

// A reserved range with a piece of physical memory to map into its middle, which takes two mappings more and cannot
// merge with a neighbour.
struct MiddleOfARange {
  MiddleOfARange(const assay_backend& backend, const device::Device& d) : table(backend), device(d) {
    EXPECT_EQ(table.vmm_reserve(device.handle(), 6 * kMiB, &range), ASSAY_OK) << table.last_error();
    EXPECT_EQ(table.vmm_create(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &physical), ASSAY_OK);
  }
  [[nodiscard]] void* middle() const { return static_cast<char*>(range) + 2 * kMiB; }
  [[nodiscard]] assay_status map() const { return table.vmm_map(device.handle(), middle(), 2 * kMiB, physical); }

  const assay_backend& table;
  const device::Device& device;
  void* range = nullptr;
  assay_physical* physical = nullptr;
};

// The calls of the test, and a refusal, while there are mappings to spare: what a sanitizer or the C++ library maps
// when a function is first used is there afterwards.
void rehearse(const assay_backend& table, const device::Device& device) {
  const MiddleOfARange other(table, device);
  EXPECT_EQ(other.map(), ASSAY_OK) << table.last_error();
  EXPECT_EQ(other.map(), ASSAY_INVALID_VALUE);
  void* memory = nullptr;
  EXPECT_EQ(table.malloc(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &memory), ASSAY_OK);
  EXPECT_EQ(table.malloc(device.handle(), std::size_t{1} << 50, ASSAY_OWNER_ALLOCATOR, &memory), ASSAY_OUT_OF_MEMORY);
  EXPECT_NE(std::string(table.last_error()), "");
}

TEST(ScenarioOfLimits, Run) {
  const std::string scenario = support::current_scenario();
  if (scenario.empty()) GTEST_SKIP() << "runs only as a child of other tests";
  const auto module = host_module();
  const auto device = open_host(module, {{"memory_bytes", "8589934592"}});
  const auto& table = module.table();
  if (scenario == "maps") {
    rehearse(table, device);
    const MiddleOfARange range(table, device);
    std::string sentence(1024, ' ');
    std::string of_malloc(1024, ' ');
    EveryMapping all;
    const assay_status status = range.map();
    sentence = table.last_error();
    // A block may merge with its neighbour and need no new mapping, but one of many that is refused says the same.
    // ThreadSanitizer cannot follow there: for each block it maps the block's shadow anew, and ends the process when
    // the system refuses that.
    assay_status block = ASSAY_OK;
#ifndef ASSAY_TSAN
    void* memory = nullptr;
    for (int n = 0; n < 64 && block == ASSAY_OK; ++n)
      block = table.malloc(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &memory);
    of_malloc = table.last_error();
#endif
    all.give_back();
    ASSERT_TRUE(all.reached());
    EXPECT_EQ(status, ASSAY_MAP_LIMIT) << sentence;
    EXPECT_NE(sentence.find("vm.max_map_count"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(all.limit()), std::string::npos) << sentence;
    if (block != ASSAY_OK) {
      EXPECT_EQ(block, ASSAY_MAP_LIMIT) << of_malloc;
    }
  } else if (scenario == "files" || scenario == "files_refused") {
    if (scenario == "files") {
      const int lowest_free = ::open("/dev/null", O_RDONLY);
      ::close(lowest_free);
      const rlimit none{static_cast<rlim_t>(lowest_free), 4096};
      ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    } else {
      ASSERT_TRUE(support::refuse_call(SYS_memfd_create, EMFILE)) << "this kernel cannot filter system calls";
    }
    assay_physical* physical = nullptr;
    EXPECT_EQ(table.vmm_create(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &physical), ASSAY_MAP_LIMIT);
    EXPECT_NE(std::string(table.last_error()).find("ulimit -n"), std::string::npos) << table.last_error();
    EXPECT_EQ(read_memory(device).used_bytes, 0);
  } else if (scenario == "address_space") {
    // The machine refuses although the budget would allow: the reason is the system's, and the budget is given back.
    // A sanitizer's shadow is terabytes of address space, so the limit lies a gibibyte above what is taken already.
    const auto taken = static_cast<rlim_t>(first_number("/proc/self/statm") * ::sysconf(_SC_PAGESIZE));
    const rlimit small{taken + (rlim_t{1} << 30), RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
    const auto memory = device.malloc(std::size_t{2} << 30, ASSAY_OWNER_ALLOCATOR);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, ErrorCode::out_of_memory) << memory.error().text;
    EXPECT_NE(memory.error().text.find("operating system"), std::string::npos) << memory.error().text;
    EXPECT_EQ(read_memory(device).used_bytes, 0);
  }
}

void expect_scenario(const std::string& name) {
  const auto end = support::run_scenario("ScenarioOfLimits.Run", name, std::chrono::seconds(100));
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.exit_code, 0) << end.output;
  EXPECT_NE(end.output.find("[  PASSED  ] 1 test"), std::string::npos) << end.output;
}

TEST(Host, TheLimitOnMappingsIsReportedAsThat) {
  expect_scenario("maps");
}

TEST(Host, TheLimitOnOpenFilesIsReportedAsThat) {
  expect_scenario("files_refused");
#if defined(__SANITIZE_ADDRESS__)
  std::puts(
      "By a refused call only: UBSan's check of virtual tables opens pipes of its own to test an address, and with "
      "no descriptor left calls every object invalid.");
#else
  expect_scenario("files");
#endif
}

TEST(Host, ARefusalByTheSystemIsToldFromTheBudget) {
  expect_scenario("address_space");
}

}  // namespace
}  // namespace assay::contract
