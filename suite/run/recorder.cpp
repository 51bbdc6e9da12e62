// SPDX-License-Identifier: Apache-2.0
// Recorder: journal and document, kept in step.
#include "suite/run/recorder.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay::run {

Result<Recorder> Recorder::create(const std::filesystem::path& output) {
  json::remove_empty_journal(json::journal_path(output));
  json::remove_leftover(output);
  auto journal = json::Journal::create(json::journal_path(output));
  if (!journal) return journal.error();
  return Recorder(std::move(*journal));
}

Result<void> Recorder::record(const JournalEntry& entry) {
  // Into the document first: what does not fit must not get into the journal, which could then not be read back.
  if (auto applied = json::apply(document_, entry); !applied) return applied;
  if (std::holds_alternative<RunStarted>(entry)) {
    // A plan that no document could hold must be found out before anything is measured.
    auto empty = document_;
    json::finish(empty);
    if (auto text = json::write_document(empty); !text) return text.error();
  }
  if (auto appended = journal_.append(entry); !appended) return kept(appended.error());
  return {};
}

Error Recorder::kept(const Error& error) const {
  if (!journal_.in_place())
    return Error{error.code,
                 fmt::format("{}; the journal {} was removed or replaced during the run, so nothing is kept",
                             error.text, journal().string())};
  return Error{error.code, fmt::format("{}; what was recorded is kept in {}: assay recover makes a document of it",
                                       error.text, journal().string())};
}

Result<void> Recorder::publish(const std::filesystem::path& output) {
  auto text = json::write_document(document_);
  if (!text) return kept(text.error());
  if (auto written = json::write_new_file(output, *text); !written) return kept(written.error());
  // The document is whole: a journal that cannot be removed is untidy, not a loss.
  (void)journal_.discard();
  return {};
}

}  // namespace assay::run
