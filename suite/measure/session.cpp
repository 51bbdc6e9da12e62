// SPDX-License-Identifier: Apache-2.0
// Opening a device for a launch, and the two pieces of staging memory.
#include "suite/measure/session.hpp"

#include <utility>

#include "backends/allocator/make_allocator.hpp"

namespace assay::measure {

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
                                               const std::string& allocator_options) {
  auto module = device::Module::load(planned.module_path);
  if (!module) return module.error();
  auto device = device::Device::open(*module, static_cast<std::int32_t>(planned.ordinal), planned.options);
  if (!device) return device.error();
  std::unique_ptr<Session> session(new Session{*module, std::move(*device), std::nullopt, nullptr, nullptr, {}});
  auto made = allocator::make_allocator(allocator, allocator_options, session->device);
  if (!made) return made.error();
  session->allocator = *std::move(made);
  return session;
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
