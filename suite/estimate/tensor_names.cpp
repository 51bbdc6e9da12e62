// SPDX-License-Identifier: Apache-2.0
// Names of transformers, Mistral, MLX, llama.cpp, and of the quantisers' tensors beside a weight.
#include "suite/estimate/tensor_names.hpp"

#include <array>
#include <charconv>
#include <initializer_list>

namespace assay::estimate {
namespace {

bool any_of(std::string_view name, std::initializer_list<std::string_view> words) {
  for (const auto word : words)
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}
// Whether one of the dot-separated words of the name is among `words`.
bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  for (std::size_t at = 0; at <= name.size();) {
    const auto end = std::min(name.find('.', at), name.size());
    for (const auto word : words)
      if (name.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

struct Suffix {
  std::string_view text;
  Part part;
};
constexpr std::array<Suffix, 23> kSuffixes{{{".qweight", Part::weights},
                                            {".qzeros", Part::zeros},
                                            {".scales", Part::scales},
                                            {".g_idx", Part::group_index},
                                            {".weight_packed", Part::weights},
                                            {".weight_scale_inv", Part::scales},
                                            {".weight_scale_2", Part::scales},
                                            {".weight_scale", Part::scales},
                                            {".weight_global_scale", Part::scales},
                                            {".input_global_scale", Part::scales},
                                            {".input_scale", Part::scales},
                                            {".k_scale", Part::scales},
                                            {".v_scale", Part::scales},
                                            {".weight_zero_point", Part::zeros},
                                            {".weight_shape", Part::quant_state},
                                            {".weight_format", Part::quant_state},
                                            {".SCB", Part::scales},
                                            {".absmax", Part::absmax},
                                            {".nested_absmax", Part::absmax},
                                            {".quant_map", Part::codebook},
                                            {".nested_quant_map", Part::codebook},
                                            {".biases", Part::zeros},
                                            {"_scales", Part::scales}}};

std::int64_t layer_of(std::string_view name) {
  for (const std::string_view word : {"layers.", "blk.", "h.", "blocks.", "layer."}) {
    for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
      if (at > 0 && name[at - 1] != '.') continue;
      const auto digits = name.substr(at + word.size());
      std::int64_t value = 0;
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (failure == std::errc{} && value >= 0 && end != digits.data() &&
          (end == digits.data() + digits.size() || *end == '.'))
        return value;
    }
  }
  return -1;
}

Group group_of(std::string_view name) {
  if (is_output_head(name)) return Group::output_head;
  if (is_embedding(name) || any_of(name, {"wpe.", "embed_positions", "position_embd", "token_types", "embeddings."}))
    return Group::embedding;
  if (any_of(name, {"linear_attn.", ".mamba.", "ssm_", ".mixer.", "A_log", "conv1d", ".conv."})) {
    if (!any_of(name, {"norm"})) return Group::recurrent;
  }
  if (any_of(name, {"norm", "ln_", "layernorm", "LayerNorm"})) return Group::norms;
  if (any_of(name, {".experts.", "_exps", "block_sparse_moe.experts", "shared_expert.", "shared_experts.", "_shexp."}))
    return Group::experts;
  if (any_of(name, {".router", "mlp.gate.", "block_sparse_moe.gate.", "ffn_gate_inp", "shared_expert_gate",
                    "e_score_correction_bias", "exp_probs_b", "feed_forward.gate."}))
    return Group::router;
  if (any_of(name, {"attn", "attention", "query_key_value", "self_attn", ".wq.", ".wk.", ".wv.", ".wo."}))
    return Group::attention;
  if (any_of(name, {"mlp", "ffn", "feed_forward", "dense_h_to_4h", "dense_4h_to_h", "fc1", "fc2", "intermediate."}))
    return Group::feed_forward;
  return Group::other;
}

}  // namespace

bool is_embedding(std::string_view name) {
  return any_of(name, {"embed_tokens.", "wte.", "token_embd.", "tok_embeddings.", "word_embeddings."}) &&
         !any_of(name, {"norm"});
}

bool is_output_head(std::string_view name) {
  return name.starts_with("lm_head.") || name.find(".lm_head.") != std::string_view::npos ||
         name.starts_with("output.") || name.starts_with("embed_out.");
}

NamedAs named_as(std::string_view name, std::size_t rank, std::int64_t layers, bool gguf) {
  NamedAs out;
  out.module = name;
  if (name.find(".quant_state.") != std::string_view::npos) {
    out.part = Part::quant_state;
    out.module = name.substr(0, name.find(".quant_state."));
    if (out.module.ends_with(".weight")) out.module.remove_suffix(7);
  } else {
    bool found = false;
    for (const auto& suffix : kSuffixes) {
      if (gguf || !name.ends_with(suffix.text)) continue;
      out.part = suffix.part;
      out.module = name.substr(0, name.size() - suffix.text.size());
      // bitsandbytes hangs its tensors under the weight's own name.
      if (out.module.ends_with(".weight")) out.module.remove_suffix(7);
      found = true;
      break;
    }
    if (!found && name.ends_with(".weight")) out.module = name.substr(0, name.size() - 7);
    if (!found && name.ends_with(".bias")) out.module = name.substr(0, name.size() - 5);
    if (!found && name.ends_with("_blocks")) out.module = name.substr(0, name.size() - 7);
  }
  out.layer = layer_of(name);
  out.group = group_of(name);
  const bool tower =
      gguf ? name.starts_with("v.") || name.starts_with("mm.") || name.starts_with("a.")
           : has_word(name, {"visual", "vision_tower", "vision_model", "vision_encoder", "vit", "audio_tower",
                             "audio_encoder", "multi_modal_projector", "mm_projector", "vision_language_adapter",
                             "image_newline", "patch_merger", "embed_vision", "vision_embed_tokens", "audio_embed"});
  if (tower) {
    out.group = Group::tower;
  } else if (has_word(name, {"mtp", "mtp_block"}) || any_of(name, {".nextn.", "mtp_layers."}) ||
             (layers >= 0 && out.layer >= layers)) {
    out.group = Group::prediction;
  } else if (any_of(name,
                    {"inv_freq", "masked_bias", "position_ids", "rope_freqs", "rope_factors", "num_batches_tracked"}) ||
             (rank >= 3 && (name.ends_with(".attn.bias") || name.ends_with(".attention.bias")))) {
    out.group = Group::buffers;
  }
  return out;
}

}  // namespace assay::estimate
