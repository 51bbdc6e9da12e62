// SPDX-License-Identifier: Apache-2.0
// Estimate: the formulas, each next to the words that explain it.
#include "suite/estimate/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "suite/model/bytes.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

Error too_large(std::string_view what, std::string_view numbers) {
  return {ErrorCode::usage, fmt::format("{} = {} exceeds 2^53 - 1 bytes, the largest number a document can hold; check "
                                        "the values for a digit too many",
                                        what, numbers)};
}

std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) {
  std::optional<std::int64_t> result = 1;
  for (const auto factor : factors)
    if (result) result = checked_multiply(*result, factor);
  return result;
}

// floor(a * bits / 8) rounded up to a whole byte, without the product overflowing first.
std::optional<std::int64_t> packed_bytes(std::int64_t count, std::int64_t bits) {
  const auto whole = checked_multiply(count / 8, bits);
  return whole ? checked_add(*whole, ((count % 8) * bits + 7) / 8) : std::nullopt;
}

Result<void> weights(const Request& request, Estimate& out) {
  const std::string no_file = "no weight file was read";
  out.file_bytes = absent("size of the files", no_file);
  if (!request.parameters && !request.model) {
    for (auto* figure : {&out.parameters, &out.tensor_bytes, &out.resident_bytes})
      *figure = absent("parameters x bits / 8", "no number of parameters was given");
    return {};
  }
  const auto count = request.model ? request.model_parameters : *request.parameters;
  out.parameters = request.model
                       ? Figure{count, "elements of every weight tensor, a tied head once", request.model_name, {}}
                       : Figure{count, "as given", fmt::format("{}", count), {}, Basis::assumed};
  const auto numbers = fmt::format("{} x {} / 8", count, request.bits);
  const auto bytes = packed_bytes(count, request.bits);
  if (!bytes) return too_large("parameters x bits / 8", numbers);
  out.tensor_bytes = {*bytes, "parameters x bits / 8", numbers, {}};
  out.resident_bytes = {*bytes, "tensor_bytes, all of it loaded as stored", fmt::format("{}", *bytes), {}};
  return {};
}

struct CacheShape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;
};

Result<std::optional<CacheShape>> cache_shape(const Request& request) {
  if (request.model)
    return std::optional(CacheShape{request.model->layers, request.model->kv_heads, request.model->head_dim,
                                    request.model->sliding_window});
  const bool any = request.layers || request.kv_heads || request.head_dim || request.tokens;
  if (!any) return std::optional<CacheShape>{};
  std::string lacking;
  const auto need = [&lacking](bool given, std::string_view name) {
    if (!given) lacking += (lacking.empty() ? "" : ", ") + std::string(name);
  };
  need(request.layers.has_value(), "--layers");
  need(request.kv_heads.has_value(), "--kv-heads");
  need(request.head_dim.has_value(), "--head-dim");
  need(request.tokens.has_value(), "--tokens");
  if (!lacking.empty())
    return Error{ErrorCode::usage, fmt::format("the key-value cache cannot be computed without {}; give it, or a whole "
                                               "configuration with --model",
                                               lacking)};
  return std::optional(CacheShape{*request.layers, *request.kv_heads, *request.head_dim, 0});
}

constexpr const char* kPerToken = "2 x layers x kv_heads x head_dim x bytes_per_element";

// One bound: `slots` tokens kept of every sequence.
Result<Bound> bound(std::string name, const Figure& per_token, std::optional<std::int64_t> slots,
                    std::string_view slots_formula) {
  Bound out{std::move(name), per_token, {}};
  const auto formula = fmt::format("bytes_per_token x {}", slots_formula);
  if (!slots) {
    out.bytes_per_sequence = absent(formula, "no number of tokens was given (--tokens)");
    return out;
  }
  const auto numbers = fmt::format("{} x {}", *per_token.value, *slots);
  const auto bytes = checked_multiply(*per_token.value, *slots);
  if (!bytes) return too_large(formula, numbers);
  out.bytes_per_sequence = {*bytes, formula, numbers, {}};
  return out;
}

Result<void> cache(const Request& request, Estimate& out) {
  auto shape = cache_shape(request);
  if (!shape) return shape.error();
  if (!*shape) {
    out.kv_bytes_per_token = absent(kPerToken, "no dimensions of the cache were given");
    out.kv_bytes = absent("bytes_per_sequence x sequences", "no dimensions of the cache were given");
    return {};
  }
  const CacheShape& s = **shape;
  const auto per_token_numbers =
      fmt::format("2 x {} x {} x {} x {}", s.layers, s.kv_heads, s.head_dim, request.bytes_per_element);
  const auto per_token = product({2, s.layers, s.kv_heads, s.head_dim, request.bytes_per_element});
  if (!per_token) return too_large(kPerToken, per_token_numbers);
  out.kv_bytes_per_token = {*per_token, kPerToken, per_token_numbers, {}};

  auto full = bound("every token kept", out.kv_bytes_per_token, request.tokens, "tokens");
  if (!full) return full.error();
  out.kv_bounds.push_back(*full);
  if (s.window > 0) {
    auto slots = request.tokens;
    if (slots) slots = std::min(*slots, s.window);
    auto windowed = bound("sliding window honoured", out.kv_bytes_per_token, slots, "min(tokens, window)");
    if (!windowed) return windowed.error();
    out.kv_bounds.push_back(*windowed);
  }
  const auto& sequence = full->bytes_per_sequence;
  const std::string formula = s.window > 0 ? "bytes_per_sequence x sequences, every token kept: the engine decides"
                                           : "bytes_per_sequence x sequences";
  if (!sequence.value) {
    out.kv_bytes = absent(formula, sequence.reason);
    return {};
  }
  const auto numbers = fmt::format("{} x {}", *sequence.value, request.sequences);
  const auto bytes = checked_multiply(*sequence.value, request.sequences);
  if (!bytes) return too_large("bytes_per_sequence x sequences", numbers);
  out.kv_bytes = {*bytes, formula, numbers, {}};
  return {};
}

Result<void> totals(const Request& request, Estimate& out) {
  const auto add = [](std::int64_t a, std::int64_t b, std::string formula) -> Result<Figure> {
    const auto numbers = fmt::format("{} + {}", a, b);
    const auto sum = checked_add(a, b);
    if (!sum) return too_large(formula, numbers);
    return Figure{*sum, std::move(formula), numbers, {}};
  };
  const auto& w = out.resident_bytes;
  const auto& kv = out.kv_bytes;
  if (w.value && kv.value) {
    auto sum = add(*w.value, *kv.value, "weights.resident_bytes + kv_cache.bytes");
    if (!sum) return sum.error();
    out.total_bytes = *sum;
  } else if (w.value || kv.value) {
    const auto& only = w.value ? w : kv;
    out.total_bytes = {
        only.value, w.value ? "weights.resident_bytes" : "kv_cache.bytes", fmt::format("{}", *only.value), {}};
  } else {
    out.total_bytes = absent("weights.resident_bytes + kv_cache.bytes", "neither could be computed");
  }
  if (!request.reserve_bytes) return {};
  out.reserve_bytes =
      Figure{*request.reserve_bytes, "as given", fmt::format("{}", *request.reserve_bytes), {}, Basis::assumed};
  if (!out.total_bytes.value) return {};
  auto sum = add(*out.total_bytes.value, *request.reserve_bytes, "total_bytes + reserve");
  if (!sum) return sum.error();
  sum->basis = Basis::assumed;
  out.total_with_reserve_bytes = *sum;
  return {};
}

}  // namespace

Result<Estimate> estimate(const Request& request) {
  const bool any =
      request.parameters || request.model || request.layers || request.kv_heads || request.head_dim || request.tokens;
  if (!any)
    return Error{ErrorCode::usage, "nothing to estimate: give --parameters, the cache's dimensions, or --model"};
  Estimate out;
  if (auto done = weights(request, out); !done) return done.error();
  if (auto done = cache(request, out); !done) return done.error();
  if (auto done = totals(request, out); !done) return done.error();
  out.not_included = {"activations and workspaces", "the runtime's context and modules",
                      "rounding and unused pieces of the allocator", "scales and tables of quantised formats"};
  if (!out.resident_bytes.value) out.not_included.insert(out.not_included.begin(), "weights");
  if (!out.kv_bytes.value) out.not_included.insert(out.not_included.begin(), "the key-value cache");
  return out;
}

}  // namespace assay::estimate
