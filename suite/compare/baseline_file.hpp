// SPDX-License-Identifier: Apache-2.0
// Baseline files: named baselines with their documents, margins of single cases and accepted regressions, for review.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/compare.hpp"
#include "results-schema/types/result.hpp"

namespace assay::compare {

// `pattern` is a whole case name; * stands for any text, ? for one character.
struct CaseMargin {
  std::string pattern;
  double margin = 0.03;
};

struct AcceptedCase {
  std::string pattern;
  std::optional<double> up_to;  // the worst ratio that is accepted, 1.12 for 12 % slower; for memory likewise
  Acceptance acceptance;
};

struct Baseline {
  std::string name;
  std::vector<std::string> documents;  // as paths from where the program runs
  std::vector<CaseMargin> margins;     // the first that fits holds
  std::vector<AcceptedCase> accepted;

  [[nodiscard]] double margin_of(std::string_view case_name, double otherwise) const;
  // The acceptance that holds for a case that is worse by this ratio on this day ("2026-01-31"); nullptr when none
  // does.
  [[nodiscard]] const Acceptance* accepts(std::string_view case_name, double worse, std::string_view today) const;
};

// {"baselines": {"NAME": {"documents": ["a.json"], "margins": [{"case": "*: prefill", "margin_percent": 5,
// "reason": "..."}], "accepted": [{"case": "...", "up_to_percent": 12, "reason": "...", "until": "2026-12-31"}]}}}.
// Every reason is required; document paths are taken from the file's own folder. `name` may be empty where the file
// holds one baseline. Errors: bad_input (malformed, an unknown key, a date that is none), usage (no such name).
[[nodiscard]] Result<Baseline> read_baseline(const std::string& path, const std::string& name);

}  // namespace assay::compare
