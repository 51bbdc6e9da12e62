// SPDX-License-Identifier: Apache-2.0
// The GGUF header: metadata an estimate needs, and the tensor list. Versions 2 and 3, little endian.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/weights/safetensors.hpp"
#include "suite/weights/tensors.hpp"

namespace assay::weights {

// One metadata value: whole numbers (booleans as 0 and 1), one real number, or a short text. Arrays of whole numbers
// are kept up to kMaxKeptArray elements; everything else (a vocabulary) is measured and skipped.
struct GgufValue {
  std::vector<std::int64_t> integers;
  std::optional<double> real;
  std::string text;
  bool array = false;
  std::uint64_t count = 1;  // elements of an array, kept or not
  std::uint32_t type = 0;   // of the value or of the array's elements
};

inline constexpr std::uint64_t kMaxKeptArray = 4096;

struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::uint64_t alignment = 32;
  std::map<std::string, GgufValue> values;
  FileFacts facts;

  // The whole number under `key`, or nothing when there is none of that kind.
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key) const;
};

// Reads the header of the file whose bytes are `bytes`; `whole` as for read_safetensors. The rules are those of
// ggml's gguf.cpp, and every read is held against the bytes that remain before anything is kept.
// Errors: bad_input with the byte of the file.
Result<GgufHeader> read_gguf(std::string_view bytes, std::string_view name, std::uint32_t file, bool whole,
                             TensorTable& table);

}  // namespace assay::weights
