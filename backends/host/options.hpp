// SPDX-License-Identifier: Apache-2.0
// Options of device_open.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/abi/assay_backend.h"
#include "backends/host/exec/executor.hpp"

namespace assay::host {

struct DeviceOptions {
  std::int64_t memory_bytes = 0;  // 0: half of the machine's
  ExecutorOptions executor;
};

// "memory_bytes" (1 to 2^53-1), "wave" (1, 32, 64), "threads" (0 to 4096; 0: all), "block" (0 to 1024, a multiple of
// wave; 0: what each kernel asks for). INVALID_VALUE for an unknown key, a key given twice or a value outside its
// range.
assay_status parse_options(const assay_option* options, std::size_t count, DeviceOptions* out);

}  // namespace assay::host
