// SPDX-License-Identifier: Apache-2.0
// The allow-list itself, and reading the process's environment against it.
#include "suite/identity/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace assay::identity {
namespace {

constexpr std::uint8_t kCpu = 1, kNvidia = 2, kAmd = 4, kGpu = kNvidia | kAmd, kAll = kCpu | kGpu;
using Found = EnvironmentFinding;

// Sources of the entries: the CUDA programming guide's list of environment variables, the flags of ROCm's clr and
// rocr-runtime (rocclr/utils/flags.hpp, core/util/flag.h), and PyTorch's allocator notes.
constexpr std::array kRules{
    // What replaces or watches the code that runs.
    EnvironmentRule{"HSA_OVERRIDE_GFX_VERSION", Tier::validity, kAmd, Found::refuses,
                    "makes a board answer as another architecture"},
    EnvironmentRule{"HSA_OVERRIDE_GFX_VERSION_*", Tier::validity, kAmd, Found::refuses,
                    "makes a board answer as another architecture"},
    EnvironmentRule{"LD_PRELOAD", Tier::validity, kAll, Found::refuses_unless_empty,
                    "puts other code before the libraries that are measured"},
    EnvironmentRule{"CUDA_INJECTION64_PATH", Tier::validity, kNvidia, Found::refuses_unless_empty,
                    "loads a tool into the runtime"},
    EnvironmentRule{"HSA_TOOLS_LIB", Tier::validity, kAmd, Found::refuses_unless_empty,
                    "loads a tool into the runtime"},
    EnvironmentRule{"ROCP_*", Tier::validity, kAmd, Found::refuses_unless_empty, "switches a profiler on"},
    // What changes the numbers or the memory model.
    EnvironmentRule{"NVIDIA_TF32_OVERRIDE", Tier::thing, kNvidia, Found::marks,
                    "decides the precision of f32 products"},
    EnvironmentRule{"HSA_XNACK", Tier::thing, kAmd, Found::marks, "decides how page faults are served"},
    // Debug switches.
    EnvironmentRule{"CUDA_LAUNCH_BLOCKING", Tier::validity, kNvidia, Found::refuses_unless_off,
                    "makes every launch wait"},
    EnvironmentRule{"HIP_LAUNCH_BLOCKING", Tier::validity, kAmd, Found::refuses_unless_off, "makes every launch wait"},
    EnvironmentRule{"AMD_SERIALIZE_KERNEL", Tier::validity, kAmd, Found::refuses_unless_off, "makes every kernel wait"},
    EnvironmentRule{"AMD_SERIALIZE_COPY", Tier::validity, kAmd, Found::refuses_unless_off, "makes every copy wait"},
    EnvironmentRule{"AMD_LOG_LEVEL", Tier::validity, kAmd, Found::refuses_unless_off, "makes the runtime write a log"},
    EnvironmentRule{"CUDA_FORCE_PTX_JIT", Tier::validity, kNvidia, Found::refuses_unless_off,
                    "replaces the module's native code by code compiled on the spot"},
    EnvironmentRule{"CUDA_DISABLE_PTX_JIT", Tier::validity, kNvidia, Found::refuses_unless_off,
                    "forbids code that would otherwise run"},
    // What a user tunes.
    EnvironmentRule{"CUDA_MODULE_LOADING", Tier::change, kNvidia, Found::none, ""},
    EnvironmentRule{"CUDA_DEVICE_MAX_CONNECTIONS", Tier::change, kNvidia, Found::none, ""},
    EnvironmentRule{"CUDA_CACHE_*", Tier::change, kNvidia, Found::none, ""},
    EnvironmentRule{"GPU_MAX_HW_QUEUES", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"GPU_MAX_HEAP_SIZE", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"GPU_SINGLE_ALLOC_PERCENT", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_HIDDEN_FREE_MEM", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_MEM_POOL_SUPPORT", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_MEM_POOL_USE_VM", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_VMEM_MANAGE_SUPPORT", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_ENABLE_DEFERRED_LOADING", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HIP_FORCE_DEV_KERNARG", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"AMD_DIRECT_DISPATCH", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"DEBUG_HIP_*", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"DEBUG_CLR_*", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HSA_ENABLE_SDMA", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HSA_DISABLE_FRAGMENT_ALLOCATOR", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HSA_SCRATCH_*", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HSA_ENABLE_INTERRUPT", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"HSA_CU_MASK", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"ROC_*", Tier::change, kAmd, Found::none, ""},
    EnvironmentRule{"PYTORCH_ALLOC_CONF", Tier::change, kAll, Found::none, ""},
    EnvironmentRule{"PYTORCH_CUDA_ALLOC_CONF", Tier::change, kAll, Found::none, ""},
    EnvironmentRule{"PYTORCH_HIP_ALLOC_CONF", Tier::change, kAll, Found::none, ""},
    EnvironmentRule{"OMP_*", Tier::change, kCpu, Found::none, ""},
    EnvironmentRule{"MALLOC_*", Tier::change, kCpu, Found::none, ""},
    // What selects a device; the chosen one is recorded by its own ids.
    EnvironmentRule{"CUDA_VISIBLE_DEVICES", Tier::info, kGpu, Found::none, ""},
    EnvironmentRule{"HIP_VISIBLE_DEVICES", Tier::info, kAmd, Found::none, ""},
    EnvironmentRule{"ROCR_VISIBLE_DEVICES", Tier::info, kAmd, Found::none, ""},
    EnvironmentRule{"GPU_DEVICE_ORDINAL", Tier::info, kAmd, Found::none, ""},
    EnvironmentRule{"CUDA_DEVICE_ORDER", Tier::info, kNvidia, Found::none, ""},
};

}  // namespace

std::span<const EnvironmentRule> environment_rules() {
  return kRules;
}

const EnvironmentRule* find_environment_rule(std::string_view name) {
  const EnvironmentRule* by_prefix = nullptr;
  for (const auto& rule : kRules) {
    if (rule.name == name) return &rule;
    if (rule.name.back() == '*' && name.size() >= rule.name.size() &&
        name.starts_with(rule.name.substr(0, rule.name.size() - 1)))
      by_prefix = &rule;
  }
  return by_prefix;
}

Tier environment_tier(const EnvironmentRule& rule, Platform platform) {
  return (rule.platforms & static_cast<std::uint8_t>(platform)) != 0 ? rule.tier : Tier::info;
}

std::vector<IdentityField> read_environment(std::span<const std::string> entries, Platform platform) {
  std::vector<IdentityField> fields;
  for (const auto& entry : entries) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const auto* rule = find_environment_rule(name);
    if (rule == nullptr) continue;
    fields.push_back({"env." + name, environment_tier(*rule, platform), FieldState::value, entry.substr(equals + 1), "",
                      "environment"});
  }
  std::stable_sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  // A name can stand twice in an environment block; getenv sees the first, and so do we.
  fields.erase(std::unique(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
               fields.end());
  return fields;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace assay::identity
