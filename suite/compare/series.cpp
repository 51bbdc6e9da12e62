// SPDX-License-Identifier: Apache-2.0
// Merging: the first document decides what a side is, every later one must be the same.
#include "suite/compare/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suite/report/facts.hpp"

namespace assay::compare {
namespace {

Error refused(std::string text) {
  return {ErrorCode::not_comparable, std::move(text)};
}

// What the plans of a series must share. Devices, launches and limits may differ: hosts number and split them.
bool same_work(const Plan& a, const Plan& b) {
  return a.workloads == b.workloads && a.allocator == b.allocator && a.allocator_options == b.allocator_options;
}

// Where a configuration lies is nothing of the work.
Plan without_paths(Plan plan) {
  for (auto& workload : plan.workloads) workload.source.path.clear();
  return plan;
}

void add_board(Series& series, const Identity& identity) {
  const auto* field = identity.find("uuid");
  const auto* text =
      field != nullptr && field->state == FieldState::value ? std::get_if<std::string>(&field->value) : nullptr;
  if (text == nullptr)
    series.boards.emplace_back();
  else if (std::find(series.boards.begin(), series.boards.end(), *text) == series.boards.end())
    series.boards.push_back(*text);
}

std::string subject_of(const Identity& identity) {
  return report::field_text(identity, "backend") + " " + report::field_text(identity, "arch");
}

void name_apart(std::vector<Series>& all) {
  std::map<std::string, int> seen;
  for (const auto& series : all) ++seen[series.subject];
  for (auto& series : all)
    if (seen[series.subject] > 1) series.subject += " " + series.parts.front().section->name;
}

std::string why_not(const identity::Comparison& comparison) {
  if (!comparison.refusals.empty()) return comparison.refusals.front().finding.text;
  return listed(comparison.things.empty() ? comparison.changes : comparison.things);
}

Result<void> add_first(std::vector<Series>& all, const Source& source) {
  for (const auto& section : source.document.devices) {
    const auto fits = std::find_if(all.begin(), all.end(), [&](const Series& series) {
      return identity::compare(series.identity(), section.identity, {true, true}).relation == identity::Relation::same;
    });
    auto& series = fits != all.end() ? *fits : all.emplace_back();
    series.parts.push_back({&source, &section});
    if (series.subject.empty()) series.subject = subject_of(section.identity);
    add_board(series, section.identity);
  }
  return {};
}

Result<void> add_later(std::vector<Series>& all, const Source& source) {
  const auto& first = *all.front().parts.front().source;
  if (!same_work(without_paths(source.document.plan), without_paths(first.document.plan)))
    return refused(
        fmt::format("{} and {} are no series: their plans differ in workloads or allocator; give documents "
                    "of one plan",
                    first.path, source.path));
  for (const auto& section : source.document.devices) {
    std::string why;
    const auto fits = std::find_if(all.begin(), all.end(), [&](const Series& series) {
      const auto comparison = identity::compare(series.identity(), section.identity, {true, true});
      if (comparison.relation == identity::Relation::same) return true;
      if (why.empty()) why = why_not(comparison);
      return false;
    });
    if (fits == all.end())
      return refused(
          fmt::format("{} and {} are no series: {} of the second is not what the first measured ({}); "
                      "compare them with each other instead",
                      first.path, source.path, section.name, why));
    fits->parts.push_back({&source, &section});
    add_board(*fits, section.identity);
  }
  return {};
}

}  // namespace

std::string listed(const std::vector<identity::Difference>& differences, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < differences.size() && i < limit; ++i)
    out += fmt::format("{}{}: {} and {}", i == 0 ? "" : "; ", differences[i].key, differences[i].a, differences[i].b);
  if (differences.size() > limit) out += fmt::format("; and {} more", differences.size() - limit);
  return out;
}

std::string launch_id(const Source& source, const Launch& launch) {
  return fmt::format("{}#{}", source.document.run.id, launch.order);
}

Result<void> check_launch_ids(std::span<const Source> baseline, std::span<const Source> candidate) {
  std::map<std::string, const Source*> seen;
  for (const auto& side : {baseline, candidate})
    for (const auto& source : side)
      for (const auto& device : source.document.devices)
        for (const auto& launch : device.launches) {
          const auto [known, fresh] = seen.emplace(launch_id(source, launch), &source);
          if (!fresh)
            return Error{ErrorCode::bad_input,
                         fmt::format("launch {} stands in {} and again in {}; give each launch once", known->first,
                                     known->second->path, source.path)};
        }
  return {};
}

Result<std::vector<Series>> series_of(std::span<const Source> sources) {
  std::vector<Series> all;
  for (const auto& source : sources) {
    if (source.document.devices.empty())
      return Error{ErrorCode::bad_input, source.path + " holds no device; give the document of a run"};
    if (auto added = all.empty() ? add_first(all, source) : add_later(all, source); !added) return added.error();
  }
  name_apart(all);
  return all;
}

}  // namespace assay::compare
