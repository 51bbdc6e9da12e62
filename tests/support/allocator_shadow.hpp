// SPDX-License-Identifier: Apache-2.0
// AllocatorShadow: any bytes as a sequence of operations on an allocator, against what a caller knows and what a walk
// over its blocks says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/allocator/allocator.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::testing {

// Bytes taken one after the other; zeroes after the end.
class ByteSource {
 public:
  ByteSource(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  [[nodiscard]] bool empty() const { return next_ >= size_; }
  std::uint32_t take() { return empty() ? 0 : bytes_[next_++]; }
  std::uint32_t below(std::uint32_t limit) { return (take() << 8 | take()) % limit; }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
  std::size_t next_ = 0;
};

// A policy over a simulated device of 512 MiB with three streams. The laws that are checked after each operation:
//  - a block starts at a multiple of 512 bytes, apart from every live block and from memory another stream may use;
//  - the snapshot's live blocks are the caller's, with their sizes and categories;
//  - blocks tile their segments, free neighbours of one segment are joined, segments do not overlap;
//  - every current statistic is what the snapshot adds up to, reserved bytes are what the device lent;
//  - peaks are the highest value seen since their reset (at least that, where a policy says that they are sums);
//  - what was allocated less what was freed moves with what is current;
//  - an operation that failed because the device did has changed nothing the caller can see.
class AllocatorShadow {
 public:
  // Puts another allocator around the one made: a defect that must be noticed.
  using Wrap = std::function<std::unique_ptr<allocator::Allocator>(std::unique_ptr<allocator::Allocator>)>;

  // Throws std::runtime_error when the policy cannot be made.
  AllocatorShadow(std::string_view policy, std::string_view options, const Wrap& wrap = {});

  // One operation, chosen by the next bytes. The first law broken, or empty.
  [[nodiscard]] std::string step(ByteSource& source);

 private:
  struct Use {
    std::size_t bytes = 0;
    allocator::Category category = allocator::Category::workspace;
    assay_stream* stream = nullptr;
    std::map<assay_stream*, std::uint64_t> foreign;  // once freed: its work there that must be over
  };
  using Uses = std::map<std::uintptr_t, Use>;
  struct Watched {  // one statistic: the highest value since the reset, and allocated - freed - current at it
    std::int64_t highest = 0;
    std::int64_t balance = 0;
  };

  void operate(ByteSource& source);
  void allocate(ByteSource& source);
  void deallocate(ByteSource& source);
  void other(ByteSource& source);
  void private_pool(ByteSource& source);
  void drop_passed();
  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  // An error that an armed failure explains, or one of these codes.
  void expect_answer(const Error& error, std::initializer_list<ErrorCode> codes);
  void check();
  void check_watched(const allocator::Statistics& statistics);

  FakeDevice device_;
  std::unique_ptr<allocator::Allocator> allocator_;
  std::array<assay_stream*, 3> streams_{};
  Uses live_;
  Uses pending_;  // freed, and used by a foreign stream that has not passed the free
  bool filling_ = false;
  bool armed_ = false;
  std::array<Watched, 5> watched_{};
  std::string problem_;
};

}  // namespace assay::testing
