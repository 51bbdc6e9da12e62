// SPDX-License-Identifier: Apache-2.0
// One launch: the phases of its workload in their order, then the whole cycle without inner frontiers.
#include "suite/measure/launch.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "results-schema/json/json.hpp"
#include "suite/identity/sha256.hpp"
#include "suite/measure/forward/network.hpp"
#include "suite/measure/protocol.hpp"
#include "suite/measure/runner.hpp"
#include "suite/measure/session.hpp"

namespace assay::measure {
namespace {

class LaunchRun {
 public:
  LaunchRun(const LaunchRequest& request, std::unique_ptr<Network> network, const Emit& emit)
      : request_(request),
        work_(request.plan.workloads[request.workload]),
        network_(std::move(network)),
        protocol_(request.order, configured_shapes(work_), emit, request.slow_permille) {}

  ~LaunchRun() {
    runner_.reset();
    if (session_ != nullptr && occupied_ != nullptr) (void)session_->device.free(occupied_);
  }
  LaunchRun(const LaunchRun&) = delete;
  LaunchRun& operator=(const LaunchRun&) = delete;

  // What the instruments saw, while everything that was live still is. `done` is how the run ended.
  Result<void> keep(const Result<void>& done) {
    if (session_ == nullptr) return {};
    // A receiver that has refused an entry gets no other.
    const bool heard = done || done.error().code != ErrorCode::output;
    if (session_->timed != nullptr && heard)
      if (auto told = protocol_.latencies(session_->timed->latencies()); !told) return told;
    if (session_->recording == nullptr) return {};
    if (!request_.instruments.snapshot.empty())
      if (auto written = json::write_new_file(request_.instruments.snapshot, session_->recording->snapshot_text());
          !written)
        return written;
    return session_->recording->flush();
  }

  Result<void> run() {
    if (auto done = environment(); !done) return done;
    runner_ = std::make_unique<Runner>(*session_, *network_, work_.seed, storage_of(work_.storage_dtype));
    if (auto done = setup(); !done) return done;
    if (auto done = forwards(); !done) return done;
    for (std::int64_t repeat = 0; work_.decode_tokens > 0 && repeat < work_.repeats; ++repeat) {
      if (auto done = generation(repeat); !done) return done;
    }
    if (auto done = whole_cycle(); !done) return done;
    if (auto done = anchor(); !done) return done;
    return protocol_.checksum("sha256:" + forward_digest_ +
                              (generation_digest_.empty() ? "" : ":" + generation_digest_));
  }

 private:
  // Opens the device and runs the workload's kernels once on a toy of a few kilobytes, so that contexts, modules and
  // lazily loaded code stand in the baseline and not in the first phase that happens to use them.
  Result<void> environment() {
    const auto open = [this]() -> Result<Session*> {
      const auto& plan = request_.plan;
      auto opened =
          Session::open(plan.devices[request_.device], plan.allocator, plan.allocator_options, request_.instruments);
      if (!opened) return opened.error();
      session_ = *std::move(opened);
      return session_.get();
    };
    const auto body = [this](Session& session) -> Result<void> {
      if (auto prepared = session.prepare(work_.storage_dtype); !prepared) return prepared;
      if (auto warmed = warm_kernels(session); !warmed) return warmed;
      return session.allocator->empty_cache();
    };
    std::vector<std::string> conditions{"every kernel launched once on a toy workload, then the cache emptied"};
    add_instruments(conditions);
    return protocol_.run_environment({}, std::move(conditions), open, body);
  }

  void add_instruments(std::vector<std::string>& conditions) const {
    const Instruments& used = request_.instruments;
    if (used.latency) conditions.emplace_back("every call of the allocator timed, which slows it down");
    if (!used.record_trace.empty() || !used.snapshot.empty())
      conditions.emplace_back("every call of the allocator recorded, which slows it down");
  }

  Result<void> warm_kernels(Session& session) const {
    const Workload toy = toy_of(work_);
    auto network = make_network(toy);
    if (!network) return network.error();
    Runner runner(session, **network, toy.seed, storage_of(toy.storage_dtype));
    Pass pass;
    if (toy.decode_tokens > 0) {
      (*network)->prefill(pass);
      (*network)->decode(0, pass);
      (*network)->finish(pass);
    } else {
      (*network)->forward(pass);
    }
    if (auto done = runner.load(); !done) return done;
    if (auto done = runner.inputs(); !done) return done;
    if (auto done = runner.run(pass); !done) return done;
    if (auto done = session.stream->synchronize(); !done) return done;
    return runner.release_all();
  }

  Result<void> setup() {
    PhaseRequest load;
    load.name = "model_load";
    load.body = [this] { return runner_->load(); };
    if (work_.occupy_bytes > 0) {
      load.conditions.push_back(std::to_string(work_.occupy_bytes) +
                                " bytes obtained outside the allocator before the phase");
      load.before_bytes = work_.occupy_bytes;
      load.before = [this] { return occupy(); };
    }
    if (auto done = phase(std::move(load)); !done) return done.error();
    PhaseRequest inputs;
    inputs.name = "inputs";
    inputs.body = [this] { return runner_->inputs(); };
    const auto done = phase(std::move(inputs));
    return done ? Result<void>() : done.error();
  }

  Result<void> occupy() {
    auto memory = session_->device.malloc(static_cast<std::size_t>(work_.occupy_bytes), ASSAY_OWNER_EXTERNAL);
    if (!memory) return memory.error();
    occupied_ = *memory;
    return {};
  }

  Result<void> forwards() {
    if (auto done = forward("cold_forward", 0, true); !done) return done;
    for (std::int64_t i = 0; i < work_.warmups; ++i) {
      if (auto done = forward("warmup", i, false); !done) return done;
    }
    for (std::int64_t i = 0; i < work_.repeats; ++i) {
      if (auto done = forward("warm_forward", i, true); !done) return done;
    }
    return {};
  }

  Result<void> forward(const char* name, std::int64_t repeat, bool sampled) {
    Pass pass;
    network_->forward(pass);
    PhaseRequest request;
    request.name = name;
    request.repeat = repeat;
    request.body = [&] { return runner_->run(pass); };
    const auto ns = phase(std::move(request));
    if (!ns) return ns.error();
    const auto flag = flags_of(network_->forward_outputs(), forward_digest_);
    if (!flag) return flag.error();
    return sampled ? protocol_.sample(name, "ns", static_cast<double>(*ns), *flag) : Result<void>();
  }

  // The time to the first token ends when that token is in host memory.
  Result<void> generation(std::int64_t repeat) {
    Pass pass;
    network_->prefill(pass);
    PhaseRequest prefill;
    prefill.name = "prefill";
    prefill.repeat = repeat;
    prefill.body = [&]() -> Result<void> {
      if (auto queued = runner_->run(pass); !queued) return queued;
      return runner_->read(network_->first_tokens(), [](const std::byte*, std::size_t) {});
    };
    const auto first = phase(std::move(prefill));
    if (!first) return first.error();
    PhaseRequest decode;
    decode.name = "decode";
    decode.repeat = repeat;
    decode.body = [this] { return decode_all(); };
    const auto rest = phase(std::move(decode));
    if (!rest) return rest.error();
    const auto flag = flags_of(network_->generation_outputs(), generation_digest_);
    if (!flag) return flag.error();
    if (auto sent = protocol_.sample("time_to_first_token", "ns", static_cast<double>(*first), *flag); !sent)
      return sent;
    const double generated = static_cast<double>(work_.batch) * static_cast<double>(work_.decode_tokens);
    const double per_second = *rest > 0 ? generated * 1e9 / static_cast<double>(*rest) : 0.0;
    return protocol_.sample("decode_tokens_per_second", "tokens/s", per_second,
                            *rest > 0 ? *flag : std::string("the clock did not advance"));
  }

  // Each step is planned while the device works on the one before.
  Result<void> decode_all() {
    Pass pass;
    for (std::int64_t step = 0; step < work_.decode_tokens; ++step) {
      pass.clear();
      network_->decode(step, pass);
      if (auto queued = runner_->run(pass); !queued) return queued;
    }
    pass.clear();
    network_->finish(pass);
    return runner_->run(pass);
  }

  // The same loads and passes in the same order, with one pair of peaks: synchronising between phases changes how
  // they overlap.
  Result<void> whole_cycle() {
    PhaseRequest request;
    request.name = "whole_cycle";
    request.conditions.push_back("everything released and the cache emptied before the phase");
    request.before = [this]() -> Result<void> {
      if (auto released = runner_->release_all(); !released) return released;
      return session_->allocator->empty_cache();
    };
    request.body = [this] { return cycle(); };
    const auto ns = phase(std::move(request));
    if (!ns) return ns.error();
    const bool generated = work_.decode_tokens > 0;
    const auto flag = generated ? flags_of(network_->generation_outputs(), generation_digest_)
                                : flags_of(network_->forward_outputs(), forward_digest_);
    if (!flag) return flag.error();
    return protocol_.sample("whole_cycle", "ns", static_cast<double>(*ns), *flag);
  }

  Result<void> cycle() {
    if (auto done = runner_->load(); !done) return done;
    if (auto done = runner_->inputs(); !done) return done;
    Pass pass;
    network_->forward(pass);
    for (std::int64_t i = 0; i < 1 + work_.warmups + work_.repeats; ++i) {
      if (auto queued = runner_->run(pass); !queued) return queued;
    }
    if (work_.decode_tokens == 0) return {};
    pass.clear();
    network_->prefill(pass);
    for (std::int64_t i = 0; i < work_.repeats; ++i) {
      if (auto queued = runner_->run(pass); !queued) return queued;
      if (auto queued = decode_all(); !queued) return queued;
    }
    return {};
  }

  // A plain copy on the device, outside every phase and after the last counter was read: what shows, between two runs,
  // whether the machine itself has changed. A device without room for it has no anchor.
  Result<void> anchor() {
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    constexpr int kCopies = 5;
    const auto& device = session_->device;
    const auto from = device.malloc(kBytes, ASSAY_OWNER_EXTERNAL);
    const auto to = device.malloc(kBytes, ASSAY_OWNER_EXTERNAL);
    Result<void> done;
    const auto copy = [&]() -> Result<void> {
      if (auto queued = session_->stream->copy(*to, *from, kBytes, ASSAY_COPY_DEVICE_TO_DEVICE); !queued) return queued;
      return session_->stream->synchronize();
    };
    if (from && to) {
      done = session_->stream->fill(*from, 1, kBytes);
      if (done) done = copy();  // the first one touches every page
      for (int i = 0; done && i < kCopies; ++i) {
        const auto begin = Protocol::Clock::now();
        done = copy();
        const std::chrono::nanoseconds taken = Protocol::Clock::now() - begin;
        if (done) done = protocol_.sample("device_copy", "ns", static_cast<double>(taken.count()), throttling());
      }
    }
    if (from) (void)device.free(*from);
    if (to) (void)device.free(*to);
    return done;
  }

  // Adds what holds for every phase after `environment`: shapes, and the recorded condition of an emptied cache.
  Result<std::int64_t> phase(PhaseRequest request) {
    request.executed = network_->executed();
    add_instruments(request.conditions);
    if (work_.empty_cache) {
      request.conditions.emplace_back("empty_cache before the phase");
      request.before = [this, before = std::move(request.before)]() -> Result<void> {
        if (auto emptied = session_->allocator->empty_cache(); !emptied) return emptied;
        return before ? before() : Result<void>();
      };
    }
    auto ns = protocol_.run(*session_, runner_.get(), request);
    if (session_->recording != nullptr) (void)session_->recording->flush();  // keep() says what went wrong
    return ns;
  }

  // What makes the sample just taken suspect, empty when nothing does. It is kept all the same.
  Result<std::string> flags_of(const std::vector<Output>& outputs, std::string& first_digest) {
    auto flags = check_outputs(outputs, first_digest);
    if (!flags) return flags;
    const std::string throttled = throttling();
    if (throttled.empty()) return flags;
    return *flags + (flags->empty() ? "" : "; ") + throttled;
  }

  // What slows the board down right after a phase, where the platform says so.
  [[nodiscard]] std::string throttling() const {
    const auto sensors = session_->device.sensors();
    if (!sensors) return {};
    for (const auto& field : *sensors) {
      const auto* reasons = std::get_if<std::string>(&field.value);
      if (field.key != "throttle_reasons" || field.state != FieldState::value || reasons == nullptr) continue;
      return *reasons == "none" ? std::string() : "throttled: " + *reasons;
    }
    return {};
  }

  // Every pass over the same inputs must give the same bytes.
  Result<std::string> check_outputs(const std::vector<Output>& outputs, std::string& first_digest) {
    std::string bytes;
    for (const auto& output : outputs) {
      auto read = runner_->read(output, [&](const std::byte* data, std::size_t size) {
        bytes.append(reinterpret_cast<const char*>(data), size);
      });
      if (!read) return read.error();
    }
    auto digest = identity::sha256(bytes);
    if (!digest) return digest.error();
    if (first_digest.empty()) first_digest = *digest;
    return *digest == first_digest ? std::string() : std::string("output differs from that of the first pass");
  }

  const LaunchRequest& request_;
  const Workload& work_;
  std::unique_ptr<Network> network_;
  Protocol protocol_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
  void* occupied_ = nullptr;
  std::string forward_digest_;
  std::string generation_digest_;
};

}  // namespace

Result<void> execute_launch(const LaunchRequest& request, const Emit& emit) {
  if (request.device >= request.plan.devices.size() || request.workload >= request.plan.workloads.size()) {
    return Error{ErrorCode::usage,
                 "the plan has no such device or workload: number them from 0 as the plan lists them"};
  }
  auto network = make_network(request.plan.workloads[request.workload]);
  if (!network) return network.error();
  LaunchRun run(request, *std::move(network), emit);
  const auto done = run.run();
  const auto kept = run.keep(done);
  return done ? kept : done;
}

}  // namespace assay::measure
