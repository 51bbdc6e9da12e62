// SPDX-License-Identifier: Apache-2.0
// Traces of LLM requests: when each arrived, how many tokens it brought and how many it was answered with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "suite/trace/input.hpp"
#include "suite/trace/trace.hpp"

namespace assay::trace {

// No request has more tokens than this; a larger number is a damaged file.
inline constexpr std::int64_t kAbsurdTokens = 10'000'000;

struct LlmRequest {
  std::int64_t arrival_us = 0;  // since the first request; never before the one in front of it in the file
  std::int64_t context_tokens = 0;
  std::int64_t generated_tokens = 0;
  // Names of the context's pieces of `hash_tokens` tokens each, in order: equal names are equal text from the beginning
  // on. Empty where the trace does not say.
  std::vector<std::uint64_t> hash_ids;
};

// A request trace being read, once, front to back. Not thread-safe.
class Requests {
 public:
  virtual ~Requests() = default;
  // False at the end. Errors: bad_input with file and line.
  virtual Result<bool> next(LlmRequest& request) = 0;
  // Tokens of one piece that a hash id names; 0: the trace has no hash ids.
  [[nodiscard]] virtual std::int64_t hash_tokens() const = 0;
};

// CSV with the columns TIMESTAMP ("2023-11-16 18:17:03.9799600"), ContextTokens, GeneratedTokens, in any order: the
// Azure LLM inference traces.
Result<std::unique_ptr<Requests>> open_requests_csv(Input input);

// One JSON object a line with timestamp (milliseconds), input_length, output_length and, if known, hash_ids of 512
// tokens each: the Mooncake traces.
Result<std::unique_ptr<Requests>> open_requests_jsonl(Input input);

}  // namespace assay::trace
