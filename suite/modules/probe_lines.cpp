// SPDX-License-Identifier: Apache-2.0
// Fields and errors as JSON objects. The child and its parent are one program, so the form carries no version.
#include "suite/modules/probe_lines.hpp"

#include <nlohmann/json.hpp>

namespace assay::modules {
namespace {

using nlohmann::json;

// Text that is no UTF-8 (a driver's device name) is kept readable rather than thrown over.
std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json error_to_json(const Error& error) {
  return {{"code", static_cast<int>(error.code)}, {"text", error.text}};
}

std::optional<Error> error_from_json(const json& value) {
  const auto code = value.at("code").get<int>();
  if (code < 0 || code > static_cast<int>(ErrorCode::internal)) return std::nullopt;
  return Error{static_cast<ErrorCode>(code), value.at("text").get<std::string>()};
}

json fields_to_json(const std::vector<IdentityField>& fields) {
  auto list = json::array();
  for (const auto& field : fields) {
    json value = nullptr;
    if (field.state == FieldState::value) std::visit([&](const auto& held) { value = held; }, field.value);
    list.push_back({{"key", field.key},
                    {"state", static_cast<int>(field.state)},
                    {"value", value},
                    {"reason", field.reason},
                    {"source", field.source}});
  }
  return list;
}

std::vector<IdentityField> fields_from_json(const json& list) {
  std::vector<IdentityField> fields;
  for (const auto& entry : list) {
    IdentityField field;
    field.key = entry.at("key").get<std::string>();
    const auto state = entry.at("state").get<int>();
    field.state = state == 0 ? FieldState::value : state == 1 ? FieldState::not_applicable : FieldState::unknown;
    const auto& value = entry.at("value");
    if (value.is_boolean())
      field.value = value.get<bool>();
    else if (value.is_number_integer())
      field.value = value.get<std::int64_t>();
    else if (value.is_string())
      field.value = value.get<std::string>();
    field.reason = entry.at("reason").get<std::string>();
    field.source = entry.at("source").get<std::string>();
    fields.push_back(std::move(field));
  }
  return fields;
}

bool take(const json& line, ModuleProbe& probe, Progress& progress) {
  if (line.contains("problem")) {
    probe.problem = error_from_json(line["problem"]);
  } else if (line.contains("loaded")) {
    probe.description = fields_from_json(line["loaded"]);
    progress.doing = "counting its devices";
  } else if (line.contains("count")) {
    probe.device_count = line["count"].get<std::int32_t>();
  } else if (line.contains("no_device")) {
    probe.no_device = error_from_json(line["no_device"]);
  } else if (line.contains("opening")) {
    progress.doing = "opening device " + std::to_string(line["opening"].get<std::int32_t>());
  } else if (line.contains("device")) {
    DeviceProbe device;
    device.ordinal = line["device"].get<std::int32_t>();
    if (line.contains("failed")) device.problem = error_from_json(line["failed"]);
    device.fields = fields_from_json(line.at("fields"));
    probe.devices.push_back(std::move(device));
    progress.doing = "closing a device";
  } else if (line.contains("done")) {
    progress.done = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string problem_line(const Error& error) {
  return line_of({{"problem", error_to_json(error)}});
}
std::string loaded_line(const std::vector<IdentityField>& fields) {
  return line_of({{"loaded", fields_to_json(fields)}});
}
std::string count_line(const Result<std::int32_t>& count) {
  return count ? line_of({{"count", *count}}) : line_of({{"no_device", error_to_json(count.error())}});
}
std::string opening_line(std::int32_t ordinal) {
  return line_of({{"opening", ordinal}});
}
std::string device_line(const DeviceProbe& device) {
  json line{{"device", device.ordinal}, {"fields", fields_to_json(device.fields)}};
  if (device.problem) line["failed"] = error_to_json(*device.problem);
  return line_of(line);
}
std::string done_line() {
  return line_of({{"done", true}});
}

bool take_line(std::string_view line, ModuleProbe& probe, Progress& progress) {
  const auto parsed = json::parse(line, nullptr, false);
  if (!parsed.is_object()) return false;
  try {
    return take(parsed, probe, progress);
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace assay::modules
