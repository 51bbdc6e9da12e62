// SPDX-License-Identifier: Apache-2.0
// One run of two streams that share a block: `right` names the second stream to the allocator, `broken` reuses the
// block without waiting for it. Exit 0: the second stream read what it should; 3: something else; 4: no run was
// possible.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "backends/device/device.hpp"

namespace {

using assay::Result;
using assay::allocator::Allocator;
using assay::allocator::Category;

constexpr std::size_t kBytes = std::size_t{2} << 20;
constexpr std::uint8_t kFirst = 0x11;
constexpr std::uint8_t kSecond = 0x77;

// Frees as if no other stream had used the block: the defect this test exists to notice. Test code only.
class ForgetsStreams final : public Allocator {
 public:
  explicit ForgetsStreams(std::unique_ptr<Allocator> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::string_view policy() const override { return inner_->policy(); }
  [[nodiscard]] std::string options() const override { return inner_->options(); }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) override {
    return inner_->allocate(bytes, stream, category);
  }
  Result<void> deallocate(void* pointer) override { return inner_->deallocate(pointer); }
  Result<void> record_stream(void*, assay_stream*) override { return {}; }
  Result<void> empty_cache() override { return inner_->empty_cache(); }
  Result<void> process_events() override { return inner_->process_events(); }
  [[nodiscard]] assay::allocator::Statistics statistics() const override { return inner_->statistics(); }
  void reset_peaks() override { inner_->reset_peaks(); }
  void reset_accumulated() override { inner_->reset_accumulated(); }
  [[nodiscard]] std::vector<assay::allocator::SegmentInfo> snapshot() const override { return inner_->snapshot(); }

 private:
  std::unique_ptr<Allocator> inner_;
};

int refused(const char* what, const assay::Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.text.c_str());
  return 4;
}

#define ASSAY_REQUIRE(result)                                                               \
  do {                                                                                      \
    if (const auto& checked = (result); !checked) return refused(#result, checked.error()); \
  } while (false)

// Producer fills a block, consumer copies it out after an event; the block is freed, asked for again and overwritten by
// the producer at once. Only the allocator stands between that overwrite and the consumer's reading.
// A policy that `orders_reuse` may hand the same memory out at once and make the producer wait for the consumer: that
// the overwrite came after the reading is then its answer, and no accident of a busy machine.
int share_a_block(const assay::device::Device& device, Allocator& allocator, int busy, bool orders_reuse) {
  auto producer = assay::device::Stream::create(device);
  ASSAY_REQUIRE(producer);
  auto consumer = assay::device::Stream::create(device);
  ASSAY_REQUIRE(consumer);
  auto produced = assay::device::Event::create(device);
  ASSAY_REQUIRE(produced);
  auto reading = assay::device::Event::create(device);
  ASSAY_REQUIRE(reading);
  auto delay = device.malloc(kBytes, ASSAY_OWNER_EXTERNAL);
  ASSAY_REQUIRE(delay);
  std::vector<std::uint8_t> seen(kBytes);

  auto block = allocator.allocate(kBytes, producer->handle(), Category::activation);
  ASSAY_REQUIRE(block);
  ASSAY_REQUIRE(producer->fill(*block, kFirst, kBytes));
  ASSAY_REQUIRE(produced->record(*producer));
  ASSAY_REQUIRE(consumer->wait(*produced));
  for (int i = 0; i < busy; ++i) ASSAY_REQUIRE(consumer->fill(*delay, static_cast<std::uint8_t>(i), kBytes));
  ASSAY_REQUIRE(reading->record(*consumer));
  ASSAY_REQUIRE(consumer->copy(seen.data(), *block, kBytes, ASSAY_COPY_DEVICE_TO_HOST));
  ASSAY_REQUIRE(allocator.record_stream(*block, consumer->handle()));
  ASSAY_REQUIRE(allocator.deallocate(*block));
  auto next = allocator.allocate(kBytes, producer->handle(), Category::activation);
  ASSAY_REQUIRE(next);
  ASSAY_REQUIRE(producer->fill(*next, kSecond, kBytes));
  ASSAY_REQUIRE(producer->synchronize());
  const auto began = reading->finished();
  ASSAY_REQUIRE(began);
  ASSAY_REQUIRE(consumer->synchronize());
  ASSAY_REQUIRE(device.free(*delay));
  const bool reused = *next == *block;
  ASSAY_REQUIRE(allocator.deallocate(*next));

  for (const std::uint8_t byte : seen)
    if (byte != kFirst) return 3;
  return *began && !(reused && orders_reuse) ? 5 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  if (argc != 4 || folder == nullptr) return 4;
  auto module = assay::device::Module::load(std::string(folder) + "/libassay-host.so");
  ASSAY_REQUIRE(module);
  auto device = assay::device::Device::open(*module, 0, {{"memory_bytes", std::to_string(std::size_t{256} << 20)}});
  ASSAY_REQUIRE(device);
  auto made = assay::allocator::make_allocator(argv[3], "", *device);
  ASSAY_REQUIRE(made);
  std::unique_ptr<Allocator> allocator = std::move(*made);
  if (std::strcmp(argv[1], "broken") == 0) allocator = std::make_unique<ForgetsStreams>(std::move(allocator));
  return share_a_block(*device, *allocator, std::atoi(argv[2]), std::strcmp(argv[3], "native") == 0);
}
