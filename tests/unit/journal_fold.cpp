// SPDX-License-Identifier: Apache-2.0
// The journal as lines, folded into documents; status and failures; recovery; faults and kills at every step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "results-schema/json/json.hpp"
#include "tests/unit/json_faults.hpp"
#include "tests/unit/json_generator.hpp"

namespace assay::json {
namespace {

using test::Faults;
using test::faults;
using test::Folder;
using test::Generator;
using ::testing::HasSubstr;

// A document as its run would have told it, entry by entry. Launches and phases end in the order they began.
std::vector<JournalEntry> entries_of(const RunDocument& document) {
  RunDocument start = document;
  start.run.finished_at.clear();
  start.status = DocumentStatus::partial;
  start.failures.clear();
  for (auto& device : start.devices) device = {device.name, device.module_path, "", {}, {}, {}};
  std::vector<JournalEntry> out{RunStarted{start}};
  for (const auto& device : document.devices) {
    out.push_back(DeviceIdentified{device.name, device.module_sha256, device.identity});
    for (const auto& checked : device.cases) out.push_back(CaseChecked{device.name, checked});
    for (const auto& launch : device.launches) {
      Launch begun;
      begun.index = launch.index;
      begun.order = launch.order;
      begun.workload = launch.workload;
      begun.pid = launch.pid;
      begun.started_at = launch.started_at;
      out.push_back(LaunchStarted{device.name, begun});
      for (const auto& phase : launch.phases) {
        out.push_back(PhaseStarted{launch.order, phase.name, phase.repeat});
        out.push_back(PhaseFinished{launch.order, phase});
      }
      for (const auto& series : launch.samples)
        for (std::size_t i = 0; i < series.values.size(); ++i)
          out.push_back(SampleTaken{launch.order, series.name, series.unit, series.values[i],
                                    series.flags.empty() ? "" : series.flags[i]});
      out.push_back(OutputChecksum{launch.order, launch.checksum});
      if (launch.allocator_latency) out.push_back(AllocatorTimed{launch.order, *launch.allocator_latency});
      out.push_back(LaunchFinished{launch.order, launch.duration, launch.outcome, launch.exit_code, launch.signal,
                                   launch.message});
    }
  }
  out.push_back(RunFinished{document.run.finished_at, document.status});
  return out;
}

// A document that a journal can tell: device names and series names differ, samples are observed, a run has an end.
RunDocument tellable(std::uint64_t seed) {
  RunDocument document = Generator(seed).document();
  document.run.finished_at = "2026-01-02T03:05:05Z";
  std::size_t number = 0;
  for (auto& device : document.devices) {
    device.name += std::to_string(number++);
    for (auto& launch : device.launches) {
      launch.phase_in_progress.clear();
      std::erase_if(launch.samples, [](const SampleSeries& series) { return series.values.empty(); });
      for (auto& series : launch.samples) {
        series.name += std::to_string(number++);
        series.basis = Basis::observed;
        bool flagged = false;
        for (const auto& flag : series.flags) flagged = flagged || !flag.empty();
        if (!flagged) series.flags.clear();
      }
    }
  }
  finish(document);
  return document;
}

TEST(Journal, TheFoldOfItsEntriesIsTheDocument) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RunDocument document = tellable(seed);
    RunDocument folded;
    for (const auto& entry : entries_of(document)) {
      const auto back = from_line(to_line(entry), "line");
      ASSERT_TRUE(back) << back.error().text;
      EXPECT_EQ(to_line(*back), to_line(entry));
      EXPECT_EQ(to_line(entry).find('\n'), std::string::npos);
      const auto fits = json::apply(folded, *back);
      ASSERT_TRUE(fits) << "seed " << seed << ": " << fits.error().text;
    }
    ASSERT_TRUE(folded == document) << "seed " << seed << "\n"
                                    << to_line(RunStarted{document}) << "\n"
                                    << to_line(RunStarted{folded});
    EXPECT_TRUE(write_document(folded));
  }
}

RunDocument small_run() {
  RunDocument document;
  document.run = {"id", "2026-01-02T03:04:05Z", "", {"assay", "run"}, "0.1.0", "unknown", false};
  document.plan.devices = {{"host:0", "host", "lib.so", 0, {}}};
  Workload workload;
  workload.kind = WorkloadKind::dense;
  workload.width = workload.depth = 8;
  document.plan.workloads = {workload};
  document.plan.launches = 2;
  document.devices = {{"host:0", "lib.so", "", {}, {}, {}}};
  return document;
}

Launch begun(std::int64_t order) {
  Launch launch;
  launch.index = launch.order = order;
  launch.started_at = "2026-01-02T03:04:05Z";
  return launch;
}

Phase done(const std::string& name) {
  Phase phase;
  phase.name = name;
  phase.duration = {std::int64_t{5}, "ns", Basis::observed, ""};
  return phase;
}

RunDocument fold(const std::vector<JournalEntry>& entries) {
  RunDocument document;
  for (const auto& entry : entries) {
    const auto fits = json::apply(document, entry);
    EXPECT_TRUE(fits) << fits.error().text;
  }
  return document;
}

LaunchFinished ended(std::int64_t order, LaunchOutcome outcome, std::string message = "") {
  LaunchFinished entry;
  entry.launch_order = order;
  entry.outcome = outcome;
  entry.message = std::move(message);
  return entry;
}

TEST(Journal, StatusFollowsTheLaunches) {
  const RunStarted start{small_run()};
  const RunFinished end{"2026-01-02T03:06:05Z", DocumentStatus::ok};
  const auto run = [&](LaunchOutcome first, LaunchOutcome second) {
    return fold({start, LaunchStarted{"host:0", begun(0)}, ended(0, first), LaunchStarted{"host:0", begun(1)},
                 ended(1, second), end});
  };
  const auto both = run(LaunchOutcome::ok, LaunchOutcome::ok);
  EXPECT_EQ(both.status, DocumentStatus::ok);
  EXPECT_TRUE(both.failures.empty());
  const auto one = run(LaunchOutcome::ok, LaunchOutcome::hung);
  EXPECT_EQ(one.status, DocumentStatus::partial);
  ASSERT_EQ(one.failures.size(), 1U);
  EXPECT_EQ(one.failures[0].code, "hung");
  EXPECT_EQ(one.failures[0].launch_order, 1);
  const auto none = run(LaunchOutcome::crashed, LaunchOutcome::failed);
  EXPECT_EQ(none.status, DocumentStatus::failed);
  EXPECT_EQ(none.failures.size(), 2U);
  for (const auto* document : {&both, &one, &none})
    EXPECT_TRUE(write_document(*document)) << write_document(*document).error().text;

  const auto missing_one = fold({start, LaunchStarted{"host:0", begun(0)}, ended(0, LaunchOutcome::ok), end});
  EXPECT_EQ(missing_one.status, DocumentStatus::partial);
  EXPECT_EQ(missing_one.failures.at(0).code, "not_run");
  EXPECT_EQ(fold({start, end}).status, DocumentStatus::failed);
}

TEST(Journal, AWrongCaseIsAFailureAndAnUnsupportedOneIsNot) {
  Case checked;
  checked.name = "gemm/f16";
  checked.status = CaseStatus::unsupported;
  const std::vector<JournalEntry> launches{LaunchStarted{"host:0", begun(0)}, ended(0, LaunchOutcome::ok),
                                           LaunchStarted{"host:0", begun(1)}, ended(1, LaunchOutcome::ok)};
  const auto run = [&] {
    std::vector<JournalEntry> entries{RunStarted{small_run()}, CaseChecked{"host:0", checked}};
    entries.insert(entries.end(), launches.begin(), launches.end());
    entries.push_back(RunFinished{"2026-01-02T03:06:05Z", DocumentStatus::ok});
    return fold(entries);
  };
  EXPECT_EQ(run().status, DocumentStatus::ok);
  checked.status = CaseStatus::wrong;
  EXPECT_EQ(run().status, DocumentStatus::partial);
  EXPECT_EQ(run().failures.at(0).code, "wrong_result");
}

TEST(Journal, ALaunchThatDiesLeavesItsPhaseBehind) {
  PhaseStarted second{0, "decode", 3};
  const auto document =
      fold({RunStarted{small_run()}, LaunchStarted{"host:0", begun(0)}, PhaseStarted{0, "prefill", 0},
            PhaseFinished{0, done("prefill")}, second, ended(0, LaunchOutcome::hung, "stopped by its time limit")});
  const Launch& launch = document.devices[0].launches[0];
  EXPECT_EQ(launch.phase_in_progress, "decode");
  ASSERT_EQ(launch.phases.size(), 2U);
  EXPECT_EQ(launch.phases[0].status, PhaseStatus::ok);
  EXPECT_EQ(launch.phases[1].status, PhaseStatus::partial);
  EXPECT_EQ(launch.phases[1].repeat, 3);
  EXPECT_TRUE(launch.phases[1].peaks_partial);
  EXPECT_EQ(launch.phases[1].failure->code, "hung");
}

TEST(Journal, OutOfMemoryKeepsItsPhaseAndItsCode) {
  Phase failed = done("cold_forward");
  failed.status = PhaseStatus::failed;
  failed.peaks_partial = true;
  failed.failure = PhaseFailure{"out_of_memory", "the budget is spent", observed_bytes(64), "kv"};
  const auto document =
      fold({RunStarted{small_run()}, LaunchStarted{"host:0", begun(0)}, PhaseStarted{0, "cold_forward", 0},
            PhaseFinished{0, failed}, ended(0, LaunchOutcome::failed, "out of memory"),
            RunFinished{"2026-01-02T03:06:05Z", DocumentStatus::failed}});
  EXPECT_EQ(document.failures.at(0).code, "out_of_memory");
  EXPECT_EQ(document.failures.at(0).phase, "cold_forward");
  EXPECT_EQ(document.status, DocumentStatus::failed) << "no phase completed";
  EXPECT_TRUE(document.devices[0].launches[0].phases[0] == failed);
  const auto measured = fold({RunStarted{small_run()}, LaunchStarted{"host:0", begun(0)},
                              PhaseStarted{0, "model_load", 0}, PhaseFinished{0, done("model_load")},
                              PhaseStarted{0, "cold_forward", 0}, PhaseFinished{0, failed},
                              ended(0, LaunchOutcome::failed, "out of memory"),
                              RunFinished{"2026-01-02T03:06:05Z", DocumentStatus::failed}});
  EXPECT_EQ(measured.status, DocumentStatus::partial) << "the phase before it is a result";
  EXPECT_TRUE(write_document(document));
}

TEST(Journal, SamplesKeepTheirFlagsInStep) {
  const auto sample = [](double value, std::string flag) {
    return SampleTaken{0, "warm_forward", "ns", value, std::move(flag)};
  };
  auto document = fold({RunStarted{small_run()}, LaunchStarted{"host:0", begun(0)}, sample(1, ""),
                        sample(2, "throttled"), sample(3, "")});
  const auto& series = document.devices[0].launches[0].samples.at(0);
  EXPECT_THAT(series.values, ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(series.flags, ::testing::ElementsAre("", "throttled", ""));
  EXPECT_FALSE(json::apply(document, SampleTaken{0, "warm_forward", "s", 1, ""}));
}

TEST(Journal, AnEntryThatDoesNotFitIsRefused) {
  RunDocument empty;
  EXPECT_FALSE(json::apply(empty, LaunchStarted{"host:0", begun(0)}));
  RunDocument document = fold({RunStarted{small_run()}, LaunchStarted{"host:0", begun(0)}});
  Launch foreign = begun(5);
  foreign.workload = 7;
  const std::vector<JournalEntry> refused{
      RunStarted{small_run()},          LaunchStarted{"host:0", begun(0)}, LaunchStarted{"cuda:0", begun(1)},
      LaunchStarted{"host:0", foreign}, PhaseStarted{3, "x", 0},           ended(3, LaunchOutcome::ok),
      ended(0, LaunchOutcome::running), DeviceIdentified{"hip:0", "", {}}, CaseChecked{"hip:0", {}}};
  for (const auto& entry : refused) {
    const auto fits = json::apply(document, entry);
    ASSERT_FALSE(fits) << to_line(entry);
    EXPECT_EQ(fits.error().code, ErrorCode::bad_input);
  }
  EXPECT_TRUE(json::apply(document, ended(0, LaunchOutcome::ok)));
  EXPECT_FALSE(json::apply(document, PhaseStarted{0, "late", 0}));
  EXPECT_TRUE(json::apply(document, RunFinished{"2026-01-02T03:06:05Z", DocumentStatus::ok}));
  EXPECT_FALSE(json::apply(document, LaunchStarted{"host:0", begun(1)}));
}

TEST(Journal, ANumberThatIsNotFiniteIsNeverWritten) {
  Folder folder;
  auto journal = Journal::create(folder / "j");
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->append(RunStarted{small_run()}));
  const auto before = read_file(folder / "j");
  const auto refused = journal->append(SampleTaken{0, "s", "ns", std::numeric_limits<double>::quiet_NaN(), ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::internal);
  EXPECT_EQ(*read_file(folder / "j"), *before);
  EXPECT_FALSE(from_line(to_line(SampleTaken{0, "s", "ns", std::numeric_limits<double>::infinity(), ""}), "line"));
}

// ---- the file ----

std::vector<JournalEntry> small_entries() {
  return {RunStarted{small_run()},           LaunchStarted{"host:0", begun(0)},  PhaseStarted{0, "prefill", 0},
          PhaseFinished{0, done("prefill")}, SampleTaken{0, "s", "ns", 1.5, ""}, ended(0, LaunchOutcome::ok),
          LaunchStarted{"host:0", begun(1)}, PhaseStarted{1, "prefill", 0}};
}

TEST(Journal, RecoveryGivesWhatWasToldAndMarksItPartial) {
  Folder folder;
  {
    auto journal = Journal::create(folder / "run.json.journal");
    ASSERT_TRUE(journal) << journal.error().text;
    for (const auto& entry : small_entries()) ASSERT_TRUE(journal->append(entry));
    const auto alive = recover(folder / "run.json.journal");
    ASSERT_FALSE(alive);
    EXPECT_THAT(alive.error().text, HasSubstr("is alive"));
  }
  const auto document = recover(folder / "run.json.journal");
  ASSERT_TRUE(document) << document.error().text;
  EXPECT_EQ(document->status, DocumentStatus::partial);
  const auto& launches = document->devices[0].launches;
  EXPECT_EQ(launches[0].outcome, LaunchOutcome::ok);
  EXPECT_EQ(launches[1].outcome, LaunchOutcome::interrupted);
  EXPECT_EQ(launches[1].phase_in_progress, "prefill");
  EXPECT_EQ(launches[1].phases.at(0).status, PhaseStatus::partial);
  EXPECT_TRUE(launches[1].phases.at(0).peaks_partial);
  EXPECT_EQ(document->failures.at(0).code, "interrupted");
  EXPECT_EQ(document->failures.at(0).launch_order, 1);
  const auto text = write_document(*document);
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_TRUE(*read_document(*text, "text") == *document);
}

TEST(Journal, DiscardedIsGoneAndTakesNoMore) {
  Folder folder;
  auto journal = Journal::create(folder / "run.json.journal");
  ASSERT_TRUE(journal) << journal.error().text;
  ASSERT_TRUE(journal->append(small_entries()[0]));
  EXPECT_TRUE(journal->discard());
  EXPECT_FALSE(std::filesystem::exists(folder / "run.json.journal"));
  EXPECT_FALSE(journal->append(small_entries()[0]));
}

TEST(Journal, ItStandsBesideItsOutputAndReplacesNothing) {
  EXPECT_EQ(journal_path("a/run.json"), "a/run.json.journal");
  Folder folder;
  std::ofstream(folder / "j") << "mine";
  const auto refused = Journal::create(folder / "j");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::output);
  EXPECT_EQ(*read_file(folder / "j"), "mine");
}

std::string journal_text() {
  std::string text = "{\"assay_journal\":\"1.0.0\"}\n";
  for (const auto& entry : small_entries()) text += to_line(entry) + "\n";
  return text;
}

Result<RunDocument> recover_text(const Folder& folder, std::string_view text) {
  std::ofstream(folder / "text", std::ios::binary | std::ios::trunc) << text;
  return recover(folder / "text");
}

TEST(Journal, CutAnywhereItIsRecoveredOrSaysThatItHoldsNoRun) {
  Folder folder;
  const std::string text = journal_text();
  const std::size_t header = text.find('\n') + 1;
  const std::size_t first = text.find('\n', header);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const bool at_line_end = text.find('\n', size > 2 ? size - 2 : 0) <= size + 2;
    if (!at_line_end && size % 7 != 0) continue;
    const auto document = recover_text(folder, std::string_view(text).substr(0, size));
    ASSERT_EQ(document.has_value(), size >= first) << "cut at byte " << size << " of " << text.size();
    ASSERT_TRUE(document || document.error().code == ErrorCode::bad_input);
    ASSERT_TRUE(!document || size % 16 != 0 || write_document(*document));
  }
}

TEST(Journal, ATornLastLineMayBeAnything) {
  Folder folder;
  for (const std::string& tail : {std::string("{\"entry\":"), std::string("\xff\xfe"), std::string(40, '\0'),
                                  std::string("[[[[\n"), std::string("{}\n"), std::string("\n\n")})
    EXPECT_TRUE(recover_text(folder, journal_text() + tail)) << tail;
}

TEST(Journal, DamageBeforeTheLastLineIsNamed) {
  Folder folder;
  std::string text = journal_text();
  text[text.find("phase_started")] = 'X';
  const auto document = recover_text(folder, text);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::bad_input);
  EXPECT_THAT(document.error().text, HasSubstr("line 4"));
}

TEST(Journal, AFileOfAnotherKindIsNoJournal) {
  Folder folder;
  for (const char* text : {"", "hello\n", "{}\n", "[1]\n", "{\"schema\":\"assay\"}\n", "{\"assay_journal\":1}\n",
                           "{\"assay_journal\":\"x\"}\n"}) {
    const auto document = recover_text(folder, text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, ErrorCode::bad_input);
  }
  EXPECT_THAT(recover_text(folder, "{\"assay_journal\":\"2.0.0\"}\n").error().text, HasSubstr("2.0.0"));
  EXPECT_FALSE(recover(folder / "missing"));
  EXPECT_FALSE(recover(folder.path()));
}

}  // namespace
}  // namespace assay::json
