// SPDX-License-Identifier: Apache-2.0
// A comparison for people and for machines that gate on it: terminal, Markdown, JUnit XML, CSV.
#pragma once

#include <string>
#include <string_view>

#include "results-schema/types/compare.hpp"

namespace assay::report {

// Lines of at most kScreenColumns: identity first, then cases by workload, memory, what matched nothing, the outcome.
[[nodiscard]] std::string comparison_text(const Comparison& comparison, bool color);

// For the comment of a pull request: outcome, table of what is not the same, the rest folded away.
[[nodiscard]] std::string comparison_markdown(const Comparison& comparison);

// JUnit XML: one testcase a case, peak and unmatched entry. A regression or grown memory is a failure; what is
// inconclusive, excluded or unmatched is skipped with its reason; a refused comparison is one error. The form is that
// of the Jenkins xunit schema, which CI systems read.
[[nodiscard]] std::string comparison_junit(const Comparison& comparison);

// Comma-separated, RFC 4180, one line a case or peak, names of columns first.
[[nodiscard]] std::string comparison_csv(const Comparison& comparison);

[[nodiscard]] std::string_view to_text(Verdict verdict);
[[nodiscard]] std::string_view to_text(IdentityRelation relation);
[[nodiscard]] std::string_view to_text(MemoryVerdict verdict);

// "1 regressed, 3 same, 2 inconclusive" and so on, without what is zero; "nothing was compared" otherwise.
[[nodiscard]] std::string outcome_line(const Comparison& comparison);

// A value of this unit: "12.3 ms", "81.2 tokens/s".
[[nodiscard]] std::string value_text(double value, std::string_view unit);
// "+5.2 %", "-0.1 %" of a ratio.
[[nodiscard]] std::string percent(double ratio);

}  // namespace assay::report
