// SPDX-License-Identifier: Apache-2.0
// Per layer, then summed: layers that keep alike are one run, and each bound is a rule over the runs.
#include "suite/estimate/kv_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "suite/model/bytes.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

Error too_large(std::string_view what) {
  return {ErrorCode::usage, fmt::format("{} exceeds 2^53 - 1 bytes, the largest number a document can hold; check the "
                                        "values for a digit too many",
                                        what)};
}

// Layers with the same dimensions and the same rule.
struct Run {
  Layer layer;
  std::int64_t count = 0;
  std::int64_t heads = 0;  // of this rank
  std::int64_t bytes = 0;  // of one token in one layer
  std::string reason;      // why the bytes are not known
};

bool same(const Layer& a, const Layer& b) {
  return a.keeps == b.keeps && a.kv_heads == b.kv_heads && a.key_dim == b.key_dim && a.value_dim == b.value_dim &&
         a.window == b.window && a.state_elements == b.state_elements;
}

std::int64_t padded(std::int64_t tokens, std::int64_t block) {
  return block > 1 ? (tokens + block - 1) / block * block : tokens;
}

class Cache {
 public:
  Cache(const Architecture& a, const weights::TensorType& type) : a_(a), type_(type) {}

  std::vector<Run> runs(std::int64_t ranks) const {
    std::vector<Run> out;
    for (const auto& layer : a_.layers) {
      const auto found = std::find_if(out.begin(), out.end(), [&](const Run& run) { return same(run.layer, layer); });
      if (found != out.end())
        ++found->count;
      else
        out.push_back(measured(layer, ranks));
    }
    return out;
  }

  [[nodiscard]] std::string element() const {
    return type_.block_elements == 1 ? fmt::format("{}", type_.block_bytes)
                                     : fmt::format("{} / {}", type_.block_bytes, type_.block_elements);
  }

 private:
  Run measured(const Layer& layer, std::int64_t ranks) const {
    Run run{layer, 1, 0, 0, {}};
    if (layer.keeps == Keeps::state || layer.keeps == Keeps::nothing) return run;
    if (layer.keeps == Keeps::unknown) {
      run.reason = "the layer type \"" + layer.kind + "\" is not known";
      return run;
    }
    if (!layer.kv_heads || !layer.key_dim || !layer.value_dim) {
      run.reason = !layer.kv_heads ? "the number of key-value heads is not known" : "head_dim is not known";
      return run;
    }
    run.heads = *layer.kv_heads;
    if (ranks > 1 && layer.keeps != Keeps::latent) {
      // Heads are divided; once there is less than one for each rank, each rank keeps a whole one.
      if (run.heads >= ranks ? run.heads % ranks != 0 : ranks % std::max<std::int64_t>(run.heads, 1) != 0) {
        run.reason = fmt::format("{} key-value heads do not divide over {} ranks", run.heads, ranks);
        return run;
      }
      run.heads = std::max<std::int64_t>(1, run.heads / ranks);
    }
    std::optional<std::int64_t> bytes = 0;
    for (const auto dim : {*layer.key_dim, *layer.value_dim}) {
      const auto row = checked_multiply(run.heads, dim);
      const auto size = row ? weights::bytes_of(type_, *row) : std::nullopt;
      if (row && !size) {
        run.reason = fmt::format("rows of {} elements do not fill the blocks of {}", *row, type_.name);
        return run;
      }
      bytes = bytes && size ? checked_add(*bytes, *size) : std::nullopt;
    }
    if (!bytes) run.reason = "it exceeds 2^53 - 1 bytes";
    run.bytes = bytes.value_or(0);
    return run;
  }

  const Architecture& a_;
  const weights::TensorType& type_;
};

// The formula of the bytes of a token, with its numbers.
Figure per_token(const std::vector<Run>& runs, const Cache& cache) {
  Figure out;
  std::int64_t total = 0;
  bool fits = true;
  struct Term {
    const Run* run;
    std::int64_t layers;
  };
  std::vector<Term> terms;
  for (const auto& run : runs) {
    if (!run.reason.empty()) return absent("sum over the layers", run.reason);
    if (run.bytes == 0) continue;
    const auto bytes = checked_multiply(run.bytes, run.count);
    const auto sum = bytes ? checked_add(total, *bytes) : std::nullopt;
    fits = fits && sum.has_value();
    total = sum.value_or(0);
    const auto like = std::find_if(terms.begin(), terms.end(), [&](const Term& term) {
      return term.run->heads == run.heads && term.run->layer.key_dim == run.layer.key_dim &&
             term.run->layer.value_dim == run.layer.value_dim;
    });
    if (like != terms.end())
      like->layers += run.count;
    else
      terms.push_back({&run, run.count});
  }
  if (!fits) return absent("sum over the layers", "it exceeds 2^53 - 1 bytes");
  for (const auto& [run, layers] : terms) {
    const auto& layer = run->layer;
    const bool latent = layer.keeps == Keeps::latent;
    const bool even = layer.key_dim == layer.value_dim;
    const std::string formula = latent ? "layers x latent_width x bytes_per_element"
                                : even ? "2 x layers x kv_heads x head_dim x bytes_per_element"
                                       : "layers x kv_heads x (key_dim + value_dim) x bytes_per_element";
    const auto numbers = latent ? fmt::format("{} x {} x {}", layers, *layer.key_dim, cache.element())
                         : even
                             ? fmt::format("2 x {} x {} x {} x {}", layers, run->heads, *layer.key_dim, cache.element())
                             : fmt::format("{} x {} x ({} + {}) x {}", layers, run->heads, *layer.key_dim,
                                           *layer.value_dim, cache.element());
    if (out.formula.find(formula) == std::string::npos) out.formula += (out.formula.empty() ? "" : " + ") + formula;
    out.numbers += (out.numbers.empty() ? "" : " + ") + numbers;
  }
  if (terms.empty()) {
    out.formula = "no layer keeps tokens";
    out.numbers = "0";
  }
  out.value = total;
  return out;
}

// How many tokens a windowed layer keeps of a sequence.
using Slots = std::function<std::int64_t(std::int64_t tokens, std::int64_t window)>;

Bound bound_of(std::string name, const Figure& token, const std::vector<Run>& runs, const CacheRequest& request,
               std::int64_t block, const Slots& slots, std::string_view formula) {
  Bound bound{std::move(name), token, {}};
  if (!token.value) {
    bound.bytes_per_sequence = absent(std::string(formula), token.reason);
    return bound;
  }
  if (!request.tokens) {
    bound.bytes_per_sequence = absent(std::string(formula), "no number of tokens was given (--tokens)");
    return bound;
  }
  std::optional<std::int64_t> total = 0;
  std::string numbers;
  for (const auto& run : runs) {
    if (run.bytes == 0) continue;
    const bool window = run.layer.keeps == Keeps::window && slots;
    const auto kept = window ? slots(*request.tokens, run.layer.window) : padded(*request.tokens, block);
    const auto layers = checked_multiply(run.bytes, run.count);
    const auto bytes = layers ? checked_multiply(*layers, kept) : std::nullopt;
    total = total && bytes ? checked_add(*total, *bytes) : std::nullopt;
    if (layers) numbers += fmt::format("{}{} x {}", numbers.empty() ? "" : " + ", *layers, kept);
  }
  if (!total) {
    bound.bytes_per_sequence = absent(std::string(formula), "it exceeds 2^53 - 1 bytes");
    return bound;
  }
  if (!slots) numbers = fmt::format("{} x {}", *token.value, padded(*request.tokens, block));
  bound.bytes_per_sequence = {*total, std::string(formula), numbers.empty() ? "0" : numbers, {}};
  return bound;
}

Figure all_sequences(const Figure& one, std::int64_t sequences, std::string formula) {
  if (!one.value) return absent(std::move(formula), one.reason);
  const auto bytes = checked_multiply(*one.value, sequences);
  if (!bytes) return absent(std::move(formula), "it exceeds 2^53 - 1 bytes");
  return {*bytes, std::move(formula), fmt::format("{} x {}", *one.value, sequences), {}};
}

Figure state_of(const std::vector<Run>& runs, std::int64_t ranks) {
  constexpr const char* kFormula = "layers x state_elements x 4: states are kept in F32";
  std::optional<std::int64_t> total = 0;
  std::string numbers;
  for (const auto& run : runs) {
    if (run.layer.keeps == Keeps::state && !run.layer.state_elements)
      return absent(kFormula, "the dimensions of the state of \"" + run.layer.kind + "\" layers are not known");
    if (!run.layer.state_elements) continue;
    const auto elements = *run.layer.state_elements;
    if (elements % ranks != 0) return absent(kFormula, fmt::format("the state does not divide over {} ranks", ranks));
    const auto layer = checked_multiply(elements / ranks, 4);
    const auto bytes = layer ? checked_multiply(*layer, run.count) : std::nullopt;
    total = total && bytes ? checked_add(*total, *bytes) : std::nullopt;
    numbers += fmt::format("{}{} x {} x 4", numbers.empty() ? "" : " + ", run.count, elements / ranks);
  }
  if (!total) return absent(kFormula, "it exceeds 2^53 - 1 bytes");
  if (numbers.empty()) return {0, "no layer keeps a state", "0", {}};
  return {*total, kFormula, numbers, {}};
}

void latent_bounds(const Architecture& a, const CacheRequest& request, const std::vector<Run>& runs,
                   const weights::TensorType& type, CacheEstimate& out) {
  const auto& latent = *a.latent;
  std::int64_t layers = 0;
  for (const auto& run : runs) layers += run.layer.keeps == Keeps::latent ? run.count : 0;
  constexpr const char* kExpanded = "layers x heads x (nope_dim + rope_dim + value_dim) x bytes_per_element";
  Figure token = absent(kExpanded, "a dimension of the expanded heads is not known");
  if (a.heads && latent.nope_dim && latent.rope_dim && latent.value_dim && type.block_elements == 1) {
    const auto width = *latent.nope_dim + *latent.rope_dim + *latent.value_dim;
    const auto head = checked_multiply(*a.heads, width);
    const auto row = head ? checked_multiply(*head, type.block_bytes) : std::nullopt;
    const auto all = row ? checked_multiply(*row, layers) : std::nullopt;
    if (all)
      token = {*all,
               kExpanded,
               fmt::format("{} x {} x ({} + {} + {}) x {}", layers, *a.heads, *latent.nope_dim, *latent.rope_dim,
                           *latent.value_dim, type.block_bytes),
               {}};
  } else if (type.block_elements != 1) {
    token.reason = fmt::format("{} blocks are not worked out for expanded heads", type.name);
  }
  const auto add = [&](const char* name, const Figure& figure) {
    Bound bound{
        name, figure,
        all_sequences(figure, padded(request.tokens.value_or(0), request.block_tokens), "bytes_per_token x tokens")};
    if (!request.tokens && figure.value)
      bound.bytes_per_sequence = absent("bytes_per_token x tokens", "no number of tokens was given (--tokens)");
    out.bounds.push_back(std::move(bound));
  };
  add("keys and values of every head expanded", token);
  if (latent.rank == 512 && latent.rope_dim == 64)
    add("vLLM's fp8_ds_mla",
        {656 * layers, "layers x (512 x 1 + 4 x 4 scales + 64 x 2)", fmt::format("{} x 656", layers), {}});
}

std::string kind_words(const Layer& layer) {
  switch (layer.keeps) {
    case Keeps::all_tokens:
      return "full attention";
    case Keeps::window:
      return fmt::format("sliding window of {}", layer.window);
    case Keeps::latent:
      return "latent attention";
    case Keeps::state:
      return "state of fixed size";
    case Keeps::nothing:
      return "nothing kept";
    case Keeps::unknown:
      return "unknown layer type";
  }
  return {};
}

}  // namespace

Result<CacheEstimate> cache_of(const Architecture& a, const CacheRequest& request) {
  const auto* type = weights::named_type(request.dtype);
  if (type == nullptr) return Error{ErrorCode::usage, "--kv-dtype: \"" + request.dtype + "\" is not known"};
  CacheEstimate out;
  const auto no_layers = [&](const std::string& reason) {
    out.bytes_per_token = absent("sum over the layers", reason);
    out.bytes = absent("bytes_per_sequence x sequences", reason);
    out.state_bytes_per_sequence = absent("layers x state_elements x 4", reason);
    out.state_bytes = absent("state_bytes_per_sequence x sequences", reason);
  };
  if (a.layers.empty()) {
    no_layers("the number of layers is not known");
    return out;
  }
  const Cache cache(a, *type);
  const auto runs = cache.runs(1);
  bool windows = false;
  for (const auto& run : runs) {
    CacheRun entry{kind_words(run.layer), run.count, {}, {}};
    if (run.reason.empty()) entry.bytes_per_token = run.bytes;
    if (run.layer.state_elements) entry.state_bytes = checked_multiply(*run.layer.state_elements, 4);
    out.runs.push_back(std::move(entry));
    windows = windows || run.layer.keeps == Keeps::window;
  }
  out.bytes_per_token = per_token(runs, cache);
  if (a.encoder && out.bytes_per_token.value) out.bytes_per_token.formula = "an encoder keeps no cache";
  const auto block = request.block_tokens;
  const bool paged = block > 1;
  const bool latent =
      std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.layer.keeps == Keeps::latent; });
  out.bounds.push_back(bound_of(latent ? "latent kept" : "every token kept", out.bytes_per_token, runs, request, block,
                                {}, paged ? "bytes_per_token x tokens in whole blocks" : "bytes_per_token x tokens"));
  if (windows) {
    out.bounds.push_back(bound_of(
        "sliding window honoured", out.bytes_per_token, runs, request, block,
        [block](std::int64_t tokens, std::int64_t window) { return padded(std::min(tokens, window), block); },
        paged ? "full layers x tokens + window layers x min(tokens, window), in whole blocks"
              : "full layers x tokens + window layers x min(tokens, window)"));
    if (request.ubatch)
      out.bounds.push_back(bound_of(
          "llama.cpp's window cache", out.bytes_per_token, runs, request, 256,
          [&](std::int64_t tokens, std::int64_t window) {
            return padded(std::min(padded(tokens, 256), window + *request.ubatch), 256);
          },
          "full layers x tokens + window layers x (min(tokens, window + ubatch) padded to 256)"));
    if (request.batched)
      out.bounds.push_back(bound_of(
          "vLLM's window blocks", out.bytes_per_token, runs, request, block,
          [&](std::int64_t tokens, std::int64_t window) {
            return padded(std::min(window - 1 + *request.batched, tokens), block) + block;
          },
          "full layers x tokens + window layers x (blocks of min(window - 1 + batched, tokens), and one more)"));
  }
  if (latent) latent_bounds(a, request, runs, *type, out);
  out.bytes = all_sequences(out.bounds.front().bytes_per_sequence, request.sequences,
                            windows ? "bytes_per_sequence x sequences, every token kept: the engine decides"
                                    : "bytes_per_sequence x sequences");
  out.state_bytes_per_sequence = state_of(runs, 1);
  out.state_bytes =
      all_sequences(out.state_bytes_per_sequence, request.sequences, "state_bytes_per_sequence x sequences");
  if (out.bytes.reason == "it exceeds 2^53 - 1 bytes") return too_large("the key-value cache");
  if (request.ranks > 1) {
    const auto divided = cache.runs(request.ranks);
    out.rank_bytes_per_token = per_token(divided, cache);
    const auto one = bound_of("", *out.rank_bytes_per_token, divided, request, block, {}, "bytes_per_token x tokens");
    out.rank_bytes = all_sequences(one.bytes_per_sequence, request.sequences, "bytes_per_sequence x sequences");
    out.rank_state_bytes =
        all_sequences(state_of(divided, request.ranks), request.sequences, "state_bytes_per_sequence x sequences");
  }
  return out;
}

}  // namespace assay::estimate
