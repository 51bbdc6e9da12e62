// SPDX-License-Identifier: Apache-2.0
// One list of what is taken out, applied to both kinds of document.
#include "suite/compare/redact.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace assay::compare {
namespace {

constexpr std::string_view kRedacted = "redacted";

void redact_fields(Identity& identity) {
  for (auto& field : identity.fields) {
    if (!names_the_house(field.key)) continue;
    if (field.state == FieldState::value) field.value = std::string(kRedacted);
    field.source = kRedacted;
    if (!field.reason.empty()) field.reason = kRedacted;
  }
  for (auto& finding : identity.findings)
    if (names_the_house(finding.key)) finding.text = kRedacted;
}

void redact_path(std::string& path) {
  if (!path.empty()) path = std::filesystem::path(path).filename().string();
}

}  // namespace

bool names_the_house(std::string_view key) {
  constexpr std::array kKeys{"uuid",        "pci_bdf",     "host_name",    "machine_id",
                             "boot_id",     "module_path", "runtime_path", "hsa_runtime_path",
                             "module_name", "cpuset",      "suite_commit"};
  return key.starts_with("env.") || std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

void redact(CompareDocument& document) {
  document.run.argv = {std::string(kRedacted)};
  document.run.suite_commit = kRedacted;
  for (auto& pair : document.body.identity.pairs) {
    for (auto& field : pair.fields) {
      if (!names_the_house(field.key)) continue;
      field.baseline = std::string(kRedacted) + " (1)";
      field.candidate = std::string(kRedacted) + " (2)";
    }
    for (auto& finding : pair.findings)
      if (names_the_house(finding.key)) finding.text = kRedacted;
    for (auto* side : {&pair.baseline, &pair.candidate})
      for (auto& path : side->documents) redact_path(path);
  }
}

void redact(RunDocument& document) {
  document.run.argv = {std::string(kRedacted)};
  document.run.suite_commit = kRedacted;
  for (auto& device : document.plan.devices) redact_path(device.module_path);
  for (auto& workload : document.plan.workloads) redact_path(workload.source.path);
  for (auto& device : document.devices) {
    redact_path(device.module_path);
    redact_fields(device.identity);
    for (auto& launch : device.launches) launch.pid = 0;
  }
}

}  // namespace assay::compare
