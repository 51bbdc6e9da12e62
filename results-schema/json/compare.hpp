// SPDX-License-Identifier: Apache-2.0
// Compare documents in and out, beside the documents of json.hpp.
#pragma once

#include <string>
#include <string_view>

#include "results-schema/types/compare.hpp"
#include "results-schema/types/result.hpp"

namespace assay::json {

// As write_document and read_document of json.hpp, for documents of kind compare, with the same errors.
Result<std::string> write_compare(const CompareDocument& document);
Result<CompareDocument> read_compare(std::string_view text, std::string_view name, std::string* warning = nullptr);

// A comparison alone, as `assay compare --json` prints it.
std::string write_comparison(const Comparison& comparison);

}  // namespace assay::json
