// SPDX-License-Identifier: Apache-2.0
// Run documents made of numbers: cases, launches and samples of our choosing on an identity of our choosing.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "results-schema/json/json.hpp"
#include "results-schema/types/document.hpp"
#include "results-schema/types/identity_fields.hpp"
#include "suite/compare/compare.hpp"

namespace assay::test {

// The sample of this case, launch and repeat; above 0, in ns.
using Sampler = std::function<double(std::size_t one_case, std::size_t launch, std::size_t sample)>;

struct Side {
  std::string id = "a";
  std::size_t cases = 3;
  std::size_t launches = 7;
  std::size_t samples = 3;
  // Launch i starts in second first + step(i); interleaved sides use even and odd ones.
  std::size_t first_second = 0;
  std::size_t second_step = 2;
  bool anchor = false;
  Sampler anchor_sample = [](auto, auto, auto) { return 1000.0; };
};

inline std::string time_of(std::size_t second) {
  char text[32];
  std::snprintf(text, sizeof text, "2026-01-02T%02u:%02u:%02uZ", static_cast<unsigned>(second / 3600 % 24),
                static_cast<unsigned>(second / 60 % 60), static_cast<unsigned>(second % 60));
  return text;
}

inline Workload small_workload() {
  Workload workload;
  workload.kind = WorkloadKind::dense;
  workload.width = 64;
  workload.depth = 2;
  return workload;
}

inline Counter peak(const std::string& name, std::int64_t bytes) {
  return {name, observed_bytes(bytes), "allocator", "caching", Exactness::exact};
}

inline std::string case_name(std::size_t i) {
  char text[24];
  std::snprintf(text, sizeof text, "case_%03u", static_cast<unsigned>(i));
  return text;
}

inline RunDocument run_document(const Identity& identity, const Side& side, const Sampler& sample) {
  RunDocument document;
  document.run = {
      side.id, time_of(side.first_second), time_of(side.first_second + 1), {"assay", "run"}, "0.1.0", "unknown", false};
  document.plan.devices = {{"dev:0", "dev", "libassay-dev.so", 0, {}}};
  document.plan.workloads = {small_workload()};
  document.plan.launches = static_cast<std::int64_t>(side.launches);
  DeviceSection section;
  section.name = "dev:0";
  section.module_path = "libassay-dev.so";
  section.identity = identity;
  for (std::size_t launch = 0; launch < side.launches; ++launch) {
    Launch made;
    made.index = made.order = static_cast<std::int64_t>(launch);
    made.pid = 1;
    made.started_at = time_of(side.first_second + launch * side.second_step);
    made.duration = {std::int64_t{1000}, "ns", Basis::observed, {}};
    made.outcome = LaunchOutcome::ok;
    Phase phase;
    phase.name = "work";
    phase.duration = {std::int64_t{1000}, "ns", Basis::observed, {}};
    phase.end = {peak("allocated_bytes.all.peak", 4096), peak("requested_bytes.all.peak", 4000),
                 peak("reserved_bytes.all.peak", 8192)};
    made.phases.push_back(phase);
    const auto series = [&](const std::string& name, std::size_t one_case, const Sampler& from) {
      SampleSeries out{name, "ns", Basis::observed, {}, {}};
      for (std::size_t i = 0; i < side.samples; ++i) out.values.push_back(from(one_case, launch, i));
      made.samples.push_back(std::move(out));
    };
    for (std::size_t i = 0; i < side.cases; ++i) series(case_name(i), i, sample);
    if (side.anchor) series("device_copy", 0, side.anchor_sample);
    section.launches.push_back(std::move(made));
  }
  document.devices.push_back(std::move(section));
  json::finish(document);
  return document;
}

// A board of a made-up model on which nothing is unknown, for tests that load no module.
inline Identity simulated_board() {
  Identity identity;
  const auto put = [&](const FieldRule& rule, FieldState state, FieldValue value) {
    const std::string reason = state == FieldState::value ? "" : "not of this platform";
    identity.fields.push_back({std::string(rule.key), rule.tier, state, std::move(value), reason, "simulated"});
  };
  for (const auto& rule : kFieldRules) {
    if (rule.scope == Scope::case_only) continue;
    if (!rule.applies_to(Platform::nvidia))
      put(rule, FieldState::not_applicable, {});
    else if (rule.key == "backend")
      put(rule, FieldState::value, std::string("cuda"));
    else if (rule.key == "platform")
      put(rule, FieldState::value, std::string("nvidia"));
    else if (rule.key == "pci_vendor")
      put(rule, FieldState::value, std::string("0x10de"));
    else if (rule.key == "arch")
      put(rule, FieldState::value, std::string("sm_90"));
    else if (rule.key == "execution" || rule.key == "code_used")
      put(rule, FieldState::value, std::string("native"));
    else if (rule.key == "throttle_reasons")
      put(rule, FieldState::value, std::string("none"));
    else if (rule.key == "other_processes")
      put(rule, FieldState::value, std::int64_t{0});
    else
      put(rule, FieldState::value, std::string("x"));
  }
  return identity;
}

// Values near `level` that differ from launch to launch by up to a tenth of a per cent, the same on every run.
inline Sampler steady(double level, std::size_t seed) {
  return [level, seed](std::size_t one_case, std::size_t launch, std::size_t sample) {
    const std::size_t mixed = (one_case * 7919 + launch * 104729 + sample * 31 + seed * 1299709) % 1009;
    return level * (1 + 0.001 * static_cast<double>(mixed) / 1009);
  };
}

inline Result<Comparison> compared(const RunDocument& baseline, const RunDocument& candidate,
                                   const compare::Options& options = {}) {
  const std::vector<compare::Source> a{{"baseline.json", baseline}};
  const std::vector<compare::Source> b{{"candidate.json", candidate}};
  return compare::compare_sources(a, b, options);
}

inline const ComparedCase* find_case(const Comparison& comparison, const std::string& ending) {
  for (const auto& said : comparison.cases)
    if (said.name.ends_with(ending)) return &said;
  return nullptr;
}

}  // namespace assay::test
