// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes and of files, as lower-case hexadecimal text (OpenSSL's libcrypto).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::identity {

// 64 hexadecimal digits. Errors: internal when libcrypto refuses.
[[nodiscard]] Result<std::string> sha256(std::string_view bytes);

// The same of a file's bytes, read in pieces. Errors: bad_input when it is missing or unreadable.
[[nodiscard]] Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace assay::identity
