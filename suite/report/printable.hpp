// SPDX-License-Identifier: Apache-2.0
// Text of others on a terminal: what would steer the terminal is shown instead of sent.
#pragma once

#include <string>
#include <string_view>

namespace assay::report {

// `text` with control characters, bytes that are no UTF-8, and the marks that reverse the direction of writing as
// escapes (\n, \x1b, \u202e); everything else as it is.
[[nodiscard]] std::string printable(std::string_view text);

// The same for text of several lines with colours of ours: line ends and colour sequences stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace assay::report
