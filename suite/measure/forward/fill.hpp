// SPDX-License-Identifier: Apache-2.0
// Seeded contents of buffers. Each element is a function of seed, buffer and index alone, so no order of generation and
// no division into pieces can change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "suite/measure/forward/step.hpp"

namespace assay::measure {

enum class FillLaw : std::uint8_t {
  uniform,               // mean - amplitude .. mean + amplitude, in the storage dtype
  token_ids,             // int32 in [0, modulus)
  position_in_sequence,  // int32: index modulo `modulus`
  position_of_step,      // int32: start + index / modulus
};

struct Fill {
  Slot slot = 0;
  std::int64_t elements = 0;
  FillLaw law = FillLaw::uniform;
  std::uint64_t stream = 0;  // tells buffers of one seed apart
  float mean = 0;
  float amplitude = 0;
  std::int64_t modulus = 1;
  std::int64_t start = 0;
};

// How an element is stored. 16-bit formats are rounded to nearest, ties to even.
enum class Storage : std::uint8_t { f32, f16, bf16 };

// The storage of a dtype's name; f32 for a name that is not one of the three (names are checked with the workload).
Storage storage_of(std::string_view dtype);

std::uint16_t to_f16(float value);
std::uint16_t to_bf16(float value);
float from_f16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);

// Bytes of one element of the fill.
std::int64_t element_bytes(const Fill& fill, Storage storage);

// The value of one element of a uniform fill, before it is rounded to the storage dtype.
float uniform_value(const Fill& fill, std::uint64_t seed, std::int64_t index);

// Writes elements first .. first + count - 1 to `out`, which holds count * element_bytes bytes.
void generate(const Fill& fill, std::uint64_t seed, Storage storage, std::int64_t first, std::int64_t count,
              std::byte* out);

}  // namespace assay::measure
