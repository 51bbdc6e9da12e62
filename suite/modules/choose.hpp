// SPDX-License-Identifier: Apache-2.0
// choose_devices: from what the user named, or did not name, to module files and ordinals.
#pragma once

#include <string>
#include <vector>

#include "results-schema/types/identity_fields.hpp"
#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/modules/probe.hpp"
#include "suite/modules/search.hpp"

namespace assay::modules {

// What stands on the command line. Both empty: the default choice.
struct DeviceRequest {
  std::vector<std::string> devices;  // --device BACKEND[:INDEX or UUID], or "all"
  std::string backend;               // --backend B: the first device of B
};

struct ChosenDevice {
  PlannedDevice planned;  // options are the caller's to add
  Platform platform = Platform::cpu;
};

// The modules that can be chosen from and where they were looked for.
struct Installed {
  std::vector<ModuleFile> modules;
  std::vector<std::filesystem::path> folders;
};

// The modules of a program, with ASSAY_MODULE_PATH of the environment.
[[nodiscard]] Installed installed_modules(const std::filesystem::path& program);

// The devices meant, at least one, each once. Without a name: the first device of the only GPU backend that answers;
// the host never steps in. "all": every board of every GPU backend. Probes only the modules it must.
// Errors: usage (a name that means several modules, two GPU backends without a choice, a device named twice),
// no_device (nothing answers, or the named one does not), bad_input (a module of another version), interrupted.
[[nodiscard]] Result<std::vector<ChosenDevice>> choose_devices(const DeviceRequest& request, const Installed& installed,
                                                               const Prober& prober);

// Whether a user's word means the board with this uuid: the whole, the part after its scheme, or a beginning of that
// of at least 8 characters.
[[nodiscard]] bool means_uuid(std::string_view word, std::string_view uuid);

}  // namespace assay::modules
