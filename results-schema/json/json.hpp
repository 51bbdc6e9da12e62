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

namespace detail {
struct Syscalls;  // how bytes reach the disk; tests put their own here
}

inline constexpr std::size_t kMaxDepth = 64;

// Parses `text` after a streaming pass that bounds the depth at kMaxDepth, rejects duplicate keys, NaN, Infinity and
// integers beyond 64 bits. `name` is what messages call it (a path). Errors: bad_input with line and column.
Result<nlohmann::ordered_json> parse(std::string_view text, std::string_view name);

// Whole file as bytes. Errors: bad_input (missing, unreadable, a folder, larger than max_bytes).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

// ---- documents ----

// The document as JSON text, a counter or an equation a line, ending in a newline. It is validated against the schema
// first; a document that does not satisfy its own schema is an internal error, never written.
Result<std::string> write_document(const RunDocument& document);

// Parses, checks kind and version, validates, converts. A newer major version is refused; a newer minor one is read by
// what this one knows of it: values are checked, unknown keys skipped, and `warning` says so in a sentence (it is empty
// otherwise). Errors: bad_input.
Result<RunDocument> read_document(std::string_view text, std::string_view name, std::string* warning = nullptr);

// Validates any document of schema v1, whatever its kind, against the compiled-in schema. Errors: bad_input with the
// JSON pointer of the first violation. Returns the kind. `warning` as for read_document; of a newer minor version only
// what this one knows is checked.
Result<DocumentKind> validate(std::string_view text, std::string_view name, std::string* warning = nullptr);

// What a schema cannot state: platform and backend, counters and ledger, samples and phases, status and outcomes of one
// document agree. Asked of documents that are read, never of one being written: no rule may cost a measured result.
// Errors: bad_input with the first contradiction.
Result<void> check_consistency(const RunDocument& document, std::string_view name);

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

// Without the newline. A sample that is not finite comes out as null, which from_line refuses.
std::string to_line(const JournalEntry& entry);
Result<JournalEntry> from_line(std::string_view line, std::string_view name);

// Folds one entry into the document. Errors: bad_input when the entry does not fit what came before.
// PhaseStarted adds a partial phase, which PhaseFinished replaces: a launch that dies in a phase leaves it behind.
// RunFinished calls finish(), which alone decides the status: the entry's own status is a word for the reader.
Result<void> apply(RunDocument& document, const JournalEntry& entry);

// Derives status and failures. A launch still running becomes interrupted. Every launch that is not ok, every case
// that is wrong or failed, every planned launch that did not run is a failure. No failure: ok. Otherwise failed when no
// launch is ok, else partial. A run without finished_at was cut short and is partial. Doing it twice changes nothing.
void finish(RunDocument& document);

// An append-only journal file; each entry is written whole and synced before append returns. It is locked (flock) while
// this object lives and can append, which tells others that the run is alive.
class Journal {
 public:
  // Errors: output when the file exists or cannot be created.
  static Result<Journal> create(const std::filesystem::path& path);
  static Result<Journal> create(const std::filesystem::path& path, const detail::Syscalls& system);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();
  // Errors: internal for an entry that could not be read back (it is not written); output when the disk refuses. After
  // an output error nothing more is appended: the file ends in a torn line, which recover drops.
  Result<void> append(const JournalEntry& entry);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Whether the file is still where it was made: nobody removed or replaced it.
  [[nodiscard]] bool in_place() const;
  // Removes the file: the whole document is on disk. A file that took its place is left alone.
  Result<void> discard();

 private:
  Journal(const detail::Syscalls& system, int descriptor, std::filesystem::path path);
  const detail::Syscalls* system_;
  int descriptor_ = -1;
  bool torn_ = false;
  std::filesystem::path path_;
};

// What stands where a journal would.
enum class JournalState {
  absent,
  alive,    // the process that writes it is running
  nothing,  // its run was killed before the first entry was whole
  holds,    // entries; or it is no journal at all
};
[[nodiscard]] JournalState journal_state(const std::filesystem::path& journal);

// Makes way for a new run: removes a journal that holds nothing, and no other file.
void remove_empty_journal(const std::filesystem::path& journal);

// Removes the unfinished file that a process killed while it wrote `output` may have left beside it (on file systems
// without files that have no name), unless it is being written.
void remove_leftover(const std::filesystem::path& output);

// The journal that belongs to an output file: "<output>.journal".
std::filesystem::path journal_path(const std::filesystem::path& output);

// Rebuilds a document from a journal; a torn last line is dropped. Launches that were running become interrupted, the
// document partial (unless the journal holds the end of its run). Errors: output when the run that writes it is alive;
// bad_input when the file is no journal of Assay, follows a newer major version, holds no run, or is damaged before its
// last line.
Result<RunDocument> recover(const std::filesystem::path& journal);

}  // namespace assay::json
