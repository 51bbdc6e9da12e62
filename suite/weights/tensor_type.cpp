// SPDX-License-Identifier: Apache-2.0
// The tables of both formats.
#include "suite/weights/tensor_type.hpp"

namespace assay::weights {
namespace {

using enum TypeKind;

// Six-bit types are counted four elements a block of three bytes, four-bit ones two a byte.
constexpr TensorType kSafetensors[] = {{"BOOL", 1, 1, integer},
                                       {"F4", 2, 1, small_floating},
                                       {"F6_E2M3", 4, 3, small_floating},
                                       {"F6_E3M2", 4, 3, small_floating},
                                       {"U8", 1, 1, integer},
                                       {"I8", 1, 1, integer},
                                       {"F8_E5M2", 1, 1, small_floating},
                                       {"F8_E4M3", 1, 1, small_floating},
                                       {"F8_E8M0", 1, 1, small_floating},
                                       {"F8_E4M3FNUZ", 1, 1, small_floating},
                                       {"F8_E5M2FNUZ", 1, 1, small_floating},
                                       {"I16", 1, 2, integer},
                                       {"U16", 1, 2, integer},
                                       {"F16", 1, 2, floating},
                                       {"BF16", 1, 2, floating},
                                       {"I32", 1, 4, integer},
                                       {"U32", 1, 4, integer},
                                       {"F32", 1, 4, floating},
                                       {"C64", 1, 8, integer},
                                       {"F64", 1, 8, floating},
                                       {"I64", 1, 8, integer},
                                       {"U64", 1, 8, integer}};

constexpr std::uint32_t kRemoved = 0;

// ggml.c, type_traits: index is the number; no bytes marks a removed one.
constexpr TensorType kGgml[] = {{"F32", 1, 4, floating},
                                {"F16", 1, 2, floating},
                                {"Q4_0", 32, 18, block},
                                {"Q4_1", 32, 20, block},
                                {"Q4_2", 1, kRemoved, block},
                                {"Q4_3", 1, kRemoved, block},
                                {"Q5_0", 32, 22, block},
                                {"Q5_1", 32, 24, block},
                                {"Q8_0", 32, 34, block},
                                {"Q8_1", 32, 36, block},
                                {"Q2_K", 256, 84, block},
                                {"Q3_K", 256, 110, block},
                                {"Q4_K", 256, 144, block},
                                {"Q5_K", 256, 176, block},
                                {"Q6_K", 256, 210, block},
                                {"Q8_K", 256, 292, block},
                                {"IQ2_XXS", 256, 66, block},
                                {"IQ2_XS", 256, 74, block},
                                {"IQ3_XXS", 256, 98, block},
                                {"IQ1_S", 256, 50, block},
                                {"IQ4_NL", 32, 18, block},
                                {"IQ3_S", 256, 110, block},
                                {"IQ2_S", 256, 82, block},
                                {"IQ4_XS", 256, 136, block},
                                {"I8", 1, 1, integer},
                                {"I16", 1, 2, integer},
                                {"I32", 1, 4, integer},
                                {"I64", 1, 8, integer},
                                {"F64", 1, 8, floating},
                                {"IQ1_M", 256, 56, block},
                                {"BF16", 1, 2, floating},
                                {"Q4_0_4_4", 1, kRemoved, block},
                                {"Q4_0_4_8", 1, kRemoved, block},
                                {"Q4_0_8_8", 1, kRemoved, block},
                                {"TQ1_0", 256, 54, block},
                                {"TQ2_0", 256, 66, block},
                                {"IQ4_NL_4_4", 1, kRemoved, block},
                                {"IQ4_NL_4_8", 1, kRemoved, block},
                                {"IQ4_NL_8_8", 1, kRemoved, block},
                                {"MXFP4", 32, 17, block},
                                {"NVFP4", 64, 36, block},
                                {"Q1_0", 128, 18, block},
                                {"Q2_0", 64, 18, block}};

constexpr TensorType kNamed[] = {{"f32", 1, 4, floating},       {"f16", 1, 2, floating},  {"bf16", 1, 2, floating},
                                 {"fp8", 1, 1, small_floating}, {"int8", 1, 1, integer},  {"q8_0", 32, 34, block},
                                 {"q5_1", 32, 24, block},       {"q5_0", 32, 22, block},  {"q4_1", 32, 20, block},
                                 {"q4_0", 32, 18, block},       {"iq4_nl", 32, 18, block}};

template <std::size_t N>
const TensorType* find(const TensorType (&table)[N], std::string_view name) {
  for (const auto& type : table)
    if (type.name == name) return &type;
  return nullptr;
}

}  // namespace

const TensorType* safetensors_type(std::string_view name) {
  return find(kSafetensors, name);
}

const TensorType* ggml_type(std::uint32_t id, bool* removed) {
  const bool known = id < std::size(kGgml);
  const bool gone = known && kGgml[id].block_bytes == kRemoved;
  if (removed != nullptr) *removed = gone;
  return known && !gone ? &kGgml[id] : nullptr;
}

const TensorType* named_type(std::string_view name) {
  return find(kNamed, name);
}

std::optional<std::int64_t> bytes_of(const TensorType& type, std::int64_t elements) {
  if (elements < 0 || elements % type.block_elements != 0) return std::nullopt;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements / type.block_elements, static_cast<std::int64_t>(type.block_bytes), &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace assay::weights
