// SPDX-License-Identifier: Apache-2.0
// Weights from headers: every tensor is somewhere in the lines, loaded or with the reason why not.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suite/estimate/tensor_names.hpp"
#include "suite/estimate/weight_lines.hpp"
#include "suite/estimate/weights.hpp"
#include "suite/model/bytes.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

using weights::TensorRecord;
using weights::TypeKind;

class FileWeights {
 public:
  FileWeights(const weights::ModelFiles& files, const Architecture& a, const Quantisation& scheme,
              const WeightsRequest& request)
      : files_(files), a_(a), scheme_(scheme), request_(request), gguf_(files.format == weights::FileFormat::gguf) {}

  Result<WeightsEstimate> build() {
    layers_ = a_.layers_count ? *a_.layers_count - (gguf_ ? a_.mtp_layers : 0) : -1;
    const auto tensors = std::span(files_.tensors.all());
    const bool only_towers = std::all_of(tensors.begin(), tensors.end(), [&](const TensorRecord& tensor) {
      return named_as(tensor.name, tensor.rank, layers_, gguf_).group == Group::tower;
    });
    keep_towers_ = only_towers || request_.with.contains("towers") || a_.type == "clip";
    find_head();
    for (const auto& tensor : tensors)
      if (auto done = add(tensor); !done) return done.error();
    lines_.finish(out_);
    out_.from_files = true;
    std::int64_t file_bytes = 0;
    std::int64_t header_bytes = 0;
    for (const auto& file : files_.files) {
      // A header alone stands for the whole file it was taken from.
      const auto size = file.facts.data_missing ? file.facts.declared_bytes : file.facts.file_bytes;
      const auto sum = model::checked_add(file_bytes, size);
      if (!sum) return too_large();
      file_bytes = *sum;
      header_bytes += file.facts.header_bytes;
    }
    out_.file_bytes = file_bytes;
    out_.header_bytes = header_bytes;
    if (out_.parameters_reason.empty()) out_.parameters = parameters_;
    formats();
    compare();
    return std::move(out_);
  }

 private:
  static Error too_large() {
    return {ErrorCode::bad_input,
            "the tensors add up to more than 2^53 - 1 bytes, the largest integer a document can hold; check the files"};
  }

  // Whether a stored output head is a copy of the embedding that a loader ties.
  void find_head() {
    const TensorRecord* embedding = nullptr;
    for (const auto& tensor : files_.tensors.all()) {
      if (tensor.rank != 2) continue;
      const auto as = named_as(tensor.name, tensor.rank, layers_, gguf_);
      if (as.group == Group::embedding && is_embedding(tensor.name)) embedding = &tensor;
      if (as.group == Group::output_head) head_ = &tensor;
    }
    // llama.cpp loads an output tensor that is there; only transformers ties by the configuration.
    tied_copy_ = !gguf_ && head_ != nullptr && embedding != nullptr && a_.tied.value_or(false) &&
                 head_->bytes == embedding->bytes;
    if (head_ == nullptr && embedding != nullptr && !a_.encoder)
      out_.notes.push_back("the files hold no output head: it is the embedding, counted once");
    if (!gguf_ && head_ == nullptr && embedding != nullptr && a_.tied && !*a_.tied && !a_.encoder)
      out_.contradictions.push_back("the configuration does not tie the output head (" + a_.tied_source +
                                    ") and the files hold none");
  }

  Result<void> add(const TensorRecord& tensor) {
    const auto as = named_as(tensor.name, tensor.rank, layers_, gguf_);
    bool loaded = true;
    std::string why;
    if (as.group == Group::tower && !keep_towers_) {
      loaded = false;
      why = "a tower: a loader of the text model leaves it out (--with towers)";
    } else if (as.group == Group::prediction && !request_.with.contains("mtp")) {
      loaded = false;
      why = "multi-token prediction: most loaders leave it out (--with mtp)";
    } else if (as.group == Group::buffers && !gguf_ && !request_.with.contains("buffers")) {
      loaded = false;
      why = "a buffer that the model computes by itself";
    } else if (tied_copy_ && &tensor == head_) {
      loaded = false;
      why = "a copy of the tied embedding: " + a_.tied_source;
    }
    const auto kept = resident(tensor, as);
    if (!kept) return too_large();
    if (!lines_.add(as.group, as.part, tensor.type->name, 1, tensor.elements, tensor.bytes, *kept, loaded, why))
      return too_large();
    if (loaded && as.part == Part::weights && as.group != Group::buffers) count(tensor, as);
    if (as.part == Part::weights && loaded) by_dtype_[std::string(tensor.type->name)] += tensor.bytes;
    return {};
  }

  std::optional<std::int64_t> resident(const TensorRecord& tensor, const NamedAs& as) const {
    if (request_.dtype.empty()) return tensor.bytes;
    const auto* target = weights::safetensors_type(request_.dtype);
    const bool plain = tensor.type->kind == TypeKind::floating && as.part == Part::weights;
    // transformers unpacks a GGUF file's blocks into the dtype it is asked for.
    const bool unpacked = gguf_ && tensor.type->kind == TypeKind::block;
    return plain || unpacked ? model::checked_multiply(tensor.elements, target->block_bytes) : tensor.bytes;
  }

  const TensorRecord* sibling(const NamedAs& as, std::string_view suffix) const {
    return files_.tensors.find(std::string(as.module) + std::string(suffix));
  }
  void unknown_count(const TensorRecord& tensor, std::string_view what) {
    if (out_.parameters_reason.empty())
      out_.parameters_reason = fmt::format("tensor \"{}\" is packed, and {}", weights::shown(tensor.name), what);
  }
  void add_parameters(std::int64_t count) {
    const auto sum = model::checked_add(parameters_, count);
    if (sum)
      parameters_ = *sum;
    else
      out_.parameters_reason = "their number exceeds 2^53 - 1";
  }

  // Elements of the weight that a stored tensor stands for.
  void count(const TensorRecord& tensor, const NamedAs& as) {
    const auto shape = files_.tensors.shape(tensor);
    const auto type = tensor.type->name;
    const bool words = type == "I32" || type == "U32";
    const std::int64_t last = shape.empty() ? 1 : shape[shape.size() - 1];
    std::int64_t bits = scheme_.bits;
    std::int64_t group = scheme_.group;
    if (const auto own = scheme_.own.find(as.module); own != scheme_.own.end()) std::tie(bits, group) = own->second;
    if (gguf_) return add_parameters(tensor.elements);
    if (words && tensor.name.ends_with(".qweight") && shape.size() == 2) {
      const auto* scales = sibling(as, ".scales");
      const auto* index = sibling(as, ".g_idx");
      const bool awq =
          index == nullptr && scales != nullptr && scales->rank == 2 && files_.tensors.shape(*scales)[1] != last;
      if (awq) {
        const auto in = model::checked_multiply(shape[0], files_.tensors.shape(*scales)[1]);
        return in ? add_parameters(*in) : unknown_count(tensor, "its shape is too large");
      }
      std::int64_t in = 0;
      if (index != nullptr)
        in = index->elements;
      else if (scheme_.method == Method::gptq && shape[0] < (1LL << 40))
        in = shape[0] * 32 / bits;
      const auto all = in > 0 ? model::checked_multiply(in, last) : std::nullopt;
      return all ? add_parameters(*all) : unknown_count(tensor, "neither g_idx nor a configuration says by how much");
    }
    if (words && tensor.name.ends_with(".weight")) {
      const auto* scales = sibling(as, ".scales");
      if (scales != nullptr && scheme_.method == Method::mlx && bits > 0 && tensor.elements < (1LL << 50))
        return add_parameters(tensor.elements * 32 / bits);
      return unknown_count(tensor, "no configuration says by how much");
    }
    if (tensor.name.ends_with(".weight_packed")) {
      if (type == "U8") return add_parameters(2 * std::min(tensor.elements, std::int64_t{1} << 51));
      if (scheme_.method == Method::packed && tensor.elements < (1LL << 50))
        return add_parameters(tensor.elements * 32 / bits);
      return unknown_count(tensor, "no configuration says by how much");
    }
    if (type == "U8") {
      const bool halves = tensor.name.ends_with("_blocks") || sibling(as, ".weight.absmax") != nullptr ||
                          sibling(as, ".weight_scale") != nullptr;
      if (halves) return add_parameters(2 * std::min(tensor.elements, std::int64_t{1} << 51));
      return unknown_count(tensor, "nothing beside it says by how much");
    }
    if (words || type == "I64" || type == "U64" || type == "BOOL" || type == "I16" || type == "U16") return;
    add_parameters(tensor.elements);
  }

  void formats() {
    std::string names;
    for (const auto& [name, bytes] : by_dtype_) names += (names.empty() ? "" : " + ") + name;
    out_.storage = scheme_.method == Method::none ? names : scheme_.words + " (" + names + ")";
    const bool loaded_as = !request_.dtype.empty();
    const auto stated = scheme_.compute.empty() ? a_.dtype : scheme_.compute;
    out_.compute = loaded_as ? request_.dtype : stated;
    if (out_.compute.empty()) out_.compute = by_dtype_.size() == 1 ? by_dtype_.begin()->first : "unknown";
    const bool plain = by_dtype_.size() == 1 && scheme_.method == Method::none && !gguf_;
    if (plain && !a_.dtype.empty() && by_dtype_.begin()->first != a_.dtype)
      out_.contradictions.push_back(
          fmt::format("the configuration says {} and the files hold {}: the bytes are those of "
                      "the files, --dtype loads them in another",
                      a_.dtype, by_dtype_.begin()->first));
  }

  // Against the configuration: the same model?
  void compare() {
    if (gguf_ || !a_.layers_count) return;
    std::int64_t most = -1;
    for (const auto& tensor : files_.tensors.all()) {
      const auto as = named_as(tensor.name, tensor.rank, -1, false);
      if (as.group != Group::tower && as.group != Group::prediction) most = std::max(most, as.layer);
    }
    if (most >= 0 && most + 1 < *a_.layers_count)
      out_.contradictions.push_back(
          fmt::format("the configuration says {} layers and the files hold {}", *a_.layers_count, most + 1));
    const auto expected = expected_tensors(a_);
    if (!expected.missing.empty() || !out_.parameters || files_.config == std::nullopt) return;
    std::int64_t parameters = 0;
    for (const auto& tensor : expected.loaded) {
      const auto one = model::checked_multiply(tensor.rows, tensor.columns);
      const auto all = one ? model::checked_multiply(*one, tensor.copies) : std::nullopt;
      const auto sum = all ? model::checked_add(parameters, *all) : std::nullopt;
      if (!sum) return;
      parameters = *sum;
      const auto active = tensor.copies > 1 ? std::min(tensor.active, tensor.copies) : 1;
      active_ += *one * active;
    }
    if (parameters == *out_.parameters && a_.mixture) out_.active_parameters = active_;
    const bool head_in_files = head_ != nullptr && !tied_copy_;
    if (parameters != *out_.parameters && head_in_files == !a_.tied.value_or(true))
      out_.contradictions.push_back(fmt::format(
          "the configuration's dimensions make {} parameters and the files hold {}", parameters, *out_.parameters));
  }

  const weights::ModelFiles& files_;
  const Architecture& a_;
  const Quantisation& scheme_;
  const WeightsRequest& request_;
  bool gguf_;
  bool keep_towers_ = false;
  bool tied_copy_ = false;
  std::int64_t layers_ = -1;
  const TensorRecord* head_ = nullptr;
  std::int64_t parameters_ = 0;
  std::int64_t active_ = 0;
  std::map<std::string, std::int64_t> by_dtype_;
  WeightLines lines_;
  WeightsEstimate out_;
};

}  // namespace

Result<WeightsEstimate> weights_of_files(const weights::ModelFiles& files, const Architecture& architecture,
                                         const Quantisation& scheme, const WeightsRequest& request) {
  auto out = FileWeights(files, architecture, scheme, request).build();
  if (out && files.index_total_parameters && out->parameters && *files.index_total_parameters != *out->parameters)
    out->contradictions.push_back(fmt::format("the index states {} parameters and the headers make {}",
                                              *files.index_total_parameters, *out->parameters));
  return out;
}

}  // namespace assay::estimate
