// SPDX-License-Identifier: Apache-2.0
// Joins a probe with the program's own readings and hashes the files that were named.
#include "suite/modules/identify.hpp"

#include "suite/identity/assemble.hpp"
#include "suite/identity/environment.hpp"
#include "suite/identity/sha256.hpp"
#include "suite/identity/system.hpp"

namespace assay::modules {
namespace {

using identity::unknown_field;
using identity::value_field;

void add_hash(std::vector<IdentityField>& fields, const std::string& key, const std::string& path) {
  const auto hash = identity::sha256_file(path);
  fields.push_back(hash ? value_field(key, *hash, path) : unknown_field(key, hash.error().text));
}

// The hash of the file that a path field of the module names.
void add_hash_of(std::vector<IdentityField>& fields, const std::vector<IdentityField>& stated, const std::string& key,
                 const std::string& path_key) {
  for (const auto& field : stated) {
    if (field.key != path_key) continue;
    const auto* path = std::get_if<std::string>(&field.value);
    if (field.state == FieldState::value && path != nullptr) return add_hash(fields, key, *path);
  }
  fields.push_back(unknown_field(key, path_key + " is not known"));
}

void add_text(std::vector<IdentityField>& fields, const std::string& key, const std::string& text,
              const std::string& source) {
  if (!text.empty()) fields.push_back(value_field(key, text, source));
}

}  // namespace

Identity identity_of(const ModuleProbe& probe, const std::vector<IdentityField>& device_fields,
                     const ProgramFacts& facts) {
  identity::Parts parts;
  parts.module_fields = probe.description;
  parts.module_fields.insert(parts.module_fields.end(), device_fields.begin(), device_fields.end());
  auto& fields = parts.program_fields;
  fields = identity::read_system();
  fields.push_back(value_field("module_name", probe.module.name, "file name"));
  fields.push_back(value_field("module_path", probe.module.path, "search"));
  add_hash(fields, "module_sha256", probe.module.path);
  add_hash_of(fields, parts.module_fields, "runtime_sha256", "runtime_path");
  add_hash_of(fields, parts.module_fields, "hsa_runtime_sha256", "hsa_runtime_path");
  add_text(fields, "suite_version", facts.suite_version, "build");
  add_text(fields, "suite_commit",
           facts.suite_commit.empty() || !facts.suite_dirty ? facts.suite_commit : facts.suite_commit + " modified",
           "build");
  if (!facts.allocator_policy.empty()) {
    fields.push_back(value_field("allocator_policy", facts.allocator_policy, "plan"));
    fields.push_back(value_field("allocator_options", facts.allocator_options, "plan"));
  }
  parts.environment = identity::current_environment();
  return identity::assemble(parts);
}

Result<Identity> identify(const PlannedDevice& device, const ProgramFacts& facts, const Prober& prober) {
  const auto ordinal = static_cast<std::int32_t>(device.ordinal);
  const auto probe = prober({{device.backend, device.module_path},
                             Depth::one_device,
                             ordinal,
                             device.options,
                             facts.allocator_policy,
                             facts.allocator_options});
  if (probe.problem) return *probe.problem;
  if (probe.devices.empty())
    return Error{ErrorCode::no_device,
                 "device " + device.name + " is not there: " +
                     (probe.no_device ? probe.no_device->text
                                      : "the module shows " + std::to_string(probe.device_count) + " devices") +
                     "; see assay backends"};
  if (probe.devices.front().problem) return *probe.devices.front().problem;
  return identity_of(probe, probe.devices.front().fields, facts);
}

}  // namespace assay::modules
