// SPDX-License-Identifier: Apache-2.0
// Reading the words of a dozen quantisers, then their byte layouts.
#include "suite/estimate/quantisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/model/bytes.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::optional<std::int64_t> number(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer()) return std::nullopt;
  const auto value = at->get<std::int64_t>();
  return value >= -1 && value <= (1 << 24) ? std::optional(value) : std::nullopt;
}
bool flag(const Json& object, const char* key, bool fallback = false) {
  const auto at = object.find(key);
  return at != object.end() && at->is_boolean() ? at->get<bool>() : fallback;
}
void add_skipped(const Json& object, const char* key, Quantisation& out) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_array()) return;
  for (const auto& item : *at)
    if (item.is_string()) out.skipped.push_back(item.get<std::string>());
}

std::string groups(std::int64_t group) {
  return group > 0 ? fmt::format("groups of {}", group) : std::string("one group a row");
}

Quantisation unknown_scheme(std::string_view method) {
  Quantisation out;
  out.method = Method::unknown;
  out.words = fmt::format("quantised by \"{}\", whose layout is not known", weights::shown(method, 40));
  return out;
}

Quantisation bitsandbytes(const Json& q) {
  Quantisation out;
  out.output_head = false;
  add_skipped(q, "llm_int8_skip_modules", out);
  if (flag(q, "load_in_8bit") || flag(q, "_load_in_8bit")) {
    out.method = Method::int8;
    out.bits = 8;
    out.words = "bitsandbytes int8";
    return out;
  }
  out.method = Method::nf4;
  out.bits = 4;
  out.group = 64;
  out.double_quant = flag(q, "bnb_4bit_use_double_quant");
  const auto type = text(q, "bnb_4bit_quant_type");
  out.words = fmt::format("bitsandbytes {}{}", type.empty() ? "fp4" : weights::shown(type, 10),
                          out.double_quant ? ", absmax quantised again" : "");
  out.compute = text(q, "bnb_4bit_compute_dtype");
  return out;
}

Quantisation gptq_or_awq(const Json& q, bool awq) {
  Quantisation out;
  out.method = awq ? Method::awq : Method::gptq;
  out.bits = number(q, "bits").value_or(number(q, "w_bit").value_or(4));
  out.group = number(q, "group_size").value_or(number(q, "q_group_size").value_or(awq ? 128 : -1));
  if (out.group == 0) out.group = -1;
  if (out.bits < 2 || out.bits > 8) return unknown_scheme(fmt::format("{} bits", out.bits));
  out.symmetric = flag(q, "sym", !awq);
  // AutoGPTQ itself; optimum and GPTQModel state a format, a writer or a backend, and keep the layer's own biases.
  out.zero_bias = !awq && !q.contains("meta") && !q.contains("checkpoint_format") && !q.contains("quantizer") &&
                  !q.contains("backend");
  out.output_head = flag(q, "lm_head");
  add_skipped(q, "modules_to_not_convert", out);
  out.words = fmt::format("{}, {} bits, {}", awq ? "AWQ" : "GPTQ", out.bits, groups(out.group));
  return out;
}

Quantisation fp8(const Json& q) {
  Quantisation out;
  out.method = Method::fp8;
  out.bits = 8;
  const auto block = q.find("weight_block_size");
  if (block != q.end() && block->is_array() && block->size() == 2 && block->at(0).is_number_unsigned() &&
      block->at(1).is_number_unsigned()) {
    out.block_rows = block->at(0).get<std::int64_t>();
    out.block_columns = block->at(1).get<std::int64_t>();
  }
  if (out.block_rows <= 0 || out.block_columns <= 0) out.block_rows = out.block_columns = 0;
  out.static_input = text(q, "activation_scheme") == "static";
  add_skipped(q, "modules_to_not_convert", out);
  add_skipped(q, "ignored_layers", out);
  out.words = out.block_rows > 0 ? fmt::format("FP8, a scale for each {} x {}", out.block_rows, out.block_columns)
                                 : std::string("FP8, one scale a matrix");
  return out;
}

Quantisation compressed_tensors(const Json& q) {
  const auto all = q.find("config_groups");
  if (all == q.end() || !all->is_object() || all->size() != 1 || !all->front().is_object())
    return unknown_scheme("compressed-tensors");
  const auto& group = all->front();
  const auto at = group.find("weights");
  if (at == group.end() || !at->is_object()) return unknown_scheme("compressed-tensors");
  Quantisation out;
  add_skipped(q, "ignore", out);
  out.bits = number(*at, "num_bits").value_or(0);
  out.group = number(*at, "group_size").value_or(-1);
  out.symmetric = flag(*at, "symmetric", true);
  const auto format = text(q, "format");
  if (format == "pack-quantized" && (out.bits == 4 || out.bits == 8)) {
    out.method = Method::packed;
    out.words = fmt::format("compressed-tensors, {} bits packed in I32, {}", out.bits, groups(out.group));
  } else {
    return unknown_scheme("compressed-tensors " + format);
  }
  return out;
}

Quantisation mlx(const Json& q) {
  Quantisation out;
  out.method = Method::mlx;
  out.bits = number(q, "bits").value_or(4);
  out.group = number(q, "group_size").value_or(64);
  out.output_head = true;
  if (out.bits < 2 || out.bits > 8 || out.group <= 0) return unknown_scheme("mlx");
  for (const auto& [key, value] : q.items()) {
    if (value.is_boolean() && !value.get<bool>()) out.skipped.push_back(key);
    if (!value.is_object()) continue;
    out.own.emplace(
        key, std::pair(number(value, "bits").value_or(out.bits), number(value, "group_size").value_or(out.group)));
  }
  out.words = fmt::format("MLX, {} bits, {}", out.bits, groups(out.group));
  return out;
}

Quantisation modelopt(const Json& q) {
  const auto algorithm = text(q, "quant_algo");
  Quantisation out;
  if (algorithm == "FP8") {
    out = fp8(Json::object());
    out.static_input = true;
  } else if (algorithm == "NVFP4") {
    out.method = Method::nvfp4;
    out.bits = 4;
    out.group = number(q, "group_size").value_or(16);
    out.words = "NVFP4, a scale for each 16";
  } else {
    return unknown_scheme("modelopt " + algorithm);
  }
  add_skipped(q, "exclude_modules", out);
  add_skipped(q, "ignore", out);
  out.cache = text(q, "kv_cache_quant_algo") == "FP8" ? "fp8" : "";
  return out;
}

Quantisation of_object(const Json& q) {
  const auto method = text(q, "quant_method");
  if (method == "bitsandbytes" || q.contains("load_in_4bit") || q.contains("load_in_8bit")) return bitsandbytes(q);
  if (method == "gptq" || method == "awq") return gptq_or_awq(q, method == "awq");
  if (method == "fp8" || method == "fbgemm_fp8") return fp8(q);
  if (method == "modelopt") return modelopt(q);
  if (method == "compressed-tensors") return compressed_tensors(q);
  if (method == "mxfp4") {
    Quantisation out;
    out.method = Method::mxfp4;
    out.bits = 4;
    out.group = 32;
    add_skipped(q, "modules_to_not_convert", out);
    out.words = "MXFP4, a scale for each 32";
    return out;
  }
  if (method.empty() && q.contains("bits")) return gptq_or_awq(q, false);
  return unknown_scheme(method);
}

bool glob(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= name.size(); ++i)
    if (glob(rest, name.substr(i))) return true;
  return false;
}

// A regular expression of the simple kind that configurations hold, as a pattern with "*".
std::string as_glob(std::string expression) {
  std::string out;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '\\') continue;
    if (expression.compare(i, 2, ".*") == 0) {
      out += '*';
      ++i;
    } else if (expression[i] != '^' && expression[i] != '$') {
      out += expression[i];
    }
  }
  return out;
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  return model::checked_multiply(a, b);
}

constexpr std::int64_t over(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace

Quantisation quantisation_of(const weights::ModelFiles& files) {
  if (files.config) {
    const auto& tree = *files.config->tree;
    for (const auto* object : {&tree, tree.contains("text_config") ? &tree.at("text_config") : nullptr}) {
      if (object == nullptr || !object->is_object()) continue;
      if (const auto at = object->find("quantization_config"); at != object->end() && at->is_object()) {
        // MLX writes its own words under both names.
        if (!at->contains("quant_method") && object->contains("quantization")) return mlx(*at);
        return of_object(*at);
      }
      if (const auto at = object->find("quantization"); at != object->end() && at->is_object()) return mlx(*at);
    }
  }
  if (files.quantize) {
    const auto& tree = *files.quantize->tree;
    if (const auto at = tree.find("quantization"); at != tree.end() && at->is_object()) return modelopt(*at);
    if (tree.contains("bits") || tree.contains("w_bit"))
      return gptq_or_awq(tree, tree.contains("w_bit") || text(tree, "quant_method") == "awq");
  }
  return {};
}

bool is_skipped(const Quantisation& scheme, std::string_view module) {
  const auto inside = "." + std::string(module) + ".";
  for (const auto& entry : scheme.skipped) {
    const bool expression = entry.starts_with("re:");
    const auto pattern = expression ? as_glob(entry.substr(3)) : entry;
    if (pattern.empty()) continue;
    if (pattern.find('*') != std::string::npos) {
      if (glob(pattern, module) || glob(pattern + ".*", module)) return true;
    } else if (inside.find("." + pattern + ".") != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string_view to_text(Part part) {
  constexpr std::string_view kWords[] = {"weights",   "scales",      "zeros",       "absmax",
                                         "codebooks", "group index", "quant state", "biases"};
  return kWords[static_cast<std::size_t>(part)];
}

std::vector<StoredPart> stored_parts(const Quantisation& scheme, std::string_view module, std::int64_t rows,
                                     std::int64_t columns, std::string_view dtype, std::int64_t element_bytes) {
  std::vector<StoredPart> out;
  bool overflow = false;
  const auto count = product(rows, columns);
  if (!count || *count > (1LL << 50)) return out;
  const auto n = *count;
  const auto add = [&](Part part, std::string_view type, std::int64_t elements, std::int64_t bytes) {
    const auto total = product(elements, bytes);
    if (!total) overflow = true;
    out.push_back({part, std::string(type), total.value_or(0)});
  };
  auto bits = scheme.bits;
  auto group = scheme.group;
  if (const auto own = scheme.own.find(module); own != scheme.own.end()) std::tie(bits, group) = own->second;
  if (bits <= 0) return {};
  const auto groups_in = group > 0 ? over(columns, group) : 1;
  switch (scheme.method) {
    case Method::nf4: {
      add(Part::weights, "U8", over(n, 2), 1);
      const auto blocks = over(n, 64);
      if (scheme.double_quant) {
        add(Part::absmax, "U8", blocks, 1);
        add(Part::absmax, "F32", over(blocks, 256), 4);
        add(Part::codebook, "F32", 256, 4);
      } else {
        add(Part::absmax, "F32", blocks, 4);
      }
      add(Part::codebook, "F32", 16, 4);
      break;
    }
    case Method::int8:
      add(Part::weights, "I8", n, 1);
      add(Part::scales, "F32", rows, 4);
      add(Part::quant_state, "U8", 1, 1);
      break;
    case Method::gptq:
      add(Part::weights, "I32", over(columns * bits, 32) * rows, 4);
      add(Part::zeros, "I32", groups_in * over(rows * bits, 32), 4);
      add(Part::scales, "F16", groups_in * rows, 2);
      add(Part::group_index, "I32", columns, 4);
      if (scheme.zero_bias) add(Part::bias, "F16", rows, 2);
      break;
    case Method::awq:
      add(Part::weights, "I32", columns * over(rows * bits, 32), 4);
      add(Part::zeros, "I32", groups_in * over(rows * bits, 32), 4);
      add(Part::scales, "F16", groups_in * rows, 2);
      break;
    case Method::fp8:
      add(Part::weights, "F8_E4M3", n, 1);
      add(Part::scales, "F32",
          scheme.block_rows > 0 ? over(rows, scheme.block_rows) * over(columns, scheme.block_columns) : 1, 4);
      if (scheme.static_input) add(Part::scales, "F32", 1, 4);
      break;
    case Method::mxfp4:
      add(Part::weights, "U8", over(n, 2), 1);
      add(Part::scales, "U8", over(n, 32), 1);
      break;
    case Method::nvfp4:
      add(Part::weights, "U8", over(n, 2), 1);
      add(Part::scales, "F8_E4M3", over(n, group > 0 ? group : 16), 1);
      add(Part::scales, "F32", 2, 4);
      break;
    case Method::mlx:
      add(Part::weights, "U32", over(columns * bits, 32) * rows, 4);
      add(Part::scales, dtype, groups_in * rows, element_bytes);
      add(Part::zeros, dtype, groups_in * rows, element_bytes);
      break;
    case Method::packed:
      add(Part::weights, "I32", over(columns * bits, 32) * rows, 4);
      add(Part::scales, dtype, groups_in * rows, element_bytes);
      if (!scheme.symmetric) add(Part::zeros, "I32", over(rows * bits, 32) * groups_in, 4);
      add(Part::quant_state, "I64", 2, 8);
      break;
    case Method::none:
    case Method::unknown:
      break;
  }
  return overflow ? std::vector<StoredPart>{} : out;
}

}  // namespace assay::estimate
