// SPDX-License-Identifier: Apache-2.0
// The six steps around a phase, and what is kept of one that fails.
#include "suite/measure/protocol.hpp"

#include <new>
#include <utility>

#include "results-schema/types/failure_code.hpp"

namespace assay::measure {
namespace {

std::int64_t nanoseconds_since(Protocol::Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Protocol::Clock::now() - begin).count();
}

// Waits until `permille` thousandths of the time since `begin` have passed once more. It keeps the processor: a sleep
// would be as coarse as some phases are long.
void draw_out(Protocol::Clock::time_point begin, std::int64_t permille) {
  if (permille <= 0) return;
  const auto end = begin + (Protocol::Clock::now() - begin) * (1000 + permille) / 1000;
  while (Protocol::Clock::now() < end) {
  }
}

Quantity duration_of(std::int64_t ns) {
  return {ns, "ns", Basis::observed, {}};
}

// The body, with memory refused to this process itself as the failure that it is.
Result<void> guarded(const std::function<Result<void>()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory,
                 "the process itself was refused memory; free some, or raise its limit (ulimit -v)"};
  }
}

PhaseFailure failure_of(const Error& error, const std::optional<FailedRequest>& request, bool external) {
  PhaseFailure out;
  out.code = failure_code(error.code);
  out.message = error.text;
  if (request) {
    out.requested_bytes = observed_bytes(request->bytes);
    if (!external) out.category = allocator::kCategoryNames[static_cast<std::size_t>(request->category)];
  } else {
    out.requested_bytes = missing("bytes", "the failure is not that of an allocation");
  }
  return out;
}

const assay_stream* stream_of(const Session& session) {
  return session.stream ? session.stream->handle() : nullptr;
}

Look look_at(const Session& session) {
  return look(*session.allocator, session.device, stream_of(session));
}

}  // namespace

Protocol::Protocol(std::int64_t order, std::map<std::string, std::int64_t> configured, const Emit& emit,
                   std::int64_t slow_permille)
    : order_(order), configured_(std::move(configured)), emit_(emit), slow_permille_(slow_permille) {}

Result<void> Protocol::start(const std::string& name, std::int64_t repeat) {
  return emit_(PhaseStarted{order_, name, repeat});
}

void Protocol::read_start(const Session& session, Phase& phase) {
  const Look seen = look_at(session);
  phase.start = counters(seen);
  phase.ledger_start = build_ledger(ledger_readings(seen, baseline_, phase.name + ":start"));
}

void Protocol::read_end(const Session& session, Phase& phase) {
  const Look seen = look_at(session);
  phase.end = counters(seen);
  phase.ledger_end = build_ledger(ledger_readings(seen, baseline_, phase.name + ":end"));
  // Nothing was released since the refusal: what is seen here is what it met. The category tells a request of the
  // allocator from one made around it.
  if (phase.failure && phase.failure->code == "out_of_memory" && !phase.failure->category.empty())
    if (const auto* bytes = std::get_if<std::int64_t>(&phase.failure->requested_bytes.value))
      phase.failure->account = account_of_refusal(seen, baseline_, *bytes, stream_of(session));
}

Result<void> Protocol::emit_finished(Phase phase) {
  return emit_(PhaseFinished{order_, std::move(phase)});
}

// The last counters are kept; the device may no longer answer, so waiting for it is tried and not required.
Result<void> Protocol::fail(Phase phase, const Error& error, const Session* session, const PhaseFailure& failure) {
  phase.status = PhaseStatus::failed;
  phase.peaks_partial = true;
  phase.failure = failure;
  if (session != nullptr) {
    (void)session->device.synchronize();
    read_end(*session, phase);
  }
  if (auto emitted = emit_finished(std::move(phase)); !emitted) return emitted;
  return error;
}

Result<std::int64_t> Protocol::run(Session& session, const Runner* runner, const PhaseRequest& request) {
  if (auto emitted = start(request.name, request.repeat); !emitted) return emitted.error();
  Phase phase;
  phase.name = request.name;
  phase.repeat = request.repeat;
  phase.configured = configured_;
  phase.executed = request.executed;
  phase.conditions = request.conditions;
  if (slow_permille_ > 0)
    phase.conditions.push_back("drawn out on purpose by " + std::to_string(slow_permille_) +
                               " thousandths of its time");
  phase.duration = missing("ns", "the phase did not begin");
  const auto refuse = [&](const Error& error, const PhaseFailure& failure) -> Error {
    auto failed = fail(std::move(phase), error, &session, failure);
    return failed.error();
  };

  Result<void> ready;
  if (request.before) ready = request.before();
  if (!ready) {
    std::optional<FailedRequest> outside;
    if (request.before_bytes > 0) outside = FailedRequest{request.before_bytes, {}};
    return refuse(ready.error(), failure_of(ready.error(), outside, true));
  }
  ready = session.device.synchronize();
  if (!ready) return refuse(ready.error(), failure_of(ready.error(), std::nullopt, false));
  read_start(session, phase);
  session.allocator->reset_peaks();

  const auto begin = Clock::now();
  Result<void> done = guarded(request.body);
  if (done) done = session.device.synchronize();
  draw_out(begin, slow_permille_);
  const std::int64_t ns = nanoseconds_since(begin);
  phase.duration = duration_of(ns);
  if (!done) {
    const auto asked = runner == nullptr ? std::nullopt : runner->failed_request();
    return refuse(done.error(), failure_of(done.error(), asked, false));
  }
  read_end(session, phase);
  if (auto emitted = emit_finished(std::move(phase)); !emitted) return emitted.error();
  return ns;
}

Result<void> Protocol::run_environment(std::map<std::string, std::int64_t> executed,
                                       std::vector<std::string> conditions,
                                       const std::function<Result<Session*>()>& open,
                                       const std::function<Result<void>(Session&)>& body) {
  Phase phase;
  phase.name = "environment";
  phase.configured = configured_;
  phase.executed = std::move(executed);
  phase.conditions = std::move(conditions);
  if (auto emitted = start(phase.name, 0); !emitted) return emitted;
  const auto begin = Clock::now();
  const auto opened = open();
  if (!opened) {
    phase.duration = duration_of(nanoseconds_since(begin));
    return fail(std::move(phase), opened.error(), nullptr, failure_of(opened.error(), std::nullopt, false));
  }
  Session& session = **opened;
  baseline_ = baseline_of(look_at(session));
  read_start(session, phase);
  session.allocator->reset_peaks();
  Result<void> done = body(session);
  if (done) done = session.device.synchronize();
  phase.duration = duration_of(nanoseconds_since(begin));
  if (!done) return fail(std::move(phase), done.error(), &session, failure_of(done.error(), std::nullopt, false));
  baseline_ = baseline_of(look_at(session));
  read_end(session, phase);
  return emit_finished(std::move(phase));
}

Result<void> Protocol::sample(const std::string& name, const char* unit, double value, const std::string& flag) {
  return emit_(SampleTaken{order_, name, unit, value, flag});
}

Result<void> Protocol::checksum(const std::string& text) {
  return emit_(OutputChecksum{order_, text});
}

Result<void> Protocol::latencies(const allocator::Latencies& latencies) {
  AllocatorTimed entry;
  entry.launch_order = order_;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const auto& histogram = latencies[i];
    CallLatency call;
    call.call = allocator::kCallNames[i];
    call.count = histogram.count();
    if (call.count > 0) {
      call.p50 = duration_of(histogram.percentile(0.5));
      call.p99 = duration_of(histogram.percentile(0.99));
      call.max = duration_of(histogram.max());
    }
    entry.calls.push_back(std::move(call));
  }
  return emit_(entry);
}

}  // namespace assay::measure
