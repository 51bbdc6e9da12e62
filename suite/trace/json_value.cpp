// SPDX-License-Identifier: Apache-2.0
// nlohmann's streaming parser, feeding the arena of plain values.
#include "suite/trace/json_value.hpp"

#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <streambuf>
#include <vector>

#include "suite/trace/fields.hpp"

namespace assay::trace {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Lets the parser pull from an Input; a failure of the Input ends the stream and is kept.
class Stream : public std::streambuf {
 public:
  explicit Stream(Input& input) : input_(input), buffer_(65536, '\0') {}
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 protected:
  int_type underflow() override {
    const auto got = input_.read(buffer_.data(), buffer_.size());
    if (!got) failure_ = got.error();
    if (!got || *got == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + *got);
    return traits_type::to_int_type(*gptr());
  }

 private:
  Input& input_;
  std::string buffer_;
  std::optional<Error> failure_;
};

class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(Arena& arena, const JsonOptions& options) : arena_(arena), options_(options) {}
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] Value root() const { return root_; }

  bool null() override { return add(Value{}); }
  bool boolean(bool truth) override { return add(Arena::boolean(truth)); }
  bool number_integer(number_integer_t number) override { return add(Arena::integer(number)); }
  bool number_unsigned(number_unsigned_t number) override {
    // Addresses above 2^63 are kept by their bits; sizes are checked for sign where they are used.
    return add(Arena::integer(static_cast<std::int64_t>(number)));
  }
  bool number_float(number_float_t number, const string_t& /*text*/) override { return add(Arena::real(number)); }
  bool string(string_t& content) override {
    if (skipping_ > 0 || skip_next_) return add(Value{});
    return add(arena_.text(content));
  }
  bool binary(binary_t& /*content*/) override { return fail("binary data"); }
  bool key(string_t& name) override {
    if (skipping_ > 0) return true;
    key_ = arena_.text(name);
    skip_next_ = options_.skip && options_.skip(name);
    return true;
  }
  bool start_object(std::size_t /*size*/) override { return open(ValueKind::dictionary); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(ValueKind::list); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    const std::string_view text = error.what();
    const bool number = text.find("number overflow") != std::string_view::npos;
    return fail(fmt::format("malformed JSON at byte {}{}", position, number ? " (a number is too large)" : ""));
  }

 private:
  bool fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
    return false;
  }

  bool add(Value value) {
    if (skipping_ > 0) return true;
    if (skip_next_) {
      skip_next_ = false;
      return true;
    }
    if (open_.empty()) {
      root_ = value;
      return true;
    }
    const Value container = open_.back();
    if (container.kind == ValueKind::list)
      arena_.list_of(container).push_back(value);
    else
      arena_.dictionary_of(container).emplace_back(key_, value);
    return true;
  }

  bool open(ValueKind kind) {
    if (open_.size() + skipping_ >= kMaxDepth) return fail(fmt::format("nested deeper than {} levels", kMaxDepth));
    if (skipping_ > 0 || skip_next_) {
      skip_next_ = false;
      ++skipping_;
      return true;
    }
    const Value made = kind == ValueKind::list ? arena_.list() : arena_.dictionary();
    if (!add(made)) return false;
    open_.push_back(made);
    return true;
  }

  bool close() {
    if (skipping_ > 0)
      --skipping_;
    else
      open_.pop_back();
    return true;
  }

  Arena& arena_;
  const JsonOptions& options_;
  std::string failure_;
  Value root_;
  Value key_;
  std::vector<Value> open_;
  std::size_t skipping_ = 0;  // depth inside a member that is not kept
  bool skip_next_ = false;
};

}  // namespace

Result<Value> read_json(Input& input, Arena& arena, const JsonOptions& options) {
  Stream buffer(input);
  std::istream stream(&buffer);
  Builder builder(arena, options);
  const bool good = nlohmann::json::sax_parse(stream, &builder);
  if (buffer.failure()) return *buffer.failure();
  if (!good)
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: {}; record the trace again", input.path(),
                             builder.failure().empty() ? "malformed JSON" : printable(builder.failure()))};
  return builder.root();
}

}  // namespace assay::trace
