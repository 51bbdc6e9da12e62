// SPDX-License-Identifier: Apache-2.0
// The comparison on a terminal, and the words all its forms share.
#include "suite/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::report {

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
      return "regressed";
    case Verdict::improved:
      return "improved";
    case Verdict::same:
      return "same";
    case Verdict::inconclusive:
      return "inconclusive";
    case Verdict::excluded:
      return "excluded";
    case Verdict::not_judged:
      return "not judged";
  }
  return "inconclusive";
}

std::string_view to_text(IdentityRelation relation) {
  switch (relation) {
    case IdentityRelation::same:
      return "same";
    case IdentityRelation::change_only:
      return "change only";
    case IdentityRelation::different_thing:
      return "different thing";
    case IdentityRelation::invalid:
      return "invalid";
  }
  return "invalid";
}

std::string_view to_text(MemoryVerdict verdict) {
  switch (verdict) {
    case MemoryVerdict::grown:
      return "grown";
    case MemoryVerdict::shrunk:
      return "shrunk";
    case MemoryVerdict::same:
      return "same";
  }
  return "same";
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "ns") return duration(value);
  return unit == "1" ? number(value) : fmt::format("{} {}", number(value), unit);
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string outcome_line(const Comparison& comparison) {
  const auto& counts = comparison.counts;
  std::string out;
  const auto add = [&out](std::int64_t count, std::string_view what) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, what);
  };
  add(counts.regressed, "regressed");
  add(counts.memory_grown, "grown in memory");
  add(counts.accepted, "of these accepted");
  add(counts.improved, "improved");
  add(counts.memory_shrunk, "shrunk in memory");
  add(counts.same, "same");
  add(counts.inconclusive, "inconclusive");
  add(counts.excluded, "excluded");
  add(counts.not_judged, "not judged");
  add(counts.memory_same, counts.memory_same == 1 ? "peak unchanged" : "peaks unchanged");
  add(counts.unmatched, "unmatched");
  return out.empty() ? "nothing was compared" : out;
}

namespace {

std::string series_line(const ComparedSeries& series) {
  std::string documents;
  for (std::size_t i = 0; i < series.documents.size() && i < 3; ++i)
    documents += (i == 0 ? "" : ", ") + series.documents[i];
  if (series.documents.size() > 3) documents += fmt::format(" and {} more", series.documents.size() - 3);
  return fmt::format("{}, {} launch{} on {} board{}{}: {}", series.subject, series.launches_ok,
                     series.launches_ok == 1 ? "" : "es", series.boards, series.boards == 1 ? "" : "s",
                     series.launches_failed > 0 ? fmt::format(", {} not ok", series.launches_failed) : "", documents);
}

std::string pair_text(const ComparedPair& pair) {
  auto out = fmt::format("{}: {}\n", pair.subject, to_text(pair.relation));
  out += wrapped(series_line(pair.baseline), "  Baseline:  ", "    ");
  out += wrapped(series_line(pair.candidate), "  Candidate: ", "    ");
  for (const auto& finding : pair.findings)
    out += wrapped(fmt::format("the {}: {}", finding.side, finding.text),
                   finding.refuses ? "  Refused: " : "  Marked: ", "    ");
  Table fields({"Field", "Tier", "Baseline", "Candidate"});
  std::size_t informative = 0;
  for (const auto& field : pair.fields)
    if (field.tier == Tier::info)
      ++informative;
    else
      fields.add({field.key, field.tier == Tier::thing ? "thing" : "change", field.baseline, field.candidate});
  if (!fields.empty()) out += fields.text();
  if (informative > 0) out += fmt::format("  {} fields of information differ and decide nothing\n", informative);
  if (!pair.shared_unknown.empty()) {
    std::string keys;
    for (const auto& key : pair.shared_unknown) keys += (keys.empty() ? "" : ", ") + key;
    out += wrapped(keys + ": unknown on both sides, taken as shared by one board in one boot", "  Assumed: ", "    ");
  }
  if (pair.time_confounded)
    out += "  Time-confounded: one side was measured before the other; only an anchor that is the same clears it\n";
  if (!pair.memory_comparable && pair.relation != IdentityRelation::different_thing &&
      pair.relation != IdentityRelation::invalid)
    out += "  Memory is not compared: the allocator is a different thing\n";
  return out;
}

// "workload" and "what" of "workload: what".
std::pair<std::string, std::string> split(const std::string& name) {
  const auto at = name.rfind(": ");
  return at == std::string::npos ? std::pair{std::string(), name} : std::pair{name.substr(0, at), name.substr(at + 2)};
}

std::string side_text(const ComparedSide& side, std::string_view unit) {
  return side.median.value ? value_text(*side.median.value, unit) : "n/a";
}

std::string interval_text(const MaybeInterval& interval) {
  return interval.bounds ? fmt::format("{:.3f} to {:.3f}", interval.bounds->first, interval.bounds->second) : "n/a";
}

std::string cases_text(const Comparison& comparison) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const ComparedCase*>> groups;
  const bool subjects = comparison.identity.pairs.size() > 1;
  for (const auto& said : comparison.cases) {
    const auto group = (subjects ? said.subject + ", " : std::string()) + split(said.name).first;
    if (groups[group].empty()) order.push_back(group);
    groups[group].push_back(&said);
  }
  std::string out;
  for (const auto& group : order) {
    out += '\n' + wrapped(group.empty() ? "Beside the workloads" : group, "", "  ");
    Table table({"Case", ">Baseline", ">Candidate", ">Ratio",
                 fmt::format(">{:g} % interval", 100 * comparison.rule.level), "Verdict"});
    for (const auto* said : groups[group])
      table.add({split(said->name).second, side_text(said->baseline, said->unit),
                 side_text(said->candidate, said->unit),
                 said->ratio.value ? fmt::format("{:.3f}", *said->ratio.value) : "n/a", interval_text(said->interval),
                 std::string(to_text(said->verdict)) + (said->accepted ? ", accepted" : "") +
                     (said->anchor ? " (anchor)" : "")});
    out += table.text();
  }
  return out;
}

// Each reason once, with how many cases it holds for and one of them.
std::string reasons_text(const Comparison& comparison) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<int, std::string>> reasons;
  for (const auto& said : comparison.cases) {
    if (said.reason.empty()) continue;
    const auto text = fmt::format("{}: {}", to_text(said.verdict), said.reason);
    auto& [count, first] = reasons[text];
    if (count++ == 0) {
      order.push_back(text);
      first = said.name;
    }
  }
  std::string out;
  for (const auto& text : order) {
    const auto& [count, first] = reasons[text];
    out += wrapped(count == 1 ? fmt::format("{}: {}", first, text) : fmt::format("{} cases {}", count, text), "  ",
                   "    ");
  }
  std::map<std::string, std::string> left_out;
  for (const auto& said : comparison.cases)
    for (const auto* side : {&said.baseline, &said.candidate})
      for (const auto& launch : side->left_out) left_out.emplace(launch.launch, launch.reason + ", in " + said.name);
  for (const auto& [launch, reason] : left_out) out += wrapped(launch + ": " + reason, "  Left out: ", "    ");
  return out.empty() ? out : '\n' + out;
}

std::string memory_text(const Comparison& comparison) {
  Table table({"Memory", ">Baseline", ">Candidate", ">Change", "Verdict"});
  for (const auto& said : comparison.memory)
    if (said.verdict != MemoryVerdict::same)
      table.add({said.name, binary_bytes(said.baseline_bytes), binary_bytes(said.candidate_bytes),
                 fmt::format("{:+} B", said.candidate_bytes - said.baseline_bytes),
                 std::string(to_text(said.verdict)) + (said.accepted ? ", accepted" : "")});
  if (comparison.memory.empty()) return {};
  auto out = table.empty() ? std::string() : '\n' + table.text();
  out += fmt::format("\n  Memory: {} of {} peaks unchanged (tolerance {} bytes)\n", comparison.counts.memory_same,
                     comparison.memory.size(), comparison.rule.memory_tolerance_bytes);
  return out;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool color) {
  std::string out;
  const auto& rule = comparison.rule;
  for (const auto& pair : comparison.identity.pairs) out += pair_text(pair);
  const bool compared = !comparison.cases.empty() || !comparison.memory.empty();
  if (compared && rule.across)
    out += "Ratios across different things: no verdict, neither side passes or fails.\n";
  else if (compared)
    out += wrapped(fmt::format("alpha {:g} over a family of {} (Holm), margin {:g} %, {} launches a side at least",
                               rule.alpha, rule.family, 100 * rule.margin, rule.launches_least),
                   "Rule: ", "  ");
  out += cases_text(comparison);
  out += reasons_text(comparison);
  out += memory_text(comparison);
  if (!comparison.unmatched.empty()) out += fmt::format("\n  Unmatched: {}\n", comparison.unmatched.size());
  for (const auto& entry : comparison.unmatched)
    out += wrapped(fmt::format("{}: {}", entry.name, entry.reason), "    ", "      ");
  for (const auto& note : comparison.notes) out += wrapped(note, "  Note: ", "    ");
  const bool good = comparison.exit_code == 0;
  auto last = comparison.exit_code == 3 ? "Not comparable: " + outcome_line(comparison) : outcome_line(comparison);
  if (color) last = fmt::format("\033[{}m{}\033[0m", good ? 32 : comparison.exit_code == 4 ? 33 : 31, last);
  return out + (out.empty() ? "" : "\n") + last + '\n';
}

}  // namespace assay::report
