// SPDX-License-Identifier: Apache-2.0
// The replay engine against the same rules over std::set, interleaved in one run, and its memory over a long trace; by
// hand. usage: replay-engine [EVENTS [LIVE [STREAMS]]]
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "suite/replay/policy_replay.hpp"
#include "tests/bench_allocator/set_peer.hpp"

namespace {

using assay::replay::EventChunk;
using assay::replay::PolicyReplay;
using assay::trace::Action;
using assay::trace::Event;

// Time of this thread, so that a busy machine costs both sides nothing but its caches.
struct Clock {
  static double now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
};

// An endless trace in the manner of transformer training: sizes of a few dozen shapes from 512 bytes to 256 MiB, of
// which the small ones are many, and a steady number of live blocks. The newest blocks are freed most often.
class Generator {
 public:
  Generator(std::size_t live, std::size_t streams) : most_live_(live), streams_(streams) {
    for (std::size_t i = 0; i < 48; ++i) shapes_.push_back(draw_shape());
  }

  void fill(std::vector<Event>& events) {
    for (Event& event : events)
      event =
          live_.size() < most_live_ / 2 || (live_.size() < most_live_ && draw() % 2 == 0) ? allocation() : release();
  }

 private:
  std::uint64_t draw() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }
  std::int64_t draw_shape() {
    const std::uint64_t power = 9 + draw() % 20 * (draw() % 3) / 2;
    return static_cast<std::int64_t>((std::uint64_t{1} << power) + draw() % (std::uint64_t{1} << power));
  }
  Event allocation() {
    Event event;
    event.action = Action::alloc;
    event.stream = draw() % streams_ + 1;
    event.address = next_;
    event.bytes = draw() % 8 == 0 ? draw_shape() : shapes_[draw() % shapes_.size()];
    next_ += 512;
    live_.push_back(event.address);
    return event;
  }
  Event release() {
    const std::size_t reach = draw() % 4 != 0 ? std::min<std::size_t>(live_.size(), 32) : live_.size();
    const std::size_t index = live_.size() - 1 - draw() % reach;
    Event event;
    event.action = Action::free;
    event.address = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    return event;
  }

  std::size_t most_live_;
  std::size_t streams_;
  std::vector<std::int64_t> shapes_;
  std::vector<std::uint64_t> live_;
  std::uint64_t next_ = 0x7f0000000000u;
  std::uint64_t state_ = 88172645463325252u;
};

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, std::size_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  const std::size_t events = number(1, 10'000'000);
  const std::size_t live = number(2, 4000);
  const std::size_t streams = number(3, 1);
  Generator generator(live, streams);
  auto made =
      PolicyReplay::create({"caching", "", "caching"}, 0, assay::replay::SimulatedDevice::kUnlimitedBytes, true);
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().text.c_str());
    return 1;
  }
  assay::bench::SetPeer peer;
  double engine_time = 0;
  double peer_time = 0;
  std::vector<Event> chunk(4096);
  std::size_t done = 0;
  for (bool peer_first = false; done < events; done += chunk.size(), peer_first = !peer_first) {
    generator.fill(chunk);
    const EventChunk piece{chunk.data(), chunk.size(), done};
    for (int turn = 0; turn < 2; ++turn) {
      const double start = Clock::now();
      if ((turn == 0) == peer_first) {
        peer.take(piece);
        peer_time += Clock::now() - start;
      } else {
        (*made)->take(piece);
        engine_time += Clock::now() - start;
      }
    }
  }
  const auto& peaks = (*made)->peaks();
  if ((*made)->allocator().statistics() != peer.statistics() || (*made)->refusal()) {
    std::fprintf(stderr, "the two do not agree in every statistic\n");
    return 1;
  }
  const double n = static_cast<double>(done);
  std::printf("%zu events, %zu live blocks, %zu streams; peak reserved %.1f GiB\n", done, live, streams,
              static_cast<double>(peaks.reserved_bytes) / 1073741824.0);
  std::printf("engine %.2f M events/s (%.0f ns), std::set %.2f M events/s (%.0f ns): %.2f times\n",
              n / engine_time / 1e6, engine_time / n * 1e9, n / peer_time / 1e6, peer_time / n * 1e9,
              peer_time / engine_time);
  std::printf("peak memory of the process %.1f MiB\n", peak_mib());
  return 0;
}
