// SPDX-License-Identifier: Apache-2.0
// Conversions of 16-bit storage and the exponential, compiled for the baseline and, on x86-64, for x86-64-v3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

struct Conversions {
  const char* name;
  // count is a multiple of 8; both forms, one element and eight at a time.
  void (*f16_to_float)(const std::uint16_t* from, float* to, std::size_t count, bool eight);
  void (*float_to_f16)(const float* from, std::uint16_t* to, std::size_t count, bool eight);
  void (*bf16_to_float)(const std::uint16_t* from, float* to, std::size_t count, bool eight);
  void (*float_to_bf16)(const float* from, std::uint16_t* to, std::size_t count, bool eight);
  void (*exponential)(const float* from, float* to, std::size_t count, bool eight);
};

inline namespace baseline {
Conversions conversions();
}
inline namespace v3 {
Conversions conversions();
}

}  // namespace assay::kernels
