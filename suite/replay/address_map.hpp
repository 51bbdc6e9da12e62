// SPDX-License-Identifier: Apache-2.0
// AddressMap: recorded addresses to values, by open addressing, so that a replay's own book-keeping costs no
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay::replay {

// Address 0 cannot be held. A pointer to a value is valid until the next insert or erase. Memory is in proportion to
// the most addresses held at once.
template <class Value>
class AddressMap {
 public:
  AddressMap() : slots_(kFirstSlots) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] Value* find(std::uint64_t address) {
    for (std::size_t i = home(address);; i = (i + 1) & mask()) {
      if (slots_[i].address == address) return &slots_[i].value;
      if (slots_[i].address == 0) return nullptr;
    }
  }

  // The slot of `address` will be asked for soon.
  void prefetch(std::uint64_t address) const { __builtin_prefetch(&slots_[home(address)]); }

  // The value of `address`, new where it was not held.
  Value& operator[](std::uint64_t address) {
    if (size_ * 2 >= slots_.size()) grow();
    std::size_t i = home(address);
    while (slots_[i].address != 0 && slots_[i].address != address) i = (i + 1) & mask();
    if (slots_[i].address == 0) {
      slots_[i].address = address;
      ++size_;
    }
    return slots_[i].value;
  }

  // Nothing happens where it is not held. What follows in its run moves up, so that no tombstones gather.
  void erase(std::uint64_t address) {
    std::size_t hole = home(address);
    while (slots_[hole].address != address) {
      if (slots_[hole].address == 0) return;
      hole = (hole + 1) & mask();
    }
    for (std::size_t i = (hole + 1) & mask(); slots_[i].address != 0; i = (i + 1) & mask()) {
      const std::size_t wanted = home(slots_[i].address);
      if (((i - wanted) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot{};
    --size_;
  }

  template <class Visit>
  void visit(Visit visit) {
    for (Slot& slot : slots_)
      if (slot.address != 0) visit(slot.address, slot.value);
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;
  struct Slot {
    std::uint64_t address = 0;
    Value value{};
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> 32U) & mask();
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (Slot& slot : old)
      if (slot.address != 0) (*this)[slot.address] = std::move(slot.value);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace assay::replay
