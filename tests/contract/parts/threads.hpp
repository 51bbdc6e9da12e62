// SPDX-License-Identifier: Apache-2.0
// Contract of calls from several threads at once.
#pragma once

#include <atomic>
#include <thread>

#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

TEST_P(BackendContract, SeveralThreadsUseSeveralStreams) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 12;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &wrong] {
      const auto first = stream();
      const auto second = stream();
      const auto handed = event();
      for (int round = 0; round < kRounds; ++round) {
        const std::size_t bytes = 64 * 1024 + static_cast<std::size_t>(round) * 4096;
        const auto value = static_cast<std::uint8_t>(t * kRounds + round + 1);
        const auto memory = device().malloc(bytes, ASSAY_OWNER_EXTERNAL);
        if (!memory) {
          ++wrong;
          continue;
        }
        std::vector<std::uint8_t> got(bytes, 0);
        bool ok = true;
        ok = first.fill(*memory, value, bytes).has_value() && ok;
        ok = handed.record(first).has_value() && ok;
        ok = second.wait(handed).has_value() && ok;
        ok = second.copy(got.data(), *memory, bytes, ASSAY_COPY_DEVICE_TO_HOST).has_value() && ok;
        ok = second.synchronize().has_value() && ok;
        for (const std::uint8_t byte : got) ok = ok && byte == value;
        ok = device().free(*memory).has_value() && ok;
        if (!ok) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(BackendContract, OneStreamMayBeFedByTwoThreads) {
  const auto shared = stream();
  constexpr int kRounds = 50;
  Buffer first(device(), 4096);
  Buffer second(device(), 4096);
  const auto feed = [&](const Buffer& buffer) {
    for (int i = 1; i <= kRounds; ++i)
      EXPECT_TRUE(shared.fill(buffer.get(), static_cast<std::uint8_t>(i), buffer.size()));
  };
  std::thread other([&] { feed(second); });
  feed(first);
  other.join();
  EXPECT_EQ(download(shared, first.get(), 1).front(), kRounds);
  EXPECT_EQ(download(shared, second.get(), 1).front(), kRounds);
}

TEST_P(BackendContract, ManyStreamsAndEventsComeAndGo) {
  Buffer buffer(device(), 4096);
  for (int round = 0; round < 20; ++round) {
    const auto a = stream();
    const auto b = stream();
    const auto e = event();
    ASSERT_TRUE(a.fill(buffer.get(), static_cast<std::uint8_t>(round), buffer.size()));
    ASSERT_TRUE(e.record(a));
    ASSERT_TRUE(b.wait(e));
    EXPECT_EQ(download(b, buffer.get(), 1).front(), round);
  }
}

}  // namespace assay::contract
