// SPDX-License-Identifier: Apache-2.0
// The HTML report: documents embedded in the viewer, one file that loads nothing when it is opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::report {

struct HtmlSource {
  std::string name;  // as the page calls it, a path
  std::string text;  // the whole document
};

// The page over documents of any kind and of schema v1, in the order given. Each is validated, and a run or measure
// document also held against itself; two with one run id are refused. Counters of phases that the viewer has no view of
// are left out and counted. `program` is what the page says it was made by; a sentence for each document of a newer
// minor version is added to `warnings`. Errors: bad_input.
[[nodiscard]] Result<std::string> html_page(const std::vector<HtmlSource>& sources, std::string_view program,
                                            std::vector<std::string>& warnings);

// The viewer as it was built, with its place for the data empty.
[[nodiscard]] std::string viewer_page();

}  // namespace assay::report
