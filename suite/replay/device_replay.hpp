// SPDX-License-Identifier: Apache-2.0
// replay_on_device: a trace for real: memory taken from a device, every block written, and read again when it is freed.
#pragma once

#include <cstdint>

#include "backends/device/device.hpp"
#include "results-schema/types/replay.hpp"
#include "results-schema/types/result.hpp"
#include "suite/replay/policy_list.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::replay {

// The events of the trace's device `trace_device` under `choice`, from empty, on one stream a recorded stream. Every
// block is filled with a pattern of its own on its stream; at its free, or at the end, its beginning, middle and end
// must still hold it. A free that the trace completes later is made at once: what other streams do is not known here.
// Running out of memory is an answer; `target` is left to the caller.
// Errors: usage and unsupported of the policy; bad_input of the trace; fault and whatever else the device says.
[[nodiscard]] Result<ReplayOnDevice> replay_on_device(const TraceInput& trace, std::int32_t trace_device,
                                                      const PolicyChoice& choice, const device::Device& device);

}  // namespace assay::replay
