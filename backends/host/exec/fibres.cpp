// SPDX-License-Identifier: Apache-2.0
// The scheduler of checking mode.
#include "backends/host/exec/fibres.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace assay::host {

FibreRunner::FibreRunner(std::uint32_t max_threads) : pool_(max_threads), fibres_(max_threads) {
  for (std::uint32_t i = 0; i < max_threads; ++i) fibres_[i].context = &pool_[i];
}

void FibreRunner::sync(kernels::FibreThread* self) {
  auto* fibre = static_cast<Fibre*>(self);
  fibre->state = State::at_barrier;
  fibre->context->suspend();
}

std::uint64_t FibreRunner::exchange(kernels::FibreThread* self, std::uint64_t value, std::uint32_t source) {
  auto* fibre = static_cast<Fibre*>(self);
  fibre->value = value;
  fibre->source = source;
  fibre->state = State::at_exchange;
  fibre->context->suspend();
  return fibre->value;
}

void FibreRunner::body(void* argument) {
  auto* fibre = static_cast<Fibre*>(argument);
  fibre->entry->fibre(fibre->params, fibre);
  fibre->state = State::finished;
}

// A wave goes on when each of its threads has offered a value.
bool FibreRunner::release_waves(std::uint32_t threads, std::uint32_t wave) {
  bool released = false;
  std::vector<std::uint64_t> offered(wave);
  for (std::uint32_t first = 0; first < threads; first += wave) {
    const std::uint32_t lanes = std::min(wave, threads - first);
    Fibre* fibres = &fibres_[first];
    if (!std::all_of(fibres, fibres + lanes, [](const Fibre& f) { return f.state == State::at_exchange; })) continue;
    for (std::uint32_t i = 0; i < lanes; ++i) offered[i] = fibres[i].value;
    for (std::uint32_t i = 0; i < lanes; ++i) {
      if (fibres[i].source < lanes) fibres[i].value = offered[fibres[i].source];
      fibres[i].state = State::ready;
    }
    released = true;
  }
  return released;
}

bool FibreRunner::release_barrier(std::uint32_t threads) {
  const auto end = fibres_.begin() + threads;
  if (!std::all_of(fibres_.begin(), end, [](const Fibre& f) { return f.state == State::at_barrier; })) return false;
  std::for_each(fibres_.begin(), end, [](Fibre& f) { f.state = State::ready; });
  return true;
}

bool FibreRunner::run_block(std::uint32_t threads, std::uint32_t wave) {
  for (bool forwards = true;; forwards = !forwards) {
    for (std::uint32_t i = 0; i < threads; ++i) {
      Fibre& fibre = fibres_[forwards ? i : threads - 1 - i];
      if (fibre.state == State::ready) fibre.context->resume();
    }
    const bool exchanged = release_waves(threads, wave);
    if (!release_barrier(threads) && !exchanged) break;
  }
  return std::all_of(fibres_.begin(), fibres_.begin() + threads,
                     [](const Fibre& f) { return f.state == State::finished; });
}

std::string FibreRunner::describe_deadlock(const char* kernel, std::int64_t block, std::uint32_t threads) const {
  const auto count = [&](State state) {
    return std::count_if(fibres_.begin(), fibres_.begin() + threads, [&](const Fibre& f) { return f.state == state; });
  };
  return std::string("kernel ") + kernel + ", block " + std::to_string(block) + ": of " + std::to_string(threads) +
         " threads " + std::to_string(count(State::at_barrier)) + " wait at a barrier, " +
         std::to_string(count(State::at_exchange)) + " at a shuffle and " + std::to_string(count(State::finished)) +
         " have finished, so none can go on: a barrier or shuffle was not reached by every thread";
}

bool FibreRunner::run(const kernels::KernelEntry& entry, const void* params, const kernels::LaunchShape& shape,
                      std::uint32_t wave, std::string* failure) {
  const auto* host_entry = static_cast<const kernels::HostEntry*>(entry.entry);
  // Exactly as long as asked for, so that an address sanitizer sees one byte too many.
  struct Free {
    void operator()(unsigned char* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  const std::unique_ptr<unsigned char, Free> shared(
      static_cast<unsigned char*>(::operator new (shape.shared_bytes, std::align_val_t{64})));
  std::vector<std::uint64_t> scratch((shape.block + wave - 1) / wave);
  for (std::uint64_t block = 0; block < shape.grid; ++block) {
    std::fill_n(shared.get(), shape.shared_bytes, static_cast<unsigned char>(0xff));
    std::fill(scratch.begin(), scratch.end(), ~std::uint64_t{0});
    for (std::uint32_t i = 0; i < shape.block; ++i) {
      Fibre& fibre = fibres_[i];
      static_cast<kernels::FibreThread&>(fibre) = {i,
                                                   shape.block,
                                                   wave,
                                                   static_cast<std::int64_t>(block),
                                                   static_cast<std::int64_t>(shape.grid),
                                                   shared.get(),
                                                   scratch.data(),
                                                   &FibreRunner::sync,
                                                   &FibreRunner::exchange};
      fibre.entry = host_entry;
      fibre.params = params;
      fibre.state = State::ready;
      fibre.context->start(&FibreRunner::body, &fibre);
    }
    if (!run_block(shape.block, wave)) {
      *failure = describe_deadlock(entry.name, static_cast<std::int64_t>(block), shape.block);
      return false;
    }
  }
  return true;
}

}  // namespace assay::host
