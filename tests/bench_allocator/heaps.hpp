// SPDX-License-Identifier: Apache-2.0
// AssayHeap: one of Assay's policies over a device that answers at once, with the two calls every peer has.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::bench {

// As thread-safe as the policy.
class AssayHeap {
 public:
  explicit AssayHeap(const std::string& policy, std::size_t streams = 1) : device_(std::size_t{1} << 46) {
    auto made = allocator::make_allocator(policy, "", testing::FakeDevice::table(), device_.handle());
    if (!made) throw std::runtime_error(made.error().text);
    allocator_ = std::move(*made);
    for (std::size_t i = 0; i < streams; ++i) streams_.push_back(device_.new_stream());
  }
  void* take(std::size_t bytes, std::size_t stream = 0) {
    auto pointer = allocator_->allocate(bytes, streams_[stream], allocator::Category::activation);
    if (!pointer) throw std::runtime_error(pointer.error().text);
    return *pointer;
  }
  void give(void* pointer) {
    if (!allocator_->deallocate(pointer)) throw std::runtime_error("a free was refused");
  }

 private:
  testing::FakeDevice device_;
  std::unique_ptr<allocator::Allocator> allocator_;
  std::vector<assay_stream*> streams_;
};

}  // namespace assay::bench
