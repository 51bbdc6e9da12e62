// SPDX-License-Identifier: Apache-2.0
// Checked options: CLI11 reads the words, the numbers are parsed here, because its own conversion takes octal and
// blanks.
#include "suite/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <utility>

namespace assay::cli {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Error not_a_number(std::string_view text, std::string_view wanted) {
  return {ErrorCode::usage,
          text.empty() ? fmt::format("is empty; give {}", wanted) : fmt::format("\"{}\" is not {}", text, wanted)};
}

// digits[.digits] times `unit`, exactly; `whole` is set to whether no rounding was needed. False on overflow.
bool scale(std::string_view digits, std::string_view fraction, std::int64_t unit, std::int64_t& out, bool& whole) {
  __extension__ using Wide = unsigned __int128;
  Wide value = 0;
  Wide divisor = 1;
  const auto take = [&](std::string_view part) {
    for (const char c : part) {
      if (value > Wide{kLargestInteger} * 1'000'000'000) return false;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return true;
  };
  if (fraction.size() > 12 || !take(digits) || !take(fraction)) return false;
  for (std::size_t i = 0; i < fraction.size(); ++i) divisor *= 10;
  const Wide product = value * static_cast<std::uint64_t>(unit);
  whole = product % divisor == 0;
  const Wide rounded = (product + divisor / 2) / divisor;
  if (rounded > Wide{kLargestInteger}) return false;
  out = static_cast<std::int64_t>(rounded);
  return true;
}

struct Decimal {
  std::string_view digits;
  std::string_view fraction;
};

bool split_decimal(std::string_view text, Decimal& out) {
  const auto dot = text.find('.');
  out.digits = text.substr(0, dot);
  out.fraction = dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  return is_digits(out.digits) && (dot == std::string_view::npos || is_digits(out.fraction));
}

struct Suffix {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<Suffix, 9> kSuffixes{{{"KiB", 1LL << 10},
                                           {"MiB", 1LL << 20},
                                           {"GiB", 1LL << 30},
                                           {"TiB", 1LL << 40},
                                           {"kB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000},
                                           {"B", 1}}};

template <class Target>
Result<void> store(const Result<std::int64_t>& parsed, Target& target) {
  if (!parsed) return parsed.error();
  target = *parsed;
  return {};
}

// "--warmups" of "--warmups,--warmup", "--output" of "-o,--output", the name itself of an argument.
std::string shown_name(const std::string& names) {
  const auto begin = names.find("--");
  const auto name = begin == std::string::npos ? names : names.substr(begin);
  return name.substr(0, name.find(','));
}

CLI::ValidationError refused(const std::string& names, const std::string& why) {
  return CLI::ValidationError(shown_name(names) + (why.starts_with("is ") ? " " : ": ") + why);
}

template <class Parse>
CLI::Option* add_checked(CLI::App& app, const std::string& names, const std::string& description,
                         const std::string& type, Parse parse) {
  auto* option = app.add_option_function<std::string>(
      names,
      [parse, names](const std::string& text) {
        if (auto done = parse(text); !done) throw refused(names, done.error().text);
      },
      description);
  return option->type_name(type)->expected(1);
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text, Range range) {
  const bool negative = text.size() > 1 && text.front() == '-';
  if (!is_digits(negative ? text.substr(1) : text)) return not_a_number(text, "a whole number in decimal digits");
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool overflow = failure != std::errc{} || end != text.data() + text.size();
  if ((overflow && negative) || (!overflow && value < range.minimum))
    return Error{ErrorCode::usage, fmt::format("{} is too small; the least is {}", text, range.minimum)};
  if (overflow || value > range.maximum)
    return Error{ErrorCode::usage, fmt::format("{} is too large; the most is {}", text, range.maximum)};
  return value;
}

Result<std::int64_t> parse_size(std::string_view text) {
  constexpr std::string_view kWanted = "a size such as 512MiB, 1.5GiB or 2GB";
  for (const auto& suffix : kSuffixes) {
    if (!text.ends_with(suffix.name)) continue;
    auto number = text.substr(0, text.size() - suffix.name.size());
    if (number.ends_with(' ')) number.remove_suffix(1);
    Decimal parts;
    if (!split_decimal(number, parts)) break;
    std::int64_t bytes = 0;
    bool whole = false;
    if (!scale(parts.digits, parts.fraction, suffix.bytes, bytes, whole))
      return Error{ErrorCode::usage, fmt::format("{} is too large; the most is {} bytes", text, kLargestInteger)};
    if (!whole) return Error{ErrorCode::usage, fmt::format("{} is not a whole number of bytes", text)};
    return bytes;
  }
  if (is_digits(text))
    return Error{ErrorCode::usage, fmt::format("{} has no unit; write {}B, {}MiB or {}GiB", text, text, text, text)};
  return not_a_number(text, kWanted);
}

Result<std::int64_t> parse_scaled(std::string_view text, std::int64_t unit_bytes) {
  Decimal parts;
  if (!split_decimal(text, parts)) return not_a_number(text, "a number such as 4 or 1.5, without a sign or a unit");
  std::int64_t bytes = 0;
  bool whole = false;
  if (!scale(parts.digits, parts.fraction, unit_bytes, bytes, whole))
    return Error{ErrorCode::usage, fmt::format("{} is too large; the most is {} bytes", text, kLargestInteger)};
  return bytes;
}

CLI::Option* add_integer(CLI::App& app, const std::string& names, std::int64_t& target, const std::string& description,
                         Range range) {
  return add_checked(app, names, description, "N",
                     [&target, range](const std::string& text) { return store(parse_integer(text, range), target); });
}

CLI::Option* add_integer(CLI::App& app, const std::string& names, std::optional<std::int64_t>& target,
                         const std::string& description, Range range) {
  return add_checked(app, names, description, "N",
                     [&target, range](const std::string& text) { return store(parse_integer(text, range), target); });
}

CLI::Option* add_size(CLI::App& app, const std::string& names, std::optional<std::int64_t>& target,
                      const std::string& description) {
  return add_checked(app, names, description, "SIZE",
                     [&target](const std::string& text) { return store(parse_size(text), target); });
}

CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target, const std::string& description) {
  return add_checked(app, names, description, "TEXT", [&target](const std::string& text) -> Result<void> {
    if (text.empty()) return Error{ErrorCode::usage, "is empty; give a value or leave the option out"};
    target = text;
    return {};
  });
}

CLI::Option* add_texts(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                       const std::string& description) {
  auto* option = app.add_option_function<std::vector<std::string>>(
      names,
      [&target, names](const std::vector<std::string>& texts) {
        for (const auto& text : texts)
          if (text.empty()) throw refused(names, "is empty; give a value or leave the option out");
        target = texts;
      },
      description);
  return option->type_name("TEXT")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& target,
                        const std::vector<std::string>& choices, const std::string& description) {
  return add_checked(app, names, description, "NAME", [&target, choices](const std::string& text) -> Result<void> {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      const auto near = nearest(text, choices);
      return Error{ErrorCode::usage, fmt::format("\"{}\" is none of {}{}", text, fmt::join(choices, ", "),
                                                 near.empty() ? "" : fmt::format("; did you mean {}?", near))};
    }
    target = text;
    return {};
  });
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    // Levenshtein's distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t substituted = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace assay::cli
