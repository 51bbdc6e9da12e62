// SPDX-License-Identifier: Apache-2.0
// The executor of the CPU module: modes, builds for several instruction sets, and kernels that break its rules.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "backends/host/exec/executor.hpp"
#include "backends/host/exec/isa.hpp"
#include "kernels/common/host_entry.hpp"
#include "kernels/rmsnorm/params.hpp"
#include "kernels/triad/params.hpp"

namespace assay::host {
namespace {

using kernels::FibreThread;
using kernels::HostEntry;
using kernels::KernelEntry;
using kernels::LaunchShape;

const KernelEntry& find(const KernelBuild& build, const std::string& name, const std::string& dtype) {
  for (const KernelEntry& entry : build.table) {
    if (entry.name == name && entry.dtype == dtype) return entry;
  }
  throw std::runtime_error("no kernel " + name + "/" + dtype);
}

TEST(KernelBuilds, TheLastOneRunsEverywhereAndTheChosenOneRunsHere) {
  ASSERT_FALSE(kernel_builds().empty());
  EXPECT_TRUE(cpu_runs(kernel_builds().back()));
  EXPECT_TRUE(cpu_runs(kernel_build()));
  EXPECT_NE(std::string(kernel_build().fp_flags).find("-ffp-contract=fast"), std::string::npos);
}

TEST(KernelBuilds, AllCarryTheSameKernelsInTheSameOrder) {
  const auto& first = kernel_builds().front().table;
  for (const KernelBuild& build : kernel_builds()) {
    ASSERT_EQ(build.table.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_STREQ(build.table[i].name, first[i].name);
      EXPECT_STREQ(build.table[i].dtype, first[i].dtype);
      EXPECT_EQ(build.table[i].source_version, first[i].source_version);
    }
  }
}

TEST(Executor, EveryModeAndBuildComputesTheTriad) {
  for (const KernelBuild& build : kernel_builds()) {
    if (!cpu_runs(build)) continue;
    for (const ExecutorOptions& options :
         {ExecutorOptions{}, ExecutorOptions{1, 3, 0}, ExecutorOptions{32, 0, 0}, ExecutorOptions{64, 0, 128}}) {
      const Executor executor(options);
      std::vector<float> a(9001, -1), b(9001), c(9001);
      for (std::size_t i = 0; i < a.size(); ++i) b[i] = static_cast<float>(i), c[i] = 2;
      const kernels::TriadParams p{a.data(), b.data(), c.data(), 9001, 0.5f};
      std::string failure;
      ASSERT_TRUE(executor.run(find(build, "triad", "f32"), &p, &failure)) << failure;
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], static_cast<float>(i) + 1.0f) << i;
    }
  }
}

// Kernels written against FibreThread directly, to break rules on purpose.
void no_serial(const void*, std::int64_t, std::int64_t, std::int64_t, unsigned char*) {}
LaunchShape two_waves(const void*, const kernels::Target&) {
  return {3, 64, 256};
}
KernelEntry entry_of(const HostEntry& host) {
  return {"broken", "f32", "portable", 1, 8, &two_waves, &host};
}

TEST(CheckingMode, ABarrierThatOneThreadSkipsIsReported) {
  static const HostEntry host{&no_serial, [](const void*, FibreThread* self) {
                                if (self->thread != 17) self->sync(self);
                              }};
  std::string failure;
  EXPECT_FALSE(Executor({32, 0, 0}).run(entry_of(host), &host, &failure));
  EXPECT_NE(failure.find("63 wait at a barrier"), std::string::npos) << failure;
  EXPECT_NE(failure.find("1 have finished"), std::string::npos) << failure;
}

TEST(CheckingMode, AShuffleThatOneLaneSkipsIsReportedAndTheNextKernelRuns) {
  static const HostEntry broken{&no_serial, [](const void*, FibreThread* self) {
                                  if (self->thread == 3) {
                                    self->sync(self);
                                  } else {
                                    self->exchange(self, 1, 0);
                                  }
                                }};
  const Executor executor({32, 0, 0});
  std::string failure;
  EXPECT_FALSE(executor.run(entry_of(broken), &broken, &failure));
  EXPECT_NE(failure.find("31 at a shuffle"), std::string::npos) << failure;
  static const HostEntry sound{&no_serial, [](const void*, FibreThread* self) { self->sync(self); }};
  EXPECT_TRUE(executor.run(entry_of(sound), &sound, &failure)) << failure;
}

// Reverses 64 values through shared memory, with or without the barrier in between.
template <bool kBarrier>
void reverse(const void* params, FibreThread* self) {
  auto* out = *static_cast<float* const*>(params);
  auto* shared = reinterpret_cast<float*>(self->shared);
  shared[self->thread] = static_cast<float>(self->thread);
  if (kBarrier) self->sync(self);
  out[self->thread] = shared[63 - self->thread];
}

TEST(CheckingMode, AMissingBarrierShowsInTheResult) {
  static const HostEntry missing{&no_serial, &reverse<false>};
  static const HostEntry present{&no_serial, &reverse<true>};
  for (const HostEntry* host : {&missing, &present}) {
    std::vector<float> out(64, 0);
    float* pointer = out.data();
    std::string failure;
    ASSERT_TRUE(Executor({32, 0, 0}).run(entry_of(*host), &pointer, &failure)) << failure;
    int wrong = 0;
    for (int i = 0; i < 64; ++i) wrong += out[static_cast<std::size_t>(i)] == static_cast<float>(63 - i) ? 0 : 1;
    EXPECT_EQ(wrong > 0, host == &missing);
  }
}

TEST(CheckingMode, LanesExchangeWithinTheirOwnWave) {
  static const HostEntry host{&no_serial, [](const void* params, FibreThread* self) {
                                auto* out = *static_cast<std::uint64_t* const*>(params);
                                out[self->thread] = self->exchange(self, self->thread, (self->thread % self->wave) ^ 5);
                              }};
  for (const std::uint32_t wave : {32u, 64u}) {
    std::vector<std::uint64_t> out(64);
    std::uint64_t* pointer = out.data();
    std::string failure;
    ASSERT_TRUE(Executor({wave, 0, 0}).run(entry_of(host), &pointer, &failure)) << failure;
    for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i ^ 5);
  }
}

TEST(CheckingMode, SeveralThreadsRunKernelsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&good, t] {
      std::vector<float> x(300, 2), w(300, 1), y(300, 0);
      const kernels::RmsNormParams p{x.data(), w.data(), y.data(), 3, 100, 0};
      std::string failure;
      const Executor executor({32, 0, 0});
      for (int round = 0; round < 3; ++round) {
        good[t] += executor.run(find(kernel_build(), "rmsnorm", "f32"), &p, &failure) && std::fabs(y[299] - 1) < 1e-6f;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 3));
}

TEST(Executor, AShapeNoBlockCanHaveIsRefused) {
  static const HostEntry host{&no_serial, [](const void*, FibreThread*) {}};
  KernelEntry entry = entry_of(host);
  entry.shape = [](const void*, const kernels::Target&) { return LaunchShape{1, 64, 49 * 1024}; };
  std::string failure;
  EXPECT_FALSE(Executor({32, 0, 0}).run(entry, &host, &failure));
  EXPECT_NE(failure.find("shared memory"), std::string::npos) << failure;
}

}  // namespace
}  // namespace assay::host
