// SPDX-License-Identifier: Apache-2.0
// The journal: a header line, then one entry a line, each on disk before append returns.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "results-schema/json/codec.hpp"
#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/syscalls.hpp"

namespace assay::json {
namespace {

// Tells a journal from any other file of lines.
constexpr const char* kHeaderKey = "assay_journal";

std::string header_line() {
  return detail::dump({{kHeaderKey, kSchemaVersion}}, -1) + "\n";
}

// Checks the first line of `text` and removes it.
Result<void> take_header(std::string_view& text, const std::string& name) {
  const auto end = text.find('\n');
  const auto header = parse(text.substr(0, end), name);
  if (!header || !header->is_object() || !header->contains(kHeaderKey) || !(*header)[kHeaderKey].is_string())
    return detail::bad_input(
        name + " is not a journal of assay: its first line does not say so; give the .journal file of a run");
  const std::string version = (*header)[kHeaderKey].get<std::string>();
  const std::string major = std::string(kSchemaVersion).substr(0, std::string(kSchemaVersion).find('.') + 1);
  if (!version.starts_with(major))
    return detail::bad_input(name + " follows schema " + detail::printable(version) + " and this assay reads " + major +
                             "x; recover it with the assay that wrote it");
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return {};
}

bool blank(std::string_view text) {
  return text.find_first_not_of(std::string_view(" \t\r\n\0", 5)) == text.npos;
}

// Whether `bytes` are what a run leaves that was killed before its first entry was whole.
bool holds_nothing(std::string_view bytes) {
  if (header_line().starts_with(bytes)) return true;
  if (!take_header(bytes, "the journal")) return false;
  if (blank(bytes)) return true;
  const auto end = bytes.find('\n');
  return (end == bytes.npos || blank(bytes.substr(end + 1))) && !from_line(bytes.substr(0, end), "the entry");
}

// A journal opened to be looked at.
class Looker {
 public:
  explicit Looker(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
    if (descriptor_ >= 0) alive_ = ::flock(descriptor_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;
  ~Looker() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool empty() const {
    const auto bytes = read_file(path_);
    return descriptor_ >= 0 && bytes && holds_nothing(*bytes);
  }
  // Removes the file if it holds nothing and nobody else is at it.
  void remove_empty() const {
    if (descriptor_ >= 0 && !alive_ && detail::lock(descriptor_) && detail::is_at(descriptor_, path_) && empty())
      ::unlink(path_.c_str());
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
  bool alive_ = false;
};

}  // namespace

JournalState journal_state(const std::filesystem::path& journal) {
  struct stat status {};
  if (::lstat(journal.c_str(), &status) != 0) return JournalState::absent;
  const Looker looker(journal);
  if (looker.alive()) return JournalState::alive;
  return looker.empty() ? JournalState::nothing : JournalState::holds;
}

void remove_empty_journal(const std::filesystem::path& journal) {
  Looker(journal).remove_empty();
}

std::string to_line(const JournalEntry& entry) {
  return detail::dump(detail::encode(entry), -1);
}

Result<JournalEntry> from_line(std::string_view line, std::string_view name) {
  auto value = parse(line, name);
  if (!value) return value.error();
  return detail::decode_entry(*value, name);
}

Journal::Journal(const detail::Syscalls& system, int descriptor, std::filesystem::path path)
    : system_(&system), descriptor_(descriptor), path_(std::move(path)) {}

Journal::Journal(Journal&& other) noexcept
    : system_(other.system_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      torn_(other.torn_),
      path_(std::move(other.path_)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(system_, other.system_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(torn_, other.torn_);
  std::swap(path_, other.path_);
  return *this;
}

Journal::~Journal() {
  if (descriptor_ >= 0) system_->close(descriptor_);
}

Result<Journal> Journal::create(const std::filesystem::path& path) {
  return create(path, detail::libc_syscalls());
}

Result<Journal> Journal::create(const std::filesystem::path& path, const detail::Syscalls& system) {
  if (auto free = check_output(path); !free) return free.error();
  const int descriptor =
      detail::open_again(system, path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return detail::output_error("cannot create the journal " + path.string() + ": " + std::strerror(errno) +
                                "; choose another output path");
  Journal journal(system, descriptor, path);
  // Before the lock it may be taken for a journal that holds nothing.
  if (!detail::lock(descriptor) || !journal.in_place())
    return detail::output_error("another run has just taken " + path.string() + "; choose another output path");
  int error = detail::write_all(system, descriptor, header_line());
  if (error == 0) error = detail::synced(system.fsync, descriptor);
  if (error == 0) error = detail::sync_folder(system, detail::folder_of(path));
  if (error == 0) return journal;
  system.unlink(path.c_str());  // nothing was recorded in it
  return detail::output_error("cannot write the journal " + path.string() + ": " + std::strerror(error) +
                              "; free some space or choose another output path");
}

Result<void> Journal::append(const JournalEntry& entry) {
  if (descriptor_ < 0) return detail::internal_error("the journal is closed; report this");
  if (torn_)
    return detail::output_error("the journal " + path_.string() +
                                " ends in a torn line since its disk refused one; recover it");
  const std::string line = to_line(entry);
  if (auto back = from_line(line, "a journal entry"); !back)
    return detail::internal_error(back.error().text + " (a defect of assay: report it)");
  int error = detail::write_all(*system_, descriptor_, line + "\n");
  if (error == 0) error = detail::synced(system_->fdatasync, descriptor_);
  if (error == 0) return {};
  torn_ = true;
  ::flock(descriptor_, LOCK_UN);  // what it holds is final
  return detail::output_error("cannot write the journal " + path_.string() + ": " + std::strerror(error) +
                              "; free some space, then recover what it holds");
}

bool Journal::in_place() const {
  return descriptor_ >= 0 && detail::is_at(descriptor_, path_);
}

Result<void> Journal::discard() {
  if (descriptor_ < 0) return {};
  const bool ours = in_place();
  system_->close(std::exchange(descriptor_, -1));
  if (!ours) return {};
  int error = system_->unlink(path_.c_str()) == 0 ? 0 : errno;
  if (error == 0) error = detail::sync_folder(*system_, detail::folder_of(path_));
  if (error == 0) return {};
  return detail::output_error("cannot remove the journal " + path_.string() + ": " + std::strerror(error) +
                              "; the document is whole, remove the journal by hand");
}

Result<RunDocument> recover(const std::filesystem::path& journal) {
  const std::string name = journal.string();
  const Looker looker(journal);
  if (looker.alive())
    return detail::output_error("the run that writes " + name +
                                " is alive; wait for its end, or interrupt it and it writes what it has");
  auto bytes = read_file(journal);
  if (!bytes) return bytes.error();
  if (holds_nothing(*bytes))
    return detail::bad_input(name +
                             " holds no run: it was killed before anything was recorded; run again, an empty journal "
                             "is replaced");
  std::string_view rest = *bytes;
  if (auto header = take_header(rest, name); !header) return header.error();

  RunDocument document;
  for (std::size_t number = 2; !blank(rest); ++number) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    const std::string place = name + " line " + std::to_string(number);
    auto entry = from_line(line, place);
    if (!entry && blank(rest)) break;  // the line that was being written when the end came
    if (!entry)
      return detail::bad_input(entry.error().text +
                               " (lines follow it, so it was not cut off: the journal is damaged)");
    if (auto fits = json::apply(document, *entry); !fits)
      return detail::bad_input(place + ": " + fits.error().text + "; the journal is damaged");
  }
  if (document.run.id.empty()) return detail::bad_input(name + " holds no run; remove it and run again");
  finish(document);
  return document;
}

}  // namespace assay::json
