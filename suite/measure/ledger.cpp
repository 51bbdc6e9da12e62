// SPDX-License-Identifier: Apache-2.0
// Terms and equations from readings. Nothing here touches a device, so every wrong reading can be tried in a test.
#include "suite/measure/ledger.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace assay::measure {
namespace {

using allocator::BlockState;
using allocator::kCategoryCount;
using allocator::kCategoryNames;

Quantity quantity(const Reading& reading) {
  if (reading.bytes) return {*reading.bytes, "bytes", reading.basis, {}};
  return missing("bytes", reading.reason.empty() ? "not read" : reading.reason, reading.basis);
}

std::optional<std::int64_t> bytes_of(const Quantity& quantity) {
  if (const auto* bytes = std::get_if<std::int64_t>(&quantity.value)) return *bytes;
  return std::nullopt;
}

// A reading computed from others; missing as soon as one of them is.
Reading computed(std::string source, const std::vector<std::pair<const Reading*, std::int64_t>>& parts) {
  Reading out{0, std::move(source), {}, Basis::computed};
  for (const auto& [part, sign] : parts) {
    if (!part->bytes) return {std::nullopt, out.source, part->reason, Basis::computed};
    *out.bytes += sign * *part->bytes;
  }
  return out;
}

class Builder {
 public:
  explicit Builder(const LedgerReadings& readings) : in_(readings), counter_(readings.policy + " counter") {
    ledger_.checkpoint = readings.checkpoint;
  }

  Ledger build() && {
    device_terms();
    allocator_terms();
    category_terms();
    std::vector<std::string_view> parts{"baseline", "reserved", "external"};
    if (in_.device_rounds) parts.emplace_back("device_rounding");
    equation("device_used", parts);
    equation("reserved", {"active", "inactive_pieces", "free_segments"});
    equation("active", {"allocated", "pending"});
    equation("active", {"requested", "slack"});
    equation("requested", {kCategoryNames.begin(), kCategoryNames.end()});
    ledger_.balanced = std::all_of(ledger_.equations.begin(), ledger_.equations.end(), [](const auto& equation) {
      return equation.balanced || !equation.difference.has_value();
    });
    return std::move(ledger_);
  }

 private:
  // Sources of the two readings are kept; a missing one says why in its quantity.
  void term(std::string_view name, const Reading& first, const Reading& second) {
    ledger_.terms.push_back({std::string(name), quantity(first), first.source, quantity(second), second.source});
  }

  [[nodiscard]] Reading counted(std::int64_t bytes) const { return {bytes, counter_, {}, Basis::observed}; }
  [[nodiscard]] static Reading walked(std::int64_t bytes) {
    return {bytes, "walk over segments and blocks", {}, Basis::observed};
  }

  void device_terms() {
    const Reading reserved = walked(in_.walked.reserved_bytes);
    term("device_used", in_.device_used, in_.device_walked);
    term("baseline", in_.baseline,
         computed("device's books: walked - allocator - external",
                  {{&in_.device_walked, 1}, {&in_.device_allocator, -1}, {&in_.device_external, -1}}));
    const Reading& held = in_.device_rounds ? in_.device_allocator : reserved;
    term("external", in_.device_external,
         computed(in_.device_rounds ? "remainder: device_used - baseline - the allocator's share in the device's books"
                                    : "remainder: device_used - baseline - reserved",
                  {{&in_.device_used, 1}, {&in_.baseline, -1}, {&held, -1}}));
    if (!in_.device_rounds) return;
    const Reading counter = counted(in_.counters.reserved_bytes);
    term("device_rounding",
         computed("device's books: allocator - reserved", {{&in_.device_allocator, 1}, {&counter, -1}}),
         computed("remainder: device_used - baseline - external - reserved",
                  {{&in_.device_used, 1}, {&in_.baseline, -1}, {&in_.device_external, -1}, {&reserved, -1}}));
  }

  // First readings are chosen so that no equation holds by the way its own terms were computed.
  void allocator_terms() {
    const auto& counters = in_.counters;
    const auto& walk = in_.walked;
    term("reserved", counted(counters.reserved_bytes), walked(walk.reserved_bytes));
    term("active", counted(counters.active_bytes), walked(walk.allocated_bytes + walk.pending_bytes));
    term("allocated", counted(counters.allocated_bytes), walked(walk.allocated_bytes));
    term("pending", walked(walk.pending_bytes),
         {counters.active_bytes - counters.allocated_bytes, counter_ + "s: active - allocated", {}, Basis::computed});
    term("inactive_pieces", counted(counters.inactive_bytes), walked(walk.inactive_bytes));
    term("free_segments", walked(walk.free_segment_bytes),
         {counters.reserved_bytes - counters.active_bytes - counters.inactive_bytes,
          counter_ + "s: reserved - active - inactive",
          {},
          Basis::computed});
    const std::int64_t by_category = std::accumulate(counters.category_requested_bytes.begin(),
                                                     counters.category_requested_bytes.end(), std::int64_t{0});
    term("requested", counted(counters.requested_bytes),
         {by_category, counter_ + "s: sum of the categories", {}, Basis::computed});
    term("slack", walked(walk.slack_bytes),
         {counters.active_bytes - counters.requested_bytes, counter_ + "s: active - requested", {}, Basis::computed});
  }

  void category_terms() {
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      term(kCategoryNames[i], counted(in_.counters.category_requested_bytes[i]), walked(in_.walked.requested_bytes[i]));
    }
  }

  [[nodiscard]] const LedgerTerm& find(std::string_view name) const {
    return *std::find_if(ledger_.terms.begin(), ledger_.terms.end(), [&](const auto& t) { return t.name == name; });
  }

  // The term's value is its first reading; where only the second exists the equation has no independent proof.
  [[nodiscard]] static bool disagree(const LedgerTerm& term) {
    const auto first = bytes_of(term.first);
    const auto second = bytes_of(term.second);
    return first && second && *first != *second;
  }

  void equation(std::string_view left, const std::vector<std::string_view>& right) {
    LedgerEquation equation;
    equation.text = std::string(left) + " = ";
    std::int64_t sum = 0;
    bool agree = !disagree(find(left));
    std::string unread = find(left).first.has_value() ? std::string() : find(left).first.reason;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const auto& part = find(right[i]);
      equation.text += (i == 0 ? "" : " + ") + std::string(right[i]);
      agree = agree && !disagree(part);
      if (const auto bytes = bytes_of(part.first)) {
        sum += *bytes;
      } else if (unread.empty()) {
        unread = part.name + ": " + part.first.reason;
      }
    }
    equation.left = find(left).first;
    if (unread.empty()) {
      const std::int64_t difference = *bytes_of(equation.left) - sum;
      equation.right = {sum, "bytes", Basis::computed, {}};
      equation.difference = {difference, "bytes", Basis::computed, {}};
      equation.balanced = difference == 0 && agree;
    } else {
      equation.right = missing("bytes", unread, Basis::computed);
      equation.difference = missing("bytes", unread, Basis::computed);
    }
    ledger_.equations.push_back(std::move(equation));
  }

  const LedgerReadings& in_;
  std::string counter_;
  Ledger ledger_;
};

}  // namespace

SnapshotWalk walk(const std::vector<allocator::SegmentInfo>& segments) {
  SnapshotWalk out;
  for (const auto& segment : segments) {
    out.reserved_bytes += static_cast<std::int64_t>(segment.total_bytes);
    std::int64_t inactive = 0;
    bool in_use = false;
    for (const auto& block : segment.blocks) {
      const auto bytes = static_cast<std::int64_t>(block.bytes);
      if (block.state == BlockState::inactive) {
        inactive += bytes;
        continue;
      }
      in_use = true;
      (block.state == BlockState::active_allocated ? out.allocated_bytes : out.pending_bytes) += bytes;
      const auto requested = static_cast<std::int64_t>(block.requested_bytes);
      out.slack_bytes += bytes - requested;
      out.requested_bytes[static_cast<std::size_t>(block.category)] += requested;
    }
    // inactive_split leaves expandable ranges out, as in PyTorch: their free pieces stand with the free segments.
    (in_use && !segment.expandable ? out.inactive_bytes : out.free_segment_bytes) += inactive;
  }
  return out;
}

AllocatorCounters counters_of(const allocator::Statistics& statistics) {
  constexpr auto kAll = static_cast<std::size_t>(allocator::StatPool::all);
  AllocatorCounters out;
  out.reserved_bytes = statistics.reserved_bytes[kAll].current;
  out.active_bytes = statistics.active_bytes[kAll].current;
  out.allocated_bytes = statistics.allocated_bytes[kAll].current;
  out.inactive_bytes = statistics.inactive_split_bytes[kAll].current;
  out.requested_bytes = statistics.requested_bytes[kAll].current;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    out.category_requested_bytes[i] = statistics.categories[i].requested_bytes.current;
  }
  return out;
}

Ledger build_ledger(const LedgerReadings& readings) {
  return Builder(readings).build();
}

}  // namespace assay::measure
