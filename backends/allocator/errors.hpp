// SPDX-License-Identifier: Apache-2.0
// The sentences several policies answer with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/statistics.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

inline Error not_live(const void* pointer, std::string_view verb) {
  return {ErrorCode::usage, "Address " + std::to_string(reinterpret_cast<std::uintptr_t>(pointer)) + " cannot be " +
                                std::string(verb) +
                                ": it is not the start of a live block of this allocator; free each block once, with "
                                "the pointer allocate returned."};
}

inline Error absurd_request(std::size_t bytes) {
  return {ErrorCode::out_of_memory, "Out of memory: a request of " + std::to_string(bytes) +
                                        " bytes is more than any device holds; check how its size was computed."};
}

// `need`: what the request needs, and who refused it. Reserved never stands without the largest free block beside it,
// which a runtime's own pool does not tell.
inline Error out_of_memory(std::size_t bytes, std::string_view need, const Statistics& statistics,
                           std::optional<std::size_t> largest, const DeviceCalls& device) {
  const auto info = device.memory_info();
  const auto in_bytes = [](auto value) { return std::to_string(value) + " bytes"; };
  return {ErrorCode::out_of_memory,
          "Out of memory: a request of " + in_bytes(bytes) + " needs " + std::string(need) + "; allocated " +
              in_bytes(statistics.allocated_bytes[0].current) + ", reserved " +
              in_bytes(statistics.reserved_bytes[0].current) + ", largest free block " +
              (largest ? in_bytes(*largest) : std::string("unknown")) + ", device free " +
              (info ? in_bytes(info->total_bytes - info->used_bytes) : std::string("unknown")) +
              "; lower the load, free other memory of the device, or raise its budget where it has one."};
}

}  // namespace assay::allocator
