// SPDX-License-Identifier: Apache-2.0
// Weights without weight files: the tensor list of the architecture in the storage the configuration states.
#include <fmt/format.h>

#include <algorithm>

#include "suite/estimate/weight_lines.hpp"
#include "suite/estimate/weights.hpp"
#include "suite/model/bytes.hpp"
#include "suite/weights/tensor_type.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

// Whether this scheme packs the tensor.
bool is_packed(const Quantisation& scheme, const ExpectedTensor& tensor) {
  if (scheme.method == Method::none || scheme.method == Method::unknown) return false;
  const bool embedding = tensor.group == Group::embedding && scheme.method == Method::mlx;
  if (!tensor.matrix && !embedding) return false;
  if (scheme.method == Method::mxfp4) return tensor.group == Group::experts;
  if (tensor.group == Group::output_head && !scheme.output_head) return false;
  // bitsandbytes and MLX replace every linear layer; the others leave the small matrix that chooses experts.
  const bool everything = scheme.method == Method::nf4 || scheme.method == Method::int8 || scheme.method == Method::mlx;
  if (tensor.group == Group::router && !everything) return false;
  const auto module = std::string_view(tensor.name).substr(0, tensor.name.rfind(".weight"));
  return !is_skipped(scheme, module);
}

struct Totals {
  std::int64_t parameters = 0;
  std::int64_t active = 0;
};

bool add_tensor(const ExpectedTensor& tensor, const Quantisation& scheme, const weights::TensorType& plain,
                const char* plain_name, bool loaded, WeightLines& lines, Totals& totals) {
  const auto one = checked_multiply(tensor.rows, tensor.columns);
  const auto all = one ? checked_multiply(*one, tensor.copies) : std::nullopt;
  const auto sum = all ? checked_add(totals.parameters, *all) : std::nullopt;
  if (!sum) return false;
  if (loaded) {
    totals.parameters = *sum;
    // The embedding's rows are looked up, not computed with, but they are the token's all the same.
    totals.active += *one * (tensor.copies > 1 ? std::min(tensor.active, tensor.copies) : 1);
  }
  const auto why = loaded ? std::string() : std::string("multi-token prediction: in published files, not loaded");
  const auto group = loaded ? tensor.group : Group::prediction;
  if (!is_packed(scheme, tensor)) {
    const auto bytes = checked_multiply(*all, tensor.always_f32 ? 4 : plain.block_bytes);
    return bytes && lines.add(group, Part::weights, tensor.always_f32 ? "F32" : plain_name, tensor.copies, *all, *bytes,
                              *bytes, loaded, why);
  }
  const auto module = std::string_view(tensor.name).substr(0, tensor.name.rfind(".weight"));
  const auto parts = stored_parts(scheme, module, tensor.rows, tensor.columns, plain_name, plain.block_bytes);
  if (parts.empty()) return false;
  // gpt-oss keeps the experts of a layer in one tensor.
  const bool one_tensor = scheme.method == Method::mxfp4;
  for (const auto& part : parts) {
    const auto bytes = checked_multiply(part.bytes, tensor.copies);
    if (!bytes ||
        !lines.add(group, part.part, part.dtype, one_tensor ? 1 : tensor.copies, 0, *bytes, *bytes, loaded, why))
      return false;
  }
  return true;
}

}  // namespace

Result<WeightsEstimate> weights_of_config(const Architecture& a, const Quantisation& scheme,
                                          const WeightsRequest& request) {
  WeightsEstimate out;
  const auto expected = expected_tensors(a);
  if (!expected.missing.empty()) {
    out.reason = out.parameters_reason = expected.missing;
    return out;
  }
  std::string dtype = request.dtype.empty() ? a.dtype : request.dtype;
  if (dtype.empty()) {
    dtype = "BF16";
    out.notes.push_back("the configuration states no dtype: BF16 is assumed, --dtype says otherwise");
  }
  const auto* plain = weights::safetensors_type(dtype);
  if (plain == nullptr || plain->block_elements != 1)
    return Error{ErrorCode::usage, fmt::format("--dtype: {} is none of f32, f16, bf16", dtype)};
  WeightLines lines;
  Totals totals;
  bool fits = true;
  for (const auto& tensor : expected.loaded) {
    fits = fits && add_tensor(tensor, scheme, *plain, dtype.c_str(), true, lines, totals);
    if (scheme.method == Method::nf4 && is_packed(scheme, tensor)) {
      // The JSON text of one quant_state: 81 to 172 bytes in the files that were read.
      out.unstated_minimum += 81 * tensor.copies;
      out.unstated_maximum += 172 * tensor.copies;
    }
  }
  const bool with_prediction = request.with.contains("mtp");
  for (const auto& tensor : expected.prediction)
    fits = fits && add_tensor(tensor, scheme, *plain, dtype.c_str(), with_prediction, lines, totals);
  if (!fits)
    return Error{ErrorCode::bad_input,
                 "the total of the weights exceeds 2^53 - 1 bytes, the largest integer a document can hold; check the "
                 "dimensions of the configuration"};
  lines.finish(out);
  out.parameters = totals.parameters;
  if (a.mixture) out.active_parameters = totals.active;
  out.compute = scheme.compute.empty() ? dtype : scheme.compute;
  out.storage = scheme.method == Method::none ? dtype : scheme.words + ", the rest " + dtype;
  if (scheme.method == Method::unknown) {
    out.reason = "the weights are " + scheme.words;
    out.tensor_bytes = out.resident_bytes = std::nullopt;
    out.lines.clear();
  }
  if (scheme.method == Method::gptq && scheme.zero_bias)
    out.notes.push_back("a bias of zeros beside each packed matrix is counted, as AutoGPTQ writes them");
  if (scheme.method == Method::nvfp4 || scheme.method == Method::awq || scheme.method == Method::packed ||
      scheme.method == Method::mlx || scheme.method == Method::fp8)
    out.notes.push_back("the layout follows its writer's source; give the weight files for what lies in them");
  if (a.tied && *a.tied) out.notes.push_back("the output head is the embedding, counted once: " + a.tied_source);
  return out;
}

}  // namespace assay::estimate
