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

// A bare vector, where it is not floats. Functions pass vectors inside structures only: how a bare one of 32 bytes
// travels depends on the instruction set, and clang says so at every call.
template <class V>
struct Bare {
  V v;
};
template <class To, class From>
ASSAY_DEVICE Bare<To> lane_convert(const From& from) {
  if constexpr (sizeof(To) <= 4 && sizeof(From) <= 4) {
    return {static_cast<To>(from)};
  } else {
    return {__builtin_convertvector(from, To)};
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
#if defined(__AVX__)
  // This very comparison as one instruction, NaN and signed zeros included; GCC does not always find it.
  if constexpr (N == 8) return {__builtin_bit_cast(typename LaneTypes<N>::F, _mm256_max_ps(b.v, a.v))};
#endif
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

// -|x|.
template <int N>
ASSAY_DEVICE Lanes<N> negative_magnitude(const Lanes<N>& x) {
  return {
      __builtin_bit_cast(typename LaneTypes<N>::F, __builtin_bit_cast(typename LaneTypes<N>::U, x.v) | 0x80000000u)};
}

// e^x for x <= 0; NaN stays NaN. x = n ln 2 + r with ln 2 in two parts (n times the first is exact: 9 bits each). e^r
// by a polynomial of degree 6 fitted to |r| <= ln 2 / 2 by Remez' exchange, its first two coefficients held at 1
// (relative error below 3.2e-9, the rounding of the coefficients included). 2^n as 2^(n + 64) times 2^-64, so that a
// subnormal result is rounded once.
template <int N>
ASSAY_DEVICE Lanes<N> exp_lanes(const Lanes<N>& x) {
  using F = typename LaneTypes<N>::F;
  using U = typename LaneTypes<N>::U;
  const F t = larger(x, spread<N>(-104.0f)).v;  // e^-104 is 0 in f32
  // In [2^23, 2^24) the unit in the last place is 1: adding 1.5 * 2^23 rounds to a whole number, whose low bits are
  // then n + 191, the exponent field of 2^(n + 64).
  constexpr float kRound = 0x1.8p23f + 191.0f;
  const F biased = t * 1.44269504f + kRound;
  const F whole = biased - kRound;
  F r = t - whole * 0.693359375f;
  r = r - whole * -2.12194440e-4f;
  // Short chains: what bounds this is latency, not the number of operations.
  const F r2 = r * r;
  const F upper = r2 * 0x1.6ac74ep-10f + (r * 0x1.123dep-7f + 0x1.555858p-5f);
  const F p = (upper * r2 + (r * 0x1.55548cp-3f + 0x1.fffffcp-2f)) * r + 1.0f;  // (e^r - 1) / r
  const F power = __builtin_bit_cast(F, __builtin_bit_cast(U, biased) << 23);
  return {(p * (r * power) + power) * 0x1p-64f};
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
ASSAY_DEVICE Bare<typename LaneTypes<N>::U> load_halves(const void* from) {
#if defined(__AVX2__)
  if constexpr (N == 8) {  // one instruction, where GCC makes four of the conversion
    __m128i h;
    __builtin_memcpy(&h, from, sizeof(h));
    return {__builtin_bit_cast(typename LaneTypes<8>::U, _mm256_cvtepu16_epi32(h))};
  } else
#endif
  {
    typename LaneTypes<N>::H h;
    __builtin_memcpy(&h, from, sizeof(h));
    return lane_convert<typename LaneTypes<N>::U>(h);
  }
}
// The upper halves of `bits`.
template <int N>
ASSAY_DEVICE void store_upper_halves(void* to, const typename LaneTypes<N>::U& bits) {
#if defined(__AVX2__)
  if constexpr (N == 8) {  // bytes 2 and 3 of each word, gathered within each 128 bits, then across
    const __m256i gather =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 6, 7, 10, 11, 14, 15, 2, 3, 6, 7, 10, 11, 14, 15));
    const __m256i gathered = _mm256_shuffle_epi8(__builtin_bit_cast(__m256i, bits), gather);
    const __m128i h = _mm256_castsi256_si128(_mm256_permute4x64_epi64(gathered, 0xd8));
    __builtin_memcpy(to, &h, sizeof(h));
    return;
  }
#endif
  const auto h = lane_convert<typename LaneTypes<N>::H>(bits >> 16).v;
  __builtin_memcpy(to, &h, sizeof(h));
}

template <int N>
ASSAY_DEVICE Lanes<N> load_bf16(const void* from) {
  return {__builtin_bit_cast(typename LaneTypes<N>::F, load_halves<N>(from).v << 16)};
}
template <int N>
ASSAY_DEVICE void store_bf16(void* to, const Lanes<N>& x) {
  using U = typename LaneTypes<N>::U;
  const U u = __builtin_bit_cast(U, x.v);
  const U rounded = u + 0x7fffu + ((u >> 16) & 1u);
  // Adding could carry a NaN into an infinity or a zero.
  const U nan = U{} + 0x7fc00000u;
  store_upper_halves<N>(to, x.v != x.v ? nan : rounded);
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f16_by_integers(const void* from) {
  using F = typename LaneTypes<N>::F;
  using U = typename LaneTypes<N>::U;
  const U h = load_halves<N>(from).v;
  const U zero{};
  const U magnitude = (h & 0x7fffu) << 13;
  // Scaling by 2^112 moves the exponent from bias 15 to bias 127 and makes subnormals normal, exactly.
  const U scaled = __builtin_bit_cast(U, __builtin_bit_cast(F, magnitude) * 0x1p112f);
  const U infinite = (magnitude >= zero + 0x0f800000u) ? zero + 0x7f800000u : zero;
  const U quiet = (magnitude > zero + 0x0f800000u) ? zero + 0x00400000u : zero;
  return {__builtin_bit_cast(F, scaled | infinite | quiet | ((h & 0x8000u) << 16))};
}
template <int N>
ASSAY_DEVICE void store_f16_by_integers(void* to, const Lanes<N>& x) {
  using F = typename LaneTypes<N>::F;
  using U = typename LaneTypes<N>::U;
  const U bits = __builtin_bit_cast(U, x.v);
  const U zero{};
  const U u = bits & 0x7fffffffu;
  // Normal results: exponent rebias by -112, round to nearest even at bit 13; a carry into infinity is the right
  // answer.
  const U normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;
  // Subnormal results: the unit in the last place of 0.5 is 2^-24, the smallest f16, so the addition rounds.
  const U subnormal = __builtin_bit_cast(U, __builtin_bit_cast(F, u) + 0.5f) - 0x3f000000u;
  const U nan = ((u >> 13) & 0x3ffu) | 0x7e00u;
  U r = (u < zero + 0x38800000u) ? subnormal : normal;
  r = (u >= zero + 0x477ff000u) ? zero + 0x7c00u : r;
  r = (u > zero + 0x7f800000u) ? nan : r;
  const auto h = lane_convert<typename LaneTypes<N>::H>(r | ((bits >> 16) & 0x8000u)).v;
  __builtin_memcpy(to, &h, sizeof(h));
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f16(const void* from) {
#if defined(__F16C__)
  if constexpr (N == 8) {
    __m128i h;
    __builtin_memcpy(&h, from, sizeof(h));
    return {__builtin_bit_cast(typename LaneTypes<8>::F, _mm256_cvtph_ps(h))};
  }
#endif
  return load_f16_by_integers<N>(from);
}
template <int N>
ASSAY_DEVICE void store_f16(void* to, const Lanes<N>& x) {
#if defined(__F16C__)
  if constexpr (N == 8) {
    const __m128i h = _mm256_cvtps_ph(__builtin_bit_cast(__m256, x.v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
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
