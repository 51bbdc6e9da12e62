// SPDX-License-Identifier: Apache-2.0
// The members of every type that travels in documents, listed once: the same list writes them and reads them.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "results-schema/types/document.hpp"

namespace assay::json::detail {

// ---- words of the enumerations, in the order of their values ----

template <class E>
struct Words;
template <>
struct Words<Basis> {
  static constexpr std::array<std::string_view, 3> list{"computed", "observed", "assumed"};
};
template <>
struct Words<Tier> {
  static constexpr std::array<std::string_view, 4> list{"thing", "change", "info", "validity"};
};
template <>
struct Words<FieldState> {
  static constexpr std::array<std::string_view, 3> list{"value", "not_applicable", "unknown"};
};
template <>
struct Words<Exactness> {
  static constexpr std::array<std::string_view, 3> list{"exact", "upper_bound", "sampled"};
};
template <>
struct Words<PhaseStatus> {
  static constexpr std::array<std::string_view, 3> list{"ok", "failed", "partial"};
};
template <>
struct Words<WorkloadKind> {
  static constexpr std::array<std::string_view, 2> list{"decoder", "dense"};
};
template <>
struct Words<KvKind> {
  static constexpr std::array<std::string_view, 3> list{"growing", "static", "sliding_window"};
};
template <>
struct Words<DocumentKind> {
  static constexpr std::array<std::string_view, 7> list{"run",    "measure",  "bench",  "estimate",
                                                        "replay", "frontier", "compare"};
};
template <>
struct Words<DocumentStatus> {
  static constexpr std::array<std::string_view, 3> list{"ok", "partial", "failed"};
};
template <>
struct Words<LaunchOutcome> {
  static constexpr std::array<std::string_view, 6> list{"ok", "failed", "crashed", "hung", "interrupted", "running"};
};
template <>
struct Words<CaseStatus> {
  static constexpr std::array<std::string_view, 4> list{"ok", "wrong", "unsupported", "failed"};
};

template <class E>
constexpr std::string_view word(E value) {
  return Words<E>::list.at(static_cast<std::size_t>(value));
}

// ---- members; A is called as a(key, member) ----

template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

template <class A, Of<DecoderConfig> T>
void members(A& a, T& x) {
  a("hidden_size", x.hidden_size);
  a("intermediate_size", x.intermediate_size);
  a("layers", x.layers);
  a("query_heads", x.query_heads);
  a("kv_heads", x.kv_heads);
  a("head_dim", x.head_dim);
  a("vocabulary", x.vocabulary);
  a("max_positions", x.max_positions);
  a("sliding_window", x.sliding_window);
  a("rope_theta", x.rope_theta);
  a("norm_epsilon", x.norm_epsilon);
  a("tied_embeddings", x.tied_embeddings);
  a("attention_bias", x.attention_bias);
  a("model_type", x.model_type);
}

template <class A, Of<ModelSource> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("path", x.path);
  a("sha256", x.sha256);
}

// The kind comes first: it decides which of the dimensions follow.
template <class A, Of<Workload> T>
void members(A& a, T& x) {
  a("kind", x.kind);
  a("load_name", x.load_name);
  if (x.kind == WorkloadKind::decoder) {
    a("model", x.model);
    a("source", x.source);
  } else {
    a("width", x.width);
    a("depth", x.depth);
  }
  a("storage_dtype", x.storage_dtype);
  a("dtype_from", x.dtype_from);
  a("compute_dtype", x.compute_dtype);
  a("batch", x.batch);
  a("prompt_tokens", x.prompt_tokens);
  a("decode_tokens", x.decode_tokens);
  a("kv", x.kv);
  a("warmups", x.warmups);
  a("repeats", x.repeats);
  a("seed", x.seed);
  a("empty_cache", x.empty_cache);
  a("occupy_bytes", x.occupy_bytes);
}

template <class A, Of<PlannedDevice> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("backend", x.backend);
  a("module_path", x.module_path);
  a("ordinal", x.ordinal);
  a("options", x.options);
}

template <class A, Of<Plan> T>
void members(A& a, T& x) {
  a("suite", x.suite);
  a("devices", x.devices);
  a("workloads", x.workloads);
  a("allocator", x.allocator);
  a("allocator_options", x.allocator_options);
  a("launches", x.launches);
  a("time_limit_s", x.time_limit_s);
}

template <class A, Of<ValidityFinding> T>
void members(A& a, T& x) {
  a("key", x.key);
  a("refuses", x.refuses);
  a("text", x.text);
}

template <class A, Of<Counter> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("quantity", x.quantity);
  a("perimeter", x.perimeter);
  a("source", x.source);
  a("exactness", x.exactness);
}

template <class A, Of<LedgerTerm> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("first", x.first);
  a("first_source", x.first_source);
  a("second", x.second);
  a("second_source", x.second_source);
}

template <class A, Of<LedgerEquation> T>
void members(A& a, T& x) {
  a("text", x.text);
  a("left", x.left);
  a("right", x.right);
  a("difference", x.difference);
  a("balanced", x.balanced);
}

template <class A, Of<Ledger> T>
void members(A& a, T& x) {
  a("checkpoint", x.checkpoint);
  a("terms", x.terms);
  a("equations", x.equations);
  a("balanced", x.balanced);
}

template <class A, Of<MemoryAccount> T>
void members(A& a, T& x) {
  a("cause", x.cause);
  a("sentence", x.sentence);
  a("terms", x.terms);
}

template <class A, Of<PhaseFailure> T>
void members(A& a, T& x) {
  a("code", x.code);
  a("message", x.message);
  a("requested_bytes", x.requested_bytes);
  a("category", x.category);
  a("account", x.account);
}

template <class A, Of<Phase> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("repeat", x.repeat);
  a("configured", x.configured);
  a("executed", x.executed);
  a("status", x.status);
  a("duration", x.duration);
  a("start", x.start);
  a("end", x.end);
  a("peaks_partial", x.peaks_partial);
  a("ledger_start", x.ledger_start);
  a("ledger_end", x.ledger_end);
  a("failure", x.failure);
  a("conditions", x.conditions);
}

template <class A, Of<RunInfo> T>
void members(A& a, T& x) {
  a("id", x.id);
  a("started_at", x.started_at);
  a("finished_at", x.finished_at);
  a("argv", x.argv);
  a("suite_version", x.suite_version);
  a("suite_commit", x.suite_commit);
  a("suite_dirty", x.suite_dirty);
  a("plan_sha256", x.plan_sha256);
}

template <class A, Of<SampleSeries> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("unit", x.unit);
  a("basis", x.basis);
  a("values", x.values);
  a("flags", x.flags);
}

template <class A, Of<CallLatency> T>
void members(A& a, T& x) {
  a("call", x.call);
  a("count", x.count);
  a("p50", x.p50);
  a("p99", x.p99);
  a("max", x.max);
}

template <class A, Of<Launch> T>
void members(A& a, T& x) {
  a("index", x.index);
  a("order", x.order);
  a("workload", x.workload);
  a("pid", x.pid);
  a("started_at", x.started_at);
  a("duration", x.duration);
  a("outcome", x.outcome);
  a("exit_code", x.exit_code);
  a("signal", x.signal);
  a("message", x.message);
  a("phase_in_progress", x.phase_in_progress);
  a("phases", x.phases);
  a("samples", x.samples);
  a("checksum", x.checksum);
  a("allocator_latency", x.allocator_latency);
}

template <class A, Of<Case> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("kernel", x.kernel);
  a("dtype", x.dtype);
  a("implementation", x.implementation);
  a("source_version", x.source_version);
  a("status", x.status);
  a("error", x.error);
  a("tolerance", x.tolerance);
  a("message", x.message);
  a("code", x.code);
  a("samples", x.samples);
}

template <class A, Of<DeviceSection> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("module_path", x.module_path);
  a("module_sha256", x.module_sha256);
  a("identity", x.identity);
  a("launches", x.launches);
  a("cases", x.cases);
}

template <class A, Of<Failure> T>
void members(A& a, T& x) {
  a("device", x.device);
  a("launch_order", x.launch_order);
  a("phase", x.phase);
  a("code", x.code);
  a("message", x.message);
}

template <class A, Of<RunDocument> T>
void members(A& a, T& x) {
  a("kind", x.kind);
  a("run", x.run);
  a("plan", x.plan);
  a("devices", x.devices);
  a("status", x.status);
  a("failures", x.failures);
}

// ---- journal entries; kEntryWords follows the order of the variant ----

inline constexpr std::array<std::string_view, std::variant_size_v<JournalEntry>> kEntryWords{
    "run_started",  "device_identified", "case_checked",    "launch_started", "phase_started",  "phase_finished",
    "sample_taken", "output_checksum",   "launch_finished", "run_finished",   "allocator_timed"};

template <class A, Of<RunStarted> T>
void members(A& a, T& x) {
  a("document", x.document);
}

template <class A, Of<DeviceIdentified> T>
void members(A& a, T& x) {
  a("device", x.device);
  a("module_sha256", x.module_sha256);
  a("identity", x.identity);
}

template <class A, Of<CaseChecked> T>
void members(A& a, T& x) {
  a("device", x.device);
  a("case", x.checked);
}

template <class A, Of<LaunchStarted> T>
void members(A& a, T& x) {
  a("device", x.device);
  a("launch", x.launch);
}

template <class A, Of<PhaseStarted> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("phase", x.phase);
  a("repeat", x.repeat);
}

template <class A, Of<PhaseFinished> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("phase", x.phase);
}

template <class A, Of<SampleTaken> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("name", x.name);
  a("unit", x.unit);
  a("value", x.value);
  a("flag", x.flag);
}

template <class A, Of<OutputChecksum> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("checksum", x.checksum);
}

template <class A, Of<AllocatorTimed> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("calls", x.calls);
}

template <class A, Of<LaunchFinished> T>
void members(A& a, T& x) {
  a("launch_order", x.launch_order);
  a("duration", x.duration);
  a("outcome", x.outcome);
  a("exit_code", x.exit_code);
  a("signal", x.signal);
  a("message", x.message);
}

template <class A, Of<RunFinished> T>
void members(A& a, T& x) {
  a("finished_at", x.finished_at);
  a("status", x.status);
}

}  // namespace assay::json::detail
