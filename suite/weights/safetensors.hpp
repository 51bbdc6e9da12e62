// SPDX-License-Identifier: Apache-2.0
// The safetensors header: length, JSON, tensors that fill the data without a gap.
#pragma once

#include <cstdint>
#include <string_view>

#include "results-schema/types/result.hpp"
#include "suite/weights/tensors.hpp"

namespace assay::weights {

// What one file holds beside its tensors. header_bytes + tensor_bytes = declared_bytes, which is the file's size
// unless the data is missing.
struct FileFacts {
  std::int64_t file_bytes = 0;      // on disk
  std::int64_t header_bytes = 0;    // up to the first byte of data
  std::int64_t tensor_bytes = 0;    // of data, padding between tensors not counted
  std::int64_t declared_bytes = 0;  // what the whole file has according to its header
  std::int64_t trailing_bytes = 0;  // behind the last tensor: GGUF only, where readers let it pass
  bool data_missing = false;        // the file ends right after its header: a header alone
};

// Longest header the format allows (huggingface/safetensors: MAX_HEADER_SIZE).
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

// Reads the header of the file whose bytes are `bytes` (any prefix of them that holds the header is enough: set `whole`
// to false when the data may be cut off anywhere). Tensors are added to `table` with this `file` index.
// The rules are the format's (README and reference implementation): 8 bytes little endian N, N bytes of a JSON object,
// offsets that start at 0 and leave neither hole nor overlap, sizes that follow from type and shape, and a file that
// ends with the last tensor or, as a header alone, right after the header. Errors: bad_input with the byte of the file.
Result<FileFacts> read_safetensors(std::string_view bytes, std::string_view name, std::uint32_t file, bool whole,
                                   TensorTable& table);

}  // namespace assay::weights
