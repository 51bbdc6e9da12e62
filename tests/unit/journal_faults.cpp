// SPDX-License-Identifier: Apache-2.0
// A run told to a journal and written as a document, while the disk fails or the process is killed at any moment: each
// time the whole document or a journal that holds everything that was acknowledged, and no other file touched.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "results-schema/json/json.hpp"
#include "tests/unit/json_faults.hpp"

namespace assay::json {
namespace {

using test::Faults;
using test::faults;
using test::Folder;

constexpr int kSamples = 6;

RunDocument run_to_tell(int launches) {
  RunDocument document;
  document.run = {"id", "2026-01-02T03:04:05Z", "", {"assay", "run"}, "0.1.0", "unknown", false};
  document.plan.devices = {{"host:0", "host", "lib.so", 0, {}}};
  Workload workload;
  workload.kind = WorkloadKind::dense;
  workload.width = workload.depth = 8;
  document.plan.workloads = {workload};
  document.plan.launches = launches;
  document.devices = {{"host:0", "lib.so", "", {}, {}, {}}};
  return document;
}

Result<void> tell_launch(std::int64_t order, const std::function<Result<void>(const JournalEntry&)>& tell) {
  Launch launch;
  launch.index = launch.order = order;
  launch.started_at = "2026-01-02T03:04:05Z";
  if (auto told = tell(LaunchStarted{"host:0", launch}); !told) return told;
  if (auto told = tell(PhaseStarted{order, "warm_forward", 0}); !told) return told;
  Phase phase;
  phase.name = "warm_forward";
  phase.duration = {std::int64_t{5}, "ns", Basis::observed, ""};
  if (auto told = tell(PhaseFinished{order, phase}); !told) return told;
  for (int i = 0; i < kSamples; ++i)
    if (auto told = tell(SampleTaken{order, "warm_forward", "ns", i + 0.5, ""}); !told) return told;
  LaunchFinished end;
  end.launch_order = order;
  return tell(end);
}

// What a run does with its files. `acknowledged` counts the entries whose append has returned.
Result<void> record(const std::filesystem::path& output, int launches, const detail::Syscalls& system,
                    int& acknowledged) {
  if (auto free = check_output(output); !free) return free;
  auto journal = Journal::create(journal_path(output), system);
  if (!journal) return journal.error();
  RunDocument document;
  const auto tell = [&](const JournalEntry& entry) -> Result<void> {
    if (auto written = journal->append(entry); !written) return written;
    ++acknowledged;
    return json::apply(document, entry);
  };
  if (auto told = tell(RunStarted{run_to_tell(launches)}); !told) return told;
  for (int order = 0; order < launches; ++order)
    if (auto told = tell_launch(order, tell); !told) return told;
  if (auto told = tell(RunFinished{"2026-01-02T03:05:05Z", DocumentStatus::ok}); !told) return told;
  auto text = write_document(document);
  if (!text) return text.error();
  if (auto written = detail::write_new_file(output, *text, system); !written) return written;
  return journal->discard();
}

// Entries that a document shows, counted as record() tells them.
int entries_in(const RunDocument& document) {
  int count = document.run.id.empty() ? 0 : 1;
  for (const auto& launch : document.devices.at(0).launches) {
    count += 1;
    for (const auto& phase : launch.phases) count += phase.duration.has_value() ? 2 : 1;
    for (const auto& series : launch.samples) count += static_cast<int>(series.values.size());
    count += launch.outcome == LaunchOutcome::ok ? 1 : 0;
  }
  return count + (document.run.finished_at.empty() ? 0 : 1);
}

// The promise, checked on what the folder holds.
void expect_kept(const Folder& folder, int launches, int acknowledged, const std::string& when) {
  SCOPED_TRACE(when);
  const int all = 2 + launches * (4 + kSamples);
  const auto output = folder / "run.json";
  if (std::filesystem::exists(output)) {
    const auto document = read_document(read_file(output).value(), "run.json");
    ASSERT_TRUE(document) << document.error().text;
    EXPECT_EQ(document->status, DocumentStatus::ok);
    EXPECT_EQ(entries_in(*document), all);
  } else if (acknowledged > 0) {
    const auto document = recover(journal_path(output));
    ASSERT_TRUE(document) << document.error().text;
    EXPECT_GE(entries_in(*document), acknowledged);
    EXPECT_LE(entries_in(*document), acknowledged + 1);
    const auto text = write_document(*document);
    EXPECT_TRUE(text) << text.error().text;
    EXPECT_EQ(document->status, entries_in(*document) == all ? DocumentStatus::ok : DocumentStatus::partial);
  }
  EXPECT_EQ(read_file(folder / "other").value(), "untouched");
}

void clear(const Folder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().filename() != "other") std::filesystem::remove(entry.path());
}

class JournalFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    faults() = {};
    std::ofstream(folder_ / "other") << "untouched";
    int acknowledged = 0;
    const auto clean = record(folder_ / "run.json", 1, test::faulty_syscalls(), acknowledged);
    ASSERT_TRUE(clean) << clean.error().text;
    calls_ = faults().calls;
    trace_ = faults().trace;
    EXPECT_EQ(folder_.entries(), 2);  // the journal is gone
    expect_kept(folder_, 1, acknowledged, "without a fault");
    clear(folder_);
  }
  void TearDown() override { faults() = {}; }

  Folder folder_;
  int calls_ = 0;
  std::string trace_;
};

TEST_F(JournalFaults, EveryCallThatFailsKeepsWhatWasAcknowledged) {
  for (int at = 1; at <= calls_; ++at) {
    faults() = {};
    faults().act = Faults::Act::fail;
    faults().at = at;
    faults().error = ENOSPC;
    int acknowledged = 0;
    const auto result = record(folder_ / "run.json", 1, test::faulty_syscalls(), acknowledged);
    EXPECT_TRUE(result || result.error().code == ErrorCode::output) << result.error().text;
    // A failing write or sync is never passed over.
    const char kind = trace_.at(static_cast<std::size_t>(at) - 1);
    EXPECT_TRUE(!result || kind == 'c' || kind == 'u') << "call " << at << " of " << trace_;
    expect_kept(folder_, 1, acknowledged, "failing at call " + std::to_string(at) + " of " + trace_);
    clear(folder_);
  }
}

TEST_F(JournalFaults, AWriteThatTearsALineEndsTheJournal) {
  faults() = {};
  auto journal = Journal::create(folder_ / "run.json.journal", test::faulty_syscalls());
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->append(RunStarted{run_to_tell(1)}));
  faults().most = 5;
  faults().act = Faults::Act::fail;
  faults().at = faults().calls + 3;  // two pieces of the line reach the disk
  faults().error = ENOSPC;
  EXPECT_FALSE(journal->append(SampleTaken{0, "s", "ns", 1, ""}));
  faults() = {};
  const auto refused = journal->append(SampleTaken{0, "s", "ns", 1, ""});  // never glued to the torn line
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::output);
  EXPECT_TRUE(recover(folder_ / "run.json.journal"));
}

// Runs `body` in a child that shares one counter with this process; returns the counter when the child is gone.
template <class Body>
int in_child(Body body, std::optional<std::chrono::microseconds> kill_after = {}) {
  void* shared = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  int& acknowledged = *static_cast<int*>(shared);
  acknowledged = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    body(acknowledged);
    ::_exit(0);
  }
  if (kill_after) {
    std::this_thread::sleep_for(*kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  const int result = acknowledged;
  ::munmap(shared, sizeof(int));
  return result;
}

TEST_F(JournalFaults, DyingAtAnyCallKeepsWhatWasAcknowledged) {
  for (const auto act : {Faults::Act::kill, Faults::Act::kill_after}) {
    for (int at = 1; at <= calls_; ++at) {
      const int acknowledged = in_child([&](int& count) {
        faults() = {};
        faults().act = act;
        faults().at = at;
        (void)record(folder_ / "run.json", 1, test::faulty_syscalls(), count);
      });
      expect_kept(folder_, 1, acknowledged, "dying at call " + std::to_string(at) + " of " + trace_);
      clear(folder_);
    }
  }
}

TEST_F(JournalFaults, KilledAtTenRandomMoments) {
  constexpr int kLaunches = 8;
  const auto whole_run = [&](int& count) {
    (void)record(folder_ / "run.json", kLaunches, detail::libc_syscalls(), count);
  };
  const auto start = std::chrono::steady_clock::now();
  in_child(whole_run);
  const auto length = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  clear(folder_);
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 10; ++round) {
    const std::chrono::microseconds moment(std::uniform_int_distribution<std::int64_t>(0, length.count())(random));
    const int acknowledged = in_child(whole_run, moment);
    expect_kept(folder_, kLaunches, acknowledged,
                "killed after " + std::to_string(moment.count()) + " us of " + std::to_string(length.count()));
    clear(folder_);
  }
}

}  // namespace
}  // namespace assay::json
