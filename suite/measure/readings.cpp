// SPDX-License-Identifier: Apache-2.0
// From statistics and the device's answer to named counters and to the ledger's readings.
#include "suite/measure/readings.hpp"

#include <string_view>
#include <utility>

namespace assay::measure {
namespace {

using allocator::Stat;
using allocator::StatArray;
using allocator::Statistics;

class CounterList {
 public:
  explicit CounterList(std::string source) : source_(std::move(source)) {}

  void stat(const std::string& name, const Stat& stat, const char* unit, const std::string& perimeter) {
    add(name + ".current", stat.current, unit, perimeter);
    add(name + ".peak", stat.peak, unit, perimeter);
    add(name + ".allocated", stat.allocated, unit, perimeter);
    add(name + ".freed", stat.freed, unit, perimeter);
  }

  void pools(const std::string& name, const StatArray& stats, const char* unit) {
    for (std::size_t i = 0; i < stats.size(); ++i) {
      stat(name + "." + std::string(allocator::kStatPoolNames[i]), stats[i], unit, "allocator");
    }
  }

  void add(const std::string& name, std::int64_t value, const char* unit, const std::string& perimeter) {
    out_.push_back({name, {value, unit, Basis::observed, {}}, perimeter, source_, Exactness::exact});
  }

  void device(const char* name, const Reading& reading, const char* perimeter) {
    Quantity quantity = reading.bytes ? observed_bytes(*reading.bytes) : missing("bytes", reading.reason);
    out_.push_back({name, std::move(quantity), perimeter, reading.source, Exactness::exact});
  }

  void walked(const char* name, std::int64_t value, const char* unit = "bytes") {
    out_.push_back({name, {value, unit, Basis::observed, {}}, "allocator", kWalk, Exactness::exact});
  }
  void share(const char* name, double value) {
    out_.push_back({name, {value, "1", Basis::computed, {}}, "allocator", kWalk, Exactness::exact});
  }

  void unlimited(const char* name, const char* reason) {
    out_.push_back({name, missing("bytes", reason), "allocator", source_, Exactness::exact});
  }

  // What the policy says of its own statistics: bounds are marked, what it cannot know has no value.
  void qualify(const allocator::Reliability& reliability) {
    constexpr std::string_view kPeak = ".peak";
    for (Counter& counter : out_) {
      const bool reserved = counter.name.rfind("reserved_bytes.", 0) == 0;
      const bool peak = counter.name.size() > kPeak.size() &&
                        counter.name.compare(counter.name.size() - kPeak.size(), kPeak.size(), kPeak) == 0;
      if (peak && !(reserved ? reliability.reserved_peak_exact : reliability.block_peaks_exact))
        counter.exactness = Exactness::upper_bound;
      if (!reliability.segments_known && of_segments(counter.name))
        counter.quantity = missing(counter.quantity.unit, "the runtime's own pool does not tell");
    }
  }

  std::vector<Counter> take() && { return std::move(out_); }

 private:
  static bool of_segments(const std::string& name) {
    for (const char* start :
         {"segment.", "inactive_split.", "inactive_split_bytes.", "oversize_segments.", "free_pieces",
          "largest_free_bytes", "external_fragmentation", "stranded_bytes", "num_device_alloc", "num_device_free"})
      if (name.rfind(start, 0) == 0) return true;
    return false;
  }

  static constexpr const char* kWalk = "walk over the blocks";
  std::string source_;
  std::vector<Counter> out_;
};

void add_account(CounterList& list, const Look& look) {
  const allocator::Account& account = look.account;
  list.walked("free_bytes", account.free_bytes);
  list.walked("free_pieces", account.free_pieces, "1");
  list.walked("largest_free_bytes", account.largest_free_bytes);
  list.share("external_fragmentation", account.external_fragmentation());
  list.walked("rounding_bytes", account.rounding_bytes);
  list.walked("unsplit_slack_bytes", account.slack_bytes);
  list.walked("stranded_bytes", look.stranded_bytes);
  list.walked("private_pool_bytes", account.private_bytes);
}

void add_allocator(CounterList& list, const Statistics& s) {
  list.pools("allocation", s.allocation, "1");
  list.pools("segment", s.segment, "1");
  list.pools("active", s.active, "1");
  list.pools("inactive_split", s.inactive_split, "1");
  list.pools("allocated_bytes", s.allocated_bytes, "bytes");
  list.pools("reserved_bytes", s.reserved_bytes, "bytes");
  list.pools("active_bytes", s.active_bytes, "bytes");
  list.pools("inactive_split_bytes", s.inactive_split_bytes, "bytes");
  list.pools("requested_bytes", s.requested_bytes, "bytes");
  list.stat("oversize_allocations", s.oversize_allocations, "1", "allocator");
  list.stat("oversize_segments", s.oversize_segments, "1", "allocator");
  list.add("num_alloc_retries", s.num_alloc_retries, "1", "allocator");
  list.add("num_ooms", s.num_ooms, "1", "allocator");
  list.add("num_sync_all_streams", s.num_sync_all_streams, "1", "allocator");
  list.add("num_device_alloc", s.num_device_alloc, "1", "allocator");
  list.add("num_device_free", s.num_device_free, "1", "allocator");
  if (s.max_split_size < 0) {
    list.unlimited("max_split_size", "unlimited: blocks of any size may be split");
  } else {
    list.add("max_split_size", s.max_split_size, "bytes", "allocator");
  }
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    const std::string perimeter = "category:" + std::string(allocator::kCategoryNames[i]);
    list.stat("allocated_bytes", s.categories[i].allocated_bytes, "bytes", perimeter);
    list.stat("active_bytes", s.categories[i].active_bytes, "bytes", perimeter);
    list.stat("requested_bytes", s.categories[i].requested_bytes, "bytes", perimeter);
  }
}

// A reading of the device; -1 means that it cannot be read there.
Reading reading_of(const Look& look, std::int64_t assay_memory_info::*field, const char* source, const char* unread) {
  if (!look.device) return {std::nullopt, "device", look.device_reason, Basis::observed};
  const std::int64_t bytes = (*look.device).*field;
  const std::string name = source == nullptr ? "device" : source;
  if (bytes >= 0) return {bytes, name, {}, Basis::observed};
  return {std::nullopt, "device", source == nullptr ? unread : source, Basis::observed};
}

Reading used(const Look& look) {
  return reading_of(look, &assay_memory_info::used_bytes, look.device ? look.device->used_source : nullptr,
                    "the device does not say how much of its memory is used");
}
Reading walked(const Look& look) {
  return reading_of(look, &assay_memory_info::walked_bytes, look.device ? look.device->walked_source : nullptr,
                    "the platform has no second reading of used memory");
}
Reading external(const Look& look) {
  return reading_of(look, &assay_memory_info::external_bytes, look.device ? look.device->external_source : nullptr,
                    "the device keeps no books of memory obtained around the allocator");
}
Reading of_allocator(const Look& look) {
  Reading out = reading_of(look, &assay_memory_info::allocator_bytes, nullptr,
                           "the device keeps no books of memory obtained by the allocator");
  if (out.bytes) out.source = "device's books";
  return out;
}

}  // namespace

Look look(const allocator::Allocator& allocator, const device::Device& device, const assay_stream* stream) {
  Look out;
  out.statistics = allocator.statistics();
  const auto segments = allocator.snapshot();
  out.walked = walk(segments);
  out.policy = allocator.policy();
  if (const auto options = allocator::parse_options(allocator.options())) out.options = *options;
  out.account = allocator::account_of(segments, out.options);
  out.stranded_bytes = out.account.stranded_bytes(stream);
  out.reliability = allocator.reliability();
  if (const auto memory = device.memory_info()) {
    out.device = *memory;
  } else {
    out.device_reason = memory.error().text;
  }
  return out;
}

std::vector<Counter> counters(const Look& look) {
  CounterList list(look.policy);
  add_allocator(list, look.statistics);
  add_account(list, look);
  list.qualify(look.reliability);
  list.device("device_total_bytes",
              reading_of(look, &assay_memory_info::total_bytes, look.device ? look.device->used_source : nullptr,
                         "the device does not say how much memory it has"),
              "device");
  list.device("device_used_bytes", used(look), "device");
  list.device("device_walked_bytes", walked(look), "process");
  list.device("device_allocator_bytes", of_allocator(look), "process");
  list.device("device_external_bytes", external(look), "process");
  return std::move(list).take();
}

Reading baseline_of(const Look& look) {
  Reading out = used(look);
  out.source = "reading of the phase environment: " + out.source;
  if (!out.bytes) return out;
  const auto reserved = look.statistics.reserved_bytes[static_cast<std::size_t>(allocator::StatPool::all)].current;
  *out.bytes -= reserved + external(look).bytes.value_or(0);
  return out;
}

namespace {

const char* word_of(allocator::Cause cause) {
  switch (cause) {
    case allocator::Cause::too_little_memory:
      return "too_little_memory";
    case allocator::Cause::fragmentation:
      return "fragmentation";
    case allocator::Cause::other_stream_cache:
      return "other_stream_cache";
    case allocator::Cause::other_process:
      return "other_process";
    case allocator::Cause::unknown:
      break;
  }
  return "unknown";
}

allocator::DeviceRoom room_of(const Look& look, const Reading& baseline) {
  allocator::DeviceRoom room;
  room.baseline_bytes = baseline.bytes.value_or(0);
  if (!look.device || look.device->used_bytes < 0 || look.device->total_bytes < 0) return room;
  room.total_bytes = look.device->total_bytes;
  room.free_bytes = look.device->total_bytes - look.device->used_bytes;
  if (look.device->external_bytes >= 0) room.own_external_bytes = look.device->external_bytes;
  if (look.options.memory_fraction > 0)
    room.limit_bytes =
        static_cast<std::int64_t>(look.options.memory_fraction * static_cast<double>(look.device->total_bytes));
  return room;
}

}  // namespace

MemoryAccount account_of_refusal(const Look& look, const Reading& baseline, std::int64_t bytes,
                                 const assay_stream* stream) {
  const auto request = allocator::refused_request(look.policy, look.options, static_cast<std::size_t>(bytes), stream);
  const auto verdict = allocator::explain(look.account, request, room_of(look, baseline));
  MemoryAccount out;
  out.cause = word_of(verdict.cause);
  out.sentence = verdict.sentence;
  const auto add = [&](const char* name, const std::optional<std::int64_t>& value, const char* perimeter) {
    Quantity quantity =
        value ? Quantity{*value, "bytes", Basis::computed, {}}
              : missing("bytes", "the device does not say how much of its memory is free", Basis::computed);
    out.terms.push_back({name, std::move(quantity), perimeter, "account of the refused request", Exactness::exact});
  };
  add("needed_bytes", verdict.needed_bytes, "allocator");
  add("least_growth_bytes", verdict.growth_bytes, "allocator");
  add("own_stream_free_bytes", verdict.own_free_bytes, "allocator");
  add("own_stream_largest_free_bytes", verdict.own_largest_bytes, "allocator");
  add("device_free_bytes", verdict.device_free_bytes, "device");
  add("other_caches_bytes", verdict.other_cache_bytes, "allocator");
  add("outside_bytes", verdict.outside_bytes, "device");
  add("in_use_bytes", verdict.active_bytes, "allocator");
  add("missing_bytes", verdict.missing_bytes, "device");
  return out;
}

LedgerReadings ledger_readings(const Look& look, const Reading& baseline, std::string checkpoint) {
  LedgerReadings out;
  out.checkpoint = std::move(checkpoint);
  out.device_used = used(look);
  out.device_walked = walked(look);
  out.device_allocator = of_allocator(look);
  out.device_external = external(look);
  out.baseline = baseline;
  out.policy = look.policy;
  out.device_rounds = look.policy == "direct";
  out.counters = counters_of(look.statistics);
  out.walked = look.walked;
  return out;
}

}  // namespace assay::measure
