// SPDX-License-Identifier: Apache-2.0
// The estimate of a model as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/estimate/figure_print.hpp"
#include "suite/estimate/model_estimate.hpp"
#include "suite/report/format.hpp"
#include "suite/report/table.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

using Json = nlohmann::ordered_json;

void lines_table(std::string& out, const ModelEstimate& e) {
  report::Table table({"weights", "part", "dtype", ">tensors", ">in the files", ">resident"});
  for (const auto& line : e.weights.lines)
    table.add({std::string(to_text(line.group)), std::string(to_text(line.part)), line.dtype,
               fmt::format("{}", line.tensors), fmt::format("{}", line.file_bytes),
               line.loaded ? fmt::format("{}", line.resident_bytes) : std::string("not loaded")});
  if (!table.empty()) out += '\n' + table.text("  ");
  std::string last;
  for (const auto& line : e.weights.lines) {
    if (line.loaded || line.why == last) continue;
    out += report::wrapped(fmt::format("{} not loaded: {}.", to_text(line.group), line.why), "  ", "    ");
    last = line.why;
  }
}

std::string room_text(std::optional<std::int64_t> room) {
  if (!room) return "unknown";
  const auto hundredths = (*room < 0 ? -*room : *room) / 10'000'000;
  return fmt::format("{}{}.{:02} GB", *room < 0 ? "-" : "", hundredths / 100, hundredths % 100);
}

void boards_table(std::string& out, const ModelEstimate& e) {
  if (e.boards.empty()) return;
  report::Table table({"room left on one board", ">nominal", ">as stated", ">input x 2", ">batch x 2"});
  for (const auto& entry : e.boards)
    table.add({std::string(entry.board.name), fmt::format("{} GB", entry.board.nominal_gb),
               room_text(entry.room_bytes[0]), room_text(entry.room_bytes[1]), room_text(entry.room_bytes[2])});
  out += '\n' + table.text("  ");
  for (const auto& variation : e.variations)
    if (!variation.need_bytes.value)
      out +=
          report::wrapped(fmt::format("{}: unknown, {}.", variation.name, variation.need_bytes.reason), "  ", "    ");
  out += report::wrapped(
      "Capacities are nominal (1 GB = 10^9 bytes); each board's source stands in --json. No load was "
      "tested: what is not included below comes on top.",
      "  ", "    ");
}

Json boards_json(const ModelEstimate& e) {
  Json out = Json::array();
  for (const auto& entry : e.boards) {
    Json board{{"name", entry.board.name},
               {"vendor", entry.board.vendor},
               {"capacity_bytes", entry.capacity_bytes},
               {"source", entry.board.source},
               {"basis", "assumed"}};
    for (std::size_t i = 0; i < e.variations.size(); ++i)
      board["room_bytes"][e.variations[i].name] = entry.room_bytes[i] ? Json(*entry.room_bytes[i]) : Json(nullptr);
    out.push_back(std::move(board));
  }
  return out;
}

template <class List>
Json figures_json(const List& list, Figure List::value_type::*figure) {
  Json out = Json::array();
  for (const auto& item : list) {
    Json entry{{"name", item.name}};
    put_member(entry, "bytes", item.*figure);
    out.push_back(std::move(entry));
  }
  return out;
}

void sentences(std::string& out, const char* title, const std::vector<std::string>& list) {
  for (const auto& item : list) out += report::wrapped(item + ".", title, "  ");
}

Json concurrency_json(const Concurrency& c) {
  Json out;
  put_member(out, "available_bytes", c.available_bytes);
  put_member(out, "blocks", c.blocks);
  put_member(out, "tokens", c.tokens);
  put_member(out, "sequences", c.sequences);
  put_member(out, "hundredths", c.hundredths);
  return out;
}

Json lines_json(const WeightsEstimate& weights) {
  Json out = Json::array();
  for (const auto& line : weights.lines) {
    Json entry{{"group", to_text(line.group)}, {"part", to_text(line.part)},    {"dtype", line.dtype},
               {"tensors", line.tensors},      {"file_bytes", line.file_bytes}, {"resident_bytes", line.resident_bytes},
               {"loaded", line.loaded}};
    if (!line.loaded) entry["why"] = line.why;
    out.push_back(std::move(entry));
  }
  return out;
}

Json files_json(const ModelEstimate& e) {
  Json out = Json::array();
  for (const auto& file : e.files)
    out.push_back({{"name", weights::shown(file.name, 255)},
                   {"file_bytes", file.facts.file_bytes},
                   {"header_bytes", file.facts.header_bytes},
                   {"tensor_bytes", file.facts.tensor_bytes},
                   {"declared_bytes", file.facts.declared_bytes},
                   {"data_missing", file.facts.data_missing}});
  return out;
}

Json runs_json(const CacheEstimate& cache) {
  Json out = Json::array();
  for (const auto& run : cache.runs) {
    Json entry{{"kind", run.kind}, {"layers", run.layers}};
    entry["bytes_per_token"] = run.bytes_per_token ? Json(*run.bytes_per_token) : Json(nullptr);
    if (run.state_bytes) entry["state_bytes_per_sequence"] = *run.state_bytes;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::string to_text(const ModelEstimate& e) {
  std::string out =
      fmt::format("{} ({})\n", weights::shown(e.name), e.type.empty() ? "no model type" : weights::shown(e.type));
  out +=
      fmt::format("Storage {}; arithmetic {}; cache {}\n\n", e.weights.storage.empty() ? "unknown" : e.weights.storage,
                  e.weights.compute.empty() ? "unknown" : e.weights.compute, e.cache_dtype);
  const auto& b = e.base;
  put_line(out, "Parameters", b.parameters, false);
  if (e.active_parameters.value) put_line(out, "Active parameters", e.active_parameters, false);
  put_line(out, "Files", b.file_bytes);
  put_line(out, "Tensors", b.tensor_bytes);
  put_line(out, "Resident weights", b.resident_bytes);
  if (e.loading_minimum.value) put_line(out, "While loading, at least", e.loading_minimum);
  if (e.loading_maximum.value) put_line(out, "While loading, at most", e.loading_maximum);
  lines_table(out, e);
  out += '\n';
  put_line(out, "KV cache per token", b.kv_bytes_per_token);
  for (const auto& run : e.cache.runs)
    out += fmt::format("{:<26}{} layers: {}{}\n", "", run.layers, run.kind,
                       run.bytes_per_token && *run.bytes_per_token > 0
                           ? fmt::format(", {} bytes a token each", *run.bytes_per_token)
                           : std::string());
  for (const auto& bound : b.kv_bounds) {
    out += report::wrapped("bound: " + bound.name, "", "  ");
    put_line(out, "  per token", bound.bytes_per_token);
    put_line(out, "  per sequence", bound.bytes_per_sequence);
  }
  put_line(out, "KV cache, all sequences", b.kv_bytes);
  if (e.cache.state_bytes.value.value_or(1) > 0) {
    put_line(out, "State per sequence", e.cache.state_bytes_per_sequence);
    put_line(out, "State, all sequences", e.cache.state_bytes);
  }
  if (e.cache.rank_bytes_per_token) {
    put_line(out, "KV per token, one rank", *e.cache.rank_bytes_per_token);
    put_line(out, "KV, one rank", *e.cache.rank_bytes);
  }
  put_line(out, "Need (a lower bound)", b.total_bytes);
  if (b.reserve_bytes) {
    put_line(out, "Reserve (your assumption)", *b.reserve_bytes);
    if (b.total_with_reserve_bytes) put_line(out, "With the reserve", *b.total_with_reserve_bytes);
  }
  if (e.concurrency) {
    out += '\n';
    put_line(out, "Left for the cache", e.concurrency->available_bytes);
    put_line(out, "Blocks", e.concurrency->blocks, false);
    put_line(out, "Tokens", e.concurrency->tokens, false);
    put_line(out, "Whole sequences", e.concurrency->sequences, false);
    put_line(out, "Concurrency x 100", e.concurrency->hundredths, false);
  }
  if (!e.training.empty()) out += "\nTraining, one rank (nothing of it is executed here)\n";
  for (const auto& line : e.training) {
    out += line.name + '\n';
    put_line(out, "", line.bytes);
  }
  if (!e.executed.empty()) out += "\nAs assay measure executes it (requested bytes, exact)\n";
  for (const auto& line : e.executed)
    out += line.bytes.value ? fmt::format("  {:<32}{}\n", line.name, report::bytes_both(*line.bytes.value))
                            : report::wrapped(line.name + " unknown: " + line.bytes.reason, "  ", "    ");
  boards_table(out, e);
  out += '\n';
  sentences(out, "Contradiction: ", e.contradictions);
  sentences(out, "Note: ", e.notes);
  std::string lacking;
  for (const auto& item : b.not_included) lacking += (lacking.empty() ? "" : ", ") + item;
  out += report::wrapped(lacking + ".", "Not included: ", "  ");
  return out;
}

std::string to_json(const ModelEstimate& e) {
  Json root;
  root["model"] = weights::shown(e.name, 255);
  root["model_type"] = weights::shown(e.type, 80);
  if (!e.config_sha256.empty()) root["config_sha256"] = e.config_sha256;
  put_estimate(root, e.base);
  put_member(root, "active_parameters", e.active_parameters);
  auto& weights = root["weights"];
  put_member(weights, "header_bytes", e.header_bytes);
  put_member(weights, "loading_minimum_bytes", e.loading_minimum);
  put_member(weights, "loading_maximum_bytes", e.loading_maximum);
  weights["tensors"] = e.weights.tensors;
  weights["storage_format"] = e.weights.storage.empty() ? "unknown" : e.weights.storage;
  weights["compute_format"] = e.weights.compute.empty() ? "unknown" : e.weights.compute;
  weights["from_files"] = e.weights.from_files;
  weights["lines"] = lines_json(e.weights);
  weights["files"] = files_json(e);
  if (e.weights.unstated_maximum > 0)
    weights["unstated_bytes"] = {{"minimum", e.weights.unstated_minimum}, {"maximum", e.weights.unstated_maximum}};
  auto& cache = root["kv_cache"];
  cache["dtype"] = e.cache_dtype;
  cache["layers"] = runs_json(e.cache);
  put_member(cache, "state_bytes_per_sequence", e.cache.state_bytes_per_sequence);
  put_member(cache, "state_bytes", e.cache.state_bytes);
  if (e.cache.rank_bytes_per_token) {
    auto& rank = cache["per_rank"];
    put_member(rank, "bytes_per_token", *e.cache.rank_bytes_per_token);
    put_member(rank, "bytes", *e.cache.rank_bytes);
    put_member(rank, "state_bytes", *e.cache.rank_state_bytes);
  }
  if (e.concurrency) root["concurrency"] = concurrency_json(*e.concurrency);
  if (!e.training.empty()) root["training"] = figures_json(e.training, &TrainingLine::bytes);
  if (!e.executed.empty()) root["executed"] = figures_json(e.executed, &ExecutedLine::bytes);
  if (!e.boards.empty()) {
    root["variations"] = figures_json(e.variations, &Variation::need_bytes);
    root["boards"] = boards_json(e);
  }
  root["contradictions"] = e.contradictions;
  root["notes"] = e.notes;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace assay::estimate
