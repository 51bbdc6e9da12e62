// SPDX-License-Identifier: Apache-2.0
// The page of one replayed trace: what it is, a table of policies, refusals, the best options, the verification.
#include "suite/report/replay_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::report {
namespace {

std::string label(const ReplayedTrace& trace, const ReplayPolicy& policy) {
  std::string text = policy.options.empty() ? policy.policy : policy.options;
  if (trace.devices > 1) text += fmt::format(" (device {})", policy.device);
  return text;
}

std::string head(const ReplayedTrace& trace) {
  const auto& origin = trace.origin;
  std::string out = wrapped(fmt::format("{}: {}, {} events, {} allocations on {} device{}", trace.file, origin.format,
                                        trace.events, trace.allocations, trace.devices, trace.devices == 1 ? "" : "s"),
                            "Trace ", "  ");
  out += wrapped(fmt::format("framework {}, version {}; platform {}; device {}; settings {}", origin.framework,
                             origin.framework_version, origin.platform, origin.device,
                             origin.settings.empty() ? "none" : origin.settings),
                 "Recorded by ", "  ");
  if (trace.beginning.reconstructed)
    out += wrapped(fmt::format("reconstructed: {} blocks of together {} were live before the first event",
                               trace.beginning.blocks, bytes_both(trace.beginning.requested_bytes)),
                   "Beginning ", "  ");
  for (const auto& warning : trace.warnings) out += wrapped(warning, "Note: ", "  ");
  if (trace.capacity_bytes)
    out += wrapped(fmt::format("{} for the allocator alone", bytes_both(*trace.capacity_bytes)), "Capacity ", "  ");
  return out;
}

std::string policies_table(const ReplayedTrace& trace) {
  const bool limited = trace.capacity_bytes.has_value();
  const bool least = std::any_of(trace.policies.begin(), trace.policies.end(),
                                 [](const ReplayPolicy& policy) { return policy.min_capacity_bytes.has_value(); });
  std::vector<std::string> header{"policy", ">requested", ">active", ">reserved",
                                  ">ratio", ">largest",   ">frag",   ">calls"};
  std::string retries;  // apart: with them the lines would be too long
  if (limited) header.emplace_back("fits");
  if (least) header.emplace_back(">least");
  Table table(header);
  for (const ReplayPolicy& policy : trace.policies) {
    std::vector<std::string> cells{label(trace, policy),
                                   binary_bytes(policy.peak_requested_bytes),
                                   binary_bytes(policy.peak_active_bytes),
                                   binary_bytes(policy.peak_reserved_bytes),
                                   fmt::format("{:.4f}", policy.reserved_per_active),
                                   binary_bytes(policy.largest_free_block_bytes),
                                   fmt::format("{:.1f} %", 100 * policy.external_fragmentation),
                                   fmt::format("{}", policy.device_calls.total)};
    if (policy.retries != 0)
      retries += fmt::format("{}{} {}", retries.empty() ? "" : ", ", label(trace, policy), policy.retries);
    if (limited) cells.emplace_back(policy.refusal ? "no" : "yes");
    if (least) cells.push_back(policy.min_capacity_bytes ? binary_bytes(*policy.min_capacity_bytes) : "n/a");
    table.add(std::move(cells));
  }
  return "\n" + table.text() +
         "  requested, active, reserved: peaks; ratio: reserved / active; largest: free block, frag: external\n"
         "  fragmentation at the peak of reserved; calls: malloc, free, map, unmap, from an empty start\n" +
         wrapped(retries.empty() ? "none" : retries, "  device allocations tried again: ", "    ");
}

std::string refusals(const ReplayedTrace& trace) {
  std::string out;
  for (const ReplayPolicy& policy : trace.policies) {
    if (!policy.refusal) continue;
    const ReplayRefusal& refusal = *policy.refusal;
    const std::string where = refusal.at_beginning ? std::string("before the first event")
                              : refusal.time_us    ? fmt::format("at event {}, {} us", refusal.event, *refusal.time_us)
                                                   : fmt::format("at event {}", refusal.event);
    out += wrapped(fmt::format("{} fails {}, at a request of {} bytes on stream {}.", label(trace, policy), where,
                               refusal.requested_bytes, refusal.stream),
                   out.empty() ? "\n" : "", "  ");
    out += wrapped(refusal.sentence, "  ", "  ");
  }
  return out;
}

std::string best_options(const ReplayBest& best) {
  std::string out = "\n";
  if (!best.fits)
    return out + wrapped(fmt::format("None of the {} configurations tried holds the trace.", best.tried), "", "  ");
  if (best.options.empty())
    return out + wrapped(fmt::format("Best of {} configurations tried: PyTorch's defaults.", best.tried), "", "  ");
  out += wrapped(fmt::format("Best of {} configurations tried: {} reserved and {} calls, against {} and {} of the "
                             "defaults.",
                             best.tried, binary_bytes(best.peak_reserved_bytes), best.device_calls,
                             binary_bytes(best.default_peak_reserved_bytes), best.default_device_calls),
                 "", "  ");
  out += "  PYTORCH_CUDA_ALLOC_CONF=" + best.options + "\n";
  for (const ReplaySaving& saving : best.savings)
    out += wrapped(fmt::format("{} {}{}, {} {} calls", saving.option, saving.reserved_bytes < 0 ? "costs " : "saves ",
                               binary_bytes(std::abs(saving.reserved_bytes)),
                               saving.device_calls < 0 ? "costs" : "saves", std::abs(saving.device_calls)),
                   "    ", "      ");
  return out;
}

std::string verification_lines(const ReplayVerification& verification) {
  std::string out = wrapped(
      fmt::format("device {}: {} of {} allocations and {} of {} segment events came out as recorded{}",
                  verification.device, verification.allocations_matched, verification.allocations,
                  verification.segment_events_matched, verification.segment_events,
                  verification.sizes_inferred == 0
                      ? ""
                      : fmt::format("; {} block sizes told by the recorded addresses", verification.sizes_inferred)),
      fmt::format("\nVerification {}: ", verification.outcome), "  ");
  if (const auto& first = verification.first_divergence)
    out += wrapped(
        fmt::format("event {}, {}: expected {}, got {}", first->event, first->action, first->expected, first->got),
        "  First divergence: ", "    ");
  for (const ReplayCandidate& one : verification.candidates)
    out += wrapped(fmt::format("the block at {} of {} requested bytes may have had {} to {} bytes: the format does not "
                               "record it",
                               one.address, one.requested_bytes, one.least_bytes, one.most_bytes),
                   "  Candidate: ", "    ");
  return out;
}

std::string device_table(const std::vector<ReplayOnDevice>& results) {
  Table table({"policy", "on", ">requested", ">active", ">reserved", ">allocations", ">written", ">checked", ">wrong"});
  std::string notes;
  for (const ReplayOnDevice& one : results) {
    const std::string name = one.options.empty() ? one.policy : one.options;
    table.add({name, one.target, binary_bytes(one.peak_requested_bytes), binary_bytes(one.peak_active_bytes),
               binary_bytes(one.peak_reserved_bytes), fmt::format("{}", one.device_allocations),
               binary_bytes(one.bytes_written), fmt::format("{}", one.blocks_checked),
               fmt::format("{}", one.blocks_overwritten)});
    if (!one.failure.empty()) notes += wrapped(name + " ended early: " + one.failure, "  ", "  ");
    if (!one.first_overwritten.empty()) notes += wrapped(name + ": " + one.first_overwritten, "  ", "  ");
  }
  return "\n" + table.text() + notes;
}

}  // namespace

std::string replay_page(const ReplayedTrace& trace) {
  std::string out = head(trace);
  if (!trace.policies.empty()) out += policies_table(trace);
  out += refusals(trace);
  if (trace.on_device) out += device_table(*trace.on_device);
  if (trace.best) out += best_options(*trace.best);
  if (trace.verification)
    for (const auto& verification : *trace.verification) out += verification_lines(verification);
  return out;
}

}  // namespace assay::report
