// SPDX-License-Identifier: Apache-2.0
// Families of architectures: what a model_type implies that its config.json does not say.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::estimate {

enum class Bias : std::uint8_t { never, by_config, always };
enum class QkNorm : std::uint8_t { none, by_head, full };
enum class Experts : std::uint8_t { none, mixtral, qwen, deepseek, gpt_oss };
// Which layers keep a window only, where the config has no list of layer types.
enum class Windows : std::uint8_t { all_when_set, by_switch, even_layers, by_pattern };

// Defaults are those of the llama family. Each row follows the classes of transformers (configuration_*.py and
// modeling_*.py of the type), what they build and what they save.
struct Family {
  std::string_view types;  // model_type words, separated by blanks
  bool tied = false;       // where tie_word_embeddings is absent
  bool gated = true;       // gate, up, down; otherwise up, down
  bool fused_qkv = false;  // one tensor for query, key and value
  bool fused_gate_up = false;
  Bias qkv_bias = Bias::by_config;
  Bias output_bias = Bias::by_config;
  Bias feed_forward_bias = Bias::never;
  std::int64_t norms = 2;  // of a layer
  bool norm_bias = false;
  bool norm_weight = true;
  QkNorm qk_norm = QkNorm::none;
  std::int64_t head_dim = 0;        // where the config has none; 0: hidden size / heads
  std::int64_t default_window = 0;  // where sliding_window is absent
  Windows windows = Windows::all_when_set;
  std::int64_t pattern = 0;  // Windows::by_pattern: every n-th layer is full; hybrids: every n-th layer attends
  Experts experts = Experts::none;
  bool head_bias = false;
  bool positions = false;         // a learned table of positions
  bool gated_query = false;       // the query projection is twice as wide
  bool linear_layers = false;     // gated delta networks between the attention layers
  bool sinks = false;             // one learned number a head
  bool falcon = false;            // its own words for heads and norms
  bool encoder = false;           // keeps no cache
  bool weights_unlisted = false;  // its tensors are not listed here: weights need the files
};

// Null for a type that is not known.
const Family* family_of(std::string_view model_type);

}  // namespace assay::estimate
