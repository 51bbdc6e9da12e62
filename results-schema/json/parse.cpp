// SPDX-License-Identifier: Apache-2.0
// Guarded parsing: one streaming pass that builds the value and refuses what a plain parser lets through.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"

namespace assay::json {
namespace {

using detail::Json;

// Walks the text for the parser and tells the builder how far it has come; the SAX interface itself has no positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// Receives the parser's events. The parser keeps its own state on the heap, so nesting costs no stack; the depth is
// bounded here. Members are appended without a search (the value's own insertion is quadratic in the member count).
class Builder {
 public:
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& raw) {
    // The parser falls back to a double for an integer that does not fit 64 bits.
    if (raw.find_first_of(".eE") == std::string::npos) return refuse("the integer does not fit into 64 bits");
    return put(value);
  }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t) {
    if (!open(Json::object())) return false;
    keys_.emplace_back();
    return true;
  }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second)
      return refuse("the key \"" + detail::printable(name) + "\" appears twice in one object");
    stack_.back()->get_ref<Json::object_t&>().emplace_back(name, nullptr);
    return true;
  }
  bool end_object() {
    keys_.pop_back();
    stack_.pop_back();
    return true;
  }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_array() {
    stack_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    std::string_view what = error.what();
    if (const auto end = what.find("] "); what.starts_with('[') && end != what.npos) what.remove_prefix(end + 2);
    if (const auto end = what.find(": "); what.starts_with("parse error") && end != what.npos)
      what.remove_prefix(end + 2);
    what = what.substr(0, what.find("; last read"));  // it may hold any byte
    return refuse(detail::printable(what, 200));
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  template <class T>
  Json* place(T&& value) {
    if (stack_.empty()) {
      root_ = Json(std::forward<T>(value));
      return &root_;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      auto& items = parent.get_ref<Json::array_t&>();
      items.emplace_back(std::forward<T>(value));
      return &items.back();
    }
    Json& member = parent.get_ref<Json::object_t&>().back().second;
    member = Json(std::forward<T>(value));
    return &member;
  }

  template <class T>
  bool put(T&& value) {
    place(std::forward<T>(value));
    return true;
  }

  bool open(Json container) {
    if (stack_.size() == kMaxDepth)
      return refuse("arrays and objects are nested deeper than " + std::to_string(kMaxDepth) + " levels");
    stack_.push_back(place(std::move(container)));  // stays put: only the innermost container grows
    return true;
  }

  Json root_;
  std::vector<Json*> stack_;
  std::vector<std::unordered_set<std::string>> keys_;
  std::string problem_;
};

std::string where(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto last = before.rfind('\n');
  const std::size_t column = last == before.npos ? offset : offset - last - 1;
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

// Whether the word the parser stopped in is what other writers emit for a number JSON has no word for.
bool at_non_finite(std::string_view text, std::size_t offset) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  while (offset > 0 && letter(text[offset - 1])) --offset;
  const std::string_view rest = text.substr(offset);
  return rest.starts_with("NaN") || rest.starts_with("nan") || rest.starts_with("Inf") || rest.starts_with("inf");
}

}  // namespace

Result<Json> parse(std::string_view text, std::string_view name) {
  const char* furthest = text.data();
  Builder builder;
  const bool whole = Json::sax_parse(CountingIterator(text.data(), &furthest),
                                     CountingIterator(text.data() + text.size(), &furthest), &builder);
  const auto nul = text.find('\0');
  if (whole && nul == text.npos) return builder.take();
  // The parser takes a NUL for the end of the text and never looks behind it.
  const auto offset = whole ? nul + 1 : static_cast<std::size_t>(furthest - text.data());
  std::string problem = whole ? "a NUL byte is not JSON" : builder.problem();
  if (problem.find("invalid literal") != problem.npos || problem.find("invalid number") != problem.npos)
    if (at_non_finite(text, offset)) problem = "NaN and Infinity are not JSON numbers";
  return detail::bad_input(std::string(name) + ", " + where(text, offset) + ": " + problem +
                           "; correct that place and try again");
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto failure = [&path](const std::string& reason) {
    const bool files = errno == EMFILE || errno == ENFILE;
    return detail::bad_input("cannot read " + path.string() + ": " + reason +
                             (files ? "; raise the limit on open files (ulimit -n)" : "; check the path"));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not block
  if (descriptor < 0) return failure(std::strerror(errno));
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};

  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return failure(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return failure("it is a folder");
  if (!S_ISREG(status.st_mode)) return failure("it is no regular file");
  const auto too_large = [&] { return failure("it is larger than " + std::to_string(max_bytes) + " bytes"); };
  if (static_cast<std::uintmax_t>(status.st_size) > max_bytes) return too_large();  // before any of it is read
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));
  std::vector<char> chunk(std::size_t{1} << 16);
  for (;;) {
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(std::strerror(errno));
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(got) > max_bytes) return too_large();
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace assay::json
