// SPDX-License-Identifier: Apache-2.0
// An assembled identity of the fake module, loaded as a real module is, with a system and an environment of our making.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "backends/device/device.hpp"
#include "suite/identity/assemble.hpp"
#include "suite/identity/system.hpp"

namespace assay::canned {

inline std::string module_path() {
  const char* path = std::getenv("ASSAY_CANNED_MODULE");
  return path == nullptr ? "" : path;
}

// A machine on which nothing is unknown.
inline std::vector<IdentityField> machine(const std::string& machine_id = "m1", const std::string& boot_id = "b1") {
  using identity::value_field;
  std::vector<IdentityField> fields;
  for (const char* key : {"cpu", "kernel_release", "runtime_sha256", "hsa_runtime_sha256", "module_sha256",
                          "suite_version", "suite_commit", "governor", "numa", "cpuset", "container", "os", "iommu",
                          "host_name", "module_name", "module_path", "allocator_policy", "allocator_options"})
    fields.push_back(value_field(key, std::string("some ") + key, "test"));
  for (const char* key : {"open_files_limit", "map_count_limit", "environment_list", "cgroup_memory_bytes"})
    fields.push_back(value_field(key, std::int64_t{1}, "test"));
  fields.push_back(value_field("machine_id", machine_id, "test"));
  fields.push_back(value_field("boot_id", boot_id, "test"));
  return fields;
}

// What the fake module states in a situation, through Module::load and an opened device.
inline std::vector<IdentityField> stated(const std::string& situation) {
  ::setenv("ASSAY_CANNED", situation.c_str(), 1);
  const auto module = device::Module::load(module_path());
  if (!module) {
    ADD_FAILURE() << module.error().text;
    return {};
  }
  auto fields = module->describe();
  const auto opened = device::Device::open(*module, 0);
  if (!fields || !opened) {
    ADD_FAILURE() << "the fake module does not answer as " << situation;
    return {};
  }
  const auto more = opened->identity();
  if (!more || fields->empty() || more->empty()) {
    ADD_FAILURE() << "there is no canned identity " << situation;
    return {};
  }
  fields->insert(fields->end(), more->begin(), more->end());
  const auto sensors = opened->sensors();
  for (const auto& sensor : sensors ? *sensors : std::vector<IdentityField>{})
    if (const auto* rule = find_rule(sensor.key); rule != nullptr && rule->origin == Origin::sensor)
      fields->push_back(sensor);
  return *fields;
}

inline Identity identity_of(const std::string& situation, const std::vector<std::string>& environment = {},
                            const std::vector<IdentityField>& program = machine()) {
  return identity::assemble({stated(situation), program, environment});
}

}  // namespace assay::canned
