// SPDX-License-Identifier: Apache-2.0
// probe_module: what a module says, asked for in a child process, so that one that crashes or hangs costs only itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/result.hpp"
#include "suite/modules/search.hpp"

namespace assay::modules {

using Options = std::vector<std::pair<std::string, std::string>>;

// How far a probe goes. Opening a device creates a context on it, which takes time and memory.
enum class Depth { module, all_devices, one_device };

struct ProbeRequest {
  ModuleFile module;
  Depth depth = Depth::module;
  std::int32_t ordinal = 0;  // one_device
  Options options;           // of device_open
  std::string allocator{};   // policy to try on the device; empty: none
  std::string allocator_options{};
};

struct DeviceProbe {
  std::int32_t ordinal = 0;
  std::optional<Error> problem;       // why it does not answer, or cannot have the allocator asked for
  std::vector<IdentityField> fields;  // of device_identity()
};

struct ModuleProbe {
  ModuleFile module;
  std::optional<Error> problem;            // it does not load, crashed, or did not answer in time
  std::vector<IdentityField> description;  // of describe()
  std::int32_t device_count = 0;
  std::optional<Error> no_device;    // the module's own words when it has none
  std::vector<DeviceProbe> devices;  // in the depth that was asked for

  // Text of a field of the description, empty when it is not stated.
  [[nodiscard]] std::string described(std::string_view key) const;
};

using Prober = std::function<ModuleProbe(const ProbeRequest&)>;

// Limits for the child. A cold GPU driver takes seconds to initialise, and each board some more.
struct ProbeLimits {
  std::chrono::milliseconds module{10'000};
  std::chrono::milliseconds devices{60'000};
};

// Runs "PROGRAM __probe ..." and reads its lines. Errors are in the result. Not for use while another thread forks.
[[nodiscard]] ModuleProbe probe_module(const std::string& program, const ProbeRequest& request,
                                       const ProbeLimits& limits = {});

// A Prober for this program.
[[nodiscard]] Prober child_prober(std::string program, ProbeLimits limits = {});

// ---- the child's side ----

// Takes one line without its newline.
using LineSink = std::function<void(const std::string&)>;

// Loads the module into this process and tells `sink` what it says, line by line, so that what was said before a crash
// or a hang still arrives.
void probe_here(const ProbeRequest& request, const LineSink& sink);

}  // namespace assay::modules
