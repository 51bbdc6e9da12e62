// SPDX-License-Identifier: Apache-2.0
// The counter-based generator and the roundings to 16-bit storage.
#include "suite/measure/forward/fill.hpp"

#include <cstring>

namespace assay::measure {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;

// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): its
// n-th state is key + n * golden ratio, so any element can be computed alone.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

constexpr std::uint64_t key_of(std::uint64_t seed, std::uint64_t stream) {
  return mix(mix(seed + kGolden) ^ (stream * kGolden + 1));
}

constexpr std::uint64_t bits_at(std::uint64_t key, std::uint64_t index) {
  return mix(key + (index + 1) * kGolden);
}

// 24 random bits fill a float's significand exactly.
float uniform_at(std::uint64_t key, std::uint64_t index, float mean, float amplitude) {
  const auto top = static_cast<std::int32_t>(bits_at(key, index) >> 40);
  return mean + amplitude * (static_cast<float>(top) * 0x1p-23f - 1.0f);
}

template <class Stored, class Convert>
void generate_uniform(const Fill& fill, std::uint64_t key, std::int64_t first, std::int64_t count, std::byte* out,
                      Convert convert) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Stored stored = convert(uniform_at(key, static_cast<std::uint64_t>(first + i), fill.mean, fill.amplitude));
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Stored)), &stored, sizeof(Stored));
  }
}

std::int32_t integer_at(const Fill& fill, std::uint64_t key, std::int64_t index) {
  switch (fill.law) {
    case FillLaw::token_ids:
      return static_cast<std::int32_t>(bits_at(key, static_cast<std::uint64_t>(index)) %
                                       static_cast<std::uint64_t>(fill.modulus));
    case FillLaw::position_in_sequence:
      return static_cast<std::int32_t>(index % fill.modulus);
    case FillLaw::position_of_step:
      return static_cast<std::int32_t>(fill.start + index / fill.modulus);
    case FillLaw::uniform:
      break;
  }
  return 0;
}

}  // namespace

Storage storage_of(std::string_view dtype) {
  if (dtype == "f16") return Storage::f16;
  if (dtype == "bf16") return Storage::bf16;
  return Storage::f32;
}

std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // stays a NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::uint16_t to_f16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to beyond 65504
  if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-24, which adding 0.5 rounds to
    float small = 0;
    std::memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    std::uint32_t rounded = 0;
    std::memcpy(&rounded, &small, sizeof rounded);
    return static_cast<std::uint16_t>(sign | (rounded - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float from_f16(std::uint16_t bits) {
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-24f;
  const std::uint32_t wide =
      exponent == 31 ? 0x7f800000u | (fraction << 13) : ((exponent + 112u) << 23) | (fraction << 13);
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return sign * value;
}

std::int64_t element_bytes(const Fill& fill, Storage storage) {
  return fill.law == FillLaw::uniform && storage != Storage::f32 ? 2 : 4;
}

float uniform_value(const Fill& fill, std::uint64_t seed, std::int64_t index) {
  return uniform_at(key_of(seed, fill.stream), static_cast<std::uint64_t>(index), fill.mean, fill.amplitude);
}

void generate(const Fill& fill, std::uint64_t seed, Storage storage, std::int64_t first, std::int64_t count,
              std::byte* out) {
  const std::uint64_t key = key_of(seed, fill.stream);
  if (fill.law != FillLaw::uniform) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t value = integer_at(fill, key, first + i);
      std::memcpy(out + i * 4, &value, sizeof value);
    }
    return;
  }
  switch (storage) {
    case Storage::f32:
      return generate_uniform<float>(fill, key, first, count, out, [](float value) { return value; });
    case Storage::f16:
      return generate_uniform<std::uint16_t>(fill, key, first, count, out, to_f16);
    case Storage::bf16:
      return generate_uniform<std::uint16_t>(fill, key, first, count, out, to_bf16);
  }
}

}  // namespace assay::measure
