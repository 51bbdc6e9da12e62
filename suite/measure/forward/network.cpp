// SPDX-License-Identifier: Apache-2.0
// What a workload must satisfy, the network it becomes, its toy, and the bytes that passes request.
#include "suite/measure/forward/network.hpp"

#include <algorithm>
#include <utility>

#include "suite/measure/forward/decoder.hpp"
#include "suite/measure/forward/dense.hpp"
#include "suite/model/config.hpp"

namespace assay::measure {
namespace {

Error usage(std::string text) {
  return {ErrorCode::usage, std::move(text)};
}

Result<void> check_range(const char* what, std::int64_t value, std::int64_t least,
                         std::int64_t most = model::kMaxInteger) {
  if (value >= least && value <= most) return {};
  return usage(std::string("the workload's ") + what + " is " + std::to_string(value) + ": it must lie between " +
               std::to_string(least) + " and " + std::to_string(most) + "; give another number");
}

// Whether a product stays within a document's integers.
Result<void> check_product(const char* what, std::initializer_list<std::int64_t> factors) {
  std::optional<std::int64_t> bytes = 1;
  for (const auto factor : factors) bytes = bytes ? model::checked_multiply(*bytes, factor) : std::nullopt;
  if (bytes) return {};
  return usage(std::string("the workload's ") + what + " would exceed 2^53 - 1 bytes: lower batch, prompt or context");
}

Result<void> check_decoder(const Workload& in, std::int64_t element) {
  if (auto checked = model::check_dimensions(in.model, "the workload's model"); !checked) return checked;
  const auto reach = model::checked_add(in.prompt_tokens, in.decode_tokens);
  if (!reach || *reach > in.model.max_positions || *reach > INT32_MAX) {
    return usage("prompt and decode of the workload are " + std::to_string(in.prompt_tokens) + " + " +
                 std::to_string(in.decode_tokens) + " tokens, beyond the model's " +
                 std::to_string(std::min<std::int64_t>(in.model.max_positions, INT32_MAX)) +
                 " positions: lower one of them");
  }
  const auto cache = model::kv_bytes(in.model, in.kv, in.batch, *reach, in.storage_dtype);
  if (!cache) return cache.error();
  const auto& m = in.model;
  const std::int64_t widest =
      std::max({m.hidden_size, m.intermediate_size, m.query_heads * m.head_dim, m.kv_heads * m.head_dim});
  if (auto checked = check_product("activations", {in.batch, *reach, widest, element, 4}); !checked) return checked;
  return check_product("logits", {in.batch, m.vocabulary, element});
}

Result<void> check_dense(const Workload& in, std::int64_t element) {
  if (auto checked = check_range("width", in.width, 1); !checked) return checked;
  if (auto checked = check_range("depth", in.depth, 1, model::kMaxLayers); !checked) return checked;
  if (in.decode_tokens != 0) return usage("a dense network generates no tokens: leave decode tokens at 0");
  if (const auto weights = model::dense_weights_of(in.width, in.depth, in.storage_dtype); !weights) {
    return weights.error();
  }
  return check_product("activations", {in.batch, in.prompt_tokens, in.width, element, 4});
}

}  // namespace

Result<void> check_workload(const Workload& in) {
  const auto element = model::dtype_bytes(in.storage_dtype);
  if (!element) return element.error();
  if (in.compute_dtype != "f32") {
    return usage("the compute dtype is '" + in.compute_dtype + "': kernels accumulate in f32 only; leave it at f32");
  }
  const std::pair<const char*, std::pair<std::int64_t, std::int64_t>> ranges[] = {
      {"batch", {in.batch, 1}},
      {"prompt tokens", {in.prompt_tokens, 1}},
      {"decode tokens", {in.decode_tokens, 0}},
      {"warm-ups", {in.warmups, 0}},
      {"repeats", {in.repeats, 1}},
      {"occupied bytes", {in.occupy_bytes, 0}}};
  for (const auto& [what, range] : ranges) {
    if (auto checked = check_range(what, range.first, range.second); !checked) return checked;
  }
  return in.kind == WorkloadKind::decoder ? check_decoder(in, *element) : check_dense(in, *element);
}

std::map<std::string, std::int64_t> configured_shapes(const Workload& in) {
  if (in.kind == WorkloadKind::dense) {
    return {{"batch", in.batch}, {"context", in.prompt_tokens}, {"width", in.width}, {"depth", in.depth}};
  }
  return {{"batch", in.batch},
          {"prompt_tokens", in.prompt_tokens},
          {"decode_tokens", in.decode_tokens},
          {"sliding_window", in.model.sliding_window}};
}

Result<std::unique_ptr<Network>> make_network(const Workload& workload) {
  if (auto checked = check_workload(workload); !checked) return checked.error();
  const std::int64_t element = *model::dtype_bytes(workload.storage_dtype);
  if (workload.kind == WorkloadKind::dense) {
    auto weights = model::dense_weights_of(workload.width, workload.depth, workload.storage_dtype);
    if (!weights) return weights.error();
    return std::unique_ptr<Network>(std::make_unique<DenseNetwork>(workload, *std::move(weights), element));
  }
  auto weights = model::weights_of(workload.model, workload.storage_dtype);
  if (!weights) return weights.error();
  return std::unique_ptr<Network>(std::make_unique<DecoderNetwork>(workload, *std::move(weights), element));
}

Workload toy_of(const Workload& workload) {
  Workload toy = workload;
  toy.batch = 1;
  toy.prompt_tokens = 2;
  toy.decode_tokens = workload.decode_tokens > 0 ? 1 : 0;
  toy.width = std::min<std::int64_t>(workload.width, 16);
  toy.depth = std::min<std::int64_t>(workload.depth, 1);
  if (workload.kind == WorkloadKind::dense) return toy;
  toy.model.layers = 1;
  toy.model.query_heads = 2;
  toy.model.kv_heads = 1;
  toy.model.hidden_size = 2 * workload.model.head_dim;  // the head dimension may choose the code
  toy.model.intermediate_size = 16;
  toy.model.vocabulary = 16;
  toy.model.max_positions = 4;
  toy.model.sliding_window = std::min<std::int64_t>(workload.model.sliding_window, 2);
  return toy;
}

void RequestTracker::follow(const Pass& pass) {
  for (const auto& step : pass) {
    if (const auto* made = std::get_if<AllocateStep>(&step)) {
      held_[made->slot] = {made->bytes, made->category};
      const auto category = static_cast<std::size_t>(made->category);
      bytes_.live[category] += made->bytes;
      bytes_.peak[category] = std::max(bytes_.peak[category], bytes_.live[category]);
      bytes_.total_live += made->bytes;
      bytes_.total_peak = std::max(bytes_.total_peak, bytes_.total_live);
    } else if (const auto* gone = std::get_if<ReleaseStep>(&step)) {
      auto& held = held_[gone->slot];
      bytes_.live[static_cast<std::size_t>(held.category)] -= held.bytes;
      bytes_.total_live -= held.bytes;
      held = {};
    }
  }
}

void RequestTracker::reset_peaks() {
  bytes_.peak = bytes_.live;
  bytes_.total_peak = bytes_.total_live;
}

}  // namespace assay::measure
