// SPDX-License-Identifier: Apache-2.0
// The only door to JSON: guarded parsing, documents in and out, validation, atomic files, and the journal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"

namespace assay::json {

inline constexpr std::size_t kMaxDepth = 64;

// Parses `text` after a streaming pass that bounds the depth at kMaxDepth, rejects duplicate keys, NaN, Infinity and
// integers beyond 64 bits. `name` is what messages call it (a path). Errors: bad_input with line and column.
Result<nlohmann::ordered_json> parse(std::string_view text, std::string_view name);

// Whole file as bytes. Errors: bad_input (missing, unreadable, a folder, larger than max_bytes).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

// ---- documents ----

// The document as JSON text, indented, ending in a newline. It is validated against the schema first; a document that
// does not satisfy its own schema is an internal error, never written.
Result<std::string> write_document(const RunDocument& document);

// Parses, checks kind and major version, validates, converts. Errors: bad_input.
Result<RunDocument> read_document(std::string_view text, std::string_view name);

// Validates any document of schema v1, whatever its kind, against the compiled-in schema. Errors: bad_input with the
// JSON pointer of the first violation. Returns the kind.
Result<DocumentKind> validate(std::string_view text, std::string_view name);

std::string_view to_text(DocumentKind kind);

// The plan alone, as `--dry-run` prints it and `--plan FILE` reads it.
std::string write_plan(const Plan& plan);
Result<Plan> read_plan(std::string_view text, std::string_view name);

// An identity alone, as `assay environment --json` prints it.
std::string write_identity(const Identity& identity);
Result<Identity> read_identity(std::string_view text, std::string_view name);

// ---- files ----

// Whether `path` can be created: does not exist, and its folder exists and is writable. Errors: output.
Result<void> check_output(const std::filesystem::path& path);

// Temporary file in the same folder, written, synced, linked into place without replacing anything, folder synced; the
// temporary file is removed on failure. Errors: output.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes);

// ---- the journal: one entry a line ----

std::string to_line(const JournalEntry& entry);  // without the newline
Result<JournalEntry> from_line(std::string_view line, std::string_view name);

// Folds one entry into the document. Errors: bad_input when the entry does not fit what came before.
Result<void> apply(RunDocument& document, const JournalEntry& entry);

// An append-only journal file; each entry is written whole and synced before append returns.
class Journal {
 public:
  // Errors: output when the file exists or cannot be created.
  static Result<Journal> create(const std::filesystem::path& path);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();
  Result<void> append(const JournalEntry& entry);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Removes the file: the whole document is on disk.
  Result<void> discard();

 private:
  Journal(int descriptor, std::filesystem::path path);
  int descriptor_ = -1;
  std::filesystem::path path_;
};

// The journal that belongs to an output file: "<output>.journal".
std::filesystem::path journal_path(const std::filesystem::path& output);

// Rebuilds a document from a journal; a torn last line is dropped. Launches that were running become interrupted, the
// document partial. Errors: bad_input.
Result<RunDocument> recover(const std::filesystem::path& journal);

}  // namespace assay::json
