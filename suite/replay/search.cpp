// SPDX-License-Identifier: Apache-2.0
// The search over a small grid of options.
#include "suite/replay/search.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace assay::replay {
namespace {

constexpr std::array<std::string_view, 2> kExpandable{"", "expandable_segments:True"};
constexpr std::array<std::string_view, 6> kSplits{"",
                                                  "max_split_size_mb:32",
                                                  "max_split_size_mb:64",
                                                  "max_split_size_mb:128",
                                                  "max_split_size_mb:256",
                                                  "max_split_size_mb:512"};
constexpr std::array<std::string_view, 5> kRoundups{"", "roundup_power2_divisions:2", "roundup_power2_divisions:4",
                                                    "roundup_power2_divisions:8", "roundup_power2_divisions:16"};
constexpr std::array<std::string_view, 3> kCollections{
    "", "per_process_memory_fraction:1,garbage_collection_threshold:0.6",
    "per_process_memory_fraction:1,garbage_collection_threshold:0.8"};

using Configuration = std::vector<std::string_view>;  // the options that are set

std::string joined(const Configuration& options) {
  std::string text;
  for (const std::string_view option : options) text += (text.empty() ? "" : ",") + std::string(option);
  return text;
}

std::vector<Configuration> grid(bool limited) {
  std::vector<Configuration> all;
  for (const auto expandable : kExpandable)
    for (const auto split : kSplits)
      for (const auto roundup : kRoundups)
        for (const auto collection : kCollections) {
          // Garbage is only collected under a limit, and never from expandable segments.
          if (!collection.empty() && (!limited || !expandable.empty())) continue;
          Configuration one;
          for (const auto option : {expandable, split, roundup, collection})
            if (!option.empty()) one.push_back(option);
          all.push_back(std::move(one));
        }
  return all;
}

}  // namespace

Result<Best> best_configuration(const TraceInput& trace, std::size_t capacity_bytes) {
  const auto configurations = grid(capacity_bytes != SimulatedDevice::kUnlimitedBytes);
  std::vector<PolicyChoice> choices;
  for (const Configuration& one : configurations) {
    const std::string options = joined(one);
    const bool expandable = !one.empty() && one.front() == kExpandable[1];
    choices.push_back({expandable ? "expandable" : "caching", options, options});
  }
  auto outcomes = compare_policies(trace, choices, {capacity_bytes, false});
  if (!outcomes) return outcomes.error();
  const auto devices = static_cast<std::size_t>(trace.devices());
  std::vector<Need> needs(configurations.size());
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    const PolicyOutcome& outcome = (*outcomes)[i];
    Need& need = needs[i / devices];
    need.reserved_bytes += outcome.peaks.reserved_bytes;
    need.device_calls += outcome.calls.total();
    need.refused = need.refused || outcome.refusal.has_value();
  }
  const auto rank = [&](std::size_t i) {
    return std::tuple(needs[i].refused, needs[i].reserved_bytes, needs[i].device_calls, configurations[i].size());
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < needs.size(); ++i)
    if (rank(i) < rank(best)) best = i;
  Best result{joined(configurations[best]), configurations.size(), needs[best], needs.front(), {}};
  for (const auto option : configurations[best]) {
    Configuration without;
    for (const auto other : configurations[best])
      if (other != option) without.push_back(other);
    const auto found = std::find(configurations.begin(), configurations.end(), without);
    const Need& other = needs[static_cast<std::size_t>(found - configurations.begin())];
    result.savings.push_back(
        {std::string(option),
         static_cast<std::int64_t>(other.reserved_bytes) - static_cast<std::int64_t>(needs[best].reserved_bytes),
         other.device_calls - needs[best].device_calls});
  }
  return result;
}

}  // namespace assay::replay
