// SPDX-License-Identifier: Apache-2.0
// Checking mode: one block at a time, each of its threads a fibre, with real barriers and shuffles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/host/exec/context.hpp"
#include "kernels/common/host_entry.hpp"
#include "kernels/common/kernel.hpp"

namespace assay::host {

// Runs blocks of up to `max_threads` threads on the thread that made it.
class FibreRunner {
 public:
  explicit FibreRunner(std::uint32_t max_threads);

  // Runs every block of `shape`, in order. Shared memory is filled with 0xff (a NaN in every storage type) before each
  // block, and threads take turns forwards and backwards, so that a missing barrier reads what was not yet written.
  // False, with a sentence in *failure, when a block cannot go on: some threads wait for others that will not come.
  bool run(const kernels::KernelEntry& entry, const void* params, const kernels::LaunchShape& shape, std::uint32_t wave,
           std::string* failure);

  [[nodiscard]] std::uint32_t max_threads() const { return static_cast<std::uint32_t>(fibres_.size()); }

 private:
  enum class State { ready, at_barrier, at_exchange, finished };
  struct Fibre : kernels::FibreThread {
    Context* context = nullptr;
    const kernels::HostEntry* entry = nullptr;
    const void* params = nullptr;
    State state = State::finished;
    std::uint64_t value = 0;   // offered to the wave, then received from it
    std::uint32_t source = 0;  // lane whose value is wanted
  };

  static void sync(kernels::FibreThread* self);
  static std::uint64_t exchange(kernels::FibreThread* self, std::uint64_t value, std::uint32_t source);
  static void body(void* fibre);

  bool run_block(std::uint32_t threads, std::uint32_t wave);
  bool release_waves(std::uint32_t threads, std::uint32_t wave);
  bool release_barrier(std::uint32_t threads);
  [[nodiscard]] std::string describe_deadlock(const char* kernel, std::int64_t block, std::uint32_t threads) const;

  ContextPool pool_;
  std::vector<Fibre> fibres_;
};

}  // namespace assay::host
