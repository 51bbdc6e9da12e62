// SPDX-License-Identifier: Apache-2.0
// Verification of a recording, and the inference of block sizes it does not hold.
#include "suite/replay/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/allocator/options.hpp"
#include "suite/replay/recorded_run.hpp"
#include "suite/replay/recording.hpp"

namespace assay::replay {
namespace {

constexpr int kMostRestarts = 64;

// The options among the recorded settings that decide about addresses; others are of other parts of PyTorch.
Result<allocator::Options> recorded_options(const trace::Origin& origin) {
  constexpr std::string_view kDeciding[] = {"max_split_size_mb", "max_non_split_rounding_mb", "large_segment_size_mb",
                                            "roundup_power2_divisions", "expandable_segments"};
  std::string text;
  const std::string_view settings = origin.settings == "unknown" ? std::string_view{} : origin.settings;
  int depth = 0;
  for (std::size_t start = 0, i = 0; i <= settings.size(); ++i) {
    if (i < settings.size() && settings[i] == '[') ++depth;
    if (i < settings.size() && settings[i] == ']') --depth;
    if (i < settings.size() && (settings[i] != ',' || depth > 0)) continue;
    std::string_view one = settings.substr(start, i - start);
    start = i + 1;
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto key = one.substr(0, one.find(':'));
    if (std::find(std::begin(kDeciding), std::end(kDeciding), key) != std::end(kDeciding))
      text += (text.empty() ? "" : ",") + std::string(one);
  }
  auto options = allocator::parse_options(text);
  if (options && !options->splits_limited() && origin.max_split_size_bytes > 0)
    options->max_split_bytes = static_cast<std::size_t>(origin.max_split_size_bytes);
  return options;
}

// Blocks of the beginning whose size could explain a divergence.
struct Suspect {
  std::uint64_t segment = 0;
  std::uint64_t address = 0;
  std::size_t least_bytes = 0;
  std::size_t most_bytes = 0;
};

class Verifier {
 public:
  Verifier(Recording& recording, const allocator::Options& options) : recording_(recording), options_(options) {}

  Verification run() {
    RecordedRun best = attempt();
    for (int i = 0; i < kMostRestarts && best.stop; ++i) {
      const auto suspect = suspect_of(*best.stop);
      if (!suspect) break;
      StartBlock& block = recording_.segments[suspect->segment].blocks[suspect->address];
      const std::size_t before = std::exchange(block.bytes, suspect->least_bytes);
      RecordedRun next = attempt();
      if (next.stop && next.stop->event <= best.stop->event) {
        block.bytes = before;
        result_.agreement = Agreement::ambiguous;
        result_.candidates.push_back(
            {suspect->address, block.requested_bytes, block.rounded_bytes, suspect->most_bytes});
        break;
      }
      ++result_.sizes_inferred;
      best = std::move(next);
    }
    return finish(best);
  }

 private:
  RecordedRun attempt() { return run_recording(recording_, options_); }

  // The block at the beginning, still live, behind whose rounded end the recorded or the replayed address lies.
  std::optional<Suspect> suspect_of(const RecordedStop& stop) const {
    if (stop.divergence.action != "alloc") return std::nullopt;
    for (const auto& [start, segment] : recording_.segments)
      for (const auto& [address, block] : segment.blocks) {
        if (block.most_slack_bytes == 0 || stop.live_at_beginning.count(address) == 0) continue;
        const std::size_t most = block.rounded_bytes + block.most_slack_bytes;
        const std::uint64_t recorded = stop.recorded_address - address;
        if (stop.recorded_address > address + block.rounded_bytes && recorded <= most && recorded != block.bytes &&
            recorded % allocator::kMinBlockBytes == 0)
          return Suspect{start, address, recorded, most};
        // The replay took the piece behind the block, which was too small if the block was large enough.
        if (stop.replayed_address != address + block.bytes || stop.piece_bytes < stop.rounded_bytes) continue;
        const std::size_t least = block.bytes + stop.piece_bytes - stop.rounded_bytes + allocator::kMinBlockBytes;
        if (least <= most) return Suspect{start, address, least, most};
      }
    return std::nullopt;
  }

  Verification finish(const RecordedRun& best) {
    result_.device = recording_.device;
    result_.options = print_options(options_);
    result_.allocations = recording_.allocations;
    result_.allocations_matched = best.allocations_matched;
    result_.segment_events = recording_.segment_allocations + recording_.segment_frees;
    result_.segment_events_matched = best.segment_events_matched;
    for (const auto& [start, segment] : recording_.segments) result_.blocks_at_beginning += segment.blocks.size();
    if (best.stop) {
      result_.first_divergence = best.stop->divergence;
      if (result_.agreement == Agreement::matched) result_.agreement = Agreement::diverged;
    }
    return result_;
  }

  Recording& recording_;
  const allocator::Options& options_;
  Verification result_;
};

}  // namespace

Result<std::vector<Verification>> verify(const TraceInput& trace) {
  const auto format = trace.header().origin.format;
  if (format != trace::Format::pytorch_json && format != trace::Format::pytorch_pickle)
    return Error{ErrorCode::usage,
                 fmt::format("{} is a trace of the format {}, whose allocator's rules are not known; --verify needs a "
                             "PyTorch snapshot",
                             trace.path(), trace::to_text(format))};
  auto options = recorded_options(trace.header().origin);
  if (!options) return options.error();
  std::vector<Verification> results;
  for (std::int32_t device = 0; device < trace.devices(); ++device) {
    auto recording = recording_of(trace, device, *options);
    if (!recording) return recording.error();
    if (recording->events.empty()) continue;
    if (recording->expandable || options->expandable)
      return Error{ErrorCode::unsupported,
                   fmt::format("{} was recorded with expandable segments, whose addresses this version cannot "
                               "reproduce; leave --verify out to compare policies on it",
                               trace.path())};
    results.push_back(Verifier(*recording, *options).run());
  }
  return results;
}

}  // namespace assay::replay
