// SPDX-License-Identifier: Apache-2.0
// Recorder: every event goes to the journal first, then into the document, so that the two never disagree.
#pragma once

#include <filesystem>

#include "results-schema/json/json.hpp"
#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"

namespace assay::run {

class Recorder {
 public:
  // Errors: output when the journal exists or cannot be created.
  static Result<Recorder> create(const std::filesystem::path& output);

  // Errors: output when the disk refuses; bad_input when the entry does not fit what came before (not written).
  Result<void> record(const JournalEntry& entry);

  // Validates and writes the document, then removes the journal. Errors: output, internal; the journal is kept and the
  // sentence names it.
  Result<void> publish(const std::filesystem::path& output);

  [[nodiscard]] const RunDocument& document() const { return document_; }
  [[nodiscard]] const std::filesystem::path& journal() const { return journal_.path(); }

 private:
  // The error with where what was recorded before can be found.
  [[nodiscard]] Error kept(const Error& error) const;
  explicit Recorder(json::Journal journal) : journal_(std::move(journal)) {}
  json::Journal journal_;
  RunDocument document_;
};

}  // namespace assay::run
