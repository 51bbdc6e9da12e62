// SPDX-License-Identifier: Apache-2.0
// The types as JSON values, member by member in the order of members.hpp.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "results-schema/json/codec.hpp"
#include "results-schema/json/estimate_members.hpp"
#include "results-schema/json/members_compare.hpp"
#include "results-schema/json/members_replay.hpp"

namespace assay::json::detail {
namespace {

template <class T>
Json value_of(const T& x);

// Appends without the search that the object's own operator[] makes.
void append(Json& object, std::string key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::move(key), std::move(value));
}

class Writer {
 public:
  template <class T>
  void operator()(const char* key, const T& member) {
    append(object_, key, value_of(member));
  }
  // What is optional is left out, not null: there is nothing it could give a reason for.
  template <class T>
  void operator()(const char* key, const std::optional<T>& member) {
    if (member) append(object_, key, value_of(*member));
  }
  [[nodiscard]] Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

Json value(const Quantity& x) {
  Json object = Json::object();
  append(object, "value",
         std::visit(
             [](const auto& number) -> Json {
               if constexpr (std::is_same_v<std::decay_t<decltype(number)>, std::monostate>)
                 return nullptr;
               else
                 return number;
             },
             x.value));
  append(object, "unit", x.unit);
  append(object, "basis", word(x.basis));
  if (!x.has_value() || !x.reason.empty()) append(object, "reason", x.reason);
  return object;
}

Json value(const IdentityField& x) {
  const bool known = x.state == FieldState::value;
  Json object = Json::object();
  append(object, "tier", word(x.tier));
  append(object, "state", word(x.state));
  append(object, "value", known ? std::visit([](const auto& held) -> Json { return held; }, x.value) : Json(nullptr));
  if (!known || !x.reason.empty()) append(object, "reason", x.reason);
  append(object, "source", x.source);
  return object;
}

Json value(const Identity& x) {
  Json fields = Json::object();
  for (const auto& field : x.fields) append(fields, field.key, value(field));
  Json object = Json::object();
  append(object, "fields", std::move(fields));
  append(object, "findings", value_of(x.findings));
  return object;
}

Json value(const MaybeReal& x) {
  return x.value ? Json(*x.value) : Json(nullptr);
}

Json value(const MaybeInterval& x) {
  if (!x.bounds) return nullptr;
  return Json::array({x.bounds->first, x.bounds->second});
}

template <class T>
Json value(const std::vector<T>& x) {
  Json array = Json::array();
  auto& items = array.get_ref<Json::array_t&>();
  items.reserve(x.size());
  for (const auto& item : x) items.push_back(value_of(item));
  return array;
}

Json value(const std::pair<std::string, std::string>& x) {
  return {{"key", x.first}, {"value", x.second}};
}

Json value(const std::map<std::string, std::int64_t>& x) {
  Json object = Json::object();
  for (const auto& [key, number] : x) append(object, key, number);
  return object;
}

template <class T>
Json value_of(const T& x) {
  if constexpr (std::is_enum_v<T>) {
    return word(x);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return x;
  } else if constexpr (requires { value(x); }) {
    return value(x);
  } else {
    Writer writer;
    members(writer, x);
    return writer.take();
  }
}

// The envelope's first two members, then those of the document.
template <class Document>
Json with_schema(const Document& document) {
  Json object = Json::object();
  append(object, "schema", kSchemaName);
  append(object, "schema_version", kSchemaVersion);
  Json body = value_of(document);
  for (auto& [key, member] : body.template get_ref<Json::object_t&>()) append(object, key, std::move(member));
  return object;
}

}  // namespace

Json encode(const ReplayDocument& document) {
  Json object = Json::object();
  append(object, "schema", kSchemaName);
  append(object, "schema_version", kSchemaVersion);
  append(object, "kind", word(DocumentKind::replay));
  append(object, "run", value_of(document.run));
  Json body = Json::object();
  append(body, "traces", value_of(document.traces));
  append(object, "body", std::move(body));
  append(object, "status", word(document.status));
  append(object, "failures", value_of(document.failures));
  return object;
}

Json encode(const ReplayedTrace& trace) {
  return value_of(trace);
}

Json encode(const RunDocument& document) {
  return with_schema(document);
}

Json encode(const EstimateDocument& document) {
  return with_schema(document);
}

Json encode(const Comparison& comparison) {
  return value_of(comparison);
}

Json encode(const CompareDocument& document) {
  Json object = Json::object();
  append(object, "schema", kSchemaName);
  append(object, "schema_version", kSchemaVersion);
  append(object, "kind", word(DocumentKind::compare));
  append(object, "run", value_of(document.run));
  append(object, "body", value_of(document.body));
  append(object, "status", word(DocumentStatus::ok));
  append(object, "failures", Json::array());
  return object;
}

Json encode(const Plan& plan) {
  return value_of(plan);
}

Json encode(const Identity& identity) {
  return value(identity);
}

Json encode(const JournalEntry& entry) {
  Json object = Json::object();
  append(object, "entry", kEntryWords.at(entry.index()));
  Json body = std::visit([](const auto& held) { return value_of(held); }, entry);
  for (auto& [key, member] : body.get_ref<Json::object_t&>()) append(object, key, std::move(member));
  return object;
}

}  // namespace assay::json::detail
