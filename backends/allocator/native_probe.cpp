// SPDX-License-Identifier: Apache-2.0
// What is tried out on a runtime's pool before anyone relies on it (facts: allocators section 4, complaints 3 to 6).
#include <algorithm>
#include <array>
#include <vector>

#include "backends/allocator/native_pool.hpp"
#include "backends/allocator/options.hpp"

namespace assay::allocator {
namespace {

constexpr std::size_t kThresholdBlocks = 3;
constexpr std::size_t kThresholdBytes = 64 * kMiB;

constexpr std::size_t kCanaryRounds = 96;
constexpr std::size_t kCanaryBytes = 256 * 1024;  // of the smallest; others are twice and four times as large
constexpr std::size_t kCanariesLive = 6;

// Two streams of a device, waited for and destroyed at the end.
class TwoStreams {
 public:
  explicit TwoStreams(const assay_backend& table) : table_(&table) {}
  ~TwoStreams() {
    for (assay_stream* stream : streams_)
      if (stream != nullptr) (void)table_->stream_destroy(stream);
  }
  TwoStreams(const TwoStreams&) = delete;
  TwoStreams& operator=(const TwoStreams&) = delete;
  Result<void> open(assay_device* device) {
    for (assay_stream*& stream : streams_)
      if (const assay_status status = table_->stream_create(device, 0, &stream); status != ASSAY_OK)
        return device::error_from(*table_, status, "a stream to try the runtime's pool on");
    return {};
  }
  [[nodiscard]] assay_stream* operator[](std::size_t index) const { return streams_.at(index); }

 private:
  const assay_backend* table_;
  std::array<assay_stream*, 2> streams_{};
};

struct Canary {
  void* pointer;
  std::size_t bytes;
  std::size_t stream;
  std::uint8_t value;
};

class CanaryTest {
 public:
  CanaryTest(const assay_backend& table, assay_device* device, const NativePool& pool)
      : table_(table), device_(device), calls_(table, device), pool_(pool), streams_(table) {}
  ~CanaryTest() {
    (void)calls_.synchronize_all();
    for (const Canary& canary : live_) (void)pool_.free(canary.pointer, streams_[canary.stream]);
    (void)calls_.synchronize_all();
  }
  CanaryTest(const CanaryTest&) = delete;
  CanaryTest& operator=(const CanaryTest&) = delete;

  // False: the device fills no memory.
  Result<bool> run() {
    if (auto opened = streams_.open(device_); !opened) return opened.error();
    for (std::size_t round = 0; round < kCanaryRounds; ++round) {
      auto filled = take(round);
      if (!filled || !*filled) return filled;
      if (live_.size() < kCanariesLive) continue;
      const std::size_t index = round * 7 % live_.size();
      if (auto given = check_and_give(index, round % 3 == 0); !given) return given.error();
    }
    for (const Canary& canary : live_)
      if (auto right = check(canary); !right) return right.error();
    return true;
  }

 private:
  Result<bool> take(std::size_t round) {
    Canary canary{nullptr, kCanaryBytes << (round % 3), round % 2, static_cast<std::uint8_t>(1 + round % 251)};
    auto pointer = pool_.allocate(canary.bytes, streams_[canary.stream]);
    if (!pointer) return pointer.error();
    if (*pointer == nullptr)
      return Error{ErrorCode::out_of_memory,
                   "Out of memory: the device has not the few MiB needed to try the runtime's pool; free other memory "
                   "of the device."};
    canary.pointer = *pointer;
    live_.push_back(canary);
    const assay_status status = table_.fill(streams_[canary.stream], canary.pointer, canary.value, canary.bytes);
    if (status == ASSAY_UNSUPPORTED) return false;
    if (auto filled = checked(status); !filled) return filled.error();
    return true;
  }

  // Every byte, while the other blocks are live and freed ones are being reused.
  Result<void> check(const Canary& canary) {
    seen_.assign(canary.bytes, 0);
    assay_stream* stream = streams_[canary.stream];
    if (auto copied =
            checked(table_.copy(stream, seen_.data(), canary.pointer, canary.bytes, ASSAY_COPY_DEVICE_TO_HOST));
        !copied)
      return copied;
    if (auto waited = calls_.synchronize(stream); !waited) return waited;
    const auto wrong = std::find_if(seen_.begin(), seen_.end(), [&](std::uint8_t b) { return b != canary.value; });
    if (wrong == seen_.end()) return {};
    return Error{ErrorCode::unsupported,
                 "Allocator policy native cannot be used here: the runtime's pool changed byte " +
                     std::to_string(wrong - seen_.begin()) + " of a live block of " + std::to_string(canary.bytes) +
                     " bytes from " + std::to_string(canary.value) + " to " + std::to_string(*wrong) +
                     " in the test before its use; choose caching."};
  }

  // Its own stream frees it, or the other one, which is idle with respect to it: check() has waited.
  Result<void> check_and_give(std::size_t index, bool elsewhere) {
    const Canary canary = live_[index];
    if (auto right = check(canary); !right) return right;
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    return pool_.free(canary.pointer, streams_[elsewhere ? 1 - canary.stream : canary.stream]);
  }

  Result<void> checked(assay_status status) const {
    if (status == ASSAY_OK) return {};
    return device::error_from(table_, status, "the runtime's pool could not be tried");
  }

  const assay_backend& table_;
  assay_device* device_;
  DeviceCalls calls_;
  const NativePool& pool_;
  TwoStreams streams_;
  std::vector<Canary> live_;
  std::vector<std::uint8_t> seen_;
};

}  // namespace

Result<PoolFindings> probe_threshold(const DeviceCalls& device, const NativePool& pool, std::uint64_t threshold) {
  PoolFindings findings;
  if (auto set = pool.set(ASSAY_POOL_RELEASE_THRESHOLD, threshold); !set) return set.error();
  auto back = pool.get(ASSAY_POOL_RELEASE_THRESHOLD);
  if (!back) return back.error();
  findings.release_threshold = *back;
  auto stream = device.create_stream();
  if (!stream) return stream.error();
  std::array<void*, kThresholdBlocks> blocks{};
  Result<void> result;
  bool room = true;
  for (void*& block : blocks) {
    auto taken = pool.allocate(kThresholdBytes, *stream);
    if (!taken) result = taken.error();
    if (taken) block = *taken;
    room = room && block != nullptr;
  }
  for (void* block : blocks) {
    if (block == nullptr) continue;
    if (auto freed = pool.free(block, *stream); !freed && result) result = freed;
  }
  if (auto waited = device.synchronize_all(); !waited && result) result = waited;
  Result<std::uint64_t> held = result ? pool.get(ASSAY_POOL_RESERVED_CURRENT) : Result<std::uint64_t>(result.error());
  if (auto trimmed = pool.trim(0); !trimmed && held) held = trimmed.error();
  device.destroy_stream(*stream);
  if (!held) return held.error();
  const std::uint64_t kept = std::min<std::uint64_t>(*back, kThresholdBlocks * kThresholdBytes);
  if (!room) {
    findings.threshold_note = "the release threshold was set but not tried: less than 192 MiB of memory was free";
  } else if (*held < kept / kThresholdBytes * kThresholdBytes) {
    findings.threshold_honoured = false;
    findings.threshold_note = "the runtime does not honour the release threshold: of " + std::to_string(kept) +
                              " freed bytes it kept " + std::to_string(*held);
  }
  return findings;
}

Result<bool> probe_canaries(const assay_backend& table, assay_device* device, const NativePool& pool) {
  Result<bool> passed = false;
  {
    CanaryTest test(table, device, pool);
    passed = test.run();
  }
  if (!passed) return passed;
  if (auto trimmed = pool.trim(0); !trimmed) return trimmed.error();
  return passed;
}

}  // namespace assay::allocator
