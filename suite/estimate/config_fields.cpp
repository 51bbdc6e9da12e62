// SPDX-License-Identifier: Apache-2.0
// Lookups by several names; the first value of a wrong kind is kept as the error.
#include "suite/estimate/config_fields.hpp"

#include <fmt/format.h>

#include "suite/model/config.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

std::string short_text(const ConfigFields::Json& value) {
  return weights::shown(value.dump(-1, ' ', true, ConfigFields::Json::error_handler_t::replace), 40);
}

}  // namespace

ConfigFields::ConfigFields(const weights::ConfigFile& file)
    : file_(file.name), inner_(file.tree.get()), outer_(file.tree.get()) {
  for (const char* name : {"text_config", "language_config", "llm_config", "thinker_config"}) {
    const auto at = inner_->find(name);
    if (at != inner_->end() && at->is_object() && !at->empty()) inner_ = &*at;
  }
}

const ConfigFields::Json* ConfigFields::find(Names names, const char** found) const {
  for (const auto* object : {inner_, outer_}) {
    for (const char* name : names) {
      const auto at = object->find(name);
      if (at == object->end() || at->is_null()) continue;
      if (found != nullptr) *found = name;
      return &*at;
    }
  }
  return nullptr;
}

std::optional<std::int64_t> ConfigFields::integer(Names names, std::int64_t least) {
  const char* name = "";
  const auto* value = find(names, &name);
  if (value == nullptr || value->is_array()) return std::nullopt;
  const bool fits =
      value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargestDimension)) &&
      value->get<std::int64_t>() >= least;
  if (!fits) {
    fail(name, *value, fmt::format("a whole number from {} to 2^30 is expected", least));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::optional<std::int64_t> ConfigFields::count(Names names) {
  return integer(names, 1);
}

std::optional<std::int64_t> ConfigFields::whole(Names names) {
  return integer(names, 0);
}

std::optional<bool> ConfigFields::flag(Names names) {
  const char* name = "";
  const auto* value = find(names, &name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    fail(name, *value, "true or false is expected");
    return std::nullopt;
  }
  return value->get<bool>();
}

std::string ConfigFields::text(Names names) {
  const auto* value = find(names);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::vector<std::int64_t>> ConfigFields::list(Names names) {
  const char* name = "";
  const auto* value = find(names, &name);
  if (value == nullptr || !value->is_array()) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const auto& item : *value) {
    const bool fits =
        item.is_number_integer() &&
        (!item.is_number_unsigned() || item.get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargestDimension)) &&
        item.get<std::int64_t>() >= 0;
    if (!fits || out.size() > static_cast<std::size_t>(model::kMaxLayers)) {
      fail(name, item, "a list of whole numbers is expected");
      return std::nullopt;
    }
    out.push_back(item.get<std::int64_t>());
  }
  return out;
}

void ConfigFields::fail(std::string_view field, const Json& value, std::string_view reason) {
  if (!error_)
    error_ = Error{ErrorCode::bad_input,
                   fmt::format("{}: \"{}\" is {}: {}; correct the field", file_, field, short_text(value), reason)};
}

}  // namespace assay::estimate
