// SPDX-License-Identifier: Apache-2.0
// States from the number of trained parameters, activations from the dimensions of the layers.
#include "suite/estimate/training.hpp"

#include <fmt/format.h>

#include "suite/model/bytes.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

std::optional<std::int64_t> product(std::initializer_list<std::optional<std::int64_t>> factors) {
  std::optional<std::int64_t> out = 1;
  for (const auto factor : factors) out = out && factor ? checked_multiply(*out, *factor) : std::nullopt;
  return out;
}

class Lines {
 public:
  Lines(const Architecture& a, const TrainingRequest& request) : a_(a), r_(request) {}

  std::vector<TrainingLine> build(std::optional<std::int64_t> parameters, std::optional<std::int64_t> base_bytes) {
    const bool part = r_.trainable.has_value();
    const auto trained = part ? r_.trainable : parameters;
    if (part) {
      if (base_bytes)
        add("base weights, not trained", {*base_bytes, "resident_bytes", fmt::format("{}", *base_bytes), {}});
      else
        add("base weights, not trained", absent("resident_bytes", "the weights are not known"));
    }
    states(trained);
    activations();
    add("gradient accumulation", {0, "gradients are added in place: no more than the gradients above", "0", {}});
    add("communication buffers",
        absent("buckets of the framework", "they are the framework's own choice; a measurement shows them"));
    add("offload", absent("states kept in host memory", "nothing is offloaded unless the framework is told to"));
    std::int64_t total = 0;
    std::string numbers;
    for (const auto& line : lines_) {
      if (!line.bytes.value || line.name.starts_with("legacy")) continue;
      const auto sum = checked_add(total, *line.bytes.value);
      if (!sum) {
        add("sum of the known lines", absent("sum", "it exceeds 2^53 - 1 bytes"));
        return lines_;
      }
      total = *sum;
      numbers += fmt::format("{}{}", numbers.empty() ? "" : " + ", *line.bytes.value);
    }
    add("sum of the known lines", {total, "sum of the lines above without the legacy bound", numbers, {}});
    return lines_;
  }

 private:
  void add(std::string name, Figure figure) { lines_.push_back({std::move(name), std::move(figure)}); }

  // `bytes` a parameter, divided over the replicas from this stage on.
  void state(const char* name, std::optional<std::int64_t> count, std::int64_t bytes, std::int64_t from_stage) {
    const bool shared = r_.stage >= from_stage && r_.replicas > 1;
    const auto formula = shared ? fmt::format("trained parameters x {} / replicas, rounded up", bytes)
                                : fmt::format("trained parameters x {}", bytes);
    if (!count) return add(name, absent(formula, "the number of parameters is not known"));
    const auto all = checked_multiply(*count, bytes);
    if (!all) return add(name, absent(formula, "it exceeds 2^53 - 1 bytes"));
    const auto one = shared ? (*all + r_.replicas - 1) / r_.replicas : *all;
    add(name, {one,
               formula,
               shared ? fmt::format("{} x {} / {}", *count, bytes, r_.replicas) : fmt::format("{} x {}", *count, bytes),
               {}});
  }

  void states(std::optional<std::int64_t> count) {
    state("trained parameters (16-bit)", count, 2, 3);
    state("gradients (16-bit)", count, 2, 2);
    state("master weights (F32)", count, 4, 1);
    if (r_.optimizer == "adamw8bit") {
      state("optimiser states (two of 8 bits)", count, 2, 1);
      // bitsandbytes: one F32 absmax for each block of 256, of both states.
      const auto blocks = count ? std::optional((*count + 255) / 256) : std::nullopt;
      state("absmax of the optimiser states (a bound: one block of 256 each)", blocks, 8, 1);
    } else if (r_.optimizer == "sgd") {
      state("optimiser state (momentum, F32)", count, 4, 1);
    } else {
      state("optimiser states (two of F32)", count, 8, 1);
    }
  }

  void activations() {
    const auto layers = a_.layers_count;
    const auto rows = product({r_.tokens, r_.sequences});
    const std::string lack = !r_.tokens ? "no number of tokens was given (--context)" : "a dimension is not known";
    const auto hidden2 = product({a_.hidden, 2});
    if (r_.checkpointing) {
      constexpr const char* kFormula = "layers x tokens x sequences x hidden x 2: the input of each layer";
      const auto bytes = product({layers, rows, hidden2});
      add("saved activations, checkpointed",
          bytes ? Figure{*bytes, kFormula, fmt::format("{} x {} x {}", *layers, *rows, *hidden2), {}}
                : absent(kFormula, lack));
    }
    // Inputs and outputs of two norms; query, key, value and the attention's output (its scores are computed again);
    // gate, up and their product.
    constexpr const char* kFormula =
        "layers x tokens x sequences x 2 x (4 x hidden + (2 x heads + 2 x kv_heads) x head_dim + 3 x width): a layer's "
        "saved tensors with fused attention and gated feed-forward";
    std::optional<std::int64_t> width;
    if (a_.hidden && a_.heads && a_.kv_heads && a_.head_dim && a_.width && !a_.mixture && !a_.latent)
      width = 4 * *a_.hidden + (2 * *a_.heads + 2 * *a_.kv_heads) * *a_.head_dim + 3 * *a_.width;
    const auto counted = r_.checkpointing ? std::optional<std::int64_t>(1) : layers;
    const auto bytes = product({counted, rows, width, 2});
    add(r_.checkpointing ? "activations of the one layer computed again" : "saved activations, by module",
        bytes ? Figure{*bytes, kFormula, fmt::format("{} x {} x 2 x {}", *counted, *rows, *width), {}}
              : absent(kFormula,
                       a_.mixture || a_.latent ? "routed experts and latent attention are not worked out" : lack));
    constexpr const char* kLegacy =
        "layers x tokens x sequences x hidden x (34 + 5 x heads x tokens / hidden): arXiv 2205.05198, for a GELU "
        "feed-forward of 4 x hidden, without fused attention";
    const auto linear = product({layers, rows, a_.hidden, 34});
    const auto scores = product({layers, rows, a_.heads, r_.tokens, 5});
    const auto both = linear && scores ? checked_add(*linear, *scores) : std::nullopt;
    add("legacy bound of the activations",
        both ? Figure{*both, kLegacy, fmt::format("{} + {}", *linear, *scores), {}} : absent(kLegacy, lack));
    constexpr const char* kLogits = "tokens x sequences x vocabulary x (2 + 4): logits and their F32 copy in the loss";
    const auto logits = product({rows, a_.vocabulary, 6});
    add("logits", logits ? Figure{*logits, kLogits, fmt::format("{} x {} x 6", *rows, *a_.vocabulary), {}}
                         : absent(kLogits, lack));
  }

  const Architecture& a_;
  const TrainingRequest& r_;
  std::vector<TrainingLine> lines_;
};

}  // namespace

std::vector<TrainingLine> training_lines(const Architecture& architecture, std::optional<std::int64_t> parameters,
                                         std::optional<std::int64_t> base_bytes, const TrainingRequest& request) {
  return Lines(architecture, request).build(parameters, base_bytes);
}

}  // namespace assay::estimate
