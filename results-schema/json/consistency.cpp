// SPDX-License-Identifier: Apache-2.0
// What a document says of itself must agree: rules over several values that a schema cannot state. They are asked of
// documents that are read, never of one being written: no rule may cost a result that was measured.
#include <algorithm>
#include <optional>
#include <string>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"

namespace assay::json {
namespace {

using Found = std::optional<std::string>;  // the contradiction, in words

Found check_platform(const DeviceSection& device) {
  const auto text = [&](const char* key) -> std::string {
    const auto* field = device.identity.find(key);
    if (field == nullptr || field->state != FieldState::value) return {};
    const auto* value = std::get_if<std::string>(&field->value);
    return value != nullptr ? *value : std::string();
  };
  const auto backend = text("backend");
  const auto platform = text("platform");
  if (backend.empty() || platform.empty()) return std::nullopt;
  const bool fits = (backend == "host" && platform == "cpu") || (backend == "cuda" && platform == "nvidia") ||
                    (backend == "hip" && (platform == "amd" || platform == "nvidia"));
  if (fits) return std::nullopt;
  return "device " + device.name + " says backend " + backend + " on platform " + platform + ", which cannot be";
}

std::optional<std::int64_t> current(const std::vector<Counter>& counters, std::string_view name) {
  for (const auto& counter : counters)
    if (counter.name == name && counter.perimeter == "allocator")
      if (const auto* value = std::get_if<std::int64_t>(&counter.quantity.value)) return *value;
  return std::nullopt;
}

// Counters and ledger of one checkpoint are read at the same instant.
Found check_instant(const std::vector<Counter>& counters, const std::optional<Ledger>& ledger) {
  const auto reserved = current(counters, "reserved_bytes.all.current");
  const auto allocated = current(counters, "allocated_bytes.all.current");
  if (reserved && allocated && *reserved < *allocated)
    return "reserves " + std::to_string(*reserved) + " bytes, less than the " + std::to_string(*allocated) +
           " allocated";
  if (!ledger || !reserved) return std::nullopt;
  for (const auto& term : ledger->terms) {
    const auto* value = std::get_if<std::int64_t>(&term.first.value);
    if (term.name == "reserved" && value != nullptr && *value != *reserved)
      return "reserves " + std::to_string(*reserved) + " bytes by its counter and " + std::to_string(*value) +
             " by its ledger";
  }
  return std::nullopt;
}

Found check_ledger(const std::optional<Ledger>& ledger) {
  if (!ledger) return std::nullopt;
  bool all = true;
  for (const auto& equation : ledger->equations) {
    const auto* left = std::get_if<std::int64_t>(&equation.left.value);
    const auto* right = std::get_if<std::int64_t>(&equation.right.value);
    const auto* difference = std::get_if<std::int64_t>(&equation.difference.value);
    if (left != nullptr && right != nullptr && difference != nullptr && *left - *right != *difference)
      return "has a ledger whose difference is not left minus right in \"" + equation.text + "\"";
    all = all && (equation.balanced || difference == nullptr);
  }
  if (ledger->balanced && !all) return std::string("calls its ledger balanced and one of its equations not");
  return std::nullopt;
}

// A sample that carries a phase's name is that phase's duration.
Found check_samples(const Launch& launch) {
  for (const auto& series : launch.samples) {
    std::vector<const Phase*> repeats;
    for (const auto& phase : launch.phases)
      if (phase.name == series.name) repeats.push_back(&phase);
    if (series.unit != "ns" || repeats.size() != series.values.size()) continue;
    for (std::size_t i = 0; i < repeats.size(); ++i) {
      const auto* ns = std::get_if<std::int64_t>(&repeats[i]->duration.value);
      if (ns != nullptr && series.values[i] != static_cast<double>(*ns))
        return "has a sample of " + series.name + " that is not the duration of its phase";
    }
  }
  return std::nullopt;
}

Found check_launch(const Launch& launch) {
  for (const auto& phase : launch.phases) {
    for (const auto& found :
         {check_instant(phase.start, phase.ledger_start), check_instant(phase.end, phase.ledger_end),
          check_ledger(phase.ledger_start), check_ledger(phase.ledger_end)})
      if (found) return "phase " + phase.name + " " + *found;
  }
  return check_samples(launch);
}

Found check_status(const RunDocument& document) {
  RunDocument again = document;
  finish(again);
  if (again.status == document.status) return std::nullopt;
  return std::string("its status is not what its launches and cases make it");
}

}  // namespace

Result<void> check_consistency(const RunDocument& document, std::string_view name) {
  const auto refuse = [&](const std::string& what) {
    return detail::bad_input(std::string(name) + " contradicts itself: " + what +
                             "; it was changed after it was written");
  };
  if (const auto found = check_status(document)) return refuse(*found);
  for (const auto& device : document.devices) {
    if (const auto found = check_platform(device)) return refuse(*found);
    for (const auto& launch : device.launches)
      if (const auto found = check_launch(launch))
        return refuse("launch " + std::to_string(launch.order) + ": " + *found);
  }
  return {};
}

}  // namespace assay::json
