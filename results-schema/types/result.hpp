// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what failed and which kind of failure it is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace assay {

// The kinds of failure that callers act on. suite/cli maps each to an exit code (design: command line).
enum class ErrorCode {
  usage,            // the request itself is wrong
  bad_input,        // a file or a stream of input is malformed
  no_device,        // backend or device is not there
  unsupported,      // the runtime or device lacks the function
  out_of_memory,    // device or budget exhausted
  map_limit,        // mapping or file-descriptor limit, not memory
  fault,            // a kernel faulted or the device is lost
  hung,             // a time limit was reached
  wrong_result,     // a kernel's output failed its check
  not_comparable,   // identities forbid the comparison
  output,           // the output exists, or cannot be created or written
  interrupted,      // the user stopped the run
  internal,         // a defect of ours
};

// One sentence that names the thing, the reason and the next step.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string text;
};

// The shape of std::expected<T, Error>, which C++20 libraries lack; replaceable by it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace assay
