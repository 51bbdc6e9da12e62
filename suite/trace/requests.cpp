// SPDX-License-Identifier: Apache-2.0
// The two shapes in which request traces are published.
#include "suite/trace/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "results-schema/json/json.hpp"
#include "suite/trace/columns.hpp"

namespace assay::trace {
namespace {

// Tells arrivals from the first one on; a time that goes back is a label that is wrong, not an order.
class Arrivals {
 public:
  std::int64_t since_first(std::int64_t time_us) {
    if (!first_) first_ = time_us;
    last_ = std::max(last_, time_us - *first_);
    return last_;
  }

 private:
  std::optional<std::int64_t> first_;
  std::int64_t last_ = 0;
};

// "YYYY-MM-DD HH:MM:SS[.fraction]" as microseconds since 1970.
std::optional<std::int64_t> date_time_us(std::string_view text) {
  constexpr std::size_t kSeconds = 19;
  if (text.size() < kSeconds || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = whole<int>(text.substr(0, 4));
  const auto month = whole<unsigned>(text.substr(5, 2));
  const auto day = whole<unsigned>(text.substr(8, 2));
  const auto hours = whole<std::int64_t>(text.substr(11, 2));
  const auto minutes = whole<std::int64_t>(text.substr(14, 2));
  const auto seconds = whole<std::int64_t>(text.substr(17, 2));
  if (!year || !month || !day || !hours || !minutes || !seconds || *hours < 0 || *minutes < 0 || *seconds < 0)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  std::int64_t fraction = 0;
  if (text.size() > kSeconds + 1) {
    constexpr std::size_t kMicroDigits = 6;
    const std::string_view digits = text.substr(kSeconds + 1, kMicroDigits);
    const auto part = whole<std::int64_t>(digits);
    if (!part || *part < 0 || text[kSeconds] != '.') return std::nullopt;
    fraction = *part;
    for (std::size_t i = digits.size(); i < kMicroDigits; ++i) fraction *= 10;
  }
  return (((days * 24 + *hours) * 60 + *minutes) * 60 + *seconds) * 1'000'000 + fraction;
}

class CsvRequests : public Requests {
 public:
  enum Column : std::size_t { kTime, kContext, kGenerated };
  static constexpr std::array<std::string_view, 3> kNames{"TIMESTAMP", "ContextTokens", "GeneratedTokens"};

  CsvRequests(Input input, Columns<3> columns) : input_(std::move(input)), columns_(std::move(columns)) {}
  [[nodiscard]] std::int64_t hash_tokens() const override { return 0; }

  Result<bool> next(LlmRequest& request) override {
    const auto more = columns_.next(input_);
    if (!more || !*more) return more;
    const auto time = date_time_us(columns_.cell(kTime));
    if (!time) return bad_cell(input_, kNames[kTime], columns_.cell(kTime));
    request = {};
    for (const auto& [column, target] :
         {std::pair{kContext, &request.context_tokens}, std::pair{kGenerated, &request.generated_tokens}}) {
      const auto tokens = whole<std::int64_t>(columns_.cell(column));
      if (!tokens || *tokens < 0 || *tokens > kAbsurdTokens)
        return bad_cell(input_, kNames[column], columns_.cell(column));
      *target = *tokens;
    }
    request.arrival_us = arrivals_.since_first(*time);
    return true;
  }

 private:
  Input input_;
  Columns<3> columns_;
  Arrivals arrivals_;
};

class JsonRequests : public Requests {
 public:
  static constexpr std::int64_t kHashTokens = 512;

  explicit JsonRequests(Input input) : input_(std::move(input)) {}
  [[nodiscard]] std::int64_t hash_tokens() const override { return kHashTokens; }

  Result<bool> next(LlmRequest& request) override {
    do {
      const auto more = input_.line(line_);
      if (!more || !*more) return more;
    } while (line_.empty());
    const auto parsed = json::parse(line_, input_.path());
    if (!parsed || !parsed->is_object())
      return input_.at_line("the line is no JSON object; the trace is cut off or damaged");
    request = {};
    constexpr std::int64_t kLongestMs = std::int64_t{1} << 42;  // 139 years
    const auto time = number(*parsed, "timestamp", kLongestMs);
    const auto context = number(*parsed, "input_length", kAbsurdTokens);
    const auto generated = number(*parsed, "output_length", kAbsurdTokens);
    if (!time) return time.error();
    if (!context) return context.error();
    if (!generated) return generated.error();
    request.arrival_us = arrivals_.since_first(*time * 1000);
    request.context_tokens = *context;
    request.generated_tokens = *generated;
    if (!parsed->contains("hash_ids")) return true;
    const auto& ids = (*parsed)["hash_ids"];
    const auto pieces = static_cast<std::size_t>((*context + kHashTokens - 1) / kHashTokens);
    if (!ids.is_array() || ids.size() > pieces)
      return input_.at_line("'hash_ids' is no list, or longer than 'input_length' has pieces of 512 tokens");
    for (const auto& id : ids) {
      if (!id.is_number_integer() || id < 0) return input_.at_line("a hash id is no number");
      request.hash_ids.push_back(id.get<std::uint64_t>());
    }
    return true;
  }

 private:
  template <class Json>
  Result<std::int64_t> number(const Json& object, const char* key, std::int64_t most) const {
    if (object.contains(key) && object[key].is_number_integer() && object[key] >= 0 && object[key] <= most)
      return object[key].template get<std::int64_t>();
    return input_.at_line(fmt::format("'{}' is missing or no number from 0 to {}", key, most));
  }

  Input input_;
  std::string line_;
  Arrivals arrivals_;
};

}  // namespace

Result<std::unique_ptr<Requests>> open_requests_csv(Input input) {
  auto columns = Columns<3>::read_header(input, CsvRequests::kNames);
  if (!columns) return columns.error();
  return std::unique_ptr<Requests>(std::make_unique<CsvRequests>(std::move(input), std::move(*columns)));
}

Result<std::unique_ptr<Requests>> open_requests_jsonl(Input input) {
  return std::unique_ptr<Requests>(std::make_unique<JsonRequests>(std::move(input)));
}

}  // namespace assay::trace
