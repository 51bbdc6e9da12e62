// SPDX-License-Identifier: Apache-2.0
// JSON values as the types: every member must be there and fit, whatever a schema said before.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/json/codec.hpp"
#include "results-schema/json/members_compare.hpp"
#include "results-schema/json/members_replay.hpp"

namespace assay::json::detail {
namespace {

// Leaves this file as an Error only.
struct Mismatch {
  std::string pointer;
  std::string problem;
};

// Where a value stands: a chain on the stack, spelt out only when something is wrong.
struct Place {
  const Place* parent = nullptr;
  std::string_view key;
  std::size_t index = 0;

  [[nodiscard]] std::string pointer() const {
    if (parent == nullptr) return "";
    return parent->pointer() + "/" + (key.data() != nullptr ? printable(key) : std::to_string(index));
  }
};

[[noreturn]] void mismatch(const Place& place, std::string problem) {
  throw Mismatch{place.pointer(), std::move(problem)};
}

template <class T>
void read(const Json& json, T& out, const Place& place);

const Json& member(const Json& object, std::string_view key, const Place& place) {
  if (!object.is_object()) mismatch(place, "is not an object");
  const auto found = object.find(std::string(key));
  if (found == object.end()) mismatch(place, "lacks \"" + std::string(key) + "\"");
  return *found;
}

class Reader {
 public:
  Reader(const Json& object, const Place& place) : object_(object), place_(place) {}
  template <class T>
  void operator()(const char* key, T& out) {
    read(member(object_, key, place_), out, Place{&place_, key});
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& out) {
    if (!object_.is_object()) mismatch(place_, "is not an object");
    out.reset();
    if (const auto found = object_.find(key); found != object_.end()) read(*found, out.emplace(), Place{&place_, key});
  }

 private:
  const Json& object_;
  const Place& place_;
};

std::int64_t integer(const Json& json, const Place& place) {
  if (!json.is_number_integer()) mismatch(place, "is not an integer");
  const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMaxInteger)
                                              : json.get<std::int64_t>() >= -kMaxInteger;
  if (!fits) mismatch(place, "is beyond 2^53-1, the largest integer of a document");
  return json.get<std::int64_t>();
}

double real(const Json& json, const Place& place) {
  if (!json.is_number()) mismatch(place, "is not a number");
  const double number = json.get<double>();
  if (!std::isfinite(number)) mismatch(place, "is not finite");
  return number;
}

void fill(const Json& json, Quantity& out, const Place& place) {
  const Json& number = member(json, "value", place);
  const Place at{&place, "value"};
  Reader reader(json, place);
  reader("unit", out.unit);
  reader("basis", out.basis);
  out.reason.clear();
  if (json.contains("reason")) reader("reason", out.reason);
  if (number.is_null())
    out.value = std::monostate{};
  else if (number.is_number_float())
    out.value = real(number, at);
  else
    out.value = integer(number, at);
  if (out.has_value() != out.reason.empty())
    mismatch(place, out.has_value() ? "gives a reason beside a value" : "is null without a reason");
}

void fill(const Json& json, IdentityField& out, const Place& place) {
  const Json& held = member(json, "value", place);
  Reader reader(json, place);
  reader("tier", out.tier);
  reader("state", out.state);
  reader("source", out.source);
  out.reason.clear();
  if (json.contains("reason")) reader("reason", out.reason);
  const bool known = out.state == FieldState::value;
  if (known != out.reason.empty() || known == held.is_null())
    mismatch(place, known ? "must have a value and no reason" : "must be null and say why");
  out.value = FieldValue{};
  if (held.is_string())
    out.value = held.get<std::string>();
  else if (held.is_boolean())
    out.value = held.get<bool>();
  else if (known)
    out.value = integer(held, Place{&place, "value"});
}

void fill(const Json& json, Identity& out, const Place& place) {
  const Json& fields = member(json, "fields", place);
  const Place at{&place, "fields"};
  if (!fields.is_object()) mismatch(at, "is not an object");
  out.fields.clear();
  for (const auto& [key, field] : fields.get_ref<const Json::object_t&>()) {
    out.fields.emplace_back().key = key;
    fill(field, out.fields.back(), Place{&at, key});
  }
  Reader reader(json, place);
  reader("findings", out.findings);
}

void fill(const Json& json, MaybeReal& out, const Place& place) {
  out.value.reset();
  if (!json.is_null()) out.value = real(json, place);
}

void fill(const Json& json, MaybeInterval& out, const Place& place) {
  out.bounds.reset();
  if (json.is_null()) return;
  if (!json.is_array() || json.size() != 2) mismatch(place, "is no interval of two ends");
  out.bounds = {real(json[0], Place{&place, {}, 0}), real(json[1], Place{&place, {}, 1})};
}

template <class T>
void fill(const Json& json, std::vector<T>& out, const Place& place) {
  if (!json.is_array()) mismatch(place, "is not an array");
  out.clear();
  out.reserve(json.size());
  for (const auto& item : json.get_ref<const Json::array_t&>()) {
    T& element = out.emplace_back();
    read(item, element, Place{&place, {}, out.size() - 1});
  }
}

void fill(const Json& json, std::pair<std::string, std::string>& out, const Place& place) {
  Reader reader(json, place);
  reader("key", out.first);
  reader("value", out.second);
}

void fill(const Json& json, std::map<std::string, std::int64_t>& out, const Place& place) {
  if (!json.is_object()) mismatch(place, "is not an object");
  out.clear();
  for (const auto& [key, number] : json.get_ref<const Json::object_t&>())
    out[key] = integer(number, Place{&place, key});
}

void fill(const Json& json, SampleSeries& out, const Place& place) {
  Reader reader(json, place);
  members(reader, out);
  if (!out.flags.empty() && out.flags.size() != out.values.size())
    mismatch(place, "has a number of flags other than its values'");
}

template <class E>
void read_word(const Json& json, E& out, const Place& place) {
  const auto& list = Words<E>::list;
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const auto found = std::find(list.begin(), list.end(), text);
  if (found == list.end()) mismatch(place, "is none of the words allowed here");
  out = static_cast<E>(found - list.begin());
}

template <class T>
void read(const Json& json, T& out, const Place& place) {
  if constexpr (std::is_enum_v<T>) {
    read_word(json, out, place);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) mismatch(place, "is neither true nor false");
    out = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    const std::int64_t number = integer(json, place);
    if (number < 0) mismatch(place, "is negative");
    out = static_cast<std::uint64_t>(number);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    out = integer(json, place);
  } else if constexpr (std::is_same_v<T, double>) {
    out = real(json, place);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) mismatch(place, "is not a string");
    out = json.get<std::string>();
  } else if constexpr (requires { fill(json, out, place); }) {
    fill(json, out, place);
  } else {
    Reader reader(json, place);
    members(reader, out);
  }
}

template <class T>
Result<T> decode(const Json& json, std::string_view name) {
  T out;
  try {
    read(json, out, Place{});
  } catch (const Mismatch& found) {
    return bad_input(std::string(name) + ": " + (found.pointer.empty() ? "the top level" : found.pointer) + " " +
                     found.problem + "; correct it and try again");
  }
  return out;
}

template <std::size_t I>
Result<JournalEntry> decode_alternative(const Json& json, std::string_view name) {
  auto entry = decode<std::variant_alternative_t<I, JournalEntry>>(json, name);
  if (!entry) return entry.error();
  return JournalEntry(std::in_place_index<I>, *std::move(entry));
}

template <std::size_t... I>
Result<JournalEntry> decode_nth(std::size_t n, const Json& json, std::string_view name, std::index_sequence<I...>) {
  using Decoder = Result<JournalEntry> (*)(const Json&, std::string_view);
  static constexpr std::array<Decoder, sizeof...(I)> decoders{&decode_alternative<I>...};
  return decoders.at(n)(json, name);
}

}  // namespace

Result<RunDocument> decode_document(const Json& value, std::string_view name) {
  return decode<RunDocument>(value, name);
}
Result<ReplayedTrace> decode_replayed_trace(const Json& value, std::string_view name) {
  return decode<ReplayedTrace>(value, name);
}
Result<ReplayDocument> decode_replay(const Json& value, std::string_view name) {
  ReplayDocument out;
  try {
    const Place top;
    const Place body{&top, "body"};
    read(member(value, "run", top), out.run, Place{&top, "run"});
    read(member(member(value, "body", top), "traces", body), out.traces, Place{&body, "traces"});
    read(member(value, "status", top), out.status, Place{&top, "status"});
    read(member(value, "failures", top), out.failures, Place{&top, "failures"});
  } catch (const Mismatch& found) {
    return bad_input(std::string(name) + ": " + found.pointer + " " + found.problem + "; correct it and try again");
  }
  return out;
}
Result<CompareDocument> decode_compare(const Json& value, std::string_view name) {
  auto run = decode<RunInfo>(value.value("run", Json()), name);
  if (!run) return run.error();
  auto body = decode<Comparison>(value.value("body", Json()), name);
  if (!body) return body.error();
  return CompareDocument{std::move(*run), std::move(*body)};
}
Result<Plan> decode_plan(const Json& value, std::string_view name) {
  return decode<Plan>(value, name);
}
Result<Identity> decode_identity(const Json& value, std::string_view name) {
  return decode<Identity>(value, name);
}

Result<JournalEntry> decode_entry(const Json& value, std::string_view name) {
  const bool named = value.is_object() && value.contains("entry") && value["entry"].is_string();
  const std::string word = named ? value["entry"].get<std::string>() : "";
  const auto found = std::find(kEntryWords.begin(), kEntryWords.end(), word);
  if (found == kEntryWords.end())
    return bad_input(std::string(name) + " is no journal entry; it was not written by assay");
  return decode_nth(static_cast<std::size_t>(found - kEntryWords.begin()), value, name,
                    std::make_index_sequence<kEntryWords.size()>{});
}

}  // namespace assay::json::detail
