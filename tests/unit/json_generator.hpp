// SPDX-License-Identifier: Apache-2.0
// Random documents that satisfy the schema: for properties that must hold for every document.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "results-schema/types/document.hpp"

namespace assay::test {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return number(0, 1) == 1; }

  // Any magnitude, with the ends of the range among them.
  std::int64_t integer() {
    constexpr std::int64_t kMax = (std::int64_t{1} << 53) - 1;
    switch (number(0, 4)) {
      case 0:
        return kMax;
      case 1:
        return -kMax;
      case 2:
        return 0;
      default:
        return number(-kMax, kMax) >> number(0, 52);
    }
  }
  std::int64_t count() {
    const std::int64_t n = integer();
    return n < 0 ? -n : n;
  }

  double real() {
    switch (number(0, 5)) {
      case 0:
        return 0.0;
      case 1:
        return std::numeric_limits<double>::denorm_min();
      case 2:
        return std::numeric_limits<double>::max();
      case 3:
        return static_cast<double>(number(-1000, 1000));
      default:
        return std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random_), static_cast<int>(number(-300, 300)));
    }
  }

  // Quotes, controls, every length of UTF-8.
  std::string text() {
    static const std::vector<std::string> parts{"a",    "Z", "0", " ", "\"", "\\", "\n", "\t",
                                                "\x01", "/", "~", "é", "€",  "𝄞",  "}",  "NaN"};
    std::string out;
    for (std::int64_t n = number(0, 8); n > 0; --n)
      out += parts[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(parts.size()) - 1))];
    return out;
  }
  std::string word() { return "w" + text(); }

  template <class F>
  auto list(F make, std::int64_t low, std::int64_t high) {
    std::vector<decltype(make())> out;
    for (std::int64_t n = number(low, high); n > 0; --n) out.push_back(make());
    return out;
  }

  Basis basis() { return static_cast<Basis>(number(0, 2)); }

  Quantity bytes() {
    if (number(0, 3) == 0) return missing("bytes", word(), basis());
    return {integer(), "bytes", basis(), ""};
  }
  Quantity duration() {
    if (number(0, 3) == 0) return missing("ns", word(), basis());
    return {count(), "ns", basis(), ""};
  }
  Quantity quantity() {
    switch (number(0, 3)) {
      case 0:
        return bytes();
      case 1:
        return {integer(), "tokens", basis(), ""};
      case 2:
        return missing(word(), word(), basis());
      default:
        return {real(), "1", basis(), ""};
    }
  }

  Counter counter() { return {word(), quantity(), word(), word(), static_cast<Exactness>(number(0, 2))}; }

  LedgerTerm term() { return {word(), bytes(), text(), bytes(), text()}; }
  LedgerEquation equation() {
    const bool balanced = coin();
    return {word(), bytes(), bytes(), balanced ? observed_bytes(0) : bytes(), balanced};
  }
  Ledger ledger() {
    return {word(), list([this] { return term(); }, 0, 3), list([this] { return equation(); }, 0, 3), coin()};
  }

  PhaseFailure phase_failure() {
    PhaseFailure out{coin() ? "out_of_memory" : "fault", word(), bytes(), text(), std::nullopt};
    if (coin())
      out.account =
          MemoryAccount{coin() ? "fragmentation" : "unknown", word(), list([this] { return counter(); }, 0, 3)};
    return out;
  }

  CallLatency call_latency() {
    return {coin() ? "hit" : "cross_stream_free", count(), duration(), duration(), duration()};
  }

  Phase phase() {
    Phase out;
    out.name = word();
    out.repeat = number(0, 5);
    out.configured = {{word(), integer()}, {word(), integer()}};
    out.executed = {{word(), integer()}};
    out.status = static_cast<PhaseStatus>(number(0, 2));
    out.duration = duration();
    out.start = list([this] { return counter(); }, 0, 3);
    out.end = list([this] { return counter(); }, 0, 3);
    out.peaks_partial = out.status != PhaseStatus::ok;
    if (coin()) out.ledger_start = ledger();
    if (coin()) out.ledger_end = ledger();
    if (out.status == PhaseStatus::failed || (out.status == PhaseStatus::partial && coin()))
      out.failure = phase_failure();
    out.conditions = list([this] { return word(); }, 0, 2);
    return out;
  }

  SampleSeries series() {
    SampleSeries out{word(), word(), basis(), list([this] { return real(); }, 0, 6), {}};
    if (coin())
      for (std::size_t i = 0; i < out.values.size(); ++i) out.flags.push_back(text());
    return out;
  }

  Launch launch(std::int64_t order, std::int64_t workloads) {
    Launch out;
    out.index = number(0, 9);
    out.order = order;
    out.workload = number(0, workloads - 1);
    out.pid = number(1, 4'000'000);
    out.started_at = "2026-01-02T03:04:05.678Z";
    out.duration = duration();
    out.outcome = static_cast<LaunchOutcome>(number(0, 4));
    out.exit_code = number(-128, 255);
    out.signal = number(0, 64);
    out.message = text();
    out.phase_in_progress = text();
    out.phases = list([this] { return phase(); }, 0, 4);
    out.samples = list([this] { return series(); }, 0, 2);
    out.checksum = text();
    if (coin()) out.allocator_latency = list([this] { return call_latency(); }, 0, 3);
    return out;
  }

  Case checked() {
    Case out;
    out.name = word();
    out.kernel = word();
    out.dtype = word();
    out.implementation = word();
    out.source_version = count();
    out.status = static_cast<CaseStatus>(number(0, 3));
    out.error = quantity();
    out.tolerance = quantity();
    out.message = text();
    if (out.status == CaseStatus::ok) out.samples = list([this] { return series(); }, 0, 2);
    return out;
  }

  Identity identity() {
    Identity out;
    for (std::int64_t n = number(0, 5); n > 0; --n) {
      IdentityField field;
      field.key = std::to_string(n) + text();
      field.tier = static_cast<Tier>(number(0, 3));
      field.state = static_cast<FieldState>(number(0, 2));
      field.source = text();
      if (field.state != FieldState::value) {
        field.reason = word();
      } else if (coin()) {
        field.value = coin() ? FieldValue(integer()) : FieldValue(coin());
      } else {
        field.value = text();
      }
      out.fields.push_back(field);
    }
    out.findings = list([this] { return ValidityFinding{word(), coin(), word()}; }, 0, 2);
    return out;
  }

  Workload workload() {
    Workload out;
    out.kind = static_cast<WorkloadKind>(number(0, 1));
    out.load_name = word();
    if (out.kind == WorkloadKind::decoder) {
      auto& m = out.model;
      for (auto* size : {&m.hidden_size, &m.intermediate_size, &m.layers, &m.query_heads, &m.kv_heads, &m.head_dim,
                         &m.vocabulary, &m.max_positions})
        *size = number(1, 1 << 20);
      m.sliding_window = number(0, 4096);
      m.rope_theta = 1e4 + static_cast<double>(number(0, 1000)) / 3;
      m.norm_epsilon = 1e-5 / static_cast<double>(number(1, 7));
      m.tied_embeddings = coin();
      m.attention_bias = coin();
      m.model_type = text();
      out.source = {word(), text(), coin() ? std::string() : std::string(64, 'a')};
    } else {
      out.width = number(1, 1 << 20);
      out.depth = number(1, 99);
    }
    out.storage_dtype = coin() ? "f16" : "bf16";
    out.batch = number(1, 64);
    out.prompt_tokens = number(1, 1 << 20);
    out.decode_tokens = number(0, 1 << 20);
    out.kv = static_cast<KvKind>(number(0, 2));
    out.warmups = number(0, 9);
    out.repeats = number(1, 9);
    out.seed = static_cast<std::uint64_t>(count());
    out.empty_cache = coin();
    out.occupy_bytes = count();
    return out;
  }

  Plan plan() {
    Plan out;
    out.suite = word();
    const auto device = [this] {
      PlannedDevice d{word(), word(), text(), number(0, 7), {}};
      d.options = list([this] { return std::pair<std::string, std::string>(word(), text()); }, 0, 2);
      return d;
    };
    out.devices = list(device, 1, 2);
    out.workloads = list([this] { return workload(); }, 1, 3);
    out.allocator = word();
    out.allocator_options = text();
    out.launches = number(1, 9);
    out.time_limit_s = number(1, 10'000);
    return out;
  }

  RunDocument document() {
    RunDocument out;
    out.kind = coin() ? DocumentKind::run : DocumentKind::measure;
    out.run = {word(),
               "2026-01-02T03:04:05Z",
               coin() ? "2026-01-02T03:05:05.000000001Z" : "",
               list([this] { return text(); }, 0, 4),
               word(),
               word(),
               coin()};
    out.plan = plan();
    std::int64_t order = 0;
    for (const auto& planned : out.plan.devices) {
      DeviceSection section{planned.name, text(), std::string(64, '0'), identity(), {}, {}};
      const auto workloads = static_cast<std::int64_t>(out.plan.workloads.size());
      section.launches = list([&] { return launch(order++, workloads); }, 0, 3);
      section.cases = list([this] { return checked(); }, 0, 2);
      out.devices.push_back(std::move(section));
    }
    if (coin()) {
      out.status = DocumentStatus::ok;
    } else {
      out.status = coin() ? DocumentStatus::partial : DocumentStatus::failed;
      out.failures = list([this] { return Failure{text(), number(-1, 9), text(), "hung", word()}; }, 1, 3);
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace assay::test
