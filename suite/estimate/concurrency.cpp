// SPDX-License-Identifier: Apache-2.0
// Concurrency as serving engines state it: whole blocks of the memory that is left.
#include <fmt/format.h>

#include <algorithm>

#include "suite/estimate/kv_cache.hpp"
#include "suite/model/bytes.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

}  // namespace

Concurrency concurrency_of(const CacheEstimate& cache, const CacheRequest& request, std::int64_t memory_bytes,
                           std::int64_t other_bytes) {
  Concurrency out;
  const auto free = memory_bytes - other_bytes;
  out.available_bytes = {std::max<std::int64_t>(0, free),
                         "memory - weights - reserve",
                         fmt::format("{} - {}", memory_bytes, other_bytes),
                         {}};
  if (free < 0) out.available_bytes.numbers += fmt::format(" ({} are missing)", -free);
  const auto& token = cache.rank_bytes_per_token ? *cache.rank_bytes_per_token : cache.bytes_per_token;
  const auto set_all = [&](const std::string& reason) {
    out.blocks = absent("available_bytes / (block_tokens x bytes_per_token)", reason);
    out.tokens = absent("blocks x block_tokens", reason);
    out.sequences = absent("available_bytes / bytes of one sequence", reason);
    out.hundredths = absent("100 x blocks / blocks of one sequence", reason);
  };
  if (!token.value || *token.value == 0) {
    set_all(token.value ? "no layer keeps tokens" : token.reason);
    return out;
  }
  const auto block = request.block_tokens;
  const auto block_bytes = checked_multiply(*token.value, block);
  if (!block_bytes) {
    set_all("it exceeds 2^53 - 1 bytes");
    return out;
  }
  const auto available = *out.available_bytes.value;
  const auto blocks = available / *block_bytes;
  out.blocks = {blocks,
                "available_bytes / (block_tokens x bytes_per_token), rounded down",
                fmt::format("{} / ({} x {})", available, block, *token.value),
                {}};
  out.tokens = {blocks * block, "blocks x block_tokens", fmt::format("{} x {}", blocks, block), {}};
  if (!request.tokens) {
    out.sequences = absent("available_bytes / bytes of one sequence", "no number of tokens was given (--tokens)");
    out.hundredths = absent("100 x blocks / blocks of one sequence", "no number of tokens was given (--tokens)");
    return out;
  }
  const auto of_one = (*request.tokens - 1) / block + 1;
  const auto state = request.ranks > 1 ? cache.rank_state_bytes.value_or(Figure{}) : cache.state_bytes;
  const auto sequence_blocks = checked_multiply(of_one, *block_bytes);
  const auto state_one = state.value ? *state.value / request.sequences : 0;
  const auto sequence = sequence_blocks ? checked_add(*sequence_blocks, state_one) : std::nullopt;
  if (!sequence) {
    out.sequences = absent("available_bytes / bytes of one sequence", "it exceeds 2^53 - 1 bytes");
    out.hundredths = absent("100 x blocks / blocks of one sequence", "it exceeds 2^53 - 1 bytes");
    return out;
  }
  out.sequences = {available / *sequence,
                   "available_bytes / (blocks of one sequence x block bytes + its state)",
                   fmt::format("{} / ({} x {} + {})", available, of_one, *block_bytes, state_one),
                   {}};
  out.hundredths = {static_cast<std::int64_t>(100.0 * static_cast<double>(blocks) / static_cast<double>(of_one)),
                    "100 x blocks / blocks of one sequence",
                    fmt::format("100 x {} / {}", blocks, of_one),
                    {}};
  return out;
}

}  // namespace assay::estimate
