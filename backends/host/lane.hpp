// SPDX-License-Identifier: Apache-2.0
// Lanes: the in-order queues behind streams, and the scheduler that runs them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/host/point.hpp"
#include "backends/host/sanitizer.hpp"

namespace assay::host {

class Fibre;

// One piece of work. With `after` it starts only once that point is reached.
struct Task {
  std::function<void()> run;
  PointRef after;
};

class Scheduler;

// One in-order queue. All members belong to the scheduler and are read and written under its mutex.
class Lane {
 public:
  Lane();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Never used twice; fixed once the lane is open.
  [[nodiscard]] std::uint64_t id() const { return id_; }

 private:
  friend class Scheduler;
  std::deque<std::unique_ptr<Task>> queue_;
  std::uint64_t id_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool closing_ = false;
  std::condition_variable work_;
  std::thread thread_;            // own thread, except under ThreadSanitizer
  std::unique_ptr<Fibre> fibre_;  // under ThreadSanitizer only
  char edge_ = 0;                 // its address stands for "all this lane has done so far"
};

// Runs the tasks of every lane, each lane in order. One for the whole module, so that a lane of one device can wait
// for a point of the other. In builds for ThreadSanitizer all lanes run as fibres of one thread and only submission,
// points and waiting order them, so that a missing event is a reported race in every run. Thread-safe.
class Scheduler {
 public:
  std::unique_ptr<Lane> open();
  // Waits for the lane's work, then ends it.
  void close(Lane& lane);
  void submit(Lane& lane, std::function<void()> run, PointRef after = {});
  // Whether everything submitted so far is done.
  bool idle(Lane& lane);
  // Waits for what was submitted to these lanes before the call.
  void drain(const std::vector<Lane*>& lanes);
  // Waits for what was submitted to any lane before the call. `unordered` keeps the calling thread's work without an
  // order to the lanes' in the eyes of ThreadSanitizer, for calls that promise their caller no waiting.
  enum class Ordering { after_work, unordered };
  void drain_all(Ordering ordering);
  void wait(const PointRef& point);

 private:
  [[nodiscard]] static bool runnable(const Lane& lane);
  void finish_one(Lane& lane);
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, const Condition& condition);
  void serve(Lane& lane);
  void serve_all();

  std::mutex mutex_;
  std::condition_variable progress_;  // a task completed, or (fibres) one arrived
  std::uint32_t waiters_ = 0;
  std::uint64_t last_id_ = 0;
  std::vector<Lane*> lanes_;
  std::size_t next_ = 0;  // fibres: whose turn it is
  bool serving_ = false;
};

}  // namespace assay::host
