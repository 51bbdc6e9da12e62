// SPDX-License-Identifier: Apache-2.0
// How a weight file is refused: one sentence with the file, the byte, the reason and the next step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::weights {

// `text` as one printable line of at most `limit` characters: what came from a file is never echoed raw.
inline std::string shown(std::string_view text, std::size_t limit = 80) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) return out + "...";
    out += (c >= ' ' && c < '\x7f') ? c : '?';
  }
  return out;
}

// "FILE is refused at byte N: REASON; download it again or give another file".
inline Error reject(std::string_view file, std::uint64_t byte, std::string_view reason) {
  return {ErrorCode::bad_input, shown(file, 400) + " is refused at byte " + std::to_string(byte) + ": " +
                                    std::string(reason) + "; download it again or give another file"};
}

// "PATH WHAT", for what is wrong of a file or folder as a whole.
inline Error bad(const std::filesystem::path& path, const std::string& what) {
  return {ErrorCode::bad_input, shown(path.string(), 400) + " " + what};
}

}  // namespace assay::weights
