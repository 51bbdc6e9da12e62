// SPDX-License-Identifier: Apache-2.0
// Steps become calls of allocator and stream.
#include "suite/measure/runner.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace assay::measure {

Runner::Runner(Session& session, const Network& network, std::uint64_t seed, Storage storage)
    : session_(session), network_(network), seed_(seed), storage_(storage), slots_(network.slot_count(), nullptr) {}

Runner::~Runner() {
  (void)release_all();
}

Result<void> Runner::run(const Pass& pass) {
  for (const auto& step : pass) {
    auto done = std::visit([this](const auto& one) { return execute(one); }, step);
    if (!done) return done;
  }
  return {};
}

std::byte* Runner::address(const Operand& operand) const {
  return static_cast<std::byte*>(slots_[operand.slot]) + operand.offset_bytes;
}

Result<void> Runner::execute(const AllocateStep& step) {
  auto memory =
      session_.allocator->allocate(static_cast<std::size_t>(step.bytes), session_.stream->handle(), step.category);
  if (!memory) {
    failed_request_ = FailedRequest{step.bytes, step.category};
    return memory.error();
  }
  slots_[step.slot] = *memory;
  return {};
}

Result<void> Runner::execute(const ReleaseStep& step) {
  return session_.allocator->deallocate(std::exchange(slots_[step.slot], nullptr));
}

Result<void> Runner::execute(const CopyStep& step) {
  return session_.stream->copy(address(step.to), address(step.from), static_cast<std::size_t>(step.bytes),
                               ASSAY_COPY_DEVICE_TO_DEVICE);
}

Result<void> Runner::execute(const LaunchStep& step) {
  const auto kernel = static_cast<std::size_t>(step.kernel);
  const std::int32_t index = session_.kernels[kernel];
  if (index < 0) {
    return Error{ErrorCode::unsupported, "the module has no portable kernel '" + std::string(kKernelNames[kernel]) +
                                             "' for this dtype: choose another dtype, or a module that has it"};
  }
  alignas(std::max_align_t) std::array<std::byte, LaunchStep::kMaxParamsBytes> params = step.params;
  for (std::uint32_t i = 0; i < step.pointer_count; ++i) {
    const void* pointer = address(step.pointers[i].operand);
    std::memcpy(params.data() + step.pointers[i].at, &pointer, sizeof pointer);
  }
  return session_.stream->launch_bytes(index, params.data(), step.params_bytes);
}

Result<void> Runner::upload(const Fill& fill) {
  const std::int64_t size = element_bytes(fill, storage_);
  const std::int64_t piece = static_cast<std::int64_t>(Staging::kPieceBytes) / size;
  for (std::int64_t first = 0; first < fill.elements; first += piece) {
    const std::int64_t count = std::min(piece, fill.elements - first);
    auto memory = session_.staging->acquire();
    if (!memory) return memory.error();
    generate(fill, seed_, storage_, first, count, *memory);
    auto copied = session_.stream->copy(address({fill.slot, first * size}), *memory,
                                        static_cast<std::size_t>(count * size), ASSAY_COPY_HOST_TO_DEVICE);
    if (!copied) return copied;
    if (auto used = session_.staging->used_on(*session_.stream); !used) return used;
  }
  return {};
}

Result<void> Runner::load() {
  const auto fills = network_.weight_fills();
  for (const auto& fill : fills) {
    const auto& tensor = network_.weights().tensors[fill.slot];
    if (auto made = execute(AllocateStep{fill.slot, tensor.bytes, allocator::Category::weights}); !made) return made;
    if (auto filled = upload(fill); !filled) return filled;
  }
  return {};
}

Result<void> Runner::inputs() {
  Pass pass;
  network_.inputs(pass);
  if (auto made = run(pass); !made) return made;
  for (const auto& fill : network_.input_fills()) {
    if (auto filled = upload(fill); !filled) return filled;
  }
  return {};
}

Result<void> Runner::read(const Output& output, const std::function<void(const std::byte*, std::size_t)>& sink) {
  constexpr auto kPiece = static_cast<std::int64_t>(Staging::kPieceBytes);
  for (std::int64_t at = 0; at < output.bytes; at += kPiece) {
    const auto bytes = static_cast<std::size_t>(std::min(kPiece, output.bytes - at));
    auto memory = session_.staging->acquire();
    if (!memory) return memory.error();
    const Operand from{output.operand.slot, output.operand.offset_bytes + at};
    if (auto copied = session_.stream->copy(*memory, address(from), bytes, ASSAY_COPY_DEVICE_TO_HOST); !copied) {
      return copied;
    }
    if (auto done = session_.stream->synchronize(); !done) return done;
    sink(*memory, bytes);
  }
  return {};
}

Result<void> Runner::release_all() {
  Result<void> first;
  for (auto& slot : slots_) {
    auto released = session_.allocator->deallocate(std::exchange(slot, nullptr));
    if (!released && first) first = released;
  }
  return first;
}

}  // namespace assay::measure
