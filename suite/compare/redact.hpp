// SPDX-License-Identifier: Apache-2.0
// Redaction: what names a person's machine, taken out of documents that leave the house.
#pragma once

#include <string_view>

#include "results-schema/types/compare.hpp"
#include "results-schema/types/document.hpp"

namespace assay::compare {

// Whether an identity field names a machine, a place on its disk, or what a user put into its environment. What decides
// a comparison (board, driver, toolkit) stays.
[[nodiscard]] bool names_the_house(std::string_view key);

// Values of such fields, argument lists, paths and process ids become "redacted"; text that says whether two of them
// were equal stays true, because equal texts stay equal and different ones become "redacted (1)", "redacted (2)".
void redact(CompareDocument& document);
void redact(RunDocument& document);

}  // namespace assay::compare
