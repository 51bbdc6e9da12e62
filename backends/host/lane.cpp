// SPDX-License-Identifier: Apache-2.0
// Submission, waiting, and the threads that serve lanes.
#include "backends/host/lane.hpp"

#include <algorithm>
#include <utility>

#include "backends/host/fibre.hpp"

namespace assay::host {
namespace {

// Runs one task in the context of its lane. Everything the task owns dies here, in the lane's own order.
void perform(std::unique_ptr<Task> task) {
  order_after(task.get());
  if (task->after) static_cast<void>(task->after->reached());  // orders this lane after the recorded point
  task->run();
}

}  // namespace

Lane::Lane() = default;
Lane::~Lane() = default;

std::unique_ptr<Lane> Scheduler::open() {
  auto lane = std::make_unique<Lane>();
  if constexpr (kThreadSanitizer) lane->fibre_ = std::make_unique<Fibre>(&perform, &lane->edge_);
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  lane->id_ = ++last_id_;
  lanes_.push_back(lane.get());
  try {
    if constexpr (!kThreadSanitizer) {
      lane->thread_ = std::thread([this, raw = lane.get()] { serve(*raw); });
    } else if (!serving_) {
      std::thread([this] { serve_all(); }).detach();  // the module is never unloaded, so it may outlive every lane
      serving_ = true;
    }
  } catch (...) {
    lanes_.pop_back();
    throw;
  }
  return lane;
}

void Scheduler::close(Lane& lane) {
  drain({&lane});
  std::thread ending;
  {
    const Unseen unseen;
    const std::lock_guard lock(mutex_);
    lanes_.erase(std::remove(lanes_.begin(), lanes_.end(), &lane), lanes_.end());
    lane.closing_ = true;
    lane.work_.notify_all();
    ending = std::move(lane.thread_);
  }
  if (ending.joinable()) ending.join();
}

void Scheduler::submit(Lane& lane, std::function<void()> run, PointRef after) {
  auto task = std::make_unique<Task>(Task{std::move(run), std::move(after)});
  order_before(task.get());
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  lane.queue_.push_back(std::move(task));
  ++lane.submitted_;
  if constexpr (kThreadSanitizer)
    progress_.notify_all();
  else
    lane.work_.notify_one();
}

bool Scheduler::idle(Lane& lane) {
  bool done = false;
  {
    const Unseen unseen;
    const std::lock_guard lock(mutex_);
    done = lane.completed_ == lane.submitted_;
  }
  if (done) order_after(&lane.edge_);
  return done;
}

void Scheduler::drain(const std::vector<Lane*>& lanes) {
  {
    const Unseen unseen;
    std::unique_lock lock(mutex_);
    std::vector<std::uint64_t> targets;
    targets.reserve(lanes.size());
    for (const Lane* lane : lanes) targets.push_back(lane->submitted_);
    wait_until(lock, [&] {
      for (std::size_t i = 0; i < lanes.size(); ++i)
        if (lanes[i]->completed_ < targets[i]) return false;
      return true;
    });
  }
  for (Lane* lane : lanes) order_after(&lane->edge_);
}

void Scheduler::drain_all(Ordering ordering) {
  std::vector<void*> edges;
  {
    const Unseen unseen;
    std::unique_lock lock(mutex_);
    struct Target {
      Lane* lane;
      std::uint64_t id, submitted;
    };
    std::vector<Target> targets;
    for (Lane* lane : lanes_) targets.push_back({lane, lane->id_, lane->submitted_});
    // A lane that another thread closes meanwhile has no work left, and its memory may be a newer lane's.
    const auto settled = [this](const Target& target) {
      for (const Lane* lane : lanes_)
        if (lane == target.lane && lane->id_ == target.id) return lane->completed_ >= target.submitted;
      return true;
    };
    wait_until(lock, [&] { return std::all_of(targets.begin(), targets.end(), settled); });
    for (Lane* lane : lanes_) edges.push_back(&lane->edge_);
  }
  if (ordering == Ordering::after_work)
    for (void* edge : edges) order_after(edge);
}

void Scheduler::wait(const PointRef& point) {
  {
    const Unseen unseen;
    std::unique_lock lock(mutex_);
    wait_until(lock, [&] { return point->reached_unordered(); });
  }
  static_cast<void>(point->reached());
}

template <class Condition>
void Scheduler::wait_until(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  ++waiters_;
  while (!condition()) progress_.wait(lock);
  --waiters_;
}

bool Scheduler::runnable(const Lane& lane) {
  if (lane.queue_.empty()) return false;
  const PointRef& after = lane.queue_.front()->after;
  return !after || after->reached_unordered();
}

void Scheduler::finish_one(Lane& lane) {
  ++lane.completed_;
  if (waiters_ > 0) progress_.notify_all();
}

// One thread a lane.
void Scheduler::serve(Lane& lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (lane.queue_.empty() && !lane.closing_) lane.work_.wait(lock);
    if (lane.queue_.empty()) return;
    wait_until(lock, [&] { return runnable(lane); });
    std::unique_ptr<Task> task = std::move(lane.queue_.front());
    lane.queue_.pop_front();
    lock.unlock();
    perform(std::move(task));
    lock.lock();
    finish_one(lane);
  }
}

// One thread for all lanes, in turn, each in its own fibre.
void Scheduler::serve_all() {
  const Unseen unseen;
  std::unique_lock lock(mutex_);
  for (;;) {
    Lane* lane = nullptr;
    for (std::size_t i = 0; i < lanes_.size() && lane == nullptr; ++i) {
      Lane* candidate = lanes_[(next_ + i) % lanes_.size()];
      if (!runnable(*candidate)) continue;
      lane = candidate;
      next_ = (next_ + i + 1) % lanes_.size();
    }
    if (lane == nullptr) {
      progress_.wait(lock);
      continue;
    }
    std::unique_ptr<Task> task = std::move(lane->queue_.front());
    lane->queue_.pop_front();
    lock.unlock();
    lane->fibre_->run(std::move(task));
    lock.lock();
    finish_one(*lane);
    progress_.notify_all();
  }
}

}  // namespace assay::host
