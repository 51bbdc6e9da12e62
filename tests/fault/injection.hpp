// SPDX-License-Identifier: Apache-2.0
// What the faulty module does wrong, and when: the environment variable ASSAY_FAULT.
#pragma once

#include <optional>

#include "backends/abi/assay_backend.h"
#include "tests/fault/entries.hpp"

namespace assay::fault {

// ASSAY_FAULT is a comma-separated list of  ENTRY:N:KIND
//   ENTRY  a name of the table ("malloc", "stream_synchronize", ...) or "any", which counts the calls of all entries
//   N      which call: "3" the third only, "3+" the third and all after it; last_error is not counted
//   KIND   a status in lower case: not_ready invalid_value out_of_memory map_limit no_device unsupported internal
//          kernel_fault   and from then on every entry but device_close, memory_info and those without a device fails
//          so device_lost    the same, memory_info included hang           the call never returns crash          the
//          call raises SIGSEGV abort          the call aborts
// An injected failure replaces the call, which then has no effect; only device_close and the ..._destroy entries have
// theirs in any case. Unset or empty: the module is the host module. A malformed value makes every call fail with
// INVALID_VALUE and say so. The variable is read at every call; when its text has changed, all counts start again and a
// sticky failure is over.

// Counts the call, does what is to be done, and returns the status to answer with; nothing when the call shall go on.
std::optional<assay_status> before_call(Entry entry);

// The sentence of the calling thread's last injected failure, or null when its last call was not injected.
const char* injected_sentence();

}  // namespace assay::fault
