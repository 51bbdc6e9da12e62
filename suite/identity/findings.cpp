// SPDX-License-Identifier: Apache-2.0
// Each check reads the fields it needs and says nothing where they are not values.
#include "suite/identity/findings.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "suite/identity/assemble.hpp"
#include "suite/identity/environment.hpp"

namespace assay::identity {
namespace {

using Findings = std::vector<ValidityFinding>;

void check_vendor(const Identity& identity, Platform platform, Findings& findings) {
  const auto vendor = text_value(identity, "pci_vendor");
  if (!vendor || platform == Platform::cpu) return;
  const std::string expected = platform == Platform::nvidia ? "0x10de" : "0x1002";
  if (*vendor != expected)
    findings.push_back({"pci_vendor", true,
                        "the board's PCI vendor is " + *vendor + " where platform " +
                            *text_value(identity, "platform") + " means " + expected +
                            "; use the module of that vendor"});
}

void check_architecture(const Identity& identity, Platform platform, Findings& findings) {
  const auto arch = text_value(identity, "arch");
  if (!arch || platform == Platform::cpu) return;
  const std::string form = platform == Platform::nvidia ? "sm_" : "gfx";
  if (!arch->starts_with(form))
    findings.push_back({"arch", true,
                        "architecture " + *arch + " is no architecture of platform " +
                            *text_value(identity, "platform") + ", whose names begin with " + form +
                            "; the module was built against headers that imitate another runtime"});
  const auto physical = text_value(identity, "arch_physical");
  if (physical && *physical != *arch)
    findings.push_back({"arch_physical", true,
                        "the runtime says " + *arch + " and the kernel driver " + *physical +
                            ": the architecture is overridden; unset HSA_OVERRIDE_GFX_VERSION"});
}

void check_execution(const Identity& identity, Platform platform, Findings& findings) {
  const auto execution = text_value(identity, "execution");
  if (!execution || platform == Platform::cpu || *execution == "native") return;
  findings.push_back({"execution", true,
                      "kernels run as '" + *execution + "' under the name of platform " +
                          *text_value(identity, "platform") + "; measure the host backend under its own name"});
}

void check_environment(const Identity& identity, Platform platform, Findings& findings) {
  for (const auto& field : identity.fields) {
    if (!field.key.starts_with("env.")) continue;
    const std::string name = field.key.substr(4);
    const auto* rule = find_environment_rule(name);
    if (rule == nullptr || (rule->platforms & static_cast<std::uint8_t>(platform)) == 0) continue;
    const std::string value = text_of(field.value);
    bool refuses = rule->finding == EnvironmentFinding::refuses;
    if (rule->finding == EnvironmentFinding::refuses_unless_empty) refuses = !value.empty();
    if (rule->finding == EnvironmentFinding::refuses_unless_off) refuses = !value.empty() && value != "0";
    if (!refuses && rule->finding != EnvironmentFinding::marks) continue;
    findings.push_back({field.key, refuses,
                        name + "='" + value + "' " + std::string(rule->effect) +
                            (refuses ? "; unset it and run again" : "; results with another value are another thing")});
  }
}

std::optional<int> major_of(const std::string& version) {
  const auto digit = version.find_first_of("0123456789");
  if (digit == std::string::npos) return std::nullopt;
  int major = 0;
  std::from_chars(version.data() + digit, version.data() + version.size(), major);
  return major;
}

void check_toolkit(const Identity& identity, Platform platform, Findings& findings) {
  const auto compiled = text_value(identity, "toolkit_compiled");
  const auto running = text_value(identity, "runtime_version");
  if (!compiled || !running || platform == Platform::cpu || major_of(*compiled) == major_of(*running)) return;
  findings.push_back({"toolkit_compiled", false,
                      "the module was compiled against toolkit " + *compiled + " and runs on " + *running +
                          ", another major version"});
}

void check_code(const Identity& identity, Platform platform, Findings& findings) {
  const auto code = text_value(identity, "code_used");
  if (!code || platform == Platform::cpu || *code == "native") return;
  findings.push_back({"code_used", false,
                      "kernels were compiled on the spot ('" + *code + "') where native code for " +
                          text_value(identity, "arch").value_or("this architecture") +
                          " was expected; build the module for it"});
}

void check_company(const Identity& identity, Platform platform, Findings& findings) {
  if (const auto reasons = text_value(identity, "throttle_reasons"); reasons && *reasons != "none")
    findings.push_back({"throttle_reasons", false, "the board holds its clocks down (" + *reasons + ")"});
  if (const auto others = integer_value(identity, "other_processes"); others && *others > 0)
    findings.push_back(
        {"other_processes", false,
         std::to_string(*others) + (*others == 1 ? " other process uses" : " other processes use") + " the board"});
  const auto load = integer_value(identity, "other_load");
  const auto processors = integer_value(identity, "multiprocessors");
  if (platform == Platform::cpu && load && processors &&
      *load > kBusyThousandthsPerProcessor * std::max<std::int64_t>(*processors, 1))
    findings.push_back({"other_load", false,
                        "the load average of the last minute is " + std::to_string(*load / 1000) + "." +
                            std::to_string(*load % 1000 / 100) + " on " + std::to_string(*processors) +
                            (*processors == 1 ? " thread" : " threads")});
}

}  // namespace

Findings findings_of(const Identity& identity) {
  Findings findings;
  const auto platform = platform_of(identity);
  if (!platform) {
    findings.push_back(
        {"platform", true, "the module does not say whose hardware executes; use a module of this version"});
    return findings;
  }
  check_vendor(identity, *platform, findings);
  check_architecture(identity, *platform, findings);
  check_execution(identity, *platform, findings);
  check_environment(identity, *platform, findings);
  check_toolkit(identity, *platform, findings);
  check_code(identity, *platform, findings);
  check_company(identity, *platform, findings);
  return findings;
}

}  // namespace assay::identity
