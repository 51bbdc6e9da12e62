// SPDX-License-Identifier: Apache-2.0
// Puts weights, cache and memory together; every figure keeps its formula, its numbers and its basis.
#include "suite/estimate/model_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/model/bytes.hpp"
#include "suite/model/config.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

Figure figure_of(std::optional<std::int64_t> value, std::string formula, std::string numbers, std::string reason,
                 Basis basis = Basis::computed) {
  Figure figure;
  figure.value = value;
  figure.formula = std::move(formula);
  if (value)
    figure.numbers = std::move(numbers);
  else
    figure.reason = reason.empty() ? "it is not known" : std::move(reason);
  figure.basis = basis;
  return figure;
}

Result<Architecture> read_architecture(const weights::ModelFiles& files) {
  if (files.format == weights::FileFormat::gguf) {
    // Of several files the one that describes a text model decides; a projector beside it is loaded with it.
    const weights::GgufHeader* chosen = &files.gguf.front();
    for (const auto& header : files.gguf)
      if (header.text("general.architecture") != "clip" && !header.text("general.architecture").empty()) {
        chosen = &header;
        break;
      }
    return architecture_of(*chosen, files.name);
  }
  if (files.config) return architecture_of(*files.config);
  Architecture none;
  none.notes.push_back(
      "no config.json was found: the cache cannot be computed, and nothing says which tensors a loader "
      "leaves out");
  return none;
}

// "a + b + c" of the parts of a sum, at most eight of them.
std::string sum_words(const std::vector<std::int64_t>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size() && i < 8; ++i) out += fmt::format("{}{}", i == 0 ? "" : " + ", parts[i]);
  if (parts.size() > 8) out += fmt::format(" + ... ({} in all)", parts.size());
  return out;
}

void weight_figures(const weights::ModelFiles& files, const ModelRequest& request, ModelEstimate& out) {
  const auto& w = out.weights;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> stored;
  std::vector<std::int64_t> kept;
  std::int64_t largest_file = 0;
  bool missing = false;
  for (const auto& file : files.files) {
    missing = missing || file.facts.data_missing;
    sizes.push_back(file.facts.data_missing ? file.facts.declared_bytes : file.facts.file_bytes);
    largest_file = std::max(largest_file, file.facts.tensor_bytes);
  }
  for (const auto& line : w.lines) {
    stored.push_back(line.file_bytes);
    if (line.loaded) kept.push_back(line.resident_bytes);
  }
  auto& base = out.base;
  base.parameters = figure_of(w.parameters, "elements of every weight that is loaded, packed ones unpacked",
                              w.from_files ? fmt::format("{} tensors", w.tensors) : out.type, w.parameters_reason);
  out.active_parameters = figure_of(w.active_parameters, "parameters of one token: the experts it uses, all the rest",
                                    out.type, "it is not a mixture of experts of known dimensions");
  base.file_bytes = figure_of(w.file_bytes, missing ? "sizes that the headers state" : "sizes of the files",
                              sum_words(sizes), "no weight file was read");
  out.header_bytes = figure_of(w.header_bytes, "bytes before the first tensor of each file", sum_words(sizes),
                               "no weight file was read");
  if (w.header_bytes) out.header_bytes.numbers = fmt::format("{} files", files.files.size());
  base.tensor_bytes = figure_of(
      w.tensor_bytes, w.from_files ? "sum of the tensors in the files" : "sum of the tensors of the configuration",
      sum_words(stored), w.reason);
  const bool loaded_as = !request.weights.dtype.empty();
  base.resident_bytes = figure_of(w.resident_bytes,
                                  loaded_as && w.from_files
                                      ? "sum of the tensors a loader keeps, floating point as " + request.weights.dtype
                                      : "sum of the tensors a loader keeps, as stored",
                                  sum_words(kept), w.reason);
  if (w.resident_bytes) {
    const auto once = model::checked_add(*w.resident_bytes, w.largest_bytes);
    out.loading_minimum =
        figure_of(once, "resident_bytes + the largest tensor, alive as read and as loaded",
                  fmt::format("{} + {}", *w.resident_bytes, w.largest_bytes), "it exceeds 2^53 - 1 bytes");
    const auto shard = w.from_files ? model::checked_add(*w.resident_bytes, largest_file) : std::nullopt;
    out.loading_maximum = figure_of(shard,
                                    "resident_bytes + the largest file's tensors, a whole file read before it is "
                                    "placed",
                                    fmt::format("{} + {}", *w.resident_bytes, largest_file), "no weight file was read");
  } else {
    out.loading_minimum = figure_of({}, "resident_bytes + the largest tensor", "", w.reason);
    out.loading_maximum = figure_of({}, "resident_bytes + the largest file's tensors", "", w.reason);
  }
}

Result<void> totals(const ModelRequest& request, ModelEstimate& out) {
  auto& base = out.base;
  std::vector<std::int64_t> parts;
  std::string formula;
  const auto add = [&](const Figure& figure, const char* name) {
    if (!figure.value || (*figure.value == 0 && figure.formula != "bytes_per_sequence x sequences")) return;
    parts.push_back(*figure.value);
    formula += (formula.empty() ? "" : " + ") + std::string(name);
  };
  add(base.resident_bytes, "weights.resident_bytes");
  add(base.kv_bytes, "kv_cache.bytes");
  add(out.cache.state_bytes, "kv_cache.state_bytes");
  std::optional<std::int64_t> total = 0;
  for (const auto part : parts) total = total ? model::checked_add(*total, part) : std::nullopt;
  if (!total)
    return Error{ErrorCode::usage, formula +
                                       " exceeds 2^53 - 1 bytes, the largest number a document can hold; check the "
                                       "values for a digit too many"};
  base.total_bytes = parts.empty() ? figure_of({}, "weights.resident_bytes + kv_cache.bytes", "", "neither is known")
                                   : figure_of(total, formula, sum_words(parts), "");
  if (request.reserve_bytes) {
    base.reserve_bytes =
        figure_of(request.reserve_bytes, "as given", fmt::format("{}", *request.reserve_bytes), "", Basis::assumed);
    if (base.total_bytes.value) {
      const auto sum = model::checked_add(*base.total_bytes.value, *request.reserve_bytes);
      if (!sum) return Error{ErrorCode::usage, "total_bytes + reserve exceeds 2^53 - 1 bytes; check the reserve"};
      base.total_with_reserve_bytes =
          figure_of(sum, "total_bytes + reserve",
                    fmt::format("{} + {}", *base.total_bytes.value, *request.reserve_bytes), "", Basis::assumed);
    }
  }
  return {};
}

// The workload as stated, and changed in one way each. What nobody can compute is named with the reason.
Result<void> variations(const Architecture& architecture, const ModelRequest& request, ModelEstimate& out) {
  out.variations.push_back({"as stated", out.base.total_bytes});
  const auto changed = [&](const char* name, const CacheRequest& cache_request) -> Result<void> {
    Figure need = figure_of({}, "weights.resident_bytes + kv_cache.bytes + kv_cache.state_bytes", "",
                            "the weights or the cache are not known");
    auto cache = cache_of(architecture, cache_request);
    if (!cache) return cache.error();
    const auto& kv = cache->bytes.value;
    const auto& state = cache->state_bytes.value;
    if (out.base.resident_bytes.value && kv && state) {
      const auto some = model::checked_add(*out.base.resident_bytes.value, *kv);
      need.value = some ? model::checked_add(*some, *state) : std::nullopt;
      need.numbers = fmt::format("{} + {} + {}", *out.base.resident_bytes.value, *kv, *state);
      if (!need.value) need.reason = "it exceeds 2^53 - 1 bytes";
    }
    out.variations.push_back({name, need});
    return {};
  };
  auto longer = request.cache;
  if (longer.tokens) longer.tokens = model::checked_multiply(*longer.tokens, 2);
  if (auto done = changed("input twice as long", longer); !done) return done;
  auto wider = request.cache;
  if (const auto twice = model::checked_multiply(wider.sequences, 2)) wider.sequences = *twice;
  if (auto done = changed("batch twice as large", wider); !done) return done;
  out.variations.push_back(
      {"another library version", figure_of({}, "weights + cache + what the library adds", "",
                                            "a library's own workspaces are only known by measuring")});
  out.variations.push_back({"another program on the board", figure_of({}, "weights + cache + what the other holds", "",
                                                                      "what another program holds is not known")});
  out.boards = rank_boards(known_boards(), out.variations);
  return {};
}

// The forward workload of assay measure on this configuration.
std::vector<ExecutedLine> executed(const weights::ModelFiles& files, const ModelRequest& request,
                                   const ModelEstimate& out) {
  Figure unknown;
  unknown.formula = "the passes of assay measure, followed allocation by allocation";
  unknown.reason = "there is no config.json";
  if (!files.config) return {{"total_peak_bytes", unknown}};
  auto config = model::parse_config(files.config->tree->dump(), files.config->name);
  if (!config) {
    unknown.reason = "assay does not execute this model: " + config.error().text;
    return {{"total_peak_bytes", unknown}};
  }
  Workload workload;
  workload.model = *config;
  const auto& dtype = out.weights.compute;
  workload.storage_dtype = dtype == "F32" ? "f32" : dtype == "F16" ? "f16" : "bf16";
  workload.batch = request.cache.sequences;
  workload.prompt_tokens = *request.prompt_tokens;
  workload.decode_tokens = request.decode_tokens;
  workload.kv = request.kv;
  return executed_lines(workload);
}

void not_included(const ModelRequest& request, ModelEstimate& out) {
  auto& list = out.base.not_included;
  if (!out.base.resident_bytes.value) list.emplace_back("weights");
  if (!out.base.kv_bytes.value) list.emplace_back("the key-value cache");
  list.insert(list.end(), {"activations and workspaces", "the runtime's context and modules",
                           "rounding and unused pieces of the allocator"});
  if (request.cache.ranks > 1) list.emplace_back("buffers of the communication between ranks");
}

}  // namespace

Result<ModelEstimate> estimate_model(const weights::ModelFiles& files, const ModelRequest& request) {
  auto architecture = read_architecture(files);
  if (!architecture) return architecture.error();
  const auto scheme = quantisation_of(files);
  const bool from_files = files.format != weights::FileFormat::none;
  auto weights = from_files ? weights_of_files(files, *architecture, scheme, request.weights)
                            : weights_of_config(*architecture, scheme, request.weights);
  if (!weights) return weights.error();
  auto cache = cache_of(*architecture, request.cache);
  if (!cache) return cache.error();

  ModelEstimate out;
  out.name = files.name;
  out.type = architecture->type;
  if (files.config) out.config_sha256 = files.config->sha256;
  out.weights = std::move(*weights);
  out.cache = std::move(*cache);
  out.cache_dtype = request.cache.dtype;
  out.files = files.files;
  const auto take = [](std::vector<std::string>& into, const std::vector<std::string>& from) {
    into.insert(into.end(), from.begin(), from.end());
  };
  take(out.contradictions, files.contradictions);
  take(out.contradictions, architecture->contradictions);
  take(out.contradictions, out.weights.contradictions);
  take(out.notes, files.notes);
  take(out.notes, architecture->notes);
  take(out.notes, out.weights.notes);
  if (!from_files && files.index_total_bytes && out.weights.tensor_bytes &&
      *files.index_total_bytes != *out.weights.tensor_bytes)
    out.contradictions.push_back(fmt::format("{} states a total_size of {} bytes and the configuration makes {}",
                                             weights::shown(*files.index_name), *files.index_total_bytes,
                                             *out.weights.tensor_bytes));
  if (out.weights.unstated_maximum > 0)
    out.notes.push_back(
        fmt::format("each packed tensor has a quant_state text of 81 to 172 bytes: {} to {} bytes more in "
                    "the files",
                    out.weights.unstated_minimum, out.weights.unstated_maximum));
  weight_figures(files, request, out);
  out.base.kv_bytes_per_token = out.cache.bytes_per_token;
  out.base.kv_bytes = out.cache.bytes;
  out.base.kv_bounds = out.cache.bounds;
  if (auto done = totals(request, out); !done) return done.error();
  not_included(request, out);
  if (request.boards) {
    if (request.cache.ranks > 1)
      return Error{ErrorCode::usage,
                   "--boards is about one device, and --tp splits the model over several whose split of "
                   "the weights is not worked out; leave one of them out"};
    if (auto done = variations(*architecture, request, out); !done) return done.error();
  }
  if (request.prompt_tokens) out.executed = executed(files, request, out);
  if (request.training)
    out.training =
        training_lines(*architecture, out.base.parameters.value, out.base.resident_bytes.value, *request.training);
  if (request.memory_bytes) {
    const auto other = out.base.resident_bytes.value.value_or(0) + request.reserve_bytes.value_or(0);
    out.concurrency = concurrency_of(out.cache, request.cache, *request.memory_bytes, other);
    if (request.cache.ranks > 1)
      out.notes.push_back(
          "the memory is one rank's and holds all weights: how an engine divides them is not worked out");
  }
  return out;
}

}  // namespace assay::estimate
