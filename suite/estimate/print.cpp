// SPDX-License-Identifier: Apache-2.0
// Estimates as text and as JSON.
#include "suite/estimate/print.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::estimate {
namespace {

using Json = nlohmann::ordered_json;

void line(std::string& out, std::string_view label, const Figure& figure, bool bytes = true) {
  const auto value = !figure.value ? "unknown: " + figure.reason
                     : bytes       ? report::bytes_both(*figure.value)
                                   : fmt::format("{}", *figure.value);
  out += fmt::format("{:<26}{}", label, value);
  if (figure.value) out += fmt::format("  [{}]", report::to_text(figure.basis));
  out += '\n';
  if (!figure.value || figure.formula == "as given") return;
  out += report::wrapped(fmt::format("= {} = {}", figure.formula, figure.numbers), std::string(26, ' '),
                         std::string(28, ' '));
}

void put(Json& object, const char* name, const Figure& figure) {
  object[name] = figure.value ? Json(*figure.value) : Json(nullptr);
  object["formula"][name] = figure.formula;
  object["basis"][name] = report::to_text(figure.basis);
  if (figure.value)
    object["inputs"][name] = figure.numbers;
  else
    object["reason"][name] = figure.reason;
}

}  // namespace

std::string to_text(const Estimate& e) {
  std::string out;
  if (e.parameters.value) {
    line(out, "Parameters", e.parameters, false);
    line(out, "Weights (a lower bound)", e.tensor_bytes);
  }
  if (e.kv_bytes_per_token.value) {
    line(out, "KV cache per token", e.kv_bytes_per_token);
    for (const auto& bound : e.kv_bounds)
      line(out, e.kv_bounds.size() == 1 ? "KV cache per sequence" : fmt::format("KV, {}", bound.name),
           bound.bytes_per_sequence);
    line(out, "KV cache, all sequences", e.kv_bytes);
  }
  line(out, "Need (a lower bound)", e.total_bytes);
  if (e.reserve_bytes) {
    out += '\n';
    line(out, "Reserve (your assumption)", *e.reserve_bytes);
    if (e.total_with_reserve_bytes) line(out, "With the reserve", *e.total_with_reserve_bytes);
  }
  std::string lacking;
  for (const auto& item : e.not_included) lacking += (lacking.empty() ? "" : ", ") + item;
  out += '\n' + report::wrapped(lacking + ".", "Not included: ", "  ");
  out += "A measurement (assay measure) shows what these take.\n";
  return out;
}

std::string to_json(const Estimate& e) {
  Json root;
  put(root, "parameters", e.parameters);
  Json weights;
  put(weights, "file_bytes", e.file_bytes);
  put(weights, "tensor_bytes", e.tensor_bytes);
  put(weights, "resident_bytes", e.resident_bytes);
  weights["lower_bound"] = true;
  root["weights"] = std::move(weights);
  Json cache;
  put(cache, "bytes_per_token", e.kv_bytes_per_token);
  put(cache, "bytes", e.kv_bytes);
  cache["bounds"] = Json::array();
  for (const auto& bound : e.kv_bounds) {
    Json entry;
    entry["name"] = bound.name;
    put(entry, "bytes_per_token", bound.bytes_per_token);
    put(entry, "bytes_per_sequence", bound.bytes_per_sequence);
    cache["bounds"].push_back(std::move(entry));
  }
  root["kv_cache"] = std::move(cache);
  put(root, "total_bytes", e.total_bytes);
  if (e.reserve_bytes) put(root, "reserve_bytes", *e.reserve_bytes);
  if (e.total_with_reserve_bytes) put(root, "total_with_reserve_bytes", *e.total_with_reserve_bytes);
  root["not_included"] = e.not_included;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace assay::estimate
