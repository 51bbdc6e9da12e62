// SPDX-License-Identifier: Apache-2.0
// One look at allocator and device at a synchronised point, and what documents show of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "backends/allocator/account.hpp"
#include "backends/allocator/allocator.hpp"
#include "backends/device/device.hpp"
#include "results-schema/types/memory.hpp"
#include "suite/measure/ledger.hpp"

namespace assay::measure {

struct Look {
  allocator::Statistics statistics;
  SnapshotWalk walked;
  allocator::Account account;
  std::int64_t stranded_bytes = 0;  // free in other streams than the one that works
  std::string policy;
  allocator::Options options;
  allocator::Reliability reliability;
  std::optional<assay_memory_info> device;
  std::string device_reason;  // why the device could not be read
};

// Reads counters, walks the snapshot and asks the device. Never fails: a device that does not answer is a reason.
// `stream` is the one that works; null before there is one.
Look look(const allocator::Allocator& allocator, const device::Device& device, const assay_stream* stream);

// Every statistic of the allocator (all, small_pool, large_pool; per category; current, peak, allocated, freed), the
// account of its blocks (largest free block, fragmentation, slack, stranded bytes) and the device's readings, each with
// unit, perimeter, source and exactness.
std::vector<Counter> counters(const Look& look);

// Context and modules: what the device shows beyond what allocator and others hold, read while the phase `environment`
// was the only one that had run.
Reading baseline_of(const Look& look);

// Why `bytes` asked for on `stream` were refused when `look` was taken; the baseline counts as nobody's.
MemoryAccount account_of_refusal(const Look& look, const Reading& baseline, std::int64_t bytes,
                                 const assay_stream* stream);

LedgerReadings ledger_readings(const Look& look, const Reading& baseline, std::string checkpoint);

}  // namespace assay::measure
