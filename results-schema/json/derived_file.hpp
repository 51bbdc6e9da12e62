// SPDX-License-Identifier: Apache-2.0
// Derived files (reports, exports, indexes): whole or not at all, and in the place of an older one only when asked to.
#pragma once

#include <filesystem>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::json {

// Whether a derived file can stand at `path`. Without `replace` as check_output; with it an existing regular file is no
// hindrance unless it holds a document or a journal of Assay: results are never overwritten. Errors: output.
Result<void> check_derived(const std::filesystem::path& path, bool replace);

// Writes `bytes` to a temporary file in the same folder and moves it to `path`. Errors: output, as check_derived; what
// was there before is untouched then.
Result<void> write_derived(const std::filesystem::path& path, std::string_view bytes, bool replace);

}  // namespace assay::json
