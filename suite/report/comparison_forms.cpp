// SPDX-License-Identifier: Apache-2.0
// The comparison as Markdown, JUnit XML and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "suite/report/comparison.hpp"
#include "suite/report/format.hpp"

namespace assay::report {
namespace {

std::string ratio_text(const ComparedCase& said) {
  return said.ratio.value ? percent(*said.ratio.value) : "n/a";
}

std::string interval_percent(const MaybeInterval& interval) {
  return interval.bounds ? fmt::format("{} to {}", percent(interval.bounds->first), percent(interval.bounds->second))
                         : "n/a";
}

// Text inside a cell: no pipe, no line break, no markup.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r')
      out += ' ';
    else if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const auto& text : cells) out += " " + text + " |";
  return out + "\n";
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\t':
      case '\r':
        out += ' ';
        break;
      default:
        // XML 1.0 has no other control characters.
        out += static_cast<unsigned char>(c) < 0x20U ? '?' : c;
    }
  }
  return out;
}

std::string csv(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\r', ' ');
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  // A spreadsheet takes a leading sign for a formula.
  if (!plain.empty() && std::string_view("=+-@").find(plain.front()) != std::string_view::npos) plain.insert(0, "'");
  if (plain.find_first_of(",\"") == std::string::npos) return plain;
  std::string out = "\"";
  for (const char c : plain) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string real(const MaybeReal& value) {
  return value.value ? fmt::format("{}", *value.value) : "";
}

struct Suite {
  std::string text;
  int tests = 0;
  int failures = 0;
  int skipped = 0;
  int errors = 0;

  void add(std::string_view group, std::string_view name, std::string_view inner) {
    ++tests;
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(group), xml(name));
    text += inner.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inner);
  }
  void fail(std::string_view group, std::string_view name, std::string_view why) {
    ++failures;
    add(group, name, fmt::format("<failure message=\"{}\"/>", xml(why)));
  }
  void skip(std::string_view group, std::string_view name, std::string_view why) {
    ++skipped;
    add(group, name, fmt::format("<skipped message=\"{}\"/>", xml(why)));
  }
};

std::string worse_text(const ComparedCase& said) {
  return fmt::format("{} ({}), from {} to {}", ratio_text(said), interval_percent(said.interval),
                     value_text(said.baseline.median.value.value_or(0), said.unit),
                     value_text(said.candidate.median.value.value_or(0), said.unit));
}

void add_case(Suite& suite, const ComparedCase& said) {
  const std::string group = "assay.compare." + said.subject;
  if (said.anchor) return suite.skip(group, said.name, fmt::format("anchor: {}", to_text(said.verdict)));
  switch (said.verdict) {
    case Verdict::regressed:
      if (said.accepted)
        return suite.skip(group, said.name,
                          fmt::format("regressed by {}, accepted until {}: {}", ratio_text(said), said.accepted->until,
                                      said.accepted->reason));
      return suite.fail(group, said.name, "regressed by " + worse_text(said));
    case Verdict::inconclusive:
    case Verdict::excluded:
    case Verdict::not_judged:
      return suite.skip(group, said.name, fmt::format("{}: {}", to_text(said.verdict), said.reason));
    case Verdict::improved:
    case Verdict::same:
      return suite.add(group, said.name, "");
  }
}

std::string why_refused(const Comparison& comparison) {
  std::string out{to_text(comparison.identity.relation)};
  for (const auto& pair : comparison.identity.pairs) {
    for (const auto& finding : pair.findings)
      if (finding.refuses) out += fmt::format("; the {}: {}", finding.side, finding.text);
    for (const auto& field : pair.fields)
      if (field.tier == Tier::thing) out += fmt::format("; {}: {} and {}", field.key, field.baseline, field.candidate);
  }
  return out;
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison) {
  std::string out =
      fmt::format("### assay compare: {}\n\n", comparison.exit_code == 3 ? "not comparable" : outcome_line(comparison));
  for (const auto& pair : comparison.identity.pairs) {
    out += fmt::format("**{}**: {}; {} and {} launches.", cell(pair.subject), to_text(pair.relation),
                       pair.baseline.launches_ok, pair.candidate.launches_ok);
    if (pair.time_confounded) out += " Time-confounded: one side was measured before the other.";
    out += "\n\n";
    for (const auto& finding : pair.findings)
      out += fmt::format("- {} ({}): {}\n", finding.refuses ? "refused" : "marked", finding.side, cell(finding.text));
    bool first = true;
    for (const auto& field : pair.fields) {
      if (field.tier != Tier::thing && field.tier != Tier::change) continue;
      if (std::exchange(first, false))
        out += "\n" + markdown_row({"field", "tier", "baseline", "candidate"}) + "|---|---|---|---|\n";
      out += markdown_row({cell(field.key), field.tier == Tier::thing ? "thing" : "change", cell(field.baseline),
                           cell(field.candidate)});
    }
    out += first ? "" : "\n";
  }
  const auto header =
      markdown_row({"case", "baseline", "candidate", "change", "interval", "verdict"}) + "|---|--:|--:|--:|:-:|---|\n";
  std::string loud;
  std::string quiet;
  for (const auto& said : comparison.cases) {
    auto verdict = std::string(to_text(said.verdict));
    if (said.accepted) verdict += fmt::format(", accepted until {}: {}", said.accepted->until, said.accepted->reason);
    if (!said.reason.empty()) verdict += ": " + said.reason;
    (said.verdict == Verdict::same ? quiet : loud) +=
        markdown_row({cell(said.name), value_text(said.baseline.median.value.value_or(0), said.unit),
                      value_text(said.candidate.median.value.value_or(0), said.unit), ratio_text(said),
                      interval_percent(said.interval), cell(verdict)});
  }
  for (const auto& said : comparison.memory)
    if (said.verdict != MemoryVerdict::same)
      loud += markdown_row({cell(said.name), binary_bytes(said.baseline_bytes), binary_bytes(said.candidate_bytes),
                            fmt::format("{:+} B", said.candidate_bytes - said.baseline_bytes), "",
                            std::string(to_text(said.verdict)) + (said.accepted ? ", accepted" : "")});
  if (!loud.empty()) out += header + loud + "\n";
  if (!quiet.empty())
    out += fmt::format("<details><summary>{} the same</summary>\n\n{}{}\n</details>\n\n", comparison.counts.same,
                       header, quiet);
  for (const auto& entry : comparison.unmatched)
    out += fmt::format("- unmatched: {}: {}\n", cell(entry.name), cell(entry.reason));
  for (const auto& note : comparison.notes) out += "- note: " + cell(note) + "\n";
  return out;
}

std::string comparison_junit(const Comparison& comparison) {
  Suite suite;
  if (comparison.exit_code == 3) {
    ++suite.errors;
    suite.add("assay.compare", "identity", fmt::format("<error message=\"{}\"/>", xml(why_refused(comparison))));
  }
  for (const auto& said : comparison.cases) add_case(suite, said);
  for (const auto& said : comparison.memory) {
    const std::string group = "assay.compare." + said.subject;
    const auto change = fmt::format("grown from {} to {} bytes", said.baseline_bytes, said.candidate_bytes);
    if (said.verdict != MemoryVerdict::grown)
      suite.add(group, said.name, "");
    else if (said.accepted)
      suite.skip(group, said.name, fmt::format("{}, accepted until {}", change, said.accepted->until));
    else
      suite.fail(group, said.name, change);
  }
  for (const auto& entry : comparison.unmatched)
    suite.skip("assay.compare." + entry.subject, entry.name, "unmatched: " + entry.reason);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"assay compare\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      suite.tests, suite.failures, suite.errors, suite.skipped, suite.text);
}

std::string comparison_csv(const Comparison& comparison) {
  std::string out =
      "kind,subject,name,unit,verdict,ratio,interval_low,interval_high,p,adjusted_p,baseline,candidate,"
      "baseline_launches,candidate_launches,reason\r\n";
  for (const auto& said : comparison.cases) {
    const auto end = [&](bool low) {
      if (!said.interval.bounds) return std::string();
      return fmt::format("{}", low ? said.interval.bounds->first : said.interval.bounds->second);
    };
    out += fmt::format("time,{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", csv(said.subject), csv(said.name),
                       csv(said.unit), to_text(said.verdict), real(said.ratio), end(true), end(false), real(said.p),
                       real(said.adjusted_p), real(said.baseline.median), real(said.candidate.median),
                       said.baseline.medians.size(), said.candidate.medians.size(), csv(said.reason));
  }
  for (const auto& said : comparison.memory)
    out += fmt::format("memory,{},{},bytes,{},,,,,,{},{},,,\r\n", csv(said.subject), csv(said.name),
                       to_text(said.verdict), said.baseline_bytes, said.candidate_bytes);
  for (const auto& entry : comparison.unmatched)
    out += fmt::format("unmatched,{},{},,unmatched,,,,,,,,,,{}\r\n", csv(entry.subject), csv(entry.name),
                       csv(entry.reason));
  return out;
}

}  // namespace assay::report
