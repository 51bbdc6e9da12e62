// SPDX-License-Identifier: Apache-2.0
// InterruptGuard: the handler only sets a flag and wakes a poll; everything else happens in ordinary code.
#include "suite/process/interrupt.hpp"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace assay::process {
namespace {

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};

// State a signal handler can reach has to be static; nothing else in this file is.
struct SignalState {
  std::atomic<bool> arrived{false};
  std::atomic<int> descriptor{-1};
  std::atomic<std::int64_t> first_ns{0};  // when the first signal arrived
  std::array<struct sigaction, kSignals.size()> previous{};
};
SignalState& state() {
  static SignalState instance;
  return instance;
}

// Shells and timeout(1) can send the same signal to a process and to its group, within moments of each other. Only one
// that comes this much later is a user who does not want to wait.
constexpr std::int64_t kImpatientNs = 1'000'000'000;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

extern "C" void assay_on_interrupt(int number) {
  const int saved = errno;
  if (!state().arrived.exchange(true)) {
    state().first_ns.store(now_ns());
  } else if (now_ns() - state().first_ns.load() > kImpatientNs) {
    std::signal(number, SIG_DFL);
    ::raise(number);
  }
  const int descriptor = state().descriptor.load();
  const std::uint64_t one = 1;
  if (descriptor >= 0) (void)!::write(descriptor, &one, sizeof one);
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (state().descriptor.load() >= 0) return;
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) return;
  state().descriptor.store(descriptor);
  outermost_ = true;
  struct sigaction action {};
  action.sa_handler = assay_on_interrupt;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &state().previous[i]);
    // nohup and background shells ask for a signal to be ignored: keep that.
    if (state().previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  if (!outermost_) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &state().previous[i], nullptr);
  const int descriptor = state().descriptor.exchange(-1);
  ::close(descriptor);
}

bool interrupted() {
  return state().arrived.load();
}

int interrupt_descriptor() {
  return state().descriptor.load();
}

void clear_interrupt() {
  state().arrived.store(false);
}

}  // namespace assay::process
