// SPDX-License-Identifier: Apache-2.0
// Contract of streams, events, copies and fills: order, completion, time.
#pragma once

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

TEST_P(BackendContract, WorkOfOneStreamRunsInOrder) {
  const auto s = stream();
  Buffer buffer(device(), 8 * kMiB);
  for (int round = 0; round < 8; ++round) {
    ASSERT_TRUE(s.fill(buffer.get(), static_cast<std::uint8_t>(round), buffer.size()));
    ASSERT_TRUE(s.fill(buffer.bytes() + round, static_cast<std::uint8_t>(100 + round), 1));
  }
  const auto bytes = download(s, buffer.get(), buffer.size());
  EXPECT_EQ(bytes[6], 7);
  EXPECT_EQ(bytes[7], 107);
  EXPECT_EQ(bytes[8], 7);
  EXPECT_EQ(bytes.back(), 7);
}

TEST_P(BackendContract, CopiesMoveEveryByteInEachDirection) {
  const auto s = stream();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{255}, std::size_t{4097}, kMiB + 13}) {
    Buffer first(device(), bytes + 64);
    Buffer second(device(), bytes + 64);
    const auto sent = pattern(bytes, static_cast<std::uint32_t>(bytes));
    ASSERT_TRUE(s.fill(first.get(), 0xAA, first.size()));
    ASSERT_TRUE(s.fill(second.get(), 0xBB, second.size()));
    ASSERT_TRUE(s.copy(first.bytes() + 3, sent.data(), bytes, ASSAY_COPY_HOST_TO_DEVICE));
    ASSERT_TRUE(s.copy(second.bytes() + 5, first.bytes() + 3, bytes, ASSAY_COPY_DEVICE_TO_DEVICE));
    const auto got = download(s, second.get(), second.size());
    EXPECT_EQ(std::memcmp(got.data() + 5, sent.data(), bytes), 0) << bytes << " bytes";
    EXPECT_EQ(got[4], 0xBB);
    EXPECT_EQ(got[5 + bytes], 0xBB);
  }
}

TEST_P(BackendContract, CopiesUseHostMemoryOfTheBackend) {
  void* host = nullptr;
  ASSAY_ASSERT_OK(table().host_malloc(handle(), kMiB, &host));
  std::memset(host, 0x5C, kMiB);
  {
    const auto s = stream();
    Buffer buffer(device(), kMiB);
    ASSERT_TRUE(s.copy(buffer.get(), host, kMiB, ASSAY_COPY_HOST_TO_DEVICE));
    EXPECT_EQ(download(s, buffer.get(), kMiB), std::vector<std::uint8_t>(kMiB, 0x5C));
  }
  ASSAY_EXPECT_OK(table().host_free(handle(), host));
}

TEST_P(BackendContract, NothingToCopyOrFillIsFine) {
  const auto s = stream();
  Buffer buffer(device(), 256);
  std::uint8_t byte = 0;
  EXPECT_TRUE(s.copy(buffer.get(), &byte, 0, ASSAY_COPY_HOST_TO_DEVICE));
  EXPECT_TRUE(s.copy(&byte, buffer.get(), 0, ASSAY_COPY_DEVICE_TO_HOST));
  EXPECT_TRUE(s.fill(buffer.get(), 1, 0));
  EXPECT_TRUE(s.synchronize());
}

TEST_P(BackendContract, AnEventOrdersTwoStreams) {
  const auto writer = stream();
  const auto reader = stream();
  const auto written = event();
  const auto taken = event();
  Buffer buffer(device(), 32 * kMiB);
  Buffer copy(device(), buffer.size());
  for (int round = 1; round <= 3; ++round) {
    const auto value = static_cast<std::uint8_t>(round);
    busy_fill(writer, buffer, value);
    ASSERT_TRUE(written.record(writer));
    ASSERT_TRUE(reader.wait(written));
    ASSERT_TRUE(reader.copy(copy.get(), buffer.get(), buffer.size(), ASSAY_COPY_DEVICE_TO_DEVICE));
    ASSERT_TRUE(taken.record(reader));
    ASSERT_TRUE(writer.wait(taken));  // the next round's fills must not overtake the copy
    ASSERT_TRUE(writer.fill(buffer.get(), 0xEE, buffer.size()));
    const auto got = download(reader, copy.get(), copy.size());
    EXPECT_EQ(got.front(), value);
    EXPECT_EQ(got[got.size() / 2], value);
    EXPECT_EQ(got.back(), value);
  }
}

TEST_P(BackendContract, AWaitSeesTheRecordingBeforeItAndNoLaterOne) {
  const auto first = stream();
  const auto second = stream();
  const auto e = event();
  Buffer buffer(device(), 16 * kMiB);
  busy_fill(first, buffer, 1);
  ASSERT_TRUE(e.record(first));
  ASSERT_TRUE(second.wait(e));
  ASSERT_TRUE(e.record(second));  // moves the event; the wait above is not about this
  ASSERT_TRUE(first.wait(e));
  ASSERT_TRUE(first.fill(buffer.get(), 2, 1));
  EXPECT_EQ(download(first, buffer.get(), 2), (std::vector<std::uint8_t>{2, 1}));
}

TEST_P(BackendContract, AnEventNeverRecordedCountsAsComplete) {
  const auto s = stream();
  const auto e = event(true);
  const auto finished = e.finished();
  ASSERT_TRUE(finished);
  EXPECT_TRUE(*finished);
  EXPECT_TRUE(e.synchronize());
  EXPECT_TRUE(s.wait(e));
  EXPECT_TRUE(s.synchronize());
}

TEST_P(BackendContract, QueriesTurnTrueAndStayTrue) {
  const auto s = stream();
  const auto e = event();
  auto idle = s.finished();
  ASSERT_TRUE(idle);
  EXPECT_TRUE(*idle);
  Buffer buffer(device(), 16 * kMiB);
  busy_fill(s, buffer, 9);
  ASSERT_TRUE(e.record(s));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  bool done = false;
  while (!done && std::chrono::steady_clock::now() < end) {
    const auto answer = e.finished();
    ASSERT_TRUE(answer) << answer.error().text;
    done = *answer;
    std::this_thread::yield();
  }
  ASSERT_TRUE(done);
  ASSERT_TRUE(s.synchronize());
  idle = s.finished();
  ASSERT_TRUE(idle);
  EXPECT_TRUE(*idle);
}

TEST_P(BackendContract, SynchronisingAnEventWaitsForItsStream) {
  const auto s = stream();
  const auto other = stream();
  const auto e = event();
  Buffer buffer(device(), 32 * kMiB);
  busy_fill(s, buffer, 0x21);
  ASSERT_TRUE(e.record(s));
  ASSERT_TRUE(e.synchronize());
  EXPECT_EQ(download(other, buffer.bytes() + buffer.size() - 1, 1).front(), 0x21);
}

TEST_P(BackendContract, SynchronisingTheDeviceWaitsForEveryStream) {
  Buffer first(device(), 16 * kMiB);
  Buffer second(device(), 16 * kMiB);
  const auto a = stream();
  const auto b = stream();
  const auto reader = stream();
  busy_fill(a, first, 3);
  busy_fill(b, second, 4);
  ASSERT_TRUE(device().synchronize());
  for (const auto* s : {&a, &b}) {
    const auto finished = s->finished();
    ASSERT_TRUE(finished);
    EXPECT_TRUE(*finished);
  }
  EXPECT_EQ(download(reader, first.bytes() + first.size() - 1, 1).front(), 3);
  EXPECT_EQ(download(reader, second.bytes() + second.size() - 1, 1).front(), 4);
}

TEST_P(BackendContract, ElapsedTimeIsThatOfTheWorkBetween) {
  using Clock = std::chrono::steady_clock;
  const auto s = stream();
  const auto start = event(true);
  const auto middle = event(true);
  const auto end = event(true);
  Buffer buffer(device(), 16 * kMiB);
  busy_fill(s, buffer, 0);  // first touch and warm-up
  ASSERT_TRUE(s.synchronize());
  const auto before = Clock::now();
  ASSERT_TRUE(start.record(s));
  busy_fill(s, buffer, 1);
  ASSERT_TRUE(middle.record(s));
  busy_fill(s, buffer, 2);
  ASSERT_TRUE(end.record(s));
  ASSERT_TRUE(end.synchronize());
  const double wall_ns = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
  const auto whole = device::Event::elapsed_ns(start, end);
  const auto part = device::Event::elapsed_ns(start, middle);
  ASSERT_TRUE(whole) << whole.error().text;
  ASSERT_TRUE(part) << part.error().text;
  EXPECT_GT(*part, 0.0);
  EXPECT_GT(*whole, *part);
  EXPECT_LE(*whole, wall_ns * 1.01 + 1e6);  // a device's clock may differ a little from the program's
}

TEST_P(BackendContract, ElapsedTimeNeedsTwoTimedRecordedEvents) {
  const auto s = stream();
  const auto timed = event(true);
  const auto other = event(true);
  const auto plain = event(false);
  ASSERT_TRUE(timed.record(s));
  ASSERT_TRUE(plain.record(s));
  ASSERT_TRUE(s.synchronize());
  double ns = -1.0;
  ASSAY_EXPECT_STATUS(table().event_elapsed(timed.handle(), plain.handle(), &ns), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_elapsed(timed.handle(), other.handle(), &ns), ASSAY_INVALID_VALUE);
  EXPECT_EQ(ns, -1.0);
}

TEST_P(BackendContract, DestroyingAStreamWaitsForItsWork) {
  Buffer buffer(device(), 32 * kMiB);
  {
    const auto s = stream();
    busy_fill(s, buffer, 0x77);
  }
  const auto reader = stream();
  EXPECT_EQ(download(reader, buffer.bytes() + buffer.size() - 1, 1).front(), 0x77);
}

TEST_P(BackendContract, AnEventMayBeDestroyedBeforeItsStreamReachesIt) {
  const auto s = stream();
  const auto other = stream();
  Buffer buffer(device(), 16 * kMiB);
  busy_fill(s, buffer, 0x31);
  {
    const auto e = event();
    ASSERT_TRUE(e.record(s));
    ASSERT_TRUE(other.wait(e));
  }
  EXPECT_EQ(download(other, buffer.bytes() + buffer.size() - 1, 1).front(), 0x31);
}

TEST_P(BackendContract, PrioritiesAreAccepted) {
  for (const std::int32_t priority : {0, -1, 1}) {
    const auto made = device::Stream::create(device(), priority);
    EXPECT_TRUE(made) << priority;
  }
}

}  // namespace assay::contract
