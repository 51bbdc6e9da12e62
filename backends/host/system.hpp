// SPDX-License-Identifier: Apache-2.0
// What the host module asks of the operating system: mappings, and why one was refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/abi/assay_backend.h"

namespace assay::host {

[[nodiscard]] std::size_t page_bytes();
// Physical memory of the machine.
[[nodiscard]] std::int64_t machine_memory_bytes();

// Readable, writable anonymous memory of whole pages, zeroed. Null when the system refuses; errno says why.
[[nodiscard]] void* map_anonymous(std::size_t bytes) noexcept;

// The status and sentence of a refused mapping or file descriptor, from errno: MAP_LIMIT with the limit's name and
// value when this process has reached vm.max_map_count or its open-files limit, OUT_OF_MEMORY when the system has no
// memory.
assay_status explain_refusal(int error, const char* what, std::size_t bytes) noexcept;

}  // namespace assay::host
