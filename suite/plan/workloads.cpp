// SPDX-License-Identifier: Apache-2.0
// Workloads: from the options of one, or of a suite with these options laid over each of its members.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/model/bytes.hpp"
#include "suite/plan/models.hpp"
#include "suite/plan/plan_file.hpp"
#include "suite/plan/request.hpp"

namespace assay::planning {
namespace {

constexpr const char* kDefaultModel = "decoder-135m";

// One load of a suite.
struct Load {
  const char* name;
  std::int64_t prompt;
  std::int64_t decode;
  const char* dtype;  // nullptr: the model's own
};

// quick is the first thing a newcomer runs: small enough for a laptop's processor. The others take the shapes of short
// chats, long documents, and what a 2048-token model can hold.
std::vector<Load> loads_of(const std::string& suite) {
  if (suite == "standard") return {{"usual", 128, 32, nullptr}, {"long", 1024, 32, nullptr}};
  if (suite == "full")
    return {{"usual", 128, 32, "f32"},  {"long", 1024, 32, "f32"},  {"limit", 1984, 64, "f32"},
            {"usual", 128, 32, "bf16"}, {"long", 1024, 32, "bf16"}, {"limit", 1984, 64, "bf16"},
            {"usual", 128, 32, "f16"},  {"long", 1024, 32, "f16"},  {"limit", 1984, 64, "f16"}};
  return {{"usual", 32, 4, nullptr}};
}

Result<model::Model> model_of(const WorkloadRequest& request) {
  if (!request.has_dimensions()) return find_model(request.model.empty() ? kDefaultModel : request.model);
  if (!request.model.empty())
    return usage("--model and dimensions such as --layers exclude each other; give the model or the dimensions");
  std::vector<std::string_view> lacking;
  const auto need = [&lacking](const std::optional<std::int64_t>& value, std::string_view name) {
    if (!value) lacking.push_back(name);
    return value.value_or(0);
  };
  DecoderConfig config;
  config.hidden_size = need(request.hidden_size, "--hidden-size");
  config.intermediate_size = need(request.intermediate_size, "--intermediate-size");
  config.layers = need(request.layers, "--layers");
  config.query_heads = need(request.query_heads, "--query-heads");
  config.vocabulary = need(request.vocabulary, "--vocabulary");
  if (!lacking.empty())
    return usage(fmt::format("a decoder from dimensions also needs {}; give them, or a whole --model",
                             fmt::join(lacking, ", ")));
  config.kv_heads = request.kv_heads.value_or(0);
  config.head_dim = request.head_dim.value_or(0);
  config.sliding_window = request.sliding_window.value_or(0);
  config.model_type = "llama";
  auto complete = model::from_dimensions(config, "the dimensions given");
  if (!complete) return usage(worded(complete.error().text, Wording::options));
  return model::Model{*complete, {}};
}

Result<KvKind> kv_of(const WorkloadRequest& request) {
  if (request.kv.empty() || request.kv == "static") return KvKind::fixed;
  if (request.kv == "growing") return KvKind::growing;
  if (request.kv == "sliding_window") return KvKind::sliding_window;
  return usage(
      fmt::format("--kv {} is not executed by this version; use growing, static or sliding_window", request.kv));
}

// Who chose the storage type. Not inlined: g++ 12 then takes the empty optional's string for one that is read.
[[gnu::noinline]] void chosen_by(Workload& w, const char* whom) {
  w.dtype_from.emplace(whom);
}

// The suite's storage type, or the one the model's file was made with, or f32.
void set_dtype(const model::Model& model, const char* of_suite, Workload& w) {
  if (of_suite != nullptr) {
    w.storage_dtype = of_suite;
    chosen_by(w, "suite");
  } else if (!model.dtype.empty()) {
    w.storage_dtype = model.dtype;
    chosen_by(w, "torch_dtype");
  } else {
    chosen_by(w, "default");
  }
}

void lay_over(const WorkloadRequest& request, Workload& w) {
  const auto set = [](const std::optional<std::int64_t>& from, std::int64_t& to) {
    if (from) to = *from;
  };
  set(request.batch, w.batch);
  set(request.prompt, w.prompt_tokens);
  set(request.decode, w.decode_tokens);
  set(request.warmups, w.warmups);
  set(request.repeats, w.repeats);
  set(request.occupy_bytes, w.occupy_bytes);
  if (request.seed) w.seed = static_cast<std::uint64_t>(*request.seed);
  if (!request.dtype.empty()) {
    w.storage_dtype = request.dtype;
    chosen_by(w, "--dtype");
  }
  if (!request.load_name.empty()) w.load_name = request.load_name;
  w.empty_cache = request.empty_cache;
}

Result<Workload> dense_of(const WorkloadRequest& request) {
  if (request.has_dimensions() || !request.model.empty() || !request.kv.empty() || request.decode.value_or(0) > 0)
    return usage(
        "--workload dense has width, depth, batch and context only; leave out the model, its dimensions, --kv "
        "and --decode");
  Workload w;
  w.kind = WorkloadKind::dense;
  w.width = request.width.value_or(1024);
  w.depth = request.depth.value_or(4);
  chosen_by(w, "default");
  lay_over(request, w);
  return w;
}

bool fits(std::initializer_list<std::int64_t> factors) {
  std::optional<std::int64_t> product = 1;
  for (const auto factor : factors)
    if (product) product = model::checked_multiply(*product, factor);
  return product.has_value();
}

Result<void> check_decoder(const Workload& w) {
  const auto tokens = model::checked_add(w.prompt_tokens, w.decode_tokens);
  if (!tokens || *tokens > w.model.max_positions)
    return usage(fmt::format("prompt {} and decode {} are more than the model's {} positions; use fewer tokens",
                             w.prompt_tokens, w.decode_tokens, w.model.max_positions));
  if (w.kv == KvKind::sliding_window && w.model.sliding_window == 0)
    return usage("--kv sliding_window needs a model with a window; use static, or give --sliding-window");
  auto weights = model::weights_of(w.model, w.storage_dtype);
  if (!weights) return weights.error();
  if (auto kv = model::kv_bytes(w.model, w.kv, w.batch, *tokens, w.storage_dtype); !kv) return usage(kv.error().text);
  const auto widest =
      std::max({w.model.hidden_size, w.model.intermediate_size, w.model.query_heads * w.model.head_dim});
  if (!fits({w.batch, w.prompt_tokens, widest, 4}) || !fits({w.batch, w.model.vocabulary, 4}))
    return usage(fmt::format("batch {} x prompt {} makes activations of more than 2^53 - 1 bytes; use smaller ones",
                             w.batch, w.prompt_tokens));
  return {};
}

}  // namespace

std::int64_t launches_of(const std::string& suite) {
  return suite == "standard" || suite == "full" ? 7 : 1;
}

Result<void> check_workload(const Workload& w) {
  auto dtype = model::dtype_bytes(w.storage_dtype);
  if (!dtype)
    return usage(fmt::format("dtype {} is not executed by this version; use f32, f16 or bf16", w.storage_dtype));
  if (w.kind == WorkloadKind::decoder) return check_decoder(w);
  auto weights = model::dense_weights_of(w.width, w.depth, w.storage_dtype);
  if (!weights) return usage(weights.error().text);
  if (!fits({w.batch, w.prompt_tokens, w.width, 4}))
    return usage(fmt::format("batch {} x context {} x width {} makes more than 2^53 - 1 bytes; use smaller ones",
                             w.batch, w.prompt_tokens, w.width));
  return {};
}

Result<std::vector<Workload>> make_workloads(const std::string& suite, const WorkloadRequest& request) {
  std::vector<Workload> out;
  if (request.kind == "dense") {
    auto dense = dense_of(request);
    if (!dense) return dense.error();
    out.push_back(std::move(*dense));
  } else {
    if (request.width || request.depth)
      return usage("--width and --depth belong to --workload dense; add it, or leave them out");
    auto model = model_of(request);
    if (!model) return model.error();
    auto kv = kv_of(request);
    if (!kv) return kv.error();
    for (const auto& load : loads_of(suite)) {
      Workload w;
      w.model = model->config;
      w.source = model->source;
      if (w.source.name.empty()) w.source.name = "dimensions";  // given on the command line
      w.kv = *kv;
      w.load_name = load.name;
      w.prompt_tokens = load.prompt;
      w.decode_tokens = load.decode;
      set_dtype(*model, load.dtype, w);
      lay_over(request, w);
      // Options laid over a suite can make two of its loads one.
      if (std::find(out.begin(), out.end(), w) == out.end()) out.push_back(std::move(w));
    }
  }
  for (const auto& workload : out)
    if (auto checked = check_workload(workload); !checked) return checked.error();
  return out;
}

}  // namespace assay::planning
