// SPDX-License-Identifier: Apache-2.0
// Reading baseline files: small, strict, every mistake named by its place.
#include "suite/compare/baseline_file.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "results-schema/json/json.hpp"
#include "suite/modules/search.hpp"

namespace assay::compare {
namespace {

using Json = nlohmann::ordered_json;

// Leaves this file as an Error only.
struct Wrong {
  std::string place;
  std::string problem;
};

bool fits(const std::string& pattern, std::string_view name) {
  return ::fnmatch(pattern.c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U})
    if (text[i] < '0' || text[i] > '9') return false;
  const int month = std::stoi(text.substr(5, 2));
  const int day = std::stoi(text.substr(8, 2));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// An object whose every key is asked for, or refused.
class Object {
 public:
  Object(const Json& value, std::string place) : value_(value), place_(std::move(place)) {
    if (!value.is_object()) throw Wrong{place_, "is not an object"};
  }
  void only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, ignored] : value_.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) throw Wrong{place_, "has the unknown key " + key};
  }
  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = value_.find(key);
    return found == value_.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr || !found->is_string() || found->get<std::string>().empty())
      throw Wrong{place_, fmt::format("lacks \"{}\", a text that is not empty", key)};
    return found->get<std::string>();
  }
  [[nodiscard]] std::optional<double> percent(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number() || !(found->get<double>() > 0) || found->get<double>() > 1000)
      throw Wrong{place_, fmt::format("has a \"{}\" that is no number above 0 and up to 1000", key)};
    return found->get<double>() / 100;
  }
  template <class Each>
  void each(const char* key, Each take) const {
    const Json* found = find(key);
    if (found == nullptr) return;
    if (!found->is_array()) throw Wrong{place_ + "/" + key, "is not an array"};
    for (std::size_t i = 0; i < found->size(); ++i) take((*found)[i], fmt::format("{}/{}/{}", place_, key, i));
  }

 private:
  const Json& value_;
  std::string place_;
};

Baseline baseline_of(const std::string& name, const Json& value, const std::filesystem::path& folder) {
  Baseline out;
  out.name = name;
  const Object object(value, "/baselines/" + name);
  object.only({"documents", "margins", "accepted", "note"});
  object.each("documents", [&](const Json& item, const std::string& place) {
    if (!item.is_string() || item.get<std::string>().empty()) throw Wrong{place, "is not a path"};
    out.documents.push_back((folder / item.get<std::string>()).string());
  });
  object.each("margins", [&](const Json& item, const std::string& place) {
    const Object margin(item, place);
    margin.only({"case", "margin_percent", "reason"});
    (void)margin.text("reason");
    const auto percent = margin.percent("margin_percent");
    if (!percent) throw Wrong{place, "lacks \"margin_percent\""};
    out.margins.push_back({margin.text("case"), *percent});
  });
  object.each("accepted", [&](const Json& item, const std::string& place) {
    const Object accepted(item, place);
    accepted.only({"case", "up_to_percent", "reason", "until"});
    AcceptedCase entry{accepted.text("case"), std::nullopt, {accepted.text("reason"), accepted.text("until")}};
    if (const auto percent = accepted.percent("up_to_percent")) entry.up_to = 1 + *percent;
    if (!is_date(entry.acceptance.until)) throw Wrong{place + "/until", "is no date such as 2026-12-31"};
    out.accepted.push_back(std::move(entry));
  });
  return out;
}

Result<Baseline> chosen(const Json& value, const std::string& path, const std::string& name) {
  const Object top(value, "");
  top.only({"baselines"});
  const Json* all = top.find("baselines");
  if (all == nullptr || !all->is_object() || all->empty()) throw Wrong{"", "lacks \"baselines\", an object by name"};
  std::vector<std::string> names;
  for (const auto& [key, ignored] : all->items()) names.push_back(key);
  const auto folder = std::filesystem::path(path).parent_path();
  if (name.empty() && names.size() == 1) return baseline_of(names.front(), all->front(), folder);
  const auto found = all->find(name);
  if (name.empty() || found == all->end())
    return Error{ErrorCode::usage,
                 fmt::format("{} holds the baselines {}; name one of them with --name", path, modules::listed(names))};
  return baseline_of(name, *found, folder);
}

}  // namespace

double Baseline::margin_of(std::string_view case_name, double otherwise) const {
  const auto found = std::find_if(margins.begin(), margins.end(),
                                  [&](const CaseMargin& margin) { return fits(margin.pattern, case_name); });
  return found == margins.end() ? otherwise : found->margin;
}

const Acceptance* Baseline::accepts(std::string_view case_name, double worse, std::string_view today) const {
  for (const auto& entry : accepted)
    if (fits(entry.pattern, case_name) && today <= entry.acceptance.until && (!entry.up_to || worse <= *entry.up_to))
      return &entry.acceptance;
  return nullptr;
}

Result<Baseline> read_baseline(const std::string& path, const std::string& name) {
  const auto text = json::read_file(path, std::size_t{1} << 24);
  if (!text) return text.error();
  const auto value = json::parse(*text, path);
  if (!value) return value.error();
  try {
    return chosen(*value, path, name);
  } catch (const Wrong& wrong) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {} {}; correct it and try again", path,
                                                   wrong.place.empty() ? "the top level" : wrong.place, wrong.problem)};
  }
}

}  // namespace assay::compare
