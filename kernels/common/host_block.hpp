// SPDX-License-Identifier: Apache-2.0
// Blocks on a CPU: one thread (speed) and the real shape as fibres (checking). Included by vendor.hpp.
#pragma once

#include <cstdint>

#include "kernels/common/host_entry.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// One block of one thread: barriers and shuffles vanish, and inner loops run in vector registers.
struct SerialBlock {
  static constexpr bool kSerial = true;
#if defined(__AVX__)
  static constexpr int kVector = 8;
#else
  static constexpr int kVector = 4;
#endif
  template <class T>
  static constexpr int kLanes = kVector;

  std::int64_t block_;
  std::int64_t blocks_;
  unsigned char* shared_;

  static constexpr std::uint32_t thread() {
    return 0;
  }
  static constexpr std::uint32_t threads() {
    return 1;
  }
  static constexpr std::uint32_t wave() {
    return 1;
  }
  ASSAY_DEVICE std::int64_t block() const {
    return block_;
  }
  ASSAY_DEVICE std::int64_t blocks() const {
    return blocks_;
  }
  static constexpr void sync() {}
  template <class V>
  ASSAY_DEVICE V shuffle_xor(V value, std::uint32_t) const {
    return value;
  }
  template <class V>
  ASSAY_DEVICE V shuffle_down(V value, std::uint32_t) const {
    return value;
  }
  template <class V>
  ASSAY_DEVICE V* shared() const {
    return reinterpret_cast<V*>(shared_);
  }
};

// One thread of a block whose threads are fibres of one CPU thread.
struct FibreBlock {
  static constexpr bool kSerial = false;
  template <class T>
  static constexpr int kLanes = static_cast<int>(16 / sizeof(T));  // as on a GPU

  FibreThread* self_;

  ASSAY_DEVICE std::uint32_t thread() const { return self_->thread; }
  ASSAY_DEVICE std::uint32_t threads() const { return self_->threads; }
  ASSAY_DEVICE std::uint32_t wave() const { return self_->wave; }
  ASSAY_DEVICE std::int64_t block() const { return self_->block; }
  ASSAY_DEVICE std::int64_t blocks() const { return self_->blocks; }
  ASSAY_DEVICE void sync() const { self_->sync(self_); }
  template <class V>
  ASSAY_DEVICE V shuffle_xor(V value, std::uint32_t mask) const {
    return exchange(value, (thread() % wave()) ^ mask);
  }
  template <class V>
  ASSAY_DEVICE V shuffle_down(V value, std::uint32_t distance) const {
    return exchange(value, thread() % wave() + distance);
  }
  template <class V>
  ASSAY_DEVICE V* shared() const {
    return reinterpret_cast<V*>(self_->shared);
  }
  template <class V>
  ASSAY_DEVICE V* scratch() const {
    static_assert(sizeof(V) <= 8);
    return reinterpret_cast<V*>(self_->scratch);
  }

 private:
  template <class V>
  ASSAY_DEVICE V exchange(V value, std::uint32_t source) const {
    static_assert(sizeof(V) <= 8);
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(value));
    bits = self_->exchange(self_, bits, source);
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

template <class Kernel>
void serial_entry(const void* params, std::int64_t first, std::int64_t last, std::int64_t grid, unsigned char* shared) {
  const typename Kernel::Params copy = *static_cast<const typename Kernel::Params*>(params);
  for (std::int64_t i = first; i < last; ++i) Kernel::run(SerialBlock{i, grid, shared}, copy);
}

template <class Kernel>
void fibre_entry(const void* params, FibreThread* self) {
  Kernel::run(FibreBlock{self}, *static_cast<const typename Kernel::Params*>(params));
}

template <class Kernel>
const void* kernel_entry() {
  static constexpr HostEntry entry{&serial_entry<Kernel>, &fibre_entry<Kernel>};
  return &entry;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
