// SPDX-License-Identifier: Apache-2.0
// The account of a refusal.
#include "suite/replay/refusal.hpp"

#include "backends/allocator/account.hpp"
#include "backends/allocator/options.hpp"

namespace assay::replay {
namespace {

using allocator::Cause;

// As documents write it.
const char* word_of(Cause cause) {
  switch (cause) {
    case Cause::too_little_memory:
      return "too_little_memory";
    case Cause::fragmentation:
      return "fragmentation";
    case Cause::other_stream_cache:
      return "other_stream_cache";
    case Cause::other_process:
      return "other_process";
    case Cause::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

void account_for(const PolicyReplay& replay, const assay_stream* stream, Refusal& refusal) {
  if (refusal.error.code != ErrorCode::out_of_memory) {
    refusal.sentence = refusal.error.text;
    return;
  }
  const auto options = allocator::parse_options(replay.choice().options);
  const allocator::Options effective = options ? *options : allocator::Options{};
  allocator::DeviceRoom room;
  room.total_bytes = static_cast<std::int64_t>(replay.device_capacity_bytes());
  room.free_bytes = static_cast<std::int64_t>(replay.device_free_bytes());
  if (effective.memory_fraction > 0)
    room.limit_bytes =
        static_cast<std::int64_t>(effective.memory_fraction * static_cast<double>(replay.device_capacity_bytes()));
  const auto verdict =
      allocator::explain(allocator::account_of(replay.allocator().snapshot(), effective),
                         allocator::refused_request(replay.choice().policy, effective,
                                                    static_cast<std::size_t>(refusal.requested_bytes), stream),
                         room);
  refusal.cause = word_of(verdict.cause);
  refusal.sentence = verdict.sentence;
}

}  // namespace assay::replay
