// SPDX-License-Identifier: Apache-2.0
// Element types of weight files: how many bytes a block of how many elements takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::weights {

// What a loader may do with a type: convert it (plain floating point), keep it (integers, packed and quantised blocks).
enum class TypeKind : std::uint8_t { floating, small_floating, integer, block };

struct TensorType {
  std::string_view name;
  std::uint32_t block_elements = 1;
  std::uint32_t block_bytes = 1;
  TypeKind kind = TypeKind::integer;
};

// By the name a safetensors header uses (huggingface/safetensors, Dtype); null for any other.
const TensorType* safetensors_type(std::string_view name);

// By ggml's number (ggml.h, enum ggml_type); null for removed and unknown numbers. `removed` tells which.
const TensorType* ggml_type(std::uint32_t id, bool* removed = nullptr);

// Types of a cache or a load as a person names them: f32 f16 bf16 fp8 int8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl; null else.
const TensorType* named_type(std::string_view name);

// Bytes of `elements` in whole blocks, or nothing when they do not fill whole blocks or bytes, or beyond 2^63 - 1.
std::optional<std::int64_t> bytes_of(const TensorType& type, std::int64_t elements);

}  // namespace assay::weights
