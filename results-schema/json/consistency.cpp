// SPDX-License-Identifier: Apache-2.0
// What a document says of itself must agree: rules over several values that a schema cannot state. They are asked of
// documents that are read, never of one being written: no rule may cost a result that was measured.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

const std::int64_t* integer(const Quantity& quantity) {
  return std::get_if<std::int64_t>(&quantity.value);
}

const LedgerTerm* term_of(const Ledger& ledger, std::string_view name) {
  for (const auto& term : ledger.terms)
    if (term.name == name) return &term;
  return nullptr;
}

// The terms an equation's text names, "a = b + c": a, b, c.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty()) {
    const auto end = text.find_first_of(" =+");
    if (end != 0) names.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return names;
}

// An equation against the terms it names, where all of them were read.
Found check_equation(const Ledger& ledger, const LedgerEquation& equation) {
  const auto* left = integer(equation.left);
  const auto* right = integer(equation.right);
  const auto* difference = integer(equation.difference);
  const auto quoted = " in \"" + equation.text + "\"";
  if (left != nullptr && right != nullptr && difference != nullptr && *left - *right != *difference)
    return "has a ledger whose difference is not left minus right" + quoted;
  if (equation.balanced && (difference == nullptr || *difference != 0))
    return "calls an equation balanced that is not" + quoted;
  std::int64_t sum = 0;
  const auto names = names_in(equation.text);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* term = term_of(ledger, names[i]);
    const auto* first = term != nullptr ? integer(term->first) : nullptr;
    if (first == nullptr) return std::nullopt;
    const auto* second = integer(term->second);
    if (equation.balanced && second != nullptr && *second != *first)
      return "has two readings of " + std::string(names[i]) + " that differ" + quoted + ", which it calls balanced";
    if (i == 0 && left != nullptr && *left != *first) return "has a ledger whose left side is not its term" + quoted;
    sum += i == 0 ? 0 : *first;
  }
  if (names.size() > 1 && right != nullptr && *right != sum)
    return "has a ledger whose right side is not the sum of its terms" + quoted;
  return std::nullopt;
}

Found check_ledger(const std::optional<Ledger>& ledger) {
  if (!ledger) return std::nullopt;
  bool all = true;
  for (const auto& equation : ledger->equations) {
    if (const auto found = check_equation(*ledger, equation)) return found;
    all = all && (equation.balanced || !equation.difference.has_value());
  }
  if (ledger->balanced && !all) return std::string("calls its ledger balanced and one of its equations not");
  return std::nullopt;
}

// A launch that is ok has run every phase of its workload, as often as the plan says.
Found check_phases(const Launch& launch, const Workload& w) {
  if (launch.outcome != LaunchOutcome::ok) return std::nullopt;
  const bool generates = w.kind == WorkloadKind::decoder && w.decode_tokens > 0;
  const std::int64_t generations = generates ? w.repeats : 0;
  const std::pair<const char*, std::int64_t> expected[] = {
      {"environment", 1},       {"model_load", 1},       {"inputs", 1},
      {"cold_forward", 1},      {"warmup", w.warmups},   {"warm_forward", w.repeats},
      {"prefill", generations}, {"decode", generations}, {"whole_cycle", 1}};
  for (const auto& [name, count] : expected) {
    std::int64_t seen = 0;
    for (const auto& phase : launch.phases)
      if (phase.name == name && phase.repeat != seen++)
        return std::string("has the phase ") + name + " out of order or twice";
    if (seen != count)
      return "is ok and has " + std::to_string(seen) + " phases " + name + " where its plan makes " +
             std::to_string(count);
  }
  return std::nullopt;
}

// What was executed was asked for by the plan.
Found check_shapes(const Launch& launch, const Workload& w) {
  using Shapes = std::vector<std::pair<const char*, std::int64_t>>;
  const Shapes shapes =
      w.kind == WorkloadKind::dense
          ? Shapes{{"batch", w.batch}, {"context", w.prompt_tokens}, {"width", w.width}, {"depth", w.depth}}
          : Shapes{{"batch", w.batch},
                   {"prompt_tokens", w.prompt_tokens},
                   {"decode_tokens", w.decode_tokens},
                   {"sliding_window", w.model.sliding_window}};
  for (const auto& phase : launch.phases)
    for (const auto& [key, value] : shapes)
      if (const auto found = phase.configured.find(key); found != phase.configured.end() && found->second != value)
        return "phase " + phase.name + " was configured with " + key + " " + std::to_string(found->second) +
               " and the plan has " + std::to_string(value);
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

Found check_launch(const Launch& launch, const Plan& plan) {
  for (const auto& phase : launch.phases) {
    for (const auto& found :
         {check_instant(phase.start, phase.ledger_start), check_instant(phase.end, phase.ledger_end),
          check_ledger(phase.ledger_start), check_ledger(phase.ledger_end)})
      if (found) return "phase " + phase.name + " " + *found;
  }
  if (launch.workload < 0 || std::cmp_greater_equal(launch.workload, plan.workloads.size()))
    return std::string("is of a workload that the plan does not have");
  const auto& workload = plan.workloads[static_cast<std::size_t>(launch.workload)];
  if (const auto found = check_phases(launch, workload)) return found;
  if (const auto found = check_shapes(launch, workload)) return found;
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
      if (const auto found = check_launch(launch, document.plan))
        return refuse("launch " + std::to_string(launch.order) + ": " + *found);
  }
  return {};
}

}  // namespace assay::json
