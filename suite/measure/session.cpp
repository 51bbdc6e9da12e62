// SPDX-License-Identifier: Apache-2.0
// Opening a device for a launch, and the two pieces of staging memory.
#include "suite/measure/session.hpp"

#include <utility>

#include "backends/allocator/make_allocator.hpp"

namespace assay::measure {
namespace {

constexpr std::size_t kHistoryEvents = 1'000'000;  // 56 MB; PyTorch keeps the newest too

// A field of the module's own identity; "unknown" where it does not say.
std::string text_of(const device::Module& module, std::string_view key) {
  const auto fields = module.describe();
  if (!fields) return "unknown";
  for (const auto& field : *fields)
    if (const auto* text = std::get_if<std::string>(&field.value); field.key == key && text != nullptr) return *text;
  return "unknown";
}

}  // namespace

Result<std::unique_ptr<Staging>> Staging::create(const device::Device& device) {
  std::unique_ptr<Staging> staging(new Staging(device));
  for (auto& piece : staging->pieces_) {
    const assay_status status = device.table().host_malloc(device.handle(), kPieceBytes, &piece.memory);
    if (status != ASSAY_OK) return device::error_from(device.table(), status, "page-locked host memory for uploads");
    auto event = device::Event::create(device);
    if (!event) return event.error();
    piece.free_again.emplace(std::move(*event));
  }
  return staging;
}

Staging::~Staging() {
  for (auto& piece : pieces_) {
    if (piece.in_flight) (void)piece.free_again->synchronize();
    if (piece.memory != nullptr) (void)device_.table().host_free(device_.handle(), piece.memory);
  }
}

Result<std::byte*> Staging::acquire() {
  current_ = 1 - current_;
  Piece& piece = pieces_[current_];
  if (piece.in_flight) {
    if (auto passed = piece.free_again->synchronize(); !passed) return passed.error();
    piece.in_flight = false;
  }
  return static_cast<std::byte*>(piece.memory);
}

Result<void> Staging::used_on(const device::Stream& stream) {
  Piece& piece = pieces_[current_];
  if (auto recorded = piece.free_again->record(stream); !recorded) return recorded;
  piece.in_flight = true;
  return {};
}

Result<std::unique_ptr<Session>> Session::open(const PlannedDevice& planned, const std::string& allocator,
                                               const std::string& allocator_options, const Instruments& instruments) {
  auto module = device::Module::load(planned.module_path);
  if (!module) return module.error();
  auto device = device::Device::open(*module, static_cast<std::int32_t>(planned.ordinal), planned.options);
  if (!device) return device.error();
  std::unique_ptr<Session> session(
      new Session{*module, std::move(*device), std::nullopt, nullptr, nullptr, {}, nullptr, nullptr});
  auto made = allocator::make_allocator(allocator, allocator_options, session->device);
  if (!made) return made.error();
  session->allocator = *std::move(made);
  if (auto added = session->add_instruments(instruments, planned.name); !added) return added.error();
  return session;
}

// The clock stands next to the policy, so that it does not see what recording costs.
Result<void> Session::add_instruments(const Instruments& instruments, const std::string& device_name) {
  if (instruments.latency) {
    auto wrapped = std::make_unique<allocator::TimedAllocator>(std::move(allocator));
    timed = wrapped.get();
    allocator = std::move(wrapped);
  }
  if (instruments.record_trace.empty() && instruments.snapshot.empty()) return {};
  RecordingParts parts;
  if (!instruments.record_trace.empty()) {
    trace::Origin origin;
    origin.framework = "assay";
    origin.platform = text_of(module, "platform");
    origin.device = device_name;
    const std::string options(allocator->options());
    origin.settings = std::string(allocator->policy()) + (options.empty() ? "" : " " + options);
    auto writer = trace::TraceWriter::create(instruments.record_trace, origin);
    if (!writer) return writer.error();
    parts.writer = std::make_unique<trace::TraceWriter>(*std::move(writer));
  }
  if (!instruments.snapshot.empty()) parts.history = kHistoryEvents;
  parts.device_free = [this]() -> std::int64_t {
    const auto info = device.memory_info();
    return info && info->used_bytes >= 0 ? info->total_bytes - info->used_bytes : -1;
  };
  auto wrapped = std::make_unique<RecordingAllocator>(std::move(allocator), std::move(parts));
  recording = wrapped.get();
  allocator = std::move(wrapped);
  return {};
}

Result<void> Session::prepare(const std::string& dtype) {
  auto made = device::Stream::create(device);
  if (!made) return made.error();
  stream.emplace(std::move(*made));
  auto pieces = Staging::create(device);
  if (!pieces) return pieces.error();
  staging = *std::move(pieces);
  for (std::size_t i = 0; i < kKernelCount; ++i) {
    const auto index = module.find_kernel(kKernelNames[i], dtype, "portable");
    kernels[i] = index ? *index : -1;
  }
  return {};
}

}  // namespace assay::measure
