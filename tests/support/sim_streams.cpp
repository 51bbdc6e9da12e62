// SPDX-License-Identifier: Apache-2.0
// The simulated runtime: streams, events, work and graphs.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/host/exec/executor.hpp"
#include "tests/support/sim_call.hpp"

namespace assay::test {

int sim_current_device();

void SimWorld::run_one(SimStream& stream) {
  const SimItem item = std::move(stream.queue.front());
  stream.queue.pop_front();
  item();
}

void SimWorld::drain(SimStream& stream) {
  while (!stream.queue.empty()) run_one(stream);
}

void SimWorld::drain_device(int device) {
  for (auto& [raw, stream] : streams_)
    if (stream->device == device) drain(*stream);
  if (vendor != Vendor::nvidia) return;
  for (auto& [raw, pool] : pools_)  // CUDA gives back above the threshold whenever somebody has waited
    if (pool->device == device && pool->reserved > pool->threshold)
      release_free(*pool, static_cast<std::size_t>(pool->threshold));
}

// No default stream, and only streams of the calling thread's device.
bool SimWorld::valid(SimStream* stream) {
  if (stream != nullptr && streams_.count(stream) != 0 && stream->device == sim_current_device()) return true;
  ++violations_;
  return false;
}

SimStatus SimWorld::enqueue(SimStream* stream, SimItem item) {
  if (stream->capturing)
    stream->captured.push_back(std::move(item));
  else
    stream->queue.push_back(std::move(item));
  return static_cast<SimStatus>(0);
}

SimStatus SimWorld::stream_create(SimStream** out, int) {
  SimCall call(*this, "stream_create");
  if (call.failed()) return call.failure();
  auto stream = std::make_unique<SimStream>();
  stream->device = sim_current_device();
  *out = stream.get();
  streams_.emplace(stream.get(), std::move(stream));
  return call.done(0);
}

SimStatus SimWorld::stream_destroy(SimStream* stream) {
  SimCall call(*this, "stream_destroy");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  drain(*stream);
  streams_.erase(stream);
  return call.done(0);
}

SimStatus SimWorld::stream_query(SimStream* stream) {
  SimCall call(*this, "stream_query");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  if (stream->capturing) return ++violations_, call.done(900);
  if (stream->queue.empty()) return call.done(0);
  run_one(*stream);
  return call.done(600);
}

SimStatus SimWorld::stream_synchronize(SimStream* stream) {
  SimCall call(*this, "stream_synchronize");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  if (stream->capturing) return ++violations_, call.done(900);
  drain(*stream);
  return call.done(0);
}

SimStatus SimWorld::stream_wait_event(SimStream* stream, SimEvent* event) {
  SimCall call(*this, "stream_wait_event");
  if (call.failed()) return call.failure();
  if (!valid(stream) || events_.count(event) == 0) return call.done(400);
  if (event->last == nullptr) return call.done(0);
  return call.done(enqueue(stream, [this, recording = event->last] {
    while (!recording->done) run_one(*recording->stream);
  }));
}

SimStatus SimWorld::event_create(SimEvent** out, bool timing) {
  SimCall call(*this, "event_create");
  if (call.failed()) return call.failure();
  auto event = std::make_unique<SimEvent>();
  event->device = sim_current_device();
  event->timing = timing;
  *out = event.get();
  events_.emplace(event.get(), std::move(event));
  return call.done(0);
}

SimStatus SimWorld::event_destroy(SimEvent* event) {
  SimCall call(*this, "event_destroy");
  if (call.failed()) return call.failure();
  return call.done(events_.erase(event) == 1 ? 0 : 400);
}

SimStatus SimWorld::event_record(SimEvent* event, SimStream* stream) {
  SimCall call(*this, "event_record");
  if (call.failed()) return call.failure();
  if (!valid(stream) || events_.count(event) == 0 || event->device != stream->device) return call.done(400);
  auto recording = std::make_shared<SimRecording>();
  recording->stream = stream;
  event->last = recording;
  return call.done(enqueue(stream, [recording] {
    recording->done = true;
    recording->time = std::chrono::steady_clock::now();
  }));
}

SimStatus SimWorld::event_query(SimEvent* event) {
  SimCall call(*this, "event_query");
  if (call.failed()) return call.failure();
  if (events_.count(event) == 0) return call.done(400);
  if (event->last == nullptr || event->last->done) return call.done(0);
  run_one(*event->last->stream);
  return call.done(600);
}

SimStatus SimWorld::event_synchronize(SimEvent* event) {
  SimCall call(*this, "event_synchronize");
  if (call.failed()) return call.failure();
  if (events_.count(event) == 0) return call.done(400);
  while (event->last != nullptr && !event->last->done) run_one(*event->last->stream);
  return call.done(0);
}

SimStatus SimWorld::event_elapsed(float* out, SimEvent* start, SimEvent* end) {
  SimCall call(*this, "event_elapsed");
  if (call.failed()) return call.failure();
  if (start->last == nullptr || end->last == nullptr || !start->timing || !end->timing) return call.done(400);
  if (!start->last->done || !end->last->done) return call.done(600);
  const std::chrono::duration<float, std::milli> elapsed = end->last->time - start->last->time;
  *out = elapsed.count() + settings.elapsed_offset_ms;
  return call.done(0);
}

SimStatus SimWorld::copy(void* to, const void* from, std::size_t bytes, int kind, SimStream* stream) {
  SimCall call(*this, "copy");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  if (kind < 1 || kind > 3) return call.done(21);
  const bool wrong = kind == 2 && settings.memory_corrupt;
  return call.done(enqueue(stream, [=] {
    std::memcpy(to, from, bytes);
    if (wrong) std::memset(to, 0, bytes);
  }));
}

SimStatus SimWorld::fill(void* to, int value, std::size_t bytes, SimStream* stream) {
  SimCall call(*this, "fill");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  return call.done(enqueue(stream, [=] { std::memset(to, value, bytes); }));
}

SimStatus SimWorld::peer_copy(void* to, int, const void* from, int from_device, std::size_t bytes, SimStream* stream) {
  SimCall call(*this, "peer_copy");
  if (call.failed()) return call.failure();
  if (!valid(stream) || from_device < 0 || from_device >= settings.devices) return call.done(400);
  return call.done(enqueue(stream, [=] { std::memcpy(to, from, bytes); }));
}

SimStatus SimWorld::function_attributes(SimFunction* out, const void*) {
  SimCall call(*this, "function_attributes");
  if (call.failed()) return call.failure();
  *out = {32, 64, 0, 1024, settings.binary_version, 90};
  return call.done(0);
}

SimStatus SimWorld::allow_shared(const void*, int bytes) {
  SimCall call(*this, "allow_shared");
  if (call.failed()) return call.failure();
  return call.done(bytes > 227 * 1024 ? 1 : 0);
}

SimStatus SimWorld::launch(const void* entry, std::uint32_t, std::uint32_t, void** arguments, SimStream* stream) {
  SimCall call(*this, "launch");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  const kernels::KernelEntry* found = nullptr;
  for (std::size_t i = 0; i < kernels.count; ++i)
    if (kernels.entries[i].entry == entry) found = &kernels.entries[i];
  if (found == nullptr) return call.done(98);
  const auto* first = static_cast<const unsigned char*>(arguments[0]);
  std::vector<unsigned char> params(first, first + found->params_bytes);
  return call.done(enqueue(stream, [this, found, params = std::move(params)] {
    if (kernel_fault_ != 0) {
      sticky_ = std::exchange(kernel_fault_, 0);
      return;
    }
    if (!settings.runs_kernels) return;
    const host::Executor executor(host::ExecutorOptions{.wave = 1, .threads = 1, .block = 0});
    std::string failure;
    if (!executor.run(*found, params.data(), &failure)) sticky_ = 719;
  }));
}

SimStatus SimWorld::capture_begin(SimStream* stream) {
  SimCall call(*this, "capture_begin");
  if (call.failed()) return call.failure();
  if (!valid(stream)) return call.done(400);
  if (stream->capturing) return call.done(401);
  stream->capturing = true;
  return call.done(0);
}

SimStatus SimWorld::capture_end(SimStream* stream, SimGraph** out) {
  SimCall call(*this, "capture_end");
  if (call.failed()) {  // a capture that fails to end is over all the same
    if (stream != nullptr) stream->capturing = false;
    return call.failure();
  }
  if (!valid(stream) || !stream->capturing) return call.done(401);
  stream->capturing = false;
  auto graph = std::make_unique<SimGraph>();
  graph->items = std::exchange(stream->captured, {});
  *out = graph.get();
  graphs_.emplace(graph.get(), std::move(graph));
  return call.done(0);
}

SimStatus SimWorld::graph_destroy(SimGraph* graph) {
  SimCall call(*this, "graph_destroy");
  if (call.failed()) return call.failure();
  return call.done(graphs_.erase(graph) == 1 ? 0 : 400);
}

SimStatus SimWorld::graph_instantiate(SimGraphExec** out, SimGraph* graph) {
  SimCall call(*this, "graph_instantiate");
  if (call.failed()) return call.failure();
  auto exec = std::make_unique<SimGraphExec>();
  exec->items = graph->items;
  *out = exec.get();
  execs_.emplace(exec.get(), std::move(exec));
  return call.done(0);
}

SimStatus SimWorld::graph_launch(SimGraphExec* exec, SimStream* stream) {
  SimCall call(*this, "graph_launch");
  if (call.failed()) return call.failure();
  if (!valid(stream) || execs_.count(exec) == 0) return call.done(400);
  for (const auto& item : exec->items) static_cast<void>(enqueue(stream, item));
  return call.done(0);
}

SimStatus SimWorld::graph_exec_destroy(SimGraphExec* exec) {
  SimCall call(*this, "graph_exec_destroy");
  if (call.failed()) return call.failure();
  return call.done(execs_.erase(exec) == 1 ? 0 : 400);
}

}  // namespace assay::test
