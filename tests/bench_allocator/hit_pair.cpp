// SPDX-License-Identifier: Apache-2.0
// Host time of one allocate and one deallocate served from the cache, against the number of free blocks held.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/fake_device.hpp"

namespace {

using assay::allocator::Allocator;
using assay::allocator::Category;
using assay::testing::FakeDevice;

// Sizes 512 << (0..11), as in the peers' measurements.
std::size_t size_of(std::mt19937& random) {
  return std::size_t{512} << (random() % 12);
}

// A device too large to fill, and an allocator that holds `holes` free blocks of mixed sizes on each stream, kept apart
// by live blocks so that they cannot join.
class Holes {
 public:
  Holes(std::size_t holes, std::size_t streams, const std::string& options) : device_(std::size_t{1} << 50) {
    auto made = assay::allocator::make_allocator("caching", options, FakeDevice::table(), device_.handle());
    if (!made) throw std::runtime_error(made.error().text);
    allocator_ = std::move(*made);
    std::mt19937 random(1);
    for (std::size_t s = 0; s < streams; ++s) {
      assay_stream* stream = device_.new_stream();
      streams_.push_back(stream);
      std::vector<void*> to_free;
      for (std::size_t i = 0; i < holes; ++i) {
        to_free.push_back(take(size_of(random), stream));
        take(512, stream);
      }
      for (void* pointer : to_free)
        if (!allocator_->deallocate(pointer)) throw std::runtime_error("a free was refused");
    }
  }

  void* take(std::size_t bytes, assay_stream* stream) {
    auto pointer = allocator_->allocate(bytes, stream, Category::activation);
    if (!pointer) throw std::runtime_error(pointer.error().text);
    return *pointer;
  }
  [[nodiscard]] Allocator& allocator() { return *allocator_; }
  [[nodiscard]] assay_stream* stream(std::size_t index) { return streams_.at(index); }
  [[nodiscard]] std::size_t device_calls() const { return device_.calls(assay::testing::Call::malloc); }

 private:
  FakeDevice device_;
  std::unique_ptr<Allocator> allocator_;
  std::vector<assay_stream*> streams_;
};

std::vector<std::size_t> random_sizes() {
  std::mt19937 random(2);
  std::vector<std::size_t> sizes(4096);
  for (std::size_t& size : sizes) size = size_of(random);
  return sizes;
}

void hit_pair(benchmark::State& state, const std::string& options) {
  Holes holes(static_cast<std::size_t>(state.range(0)), 1, options);
  const std::vector<std::size_t> sizes = random_sizes();
  assay_stream* stream = holes.stream(0);
  for (const std::size_t size : sizes) (void)holes.allocator().deallocate(holes.take(size, stream));  // no miss later
  const std::size_t before = holes.device_calls();
  std::size_t i = 0;
  for (auto _ : state) {
    auto pointer = holes.allocator().allocate(sizes[i++ % sizes.size()], stream, Category::activation);
    benchmark::DoNotOptimize(pointer);
    benchmark::DoNotOptimize(holes.allocator().deallocate(*pointer));
  }
  if (holes.device_calls() != before) state.SkipWithError("a pair was no hit");
}
BENCHMARK_CAPTURE(hit_pair, address, "")->Arg(16)->Arg(4096)->Arg(65536);
BENCHMARK_CAPTURE(hit_pair, creation, "tie_break:creation")->Arg(16)->Arg(4096)->Arg(65536);

// A block is held for 64 steps, so that the hole taken is not the one just left.
void churn(benchmark::State& state) {
  Holes holes(static_cast<std::size_t>(state.range(0)), 1, "");
  const std::vector<std::size_t> sizes = random_sizes();
  assay_stream* stream = holes.stream(0);
  std::array<void*, 64> held{};
  for (void*& pointer : held) pointer = holes.take(512, stream);
  std::size_t i = 0;
  for (auto _ : state) {
    void*& slot = held[i % held.size()];
    benchmark::DoNotOptimize(holes.allocator().deallocate(slot));
    auto pointer = holes.allocator().allocate(sizes[i++ % sizes.size()], stream, Category::activation);
    slot = *pointer;
  }
}
BENCHMARK(churn)->Arg(16)->Arg(4096)->Arg(65536);

// Pairs on one allocator by several threads, each on a stream of its own.
void threads(benchmark::State& state) {
  static Holes* shared = nullptr;
  if (state.thread_index() == 0) shared = new Holes(4096, static_cast<std::size_t>(state.threads()), "");
  const std::vector<std::size_t> sizes = random_sizes();
  std::size_t i = 0;
  for (auto _ : state) {
    auto pointer = shared->allocator().allocate(sizes[i++ % sizes.size()],
                                                shared->stream(static_cast<std::size_t>(state.thread_index())),
                                                Category::activation);
    benchmark::DoNotOptimize(shared->allocator().deallocate(*pointer));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  if (state.thread_index() == 0) {
    delete shared;
    shared = nullptr;
  }
}
BENCHMARK(threads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
