// SPDX-License-Identifier: Apache-2.0
// Memory of one device: blocks with an address, and virtual memory management over one memory file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "backends/abi/assay_backend.h"
#include "backends/host/ledger.hpp"

namespace assay::host {

// No request above it is looked at: sums of two such sizes still fit.
inline constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max() / 4;

// Physical memory without an address: a piece of the device's memory file.
struct Extent {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::uint32_t owner = ASSAY_OWNER_EXTERNAL;
};

// The memory file of one device. One descriptor for all extents: a descriptor each would meet the open-files limit
// long before the budget. Not thread-safe; its owner locks.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // First fit among the holes, then growth at the end.
  assay_status take(std::size_t bytes, std::size_t* offset);
  // Gives the pages back to the system and keeps the hole.
  void give_back(std::size_t offset, std::size_t bytes);
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::size_t end_ = 0;
  std::map<std::size_t, std::size_t> holes_;  // offset -> bytes, merged
};

// Everything on one device that has or may get an address. Thread-safe. Nothing here waits for streams.
class Memory {
 public:
  static constexpr std::size_t kGranularity = std::size_t{2} << 20;

  Memory(std::int32_t ordinal, std::int64_t budget_bytes) : ledger_(ordinal, budget_bytes) {}
  ~Memory();  // unmaps everything
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void read(assay_memory_info& out) const;
  // Whether [address, address + bytes) is memory of this device that may be read and written.
  [[nodiscard]] bool covers(const void* address, std::size_t bytes) const;
  // Whether any of it is.
  [[nodiscard]] bool touches(const void* address) const;

  // Blocks of a pool are memory like others, but only the pool releases them.
  enum class Kind { plain, pooled };
  assay_status allocate(std::size_t bytes, std::uint32_t owner, void** out, Kind kind = Kind::plain);
  [[nodiscard]] bool is_block(const void* pointer) const;
  assay_status release(void* pointer, Kind kind = Kind::plain);

  // Host memory for copies: charged to nobody.
  assay_status allocate_host(std::size_t bytes, void** out);
  assay_status release_host(void* pointer);

  assay_status reserve(std::size_t bytes, void** out);
  assay_status unreserve(void* address, std::size_t bytes);
  assay_status create(std::size_t bytes, std::uint32_t owner, std::shared_ptr<Extent>* out);
  // Drops a handle's reference; the memory goes when the last mapping goes too.
  void drop(std::shared_ptr<Extent> extent);
  assay_status map(void* address, std::size_t bytes, const std::shared_ptr<Extent>& extent);
  assay_status unmap(void* address, std::size_t bytes);

 private:
  struct Block {
    std::size_t bytes;
    std::uint32_t owner;
    Kind kind;
  };
  struct Mapping {
    std::size_t bytes;
    std::shared_ptr<Extent> extent;
  };
  using Address = std::uintptr_t;

  [[nodiscard]] bool inside_reservation(Address address, std::size_t bytes) const;
  [[nodiscard]] bool overlaps_mapping(Address address, std::size_t bytes) const;
  void retire(const std::shared_ptr<Extent>& extent);

  mutable std::mutex mutex_;
  Ledger ledger_;
  std::map<Address, Block> blocks_;
  std::map<Address, std::size_t> host_blocks_;
  std::map<Address, std::size_t> reservations_;
  std::map<Address, Mapping> mappings_;
  std::map<std::size_t, std::size_t> extents_;  // live physical memory: offset -> bytes
  MemoryFile file_;
};

}  // namespace assay::host
