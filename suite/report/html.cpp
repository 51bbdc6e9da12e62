// SPDX-License-Identifier: Apache-2.0
// Documents become data inside a script element: whatever their text holds, it cannot end that element.
#include "suite/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "results-schema/json/json.hpp"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlace = "{{data}}";

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

// The counters that the viewer draws or lists: bytes of the allocator as a whole, and what other perimeters say.
// What has no value is kept too: the page says why.
bool has_view(const Json& counter) {
  if (counter["quantity"]["value"].is_null()) return true;
  const auto& perimeter = counter["perimeter"].get_ref<const std::string&>();
  const auto& name = counter["name"].get_ref<const std::string&>();
  if (perimeter == "allocator") return ends_with_any(name, {"_bytes.all.current", "_bytes.all.peak"});
  return !perimeter.starts_with("category:");
}

std::int64_t prune(Json& counters) {
  auto& list = counters.get_ref<Json::array_t&>();
  const auto before = list.size();
  list.erase(std::remove_if(list.begin(), list.end(), [](const Json& counter) { return !has_view(counter); }),
             list.end());
  return static_cast<std::int64_t>(before - list.size());
}

std::int64_t prune_phases(Json& document) {
  std::int64_t left_out = 0;
  const auto devices = document.find("devices");
  if (devices == document.end()) return 0;
  for (auto& device : *devices)
    for (auto& launch : device["launches"])
      for (auto& phase : launch["phases"])
        for (const char* when : {"start", "end"}) left_out += prune(phase[when]);
  return left_out;
}

Result<Json> embedded(const HtmlSource& source, std::vector<std::string>& warnings) {
  auto value = json::parse(source.text, source.name);
  if (!value) return value.error();
  std::string warning;
  // Reading a run validates it as well; the other kinds are only validated.
  const auto kind = value->is_object() ? value->value("kind", Json()) : Json();
  if (kind == "run" || kind == "measure") {
    const auto document = json::read_document(source.text, source.name, &warning);
    if (!document) return document.error();
    if (auto agrees = json::check_consistency(*document, source.name); !agrees) return agrees.error();
  } else if (auto valid = json::validate(source.text, source.name, &warning); !valid) {
    return valid.error();
  }
  if (!warning.empty()) warnings.push_back(warning);
  const std::int64_t left_out = prune_phases(*value);
  Json out;
  out["file"] = source.name;
  out["counters_left_out"] = left_out;
  out["document"] = std::move(*value);
  return out;
}

// Inside a script element only "</script" and "<!--" have a meaning; without any '<' neither can occur. '&' is escaped
// too, so that the same text would be safe in XHTML.
std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

}  // namespace

Result<std::string> html_page(const std::vector<HtmlSource>& sources, std::string_view program,
                              std::vector<std::string>& warnings) {
  Json data;
  data["program"] = program;
  data["documents"] = Json::array();
  std::map<std::string, std::string> runs;
  for (const auto& source : sources) {
    auto document = embedded(source, warnings);
    if (!document) return document.error();
    const auto& id = (*document)["document"]["run"]["id"].get_ref<const std::string&>();
    const auto [known, fresh] = runs.emplace(id, source.name);
    if (!fresh)
      return Error{ErrorCode::bad_input,
                   fmt::format("{} and {} hold the same run; give each run once", known->second, source.name)};
    data["documents"].push_back(std::move(*document));
  }
  // ASCII only, so that the page reads the same whatever a server or an editor takes its encoding for.
  const auto text = script_safe(data.dump(-1, ' ', true, Json::error_handler_t::replace));
  std::string page = viewer_page();
  const auto place = page.find(kPlace);
  if (place == std::string::npos)
    return Error{ErrorCode::internal, "the built-in viewer has no place for data; report this"};
  page.replace(place, kPlace.size(), text);
  return page;
}

}  // namespace assay::report
