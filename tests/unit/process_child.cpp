// SPDX-License-Identifier: Apache-2.0
// run_child: lines, limits, kills, big outputs, and that nothing is ever left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "suite/process/child.hpp"
#include "suite/process/interrupt.hpp"

namespace {

using namespace assay;
using namespace std::chrono_literals;
using process::ChildEnd;

struct Seen {
  process::ChildResult result;
  std::vector<std::string> lines;
};

Seen shell(const std::string& script, std::chrono::milliseconds limit = 0ms, std::string input = {}) {
  Seen seen;
  auto result = process::run_child({{"/bin/sh", "-c", script}, std::move(input), limit, [&seen](std::string_view line) {
                                      seen.lines.emplace_back(line);
                                    }});
  EXPECT_TRUE(result) << (result ? "" : result.error().text);
  if (result) seen.result = *result;
  return seen;
}

bool alive(pid_t pid) {
  if (::kill(pid, 0) != 0) return false;
  // A zombie of some other parent no longer runs.
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto paren = text.rfind(')');
  return paren == std::string::npos || text.size() < paren + 3 || text[paren + 2] != 'Z';
}

bool gone_soon(pid_t pid) {
  for (int i = 0; i < 200 && alive(pid); ++i) std::this_thread::sleep_for(10ms);
  return !alive(pid);
}

TEST(Child, DeliversReportLinesInOrderAndExitCode) {
  const auto seen = shell("echo one >&3; echo two >&3; echo noise; exit 9");
  EXPECT_EQ(seen.result.end, ChildEnd::exited);
  EXPECT_EQ(seen.result.exit_code, 9);
  EXPECT_THAT(seen.lines, testing::ElementsAre("one", "two"));
  EXPECT_GT(seen.result.pid, 0);
  EXPECT_GT(seen.result.duration_ns, 0);
}

TEST(Child, DropsALineThatWasNeverFinished) {
  EXPECT_THAT(shell("printf 'whole\\ntorn' >&3").lines, testing::ElementsAre("whole"));
}

TEST(Child, ReadsItsWholeInput) {
  const std::string input(3'000'000, 'x');
  EXPECT_THAT(shell("wc -c >&3", 0ms, input).lines, testing::ElementsAre(testing::HasSubstr("3000000")));
}

TEST(Child, HugeErrorAndReportOutputDoNotDeadlock) {
  const auto seen = shell("head -c 8000000 /dev/zero | tr '\\0' e >&2; yes line | head -n 200000 >&3; echo last >&2");
  EXPECT_EQ(seen.result.exit_code, 0);
  EXPECT_EQ(seen.lines.size(), 200000U);
  EXPECT_EQ(seen.result.error_tail.size(), 4096U);
  EXPECT_TRUE(seen.result.error_tail.ends_with("elast\n"));
}

TEST(Child, TimeLimitKillsTheWholeGroup) {
  const auto seen = shell("sleep 60 & echo $! >&3; wait", 300ms);
  EXPECT_EQ(seen.result.end, ChildEnd::timed_out);
  EXPECT_EQ(seen.result.signal, SIGKILL);
  EXPECT_LT(seen.result.duration_ns, 20'000'000'000);
  ASSERT_EQ(seen.lines.size(), 1U);
  EXPECT_TRUE(gone_soon(std::atoi(seen.lines[0].c_str())));
}

TEST(Child, AChildThatNeverStopsTalkingStillMeetsItsLimit) {
  const auto seen = shell("yes >&2", 300ms);
  EXPECT_EQ(seen.result.end, ChildEnd::timed_out);
}

TEST(Child, ABackgroundProcessThatHoldsThePipesDoesNotHoldUs) {
  const auto seen = shell("sleep 60 & echo $! >&3; exit 0", 30s);
  EXPECT_EQ(seen.result.end, ChildEnd::exited);
  EXPECT_LT(seen.result.duration_ns, 20'000'000'000);
  ASSERT_EQ(seen.lines.size(), 1U);
  EXPECT_TRUE(gone_soon(std::atoi(seen.lines[0].c_str())));
}

TEST(Child, ReportsTheSignalThatEndedIt) {
  const auto seen = shell("kill -SEGV $$");
  EXPECT_EQ(seen.result.end, ChildEnd::signalled);
  EXPECT_EQ(seen.result.signal, SIGSEGV);
}

TEST(Child, SaysWhyAProgramCannotBeStarted) {
  auto result = process::run_child({{"/nowhere/program"}, {}, 0ms, {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::internal);
  EXPECT_THAT(result.error().text, testing::HasSubstr("/nowhere/program"));
}

TEST(Child, InheritsNoOtherDescriptor) {
  const int extra = ::dup(1);  // without close-on-exec, as a careless library would leave it
  const auto seen = shell("ls /proc/self/fd | tr '\\n' ' ' >&3; echo >&3");
  ::close(extra);
  ASSERT_EQ(seen.lines.size(), 1U);
  // 0 to 3, and the one `ls` opens to read the folder.
  EXPECT_EQ(seen.lines[0], "0 1 2 3 4 ");
}

TEST(Child, AnInterruptStopsItAtOnce) {
  std::thread sender([] {
    std::this_thread::sleep_for(300ms);
    ::kill(::getpid(), SIGINT);
  });
  const auto seen = shell("sleep 60", 30s);
  sender.join();
  EXPECT_EQ(seen.result.end, ChildEnd::interrupted);
  EXPECT_LT(seen.result.duration_ns, 20'000'000'000);
  process::clear_interrupt();
}

TEST(Child, AThrowingReaderLeavesNoChild) {
  pid_t pid = 0;
  const process::ChildRequest request{
      {"/bin/sh", "-c", "echo $$ >&3; sleep 60"}, {}, 0ms, [&pid](std::string_view line) {
        pid = std::atoi(std::string(line).c_str());
        throw std::runtime_error("reader");
      }};
  EXPECT_THROW((void)process::run_child(request), std::runtime_error);
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(gone_soon(pid));
}

TEST(Child, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    (void)process::run_child({{"/bin/sh", "-c", "echo $$ >&3; exec sleep 60"}, {}, 0ms, [&ends](std::string_view line) {
                                (void)!::write(ends[1], line.data(), line.size());
                              }});
    ::_exit(0);
  }
  char text[32] = {};
  ASSERT_GT(::read(ends[0], text, sizeof text - 1), 0);
  const pid_t child = std::atoi(text);
  EXPECT_TRUE(alive(child));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(gone_soon(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Child, OwnPathIsThisProgram) {
  auto path = process::own_path();
  ASSERT_TRUE(path);
  EXPECT_THAT(*path, testing::EndsWith("test-unit-process"));
}

}  // namespace
