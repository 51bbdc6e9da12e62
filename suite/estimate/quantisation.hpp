// SPDX-License-Identifier: Apache-2.0
// Quantised storage: what a configuration says of it, and the bytes one weight matrix takes in each layout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::estimate {

enum class Method : std::uint8_t { none, nf4, int8, gptq, awq, fp8, mxfp4, nvfp4, mlx, packed, unknown };

struct Quantisation {
  Method method = Method::none;
  std::string words;  // "GPTQ, 3 bits, one group": what is printed
  std::int64_t bits = 16;
  std::int64_t group = -1;  // elements that share a scale; -1: a whole row
  bool double_quant = false;
  bool symmetric = true;
  bool zero_bias = false;       // AutoGPTQ writes a bias of zeros
  bool static_input = false;    // one scale for the layer's input
  bool output_head = false;     // the head is quantised too
  std::int64_t block_rows = 0;  // fp8: of a block with one scale; 0: one scale a matrix
  std::int64_t block_columns = 0;
  std::string compute;               // dtype of the arithmetic, where stated
  std::vector<std::string> skipped;  // modules that stay as they are: names, parts of names, "*" patterns
  std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>> own;  // MLX: bits and group of one module
  std::string cache;  // dtype of the cache, where the quantiser states one
};

// From config.json (quantization_config, or MLX's quantization), else from quantize_config.json or
// hf_quant_config.json.
Quantisation quantisation_of(const weights::ModelFiles& files);

// Whether the module (a tensor's name without ".weight") is left as it is.
bool is_skipped(const Quantisation& scheme, std::string_view module);

// What a stored tensor is to its weight.
enum class Part : std::uint8_t { weights, scales, zeros, absmax, codebook, group_index, quant_state, bias };
std::string_view to_text(Part part);

struct StoredPart {
  Part part = Part::weights;
  std::string dtype;
  std::int64_t bytes = 0;
};

// The parts of one matrix [rows, columns] (output features first), `element_bytes` those of the unquantised dtype.
// Empty when a size goes beyond 2^53 - 1 or the layout is not known. Sources of the layouts: facts of the formats'
// own writers (bitsandbytes, AutoGPTQ, AutoAWQ, mlx, compressed-tensors).
std::vector<StoredPart> stored_parts(const Quantisation& scheme, std::string_view module, std::int64_t rows,
                                     std::int64_t columns, std::string_view dtype, std::int64_t element_bytes);

}  // namespace assay::estimate
