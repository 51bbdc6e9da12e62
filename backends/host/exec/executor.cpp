// SPDX-License-Identifier: Apache-2.0
// Executor: blocks over CPU threads in speed mode, fibres in checking mode.
#include "backends/host/exec/executor.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include <sched.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "backends/host/exec/fibres.hpp"
#include "kernels/common/host_entry.hpp"

namespace assay::host {
namespace {

using kernels::HostEntry;
using kernels::KernelEntry;
using kernels::LaunchShape;

// What every GPU grants a block without asking: kernels that need more would not run on all of them.
constexpr std::uint32_t kMaxSharedBytes = 48 * 1024;
constexpr std::uint32_t kMaxThreads = 1024;

std::uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1u, static_cast<std::uint32_t>(CPU_COUNT(&set)));
}

struct FreeAligned {
  void operator()(unsigned char* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using SharedMemory = std::unique_ptr<unsigned char, FreeAligned>;

SharedMemory shared_memory(std::size_t bytes) {
  return SharedMemory(static_cast<unsigned char*>(::operator new (bytes, std::align_val_t{64})));
}

void run_serial(const KernelEntry& entry, const void* params, const LaunchShape& shape, std::uint32_t threads) {
  const auto* host = static_cast<const HostEntry*>(entry.entry);
  const auto grid = static_cast<std::int64_t>(shape.grid);
  const auto parts = static_cast<std::int64_t>(std::min<std::uint64_t>(std::max(threads, 1u), shape.grid));
  // Apart by a cache line, so that threads do not share one.
  const std::size_t stride = (shape.shared_bytes + 63) / 64 * 64 + (parts > 1 ? 64 : 0);
  const SharedMemory shared = shared_memory(parts > 1 ? stride * static_cast<std::size_t>(parts) : shape.shared_bytes);
  const auto run_part = [&](std::int64_t part) {
    host->serial(params, grid * part / parts, grid * (part + 1) / parts, grid,
                 shared.get() + stride * static_cast<std::size_t>(part));
  };
#if defined(_OPENMP)
  if (parts > 1) {
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
    for (std::int64_t part = 0; part < parts; ++part) run_part(part);
    return;
  }
#endif
  for (std::int64_t part = 0; part < parts; ++part) run_part(part);
}

bool run_fibres(const KernelEntry& entry, const void* params, const LaunchShape& shape, std::uint32_t wave,
                std::string* failure) {
  // One runner a thread, kept: mapping and guarding the stacks costs milliseconds, and a context never migrates.
  static thread_local std::unique_ptr<FibreRunner> runner;
  if (!runner || runner->max_threads() < shape.block) runner = std::make_unique<FibreRunner>(shape.block);
  const bool done = runner->run(entry, params, shape, wave, failure);
  if (!done) runner.reset();  // its stacks hold computations that will never end
  return done;
}

}  // namespace

kernels::Target Executor::target() const {
  if (options_.wave == 1) return {1, 1, options_.threads != 0 ? options_.threads : usable_cpus()};
  // Two multiprocessors, so that element-wise kernels run more than one block.
  return {options_.wave, options_.block != 0 ? options_.block : kMaxThreads, 2};
}

bool Executor::run(const KernelEntry& entry, const void* params, std::string* failure) const {
  const kernels::Target where = target();
  const LaunchShape shape = entry.shape(params, where);
  if (shape.grid == 0) return true;
  if (shape.shared_bytes > kMaxSharedBytes || shape.block == 0 || shape.block > kMaxThreads) {
    *failure = std::string("kernel ") + entry.name + " asks for " + std::to_string(shape.block) + " threads and " +
               std::to_string(shape.shared_bytes) + " bytes of shared memory a block; at most " +
               std::to_string(kMaxThreads) + " and " + std::to_string(kMaxSharedBytes) + " can be had";
    return false;
  }
  try {
    if (where.max_threads == 1 && where.wave == 1) {
      run_serial(entry, params, shape, where.multiprocessors);
      return true;
    }
    return run_fibres(entry, params, shape, where.wave, failure);
  } catch (const std::bad_alloc&) {
    *failure = std::string("kernel ") + entry.name + ": no memory for the stacks or shared memory of its blocks";
    return false;
  }
}

}  // namespace assay::host
