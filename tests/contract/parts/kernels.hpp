// SPDX-License-Identifier: Apache-2.0
// Contract of the kernels a module lists and launches. Their numbers are tested beside the kernels themselves.
#pragma once

#include <cstring>
#include <memory>
#include <set>
#include <tuple>

#include "kernels/copy/params.hpp"
#include "kernels/triad/params.hpp"
#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

TEST_P(BackendContract, KernelsAreListedWithSaneWords) {
  const auto kernels = module().kernels();
  ASSERT_TRUE(kernels) << kernels.error().text;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::int32_t index = 0;
  for (const auto& kernel : *kernels) {
    ASSERT_NE(kernel.name, nullptr);
    ASSERT_NE(kernel.dtype, nullptr);
    ASSERT_NE(kernel.implementation, nullptr);
    EXPECT_STRNE(kernel.name, "");
    const std::set<std::string> dtypes = {"f32", "f16", "bf16"};
    const std::set<std::string> implementations = {"portable", "matrix", "library"};
    EXPECT_EQ(dtypes.count(kernel.dtype), 1u) << kernel.dtype;
    EXPECT_EQ(implementations.count(kernel.implementation), 1u) << kernel.implementation;
    EXPECT_GE(kernel.source_version, 1) << kernel.name;
    EXPECT_GT(kernel.params_bytes, 0u) << kernel.name;
    EXPECT_LE(kernel.params_bytes, 4096u) << kernel.name;
    EXPECT_TRUE(seen.emplace(kernel.name, kernel.dtype, kernel.implementation).second)
        << kernel.name << " is listed twice";
    assay_kernel_resources resources{};
    ASSAY_EXPECT_OK(table().kernel_resources(handle(), index, &resources));
    for (const std::int32_t value : {resources.registers, resources.static_shared_bytes, resources.local_bytes,
                                     resources.binary_version, resources.ptx_version})
      EXPECT_GE(value, -1) << kernel.name;
    EXPECT_TRUE(resources.max_threads == -1 || resources.max_threads > 0) << kernel.name;
    ++index;
  }
  assay_kernel_info info{};
  assay_kernel_resources resources{};
  for (const std::int32_t wrong : {-1, index}) {
    ASSAY_EXPECT_STATUS(table().kernel_info(wrong, &info), ASSAY_INVALID_VALUE);
    ASSAY_EXPECT_STATUS(table().kernel_resources(handle(), wrong, &resources), ASSAY_INVALID_VALUE);
  }
}

inline std::vector<float> counting(std::size_t n, float factor) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = factor * static_cast<float>(i % 1000);
  return out;
}

inline std::vector<float> download_floats(const device::Stream& s, const void* from, std::size_t n) {
  std::vector<float> out(n);
  EXPECT_TRUE(s.copy(out.data(), from, n * sizeof(float), ASSAY_COPY_DEVICE_TO_HOST));
  EXPECT_TRUE(s.synchronize());
  return out;
}

TEST_P(BackendContract, TheCopyKernelCopiesAndOnlyWhatItIsTold) {
  const auto index = module().find_kernel("copy", "f32", "portable");
  if (!index) GTEST_SKIP() << index.error().text;
  const auto s = stream();
  for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{1025}, std::size_t{100003}}) {
    Buffer x(device(), (n + 8) * sizeof(float));
    Buffer y(device(), (n + 8) * sizeof(float));
    const auto sent = counting(n, 1.5F);
    ASSERT_TRUE(s.copy(x.get(), sent.data(), n * sizeof(float), ASSAY_COPY_HOST_TO_DEVICE));
    ASSERT_TRUE(s.fill(y.get(), 0, y.size()));
    ASSERT_TRUE(s.launch(*index, kernels::CopyParams{x.get(), y.get(), static_cast<std::int64_t>(n)}));
    const auto got = download_floats(s, y.get(), n + 8);
    EXPECT_EQ(std::memcmp(got.data(), sent.data(), n * sizeof(float)), 0) << n;
    for (std::size_t i = n; i < n + 8; ++i) EXPECT_EQ(got[i], 0.0F) << n;
  }
}

TEST_P(BackendContract, TheTriadKernelComputes) {
  const auto index = module().find_kernel("triad", "f32", "portable");
  if (!index) GTEST_SKIP() << index.error().text;
  const auto s = stream();
  constexpr std::size_t kCount = 70001;
  Buffer a(device(), kCount * sizeof(float));
  Buffer b(device(), kCount * sizeof(float));
  Buffer c(device(), kCount * sizeof(float));
  const auto first = counting(kCount, 1.0F);
  const auto second = counting(kCount, 2.0F);
  ASSERT_TRUE(s.copy(b.get(), first.data(), b.size(), ASSAY_COPY_HOST_TO_DEVICE));
  ASSERT_TRUE(s.copy(c.get(), second.data(), c.size(), ASSAY_COPY_HOST_TO_DEVICE));
  ASSERT_TRUE(s.launch(*index, kernels::TriadParams{a.get(), b.get(), c.get(), kCount, 3.0F}));
  const auto got = download_floats(s, a.get(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(got[i], first[i] + 3.0F * second[i]) << i;  // exact: small integers
}

TEST_P(BackendContract, AnEmptyLaunchDoesNothing) {
  const auto index = module().find_kernel("copy", "f32", "portable");
  if (!index) GTEST_SKIP() << index.error().text;
  const auto s = stream();
  Buffer y(device(), 256);
  ASSERT_TRUE(s.fill(y.get(), 0x11, y.size()));
  EXPECT_TRUE(s.launch(*index, kernels::CopyParams{y.get(), y.get(), 0}));
  EXPECT_EQ(download(s, y.get(), 256), std::vector<std::uint8_t>(256, 0x11));
}

TEST_P(BackendContract, ParametersAreCopiedBeforeTheLaunchReturns) {
  const auto index = module().find_kernel("copy", "f32", "portable");
  if (!index) GTEST_SKIP() << index.error().text;
  const auto s = stream();
  Buffer big(device(), 32 * kMiB);
  Buffer x(device(), 4096);
  Buffer y(device(), 4096);
  ASSERT_TRUE(s.fill(x.get(), 0x3F, x.size()));
  ASSERT_TRUE(s.fill(y.get(), 0, y.size()));
  busy_fill(s, big, 1);  // keeps the stream from reaching the launch before the parameters are overwritten
  auto params = std::make_unique<kernels::CopyParams>(kernels::CopyParams{x.get(), y.get(), 1024});
  ASSERT_TRUE(s.launch(*index, *params));
  *params = kernels::CopyParams{nullptr, nullptr, 0};
  params.reset();
  EXPECT_EQ(download(s, y.get(), 4096), std::vector<std::uint8_t>(4096, 0x3F));
}

TEST_P(BackendContract, LaunchesAreOrderedWithOtherWorkOfTheStreamAndByEvents) {
  const auto index = module().find_kernel("copy", "f32", "portable");
  if (!index) GTEST_SKIP() << index.error().text;
  const auto writer = stream();
  const auto reader = stream();
  const auto written = event();
  constexpr std::size_t kCount = 4 * kMiB;
  Buffer x(device(), kCount * sizeof(float));
  Buffer y(device(), kCount * sizeof(float));
  busy_fill(writer, x, 0x40);
  ASSERT_TRUE(writer.launch(*index, kernels::CopyParams{x.get(), y.get(), kCount}));
  ASSERT_TRUE(written.record(writer));
  ASSERT_TRUE(reader.wait(written));
  EXPECT_EQ(download(reader, y.bytes() + y.size() - 1, 1).front(), 0x40);
}

TEST_P(BackendContract, WrongLaunchesAreRefused) {
  const auto s = stream();
  std::int32_t count = 0;
  ASSAY_ASSERT_OK(table().kernel_count(&count));
  const std::vector<std::uint64_t> zeros(1024, 0);
  for (const std::int32_t wrong : {-1, count, 1 << 20})
    ASSAY_EXPECT_STATUS(table().launch(s.handle(), wrong, zeros.data(), 8), ASSAY_INVALID_VALUE);
  if (count == 0) return;
  assay_kernel_info info{};
  ASSAY_ASSERT_OK(table().kernel_info(0, &info));
  ASSAY_EXPECT_STATUS(table().launch(s.handle(), 0, zeros.data(), info.params_bytes + 1), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().launch(s.handle(), 0, zeros.data(), 0), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().launch(s.handle(), 0, nullptr, info.params_bytes), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().launch(nullptr, 0, zeros.data(), info.params_bytes), ASSAY_INVALID_VALUE);
}

}  // namespace assay::contract
