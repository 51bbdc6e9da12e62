// SPDX-License-Identifier: Apache-2.0
// Streaming JSON: the library's events with the byte they belong to, for headers too large to be kept as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"
#include "suite/weights/reject.hpp"

namespace assay::weights {

// Walks the text for the parser and tells the handler how far it has come; the events themselves have no position.
class PositionIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  PositionIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  PositionIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  bool operator==(const PositionIterator& other) const { return at_ == other.at_; }
  bool operator!=(const PositionIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// Base of a handler: every event is refused until a derived class takes it. `refuse` keeps the first reason.
class JsonHandler {
 public:
  // `base`: the byte of the file at which the text begins.
  JsonHandler(std::string_view text, std::string_view file, std::uint64_t base)
      : text_(text), file_(file), base_(base), furthest_(text.data()) {}

  bool null() { return refuse("null stands where it has no meaning"); }
  bool boolean(bool) { return refuse("true or false stands where it has no meaning"); }
  bool number_float(double, const std::string& raw) {
    return refuse("the number " + shown(raw, 30) + " is not a whole number in plain digits of at most 2^64 - 1");
  }
  bool binary(nlohmann::json::binary_t&) { return refuse("binary data stands where it has no meaning"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    if (!error_) error_ = reject(file_, base_ + (position > 0 ? position - 1 : 0), "this is not valid JSON in UTF-8");
    return false;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const char** furthest() { return &furthest_; }

 protected:
  bool refuse(const std::string& reason) {
    if (!error_) error_ = reject(file_, byte(), reason);
    return false;
  }
  bool refuse_at(std::uint64_t at, const std::string& reason) {
    if (!error_) error_ = reject(file_, at, reason);
    return false;
  }
  // Of the file, of the last character read.
  [[nodiscard]] std::uint64_t byte() const {
    const auto read = static_cast<std::uint64_t>(furthest_ - text_.data());
    return base_ + (read > 0 ? read - 1 : 0);
  }
  [[nodiscard]] std::string_view file() const { return file_; }

 private:
  std::string_view text_;
  std::string_view file_;
  std::uint64_t base_;
  const char* furthest_;
  std::optional<Error> error_;
};

// Runs the parser; the handler's first complaint is the error.
template <class Handler>
Result<void> walk_json(std::string_view text, Handler& handler) {
  const PositionIterator begin(text.data(), handler.furthest());
  const PositionIterator end(text.data() + text.size(), handler.furthest());
  const bool done = nlohmann::json::sax_parse(begin, end, &handler);
  if (handler.error()) return *handler.error();
  if (!done) return Error{ErrorCode::bad_input, "a JSON header was refused without a reason"};
  return {};
}

}  // namespace assay::weights
