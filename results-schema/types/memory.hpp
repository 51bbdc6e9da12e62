// SPDX-License-Identifier: Apache-2.0
// What the memory protocol records: counters, phases, and the ledger that must balance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/quantity.hpp"

namespace assay {

enum class Exactness { exact, upper_bound, sampled };

// One counter at one instant, e.g. name "reserved_bytes.all.peak".
struct Counter {
  std::string name;
  Quantity quantity;
  std::string perimeter;  // "allocator", "category:kv", "process", "device"
  std::string source;     // "caching", "cudaMemGetInfo", "host budget", ...
  Exactness exactness = Exactness::exact;
  bool operator==(const Counter&) const = default;
};

// One term of the ledger, read by two independent ways at the same checkpoint.
struct LedgerTerm {
  std::string name;  // "device_used", "baseline", "reserved", "external", "active", ...
  Quantity first;
  std::string first_source;
  Quantity second;  // null with a reason where the platform has no second way
  std::string second_source;
  bool operator==(const LedgerTerm&) const = default;
};

// One equation between terms, e.g. "device_used = baseline + reserved + external".
struct LedgerEquation {
  std::string text;
  Quantity left;
  Quantity right;
  Quantity difference;    // left - right; null when a term cannot be read
  bool balanced = false;  // difference is exactly 0, and both readings of every term agree
  bool operator==(const LedgerEquation&) const = default;
};

struct Ledger {
  std::string checkpoint;  // "model_load:end"
  std::vector<LedgerTerm> terms;
  std::vector<LedgerEquation> equations;
  bool balanced = false;  // every equation that could be evaluated is balanced
  bool operator==(const Ledger&) const = default;
};

enum class PhaseStatus { ok, failed, partial };

// Where the memory was when the allocator refused a request (the rule: backends/allocator/account.hpp).
struct MemoryAccount {
  // "too_little_memory", "fragmentation", "other_stream_cache", "other_process", "unknown": the schema knows no other.
  std::string cause;
  std::string sentence;
  std::vector<Counter> terms;  // bytes of that instant
  bool operator==(const MemoryAccount&) const = default;
};

struct PhaseFailure {
  // "out_of_memory", "map_limit", "fault", "hung", "crashed", "interrupted", "unsupported", "no_device",
  // "wrong_result", "bad_input", "output", "internal": the schema knows no other.
  std::string code;
  std::string message;
  Quantity requested_bytes = missing("bytes", "no request is known to have failed");
  std::string category;                                 // of that request, empty when there is none
  std::optional<MemoryAccount> account = std::nullopt;  // of an out-of-memory that the allocator met
  bool operator==(const PhaseFailure&) const = default;
};

// A named, synchronised stretch of a workload with its own counters.
struct Phase {
  std::string name;         // "environment", "model_load", "inputs", "cold_forward", "warmup", "warm_forward",
                            // "prefill", "decode", "whole_cycle"
  std::int64_t repeat = 0;  // 0-based, within its name
  std::map<std::string, std::int64_t> configured;  // shapes as asked for
  std::map<std::string, std::int64_t> executed;    // shapes as executed, after padding
  PhaseStatus status = PhaseStatus::ok;
  Quantity duration = missing("ns", "the phase did not end");  // wall time between the two synchronisations
  std::vector<Counter> start;
  std::vector<Counter> end;    // final values and peaks since the start of the phase
  bool peaks_partial = false;  // the phase did not complete: its peaks are no need of a whole run
  std::optional<Ledger> ledger_start;
  std::optional<Ledger> ledger_end;
  std::optional<PhaseFailure> failure;
  std::vector<std::string> conditions;  // "empty_cache before the phase"
  bool operator==(const Phase&) const = default;
};

}  // namespace assay
