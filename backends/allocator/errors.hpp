// SPDX-License-Identifier: Apache-2.0
// The sentences several policies answer with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace assay::allocator
