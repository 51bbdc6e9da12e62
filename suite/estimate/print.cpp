// SPDX-License-Identifier: Apache-2.0
// Estimates as text and as JSON.
#include "suite/estimate/print.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/estimate/figure_print.hpp"
#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::estimate {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void put_line(std::string& out, std::string_view label, const Figure& figure, bool bytes) {
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

void put_member(nlohmann::ordered_json& object, const char* name, const Figure& figure) {
  object[name] = figure.value ? Json(*figure.value) : Json(nullptr);
  object["formula"][name] = figure.formula;
  object["basis"][name] = report::to_text(figure.basis);
  if (figure.value)
    object["inputs"][name] = figure.numbers;
  else
    object["reason"][name] = figure.reason;
}

std::string to_text(const Estimate& e) {
  std::string out;
  if (e.parameters.value) {
    put_line(out, "Parameters", e.parameters, false);
    put_line(out, "Weights (a lower bound)", e.tensor_bytes);
  }
  if (e.kv_bytes_per_token.value) {
    put_line(out, "KV cache per token", e.kv_bytes_per_token);
    for (const auto& bound : e.kv_bounds)
      put_line(out, e.kv_bounds.size() == 1 ? "KV cache per sequence" : fmt::format("KV, {}", bound.name),
               bound.bytes_per_sequence);
    put_line(out, "KV cache, all sequences", e.kv_bytes);
  }
  put_line(out, "Need (a lower bound)", e.total_bytes);
  if (e.reserve_bytes) {
    out += '\n';
    put_line(out, "Reserve (your assumption)", *e.reserve_bytes);
    if (e.total_with_reserve_bytes) put_line(out, "With the reserve", *e.total_with_reserve_bytes);
  }
  std::string lacking;
  for (const auto& item : e.not_included) lacking += (lacking.empty() ? "" : ", ") + item;
  out += '\n' + report::wrapped(lacking + ".", "Not included: ", "  ");
  out += "A measurement (assay measure) shows what these take.\n";
  return out;
}

void put_estimate(nlohmann::ordered_json& root, const Estimate& e) {
  put_member(root, "parameters", e.parameters);
  Json weights;
  put_member(weights, "file_bytes", e.file_bytes);
  put_member(weights, "tensor_bytes", e.tensor_bytes);
  put_member(weights, "resident_bytes", e.resident_bytes);
  weights["lower_bound"] = true;
  root["weights"] = std::move(weights);
  Json cache;
  put_member(cache, "bytes_per_token", e.kv_bytes_per_token);
  put_member(cache, "bytes", e.kv_bytes);
  cache["bounds"] = Json::array();
  for (const auto& bound : e.kv_bounds) {
    Json entry;
    entry["name"] = bound.name;
    put_member(entry, "bytes_per_token", bound.bytes_per_token);
    put_member(entry, "bytes_per_sequence", bound.bytes_per_sequence);
    cache["bounds"].push_back(std::move(entry));
  }
  root["kv_cache"] = std::move(cache);
  put_member(root, "total_bytes", e.total_bytes);
  if (e.reserve_bytes) put_member(root, "reserve_bytes", *e.reserve_bytes);
  if (e.total_with_reserve_bytes) put_member(root, "total_with_reserve_bytes", *e.total_with_reserve_bytes);
  root["not_included"] = e.not_included;
}

std::string to_json(const Estimate& e) {
  Json root;
  put_estimate(root, e);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace assay::estimate
