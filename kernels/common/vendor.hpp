// SPDX-License-Identifier: Apache-2.0
// The one vendor shim: what a kernel body may ask of the machine it runs on, for nvcc, hipcc and CPU compilers.
//
// No other header of kernels/ tests for a compiler. Everything lives in the inline namespace ASSAY_ISA, so that the
// CPU module can carry one source compiled for two instruction sets without the linker merging their inline functions.
// For the same reason kernel bodies call no function of std.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__HIPCC__) || defined(__CUDACC__)
#define ASSAY_GPU 1
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#define ASSAY_DEVICE __device__ __forceinline__
#define ASSAY_BOTH __host__ __device__ inline
#define ASSAY_UNROLL _Pragma("unroll")
#define ASSAY_ROLLED _Pragma("unroll 1")
#define ASSAY_STEPS _Pragma("unroll 4")
#else
#define ASSAY_GPU 0
#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif
#define ASSAY_DEVICE inline __attribute__((always_inline))
#define ASSAY_BOTH inline
#define ASSAY_STEPS
#if defined(__clang__)
#define ASSAY_UNROLL _Pragma("clang loop unroll(full)")
#define ASSAY_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 16")
#define ASSAY_ROLLED _Pragma("GCC unroll 1")
#endif
#endif

#ifndef ASSAY_ISA
#define ASSAY_ISA generic
#endif

#if !ASSAY_GPU
#include "kernels/common/host_entry.hpp"
#endif

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Threads a block at most, on every GPU: what the registers of the largest kernel are budgeted for.
inline constexpr std::uint32_t kMaxBlock = 256;

// Below every number.
inline constexpr float kLowest = -__builtin_huge_valf();

#if ASSAY_GPU

// float <-> f16 by the conversion instruction; round to nearest even.
ASSAY_DEVICE float f16_bits_to_float(std::uint16_t bits) {
#if defined(__HIPCC__)
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
#else
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#endif
}
ASSAY_DEVICE std::uint16_t float_to_f16_bits(float value) {
#if defined(__HIPCC__)
  return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value));
#else
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#endif
}
ASSAY_DEVICE std::uint32_t float_bits(float value) {
  return __float_as_uint(value);
}
ASSAY_DEVICE float bits_float(std::uint32_t bits) {
  return __uint_as_float(bits);
}
ASSAY_DEVICE float exp_float(float x) {
  return expf(x);
}
ASSAY_DEVICE float rsqrt_float(float x) {
  return rsqrtf(x);
}
ASSAY_DEVICE float pow_float(float base, float exponent) {
  return powf(base, exponent);
}

// The same value, kept in a register of each thread. AMD holds what a block's threads have in common in scalar
// registers, of which there are about a hundred; a kernel with many common values spills them.
ASSAY_DEVICE std::int32_t per_thread(std::int32_t value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

// One block of a GPU. sync() is reached by every thread of the block or by none.
struct GpuBlock {
  static constexpr bool kSerial = false;
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  static constexpr std::uint32_t kWave = 64;
#else
  static constexpr std::uint32_t kWave = 32;
#endif
  // Elements one thread loads at once: 16 bytes.
  template <class T>
  static constexpr int kLanes = static_cast<int>(16 / sizeof(T));

  ASSAY_DEVICE std::uint32_t thread() const {
    return threadIdx.x;
  }
  ASSAY_DEVICE std::uint32_t threads() const {
    return blockDim.x;
  }
  ASSAY_DEVICE std::int64_t block() const {
    return blockIdx.x;
  }
  ASSAY_DEVICE std::int64_t blocks() const {
    return gridDim.x;
  }
  ASSAY_DEVICE std::uint32_t wave() const {
    return kWave;
  }
  ASSAY_DEVICE void sync() const {
    __syncthreads();
  }

  // The value of another lane of the wave; what comes back is meaningless where that lane does not exist. Every thread
  // of the wave calls it.
  template <class V>
  ASSAY_DEVICE V shuffle_xor(V value, std::uint32_t mask) const {
#if defined(__HIPCC__)
    return __shfl_xor(value, static_cast<int>(mask));
#else
    return __shfl_xor_sync(lane_mask(), value, static_cast<int>(mask));
#endif
  }
  template <class V>
  ASSAY_DEVICE V shuffle_down(V value, std::uint32_t distance) const {
#if defined(__HIPCC__)
    return __shfl_down(value, distance);
#else
    return __shfl_down_sync(lane_mask(), value, distance);
#endif
  }

  // Dynamic shared memory, LaunchShape::shared_bytes long.
  template <class V>
  ASSAY_DEVICE V* shared() const {
    extern __shared__ __align__(16) unsigned char assay_dynamic_shared[];
    return reinterpret_cast<V*>(assay_dynamic_shared);
  }
  // One slot of 8 bytes a wave, for the block reductions alone.
  template <class V>
  ASSAY_DEVICE V* scratch() const {
    static_assert(sizeof(V) <= 8);
    __shared__ std::uint64_t assay_reduction_scratch[kMaxBlock / 32];
    return reinterpret_cast<V*>(assay_reduction_scratch);
  }

 private:
#if !defined(__HIPCC__)
  // The lanes of this wave that exist: a block need not be a multiple of the wave.
  ASSAY_DEVICE unsigned lane_mask() const {
    const unsigned left = threads() - thread() / kWave * kWave;
    return left >= kWave ? 0xffffffffu : (1u << left) - 1u;
  }
#endif
};

template <class Kernel>
__global__ void __launch_bounds__(kMaxBlock) gpu_entry(typename Kernel::Params params) {
  const GpuBlock block;
  Kernel::run(block, params);
}

template <class Kernel>
const void* kernel_entry() {
  return reinterpret_cast<const void*>(&gpu_entry<Kernel>);
}

// N floats of one thread. Loads and stores of N * sizeof(T) bytes are aligned to their size.
template <int N>
struct Lanes {
  float v[N];
};
template <int N>
struct alignas(4 * N) WordPack {
  std::uint32_t v[N];
};
template <int N>
struct alignas(2 * N) HalfPack {
  std::uint16_t v[N];
};

template <int N>
ASSAY_DEVICE Lanes<N> spread(float value) {
  Lanes<N> r;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) r.v[i] = value;
  return r;
}
#define ASSAY_LANES_OPERATOR(op)                                     \
  template <int N>                                                   \
  ASSAY_DEVICE Lanes<N> operator op(Lanes<N> a, const Lanes<N>& b) { \
    ASSAY_UNROLL                                                     \
    for (int i = 0; i < N; ++i) a.v[i] = a.v[i] op b.v[i];           \
    return a;                                                        \
  }
ASSAY_LANES_OPERATOR(+)
ASSAY_LANES_OPERATOR(-)
ASSAY_LANES_OPERATOR(*)
ASSAY_LANES_OPERATOR(/)
#undef ASSAY_LANES_OPERATOR
template <int N>
ASSAY_DEVICE Lanes<N> larger(Lanes<N> a, const Lanes<N>& b) {
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) a.v[i] = b.v[i] > a.v[i] ? b.v[i] : a.v[i];
  return a;
}
// a where x >= 0, b elsewhere.
template <int N>
ASSAY_DEVICE Lanes<N> where_not_negative(const Lanes<N>& x, Lanes<N> a, const Lanes<N>& b) {
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) a.v[i] = x.v[i] >= 0.0f ? a.v[i] : b.v[i];
  return a;
}
// -|x|.
template <int N>
ASSAY_DEVICE Lanes<N> negative_magnitude(Lanes<N> x) {
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) x.v[i] = bits_float(float_bits(x.v[i]) | 0x80000000u);
  return x;
}
// e^x for x <= 0.
template <int N>
ASSAY_DEVICE Lanes<N> exp_lanes(Lanes<N> x) {
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) x.v[i] = exp_float(x.v[i]);
  return x;
}
template <int N>
ASSAY_DEVICE float lane_sum(const Lanes<N>& x) {
  float sum = x.v[0];
  ASSAY_UNROLL
  for (int i = 1; i < N; ++i) sum += x.v[i];
  return sum;
}
template <int N>
ASSAY_DEVICE float lane_max(const Lanes<N>& x) {
  float largest = x.v[0];
  ASSAY_UNROLL
  for (int i = 1; i < N; ++i) largest = x.v[i] > largest ? x.v[i] : largest;
  return largest;
}

template <int N>
ASSAY_DEVICE Lanes<N> load_f32(const void* from) {
  const WordPack<N> pack = *static_cast<const WordPack<N>*>(from);
  Lanes<N> r;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) r.v[i] = bits_float(pack.v[i]);
  return r;
}
// N floats at any address, as shared memory with padded rows needs.
template <int N>
ASSAY_DEVICE Lanes<N> load_unaligned(const float* from) {
  Lanes<N> r;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) r.v[i] = from[i];
  return r;
}
template <int N>
ASSAY_DEVICE void store_unaligned(float* to, const Lanes<N>& x) {
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) to[i] = x.v[i];
}
template <int N>
ASSAY_DEVICE Lanes<N> load_f16(const void* from) {
  const HalfPack<N> pack = *static_cast<const HalfPack<N>*>(from);
  Lanes<N> r;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) r.v[i] = f16_bits_to_float(pack.v[i]);
  return r;
}
template <int N>
ASSAY_DEVICE Lanes<N> load_bf16(const void* from) {
  const HalfPack<N> pack = *static_cast<const HalfPack<N>*>(from);
  Lanes<N> r;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) r.v[i] = bits_float(static_cast<std::uint32_t>(pack.v[i]) << 16);
  return r;
}
ASSAY_DEVICE std::uint16_t float_to_bf16_bits(float value) {
  const std::uint32_t u = float_bits(value);
  const std::uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}
template <int N>
ASSAY_DEVICE void store_f32(void* to, const Lanes<N>& x) {
  WordPack<N> pack;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) pack.v[i] = float_bits(x.v[i]);
  *static_cast<WordPack<N>*>(to) = pack;
}
template <int N>
ASSAY_DEVICE void store_f16(void* to, const Lanes<N>& x) {
  HalfPack<N> pack;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) pack.v[i] = float_to_f16_bits(x.v[i]);
  *static_cast<HalfPack<N>*>(to) = pack;
}
template <int N>
ASSAY_DEVICE void store_bf16(void* to, const Lanes<N>& x) {
  HalfPack<N> pack;
  ASSAY_UNROLL
  for (int i = 0; i < N; ++i) pack.v[i] = float_to_bf16_bits(x.v[i]);
  *static_cast<HalfPack<N>*>(to) = pack;
}

#endif  // ASSAY_GPU

}  // namespace ASSAY_ISA
}  // namespace assay::kernels

#if !ASSAY_GPU
#include "kernels/common/host_block.hpp"
#include "kernels/common/host_lanes.hpp"
#endif
