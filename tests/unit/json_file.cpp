// SPDX-License-Identifier: Apache-2.0
// New files: whole or absent, never in place of another, whatever system call fails and wherever the process dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "results-schema/json/json.hpp"
#include "tests/unit/json_faults.hpp"

namespace assay::json {
namespace {

using test::Faults;
using test::faults;
using test::Folder;
using ::testing::HasSubstr;

std::string content(const std::filesystem::path& path) {
  return read_file(path).value();
}

Error output_error_of(const Result<void>& result) {
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().code, ErrorCode::output);
  EXPECT_EQ(result.error().text.find('\n'), std::string::npos);
  return result.error();
}

class JsonFile : public ::testing::Test {
 protected:
  void SetUp() override { faults() = {}; }
  void TearDown() override { faults() = {}; }
  Folder folder_;
};

TEST_F(JsonFile, WritesTheBytesAndNothingElse) {
  ASSERT_TRUE(write_new_file(folder_ / "a.json", "bytes\n"));
  EXPECT_EQ(content(folder_ / "a.json"), "bytes\n");
  EXPECT_EQ(folder_.entries(), 1);
  ASSERT_TRUE(write_new_file(folder_ / "empty", ""));
  EXPECT_EQ(content(folder_ / "empty"), "");
}

TEST_F(JsonFile, AnExistingFileIsNeverReplaced) {
  std::ofstream(folder_ / "a.json") << "first";
  EXPECT_THAT(output_error_of(check_output(folder_ / "a.json")).text, HasSubstr("never overwritten"));
  EXPECT_THAT(output_error_of(write_new_file(folder_ / "a.json", "second")).text, HasSubstr("never overwritten"));
  std::filesystem::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_THAT(output_error_of(write_new_file(folder_ / "dangling", "x")).text, HasSubstr("never overwritten"));
  EXPECT_EQ(content(folder_ / "a.json"), "first");
  EXPECT_EQ(folder_.entries(), 2);
}

TEST_F(JsonFile, OfManyWritersExactlyOneWins) {
  for (int round = 0; round < 10; ++round) {
    const auto path = folder_ / ("race" + std::to_string(round));
    std::vector<std::string> wins(4);
    std::vector<std::thread> writers;
    for (std::size_t i = 0; i < wins.size(); ++i)
      writers.emplace_back([&, i] {
        const std::string mine(10'000, static_cast<char>('a' + i));
        if (write_new_file(path, mine)) wins[i] = mine;
      });
    for (auto& writer : writers) writer.join();
    std::string winner;
    for (const auto& win : wins) {
      EXPECT_TRUE(win.empty() || winner.empty()) << "two writers believe they wrote the file";
      if (!win.empty()) winner = win;
    }
    EXPECT_EQ(content(path), winner);
  }
  EXPECT_EQ(folder_.entries(), 10);
}

TEST_F(JsonFile, PathsThatCannotBeCreatedAreNamed) {
  std::ofstream(folder_ / "file") << "x";
  const auto both = [&](const std::filesystem::path& path, const char* says) {
    EXPECT_THAT(output_error_of(check_output(path)).text, HasSubstr(says)) << path;
    EXPECT_THAT(output_error_of(write_new_file(path, "x")).text, HasSubstr(says)) << path;
  };
  both(folder_.path(), "is a folder");
  both(folder_.path() / "", "names no file");
  both("", "names no file");
  both(folder_ / "missing" / "a.json", "create the folder first");
  both(folder_ / "file" / "a.json", "is not a folder");
  both(folder_ / std::string(300, 'n'), "name too long");
  EXPECT_FALSE(write_new_file("/proc/assay.json", "x"));
  EXPECT_TRUE(check_output(folder_ / std::string(250, 'n')));
  EXPECT_TRUE(write_new_file(folder_ / std::string(250, 'n'), "x"));
}

TEST_F(JsonFile, AFolderWithoutPermissionIsNamed) {
  if (::geteuid() == 0) {  // root may write anywhere: lose the right in a child
    const pid_t child = ::fork();
    if (child == 0) {
      ::chmod(folder_.path().c_str(), 0555);
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
      const auto result = check_output(folder_ / "a.json");
      ::_exit(!result && result.error().text.find("may write") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return;
  }
  ::chmod(folder_.path().c_str(), 0555);
  EXPECT_THAT(output_error_of(check_output(folder_ / "a.json")).text, HasSubstr("may write"));
  ::chmod(folder_.path().c_str(), 0755);
}

TEST_F(JsonFile, ShortAndInterruptedWritesAreContinued) {
  faults().most = 3;
  faults().interrupt = true;
  ASSERT_TRUE(detail::write_new_file(folder_ / "a", "0123456789", test::faulty_syscalls()));
  EXPECT_EQ(content(folder_ / "a"), "0123456789");
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(JsonFile, AFileWithoutANameGetsItsNameWhenItIsWhole) {
  ASSERT_TRUE(detail::write_new_file(folder_ / "a", "bytes", test::faulty_syscalls()));
  EXPECT_EQ(content(folder_ / "a"), "bytes");
  EXPECT_THAT(faults().trace, HasSubstr("wsL")) << "TMPDIR is on a file system without O_TMPFILE";
}

TEST_F(JsonFile, WithoutARenameThatKeepsALinkDoesIt) {
  faults().names = true;
  faults().no_rename = true;
  ASSERT_TRUE(detail::write_new_file(folder_ / "a", "bytes", test::faulty_syscalls()));
  EXPECT_EQ(content(folder_ / "a"), "bytes");
  EXPECT_EQ(folder_.entries(), 1);
  EXPECT_THAT(faults().trace, HasSubstr("rlu"));
}

// What a file system has: files without a name, or else RENAME_NOREPLACE, or neither.
struct Kind {
  bool names;
  bool no_rename;
};
constexpr std::array<Kind, 3> kKinds{{{false, false}, {true, false}, {true, true}}};

void spoil(const Kind& kind, Faults::Act act, int at, int error = EIO) {
  faults() = {};
  faults().act = act;
  faults().at = at;
  faults().error = error;
  faults().most = 4;
  faults().names = kind.names;
  faults().no_rename = kind.no_rename;
}

// The trace of a run without faults tells how many calls there are to spoil.
int calls_of_a_clean_write(const Folder& folder, const Kind& kind) {
  spoil(kind, Faults::Act::none, 0);
  EXPECT_TRUE(detail::write_new_file(folder / "clean", "0123456789", test::faulty_syscalls()));
  std::filesystem::remove(folder / "clean");
  return faults().calls;
}

TEST_F(JsonFile, EveryCallThatFailsLeavesTheWholeFileOrNone) {
  std::ofstream(folder_ / "other") << "untouched";
  for (const auto& kind : kKinds) {
    const int calls = calls_of_a_clean_write(folder_, kind);
    ASSERT_GE(calls, 9);
    for (const int error : {ENOSPC, EACCES, EROFS, EIO, EDQUOT}) {
      for (int at = 1; at <= calls; ++at) {
        spoil(kind, Faults::Act::fail, at, error);
        const auto path = folder_ / "a";
        const auto result = detail::write_new_file(path, "0123456789", test::faulty_syscalls());
        const bool there = std::filesystem::exists(path);
        if (!result) output_error_of(result);
        EXPECT_TRUE(there || !result) << "success without a file at call " << at;
        EXPECT_TRUE(!there || content(path) == "0123456789") << "at call " << at;
        std::filesystem::remove(path);
        // The clean-up itself can be the call that fails: then, and only then, a temporary file stays.
        const bool clean_up_failed = faults().trace.at(static_cast<std::size_t>(at) - 1) == 'u';
        EXPECT_EQ(folder_.entries(), clean_up_failed ? 2 : 1) << "at call " << at << " of " << faults().trace;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
          if (entry.path().filename() != "other") std::filesystem::remove(entry.path());
      }
    }
  }
  EXPECT_EQ(content(folder_ / "other"), "untouched");
}

TEST_F(JsonFile, AFileThatIsBeingWrittenIsNoLeftover) {
  const auto temporary = detail::temporary_name(folder_ / "a");
  std::ofstream(temporary) << "half";
  const int descriptor = ::open(temporary.c_str(), O_RDONLY);
  ASSERT_TRUE(detail::lock(descriptor));
  remove_leftover(folder_ / "a");
  EXPECT_EQ(content(temporary), "half");
  faults().names = true;
  EXPECT_FALSE(detail::write_new_file(folder_ / "a", "bytes", test::faulty_syscalls()));
  EXPECT_EQ(content(temporary), "half");
  ::close(descriptor);
  remove_leftover(folder_ / "a");
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(JsonFile, AFullDiskIsSaidInOneSentence) {
  faults().act = Faults::Act::fail;
  faults().at = 2;
  faults().error = ENOSPC;
  const auto text = output_error_of(detail::write_new_file(folder_ / "a", "x", test::faulty_syscalls())).text;
  EXPECT_THAT(text, HasSubstr((folder_ / "a").string()));
  EXPECT_THAT(text, HasSubstr("No space left on device; free some space"));
}

TEST_F(JsonFile, DyingAtAnyCallLeavesTheWholeFileOrNone) {
  std::ofstream(folder_ / "other") << "untouched";
  for (const auto& kind : kKinds) {
    const int calls = calls_of_a_clean_write(folder_, kind);
    for (const auto act : {Faults::Act::kill, Faults::Act::kill_after}) {
      for (int at = 1; at <= calls; ++at) {
        const auto path = folder_ / "a";
        const pid_t child = ::fork();
        if (child == 0) {
          spoil(kind, act, at);
          (void)detail::write_new_file(path, "0123456789", test::faulty_syscalls());
          ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "call " << at;
        EXPECT_TRUE(!std::filesystem::exists(path) || content(path) == "0123456789") << "call " << at;
        EXPECT_EQ(content(folder_ / "other"), "untouched");
        // What is left is found again by whoever writes, recovers or resumes that output.
        if (!kind.names) {
          EXPECT_EQ(folder_.entries(), std::filesystem::exists(path) ? 2 : 1) << "call " << at;
        }
        spoil(kind, Faults::Act::none, 0);
        if (std::filesystem::exists(path))
          remove_leftover(path);
        else
          EXPECT_TRUE(detail::write_new_file(path, "0123456789", test::faulty_syscalls()));
        EXPECT_EQ(folder_.entries(), 2) << "call " << at;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
          if (entry.path().filename() != "other") std::filesystem::remove(entry.path());
      }
    }
  }
}

}  // namespace
}  // namespace assay::json
