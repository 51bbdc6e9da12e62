// SPDX-License-Identifier: Apache-2.0
// Lanes on a CPU: N floats in vector registers, with conversions from and to the storage types. Included by vendor.hpp.
#pragma once

#include <cstdint>

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <int N>
struct LaneTypes {
  typedef float F __attribute__((vector_size(4 * N)));
  typedef std::int32_t I __attribute__((vector_size(4 * N)));
  typedef std::uint32_t U __attribute__((vector_size(4 * N)));
  typedef std::uint16_t H __attribute__((vector_size(2 * N)));
};
template <>
struct LaneTypes<1> {
  using F = float;
  using I = std::int32_t;
  using U = std::uint32_t;
  using H = std::uint16_t;
};

// N floats. Loads and stores need no alignment beyond that of the storage type.
template <int N>
struct Lanes {
  typename LaneTypes<N>::F v;
};

// Reinterprets the bits of one type as another of the same size.
template <class To, class From>
ASSAY_DEVICE To lane_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
template <class To, class From>
ASSAY_DEVICE To lane_convert(const From& from) {
  if constexpr (sizeof(To) <= 4 && sizeof(From) <= 4) {
    return static_cast<To>(from);
  } else {
    return __builtin_convertvector(from, To);
  }
}

template <int N>
ASSAY_DEVICE Lanes<N> spread(float value) {
  if constexpr (N == 1) {
    return {value};
  } else {
    return {value - typename LaneTypes<N>::F{}};  // x - 0 is x for every x, -0 included
  }
}
template <int N>
ASSAY_DEVICE Lanes<N> operator+(const Lanes<N>& a, const Lanes<N>& b) {
  return {a.v + b.v};
}
template <int N>
ASSAY_DEVICE Lanes<N> operator-(const Lanes<N>& a, const Lanes<N>& b) {
  return {a.v - b.v};
}
template <int N>
ASSAY_DEVICE Lanes<N> operator*(const Lanes<N>& a, const Lanes<N>& b) {
  return {a.v * b.v};
}
template <int N>
ASSAY_DEVICE Lanes<N> operator/(const Lanes<N>& a, const Lanes<N>& b) {
  return {a.v / b.v};
}
template <int N>
ASSAY_DEVICE Lanes<N> larger(const Lanes<N>& a, const Lanes<N>& b) {
  return {b.v > a.v ? b.v : a.v};
}
// a where x >= 0, b elsewhere.
template <int N>
ASSAY_DEVICE Lanes<N> where_not_negative(const Lanes<N>& x, const Lanes<N>& a, const Lanes<N>& b) {
  return {x.v >= spread<N>(0.0f).v ? a.v : b.v};
}

template <int N>
ASSAY_DEVICE float lane_sum(const Lanes<N>& x) {
  if constexpr (N == 1) {
    return x.v;
  } else {
    // Halves are added until one is left: short chains, and the same order on every compiler.
    Lanes<N / 2> low;
    Lanes<N / 2> high;
    __builtin_memcpy(&low, &x, sizeof(low));
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof(low), sizeof(high));
    return lane_sum(low + high);
  }
}
template <int N>
ASSAY_DEVICE float lane_max(const Lanes<N>& x) {
  if constexpr (N == 1) {
    return x.v;
  } else {
    Lanes<N / 2> low;
    Lanes<N / 2> high;
    __builtin_memcpy(&low, &x, sizeof(low));
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof(low), sizeof(high));
    return lane_max(larger(low, high));
  }
}

// e^x. x = n ln 2 + r with ln 2 in two parts (n times the first is exact: 10 bits each), e^r by its series to r^7
// (remainder below 0.35^8 / 8! = 6e-9), 2^n in two factors so that subnormal results and overflow come out right.
template <int N>
ASSAY_DEVICE Lanes<N> exp_lanes(const Lanes<N>& x) {
  using F = typename LaneTypes<N>::F;
  using I = typename LaneTypes<N>::I;
  const F low = spread<N>(-104.0f).v;
  const F high = spread<N>(89.0f).v;
  F t = x.v < low ? low : x.v;
  t = t > high ? high : t;
  const F scaled = t * 1.44269504f;
  const F half = spread<N>(0.5f).v;
  const I n = lane_convert<I>(scaled + (scaled < spread<N>(0.0f).v ? -half : half));
  const F whole = lane_convert<F>(n);
  F r = t - whole * 0.693359375f;
  r = r - whole * -2.12194440e-4f;
  F p = r * (1.0f / 5040.0f) + (1.0f / 720.0f);
  p = p * r + (1.0f / 120.0f);
  p = p * r + (1.0f / 24.0f);
  p = p * r + (1.0f / 6.0f);
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const I n1 = n >> 1;
  const I n2 = n - n1;
  const F s1 = lane_bits<F>((n1 + 127) << 23);
  const F s2 = lane_bits<F>((n2 + 127) << 23);
  return {p * s1 * s2};
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f32(const void* from) {
  Lanes<N> r;
  __builtin_memcpy(&r, from, sizeof(r));
  return r;
}
template <int N>
ASSAY_DEVICE void store_f32(void* to, const Lanes<N>& x) {
  __builtin_memcpy(to, &x, sizeof(x));
}

// N floats at any address, as shared memory with padded rows needs.
template <int N>
ASSAY_DEVICE Lanes<N> load_unaligned(const float* from) {
  return load_f32<N>(from);
}
template <int N>
ASSAY_DEVICE void store_unaligned(float* to, const Lanes<N>& x) {
  store_f32<N>(to, x);
}

// 16-bit loads and stores, in integer arithmetic without branches so that they stay in vector registers.
template <int N>
ASSAY_DEVICE typename LaneTypes<N>::U load_halves(const void* from) {
#if defined(__AVX2__)
  if constexpr (N == 8) {  // one instruction, where GCC makes four of the conversion
    __m128i h;
    __builtin_memcpy(&h, from, sizeof(h));
    return lane_bits<typename LaneTypes<8>::U>(_mm256_cvtepu16_epi32(h));
  } else
#endif
  {
    typename LaneTypes<N>::H h;
    __builtin_memcpy(&h, from, sizeof(h));
    return lane_convert<typename LaneTypes<N>::U>(h);
  }
}
template <int N>
ASSAY_DEVICE void store_halves(void* to, const typename LaneTypes<N>::U& bits) {
#if defined(__AVX2__)
  if constexpr (N == 8) {  // `bits` are below 2^16: nothing saturates
    const __m256i u = lane_bits<__m256i>(bits);
    const __m128i h = _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(u, u), 0xd8));
    __builtin_memcpy(to, &h, sizeof(h));
    return;
  }
#endif
  const auto h = lane_convert<typename LaneTypes<N>::H>(bits);
  __builtin_memcpy(to, &h, sizeof(h));
}

template <int N>
ASSAY_DEVICE Lanes<N> load_bf16(const void* from) {
  return {lane_bits<typename LaneTypes<N>::F>(load_halves<N>(from) << 16)};
}
template <int N>
ASSAY_DEVICE void store_bf16(void* to, const Lanes<N>& x) {
  using U = typename LaneTypes<N>::U;
  const U u = lane_bits<U>(x.v);
  const U rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const U quiet = (u >> 16) | 0x40u;
  store_halves<N>(to, x.v != x.v ? quiet : rounded);
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f16_by_integers(const void* from) {
  using F = typename LaneTypes<N>::F;
  using U = typename LaneTypes<N>::U;
  const U h = load_halves<N>(from);
  const U zero = h ^ h;
  const U magnitude = (h & 0x7fffu) << 13;
  // Scaling by 2^112 moves the exponent from bias 15 to bias 127 and makes subnormals normal, exactly.
  const U scaled = lane_bits<U>(lane_bits<F>(magnitude) * 0x1p112f);
  const U infinite = (magnitude >= zero + 0x0f800000u) ? zero + 0x7f800000u : zero;
  const U quiet = (magnitude > zero + 0x0f800000u) ? zero + 0x00400000u : zero;
  return {lane_bits<F>(scaled | infinite | quiet | ((h & 0x8000u) << 16))};
}
template <int N>
ASSAY_DEVICE void store_f16_by_integers(void* to, const Lanes<N>& x) {
  using F = typename LaneTypes<N>::F;
  using U = typename LaneTypes<N>::U;
  const U bits = lane_bits<U>(x.v);
  const U zero = bits ^ bits;
  const U u = bits & 0x7fffffffu;
  // Normal results: exponent rebias by -112, round to nearest even at bit 13; a carry into infinity is the right
  // answer.
  const U normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;
  // Subnormal results: the unit in the last place of 0.5 is 2^-24, the smallest f16, so the addition rounds.
  const U subnormal = lane_bits<U>(lane_bits<F>(u) + 0.5f) - 0x3f000000u;
  const U nan = ((u >> 13) & 0x3ffu) | 0x7e00u;
  U r = (u < zero + 0x38800000u) ? subnormal : normal;
  r = (u >= zero + 0x477ff000u) ? zero + 0x7c00u : r;
  r = (u > zero + 0x7f800000u) ? nan : r;
  store_halves<N>(to, r | ((bits >> 16) & 0x8000u));
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f16(const void* from) {
#if defined(__F16C__)
  if constexpr (N == 8) {
    __m128i h;
    __builtin_memcpy(&h, from, sizeof(h));
    return {lane_bits<typename LaneTypes<8>::F>(_mm256_cvtph_ps(h))};
  }
#endif
  return load_f16_by_integers<N>(from);
}
template <int N>
ASSAY_DEVICE void store_f16(void* to, const Lanes<N>& x) {
#if defined(__F16C__)
  if constexpr (N == 8) {
    const __m128i h = _mm256_cvtps_ph(lane_bits<__m256>(x.v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __builtin_memcpy(to, &h, sizeof(h));
    return;
  }
#endif
  store_f16_by_integers<N>(to, x);
}

ASSAY_DEVICE std::int32_t per_thread(std::int32_t value) {
  return value;
}
ASSAY_DEVICE float rsqrt_float(float x) {
  return 1.0f / __builtin_sqrtf(x);
}
ASSAY_DEVICE float pow_float(float base, float exponent) {
  return __builtin_powf(base, exponent);
}
ASSAY_DEVICE float exp_float(float x) {
  return exp_lanes<1>({x}).v;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
