// SPDX-License-Identifier: Apache-2.0
// Keys in the order in which PyTorch writes them.
#include "suite/trace/snapshot_writer.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace assay::trace {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string_view name_of(RecordedState state) {
  switch (state) {
    case RecordedState::active:
      return "active_allocated";
    case RecordedState::pending_free:
      return "active_pending_free";
    case RecordedState::inactive:
      break;
  }
  return "inactive";
}

std::string_view name_of(Action action) {
  switch (action) {
    case Action::alloc:
      return "alloc";
    case Action::free_requested:
      return "free_requested";
    case Action::free_completed:
      return "free_completed";
    case Action::segment_alloc:
      return "segment_alloc";
    case Action::segment_free:
      return "segment_free";
    case Action::segment_map:
      return "segment_map";
    case Action::segment_unmap:
      return "segment_unmap";
    case Action::out_of_memory:
      return "oom";
    default:
      return {};
  }
}

void write_segment(Out out, const RecordedSegment& segment) {
  std::int64_t allocated = 0;
  std::int64_t active = 0;
  std::int64_t requested = 0;
  for (const auto& block : segment.blocks) {
    if (block.state == RecordedState::inactive) continue;
    active += block.bytes;
    requested += block.requested_bytes;
    if (block.state == RecordedState::active) allocated += block.bytes;
  }
  fmt::format_to(out,
                 "{{\"device\": {}, \"address\": {}, \"total_size\": {}, \"allocated_size\": {}, \"active_size\": {}, "
                 "\"requested_size\": {}, \"stream\": {}, \"segment_type\": \"{}\", \"segment_pool_id\": [{}, {}], "
                 "\"is_expandable\": {}, \"frames\": [], \"blocks\": [",
                 segment.device, segment.address, segment.bytes, allocated, active, requested, segment.stream,
                 segment.small_pool ? "small" : "large", segment.pool_first, segment.pool_second, segment.expandable);
  std::string_view separator;
  for (const auto& block : segment.blocks) {
    fmt::format_to(out,
                   "{}{{\"address\": {}, \"size\": {}, \"requested_size\": {}, \"state\": \"{}\", \"frames\": []}}",
                   separator, block.address, block.bytes, block.requested_bytes, name_of(block.state));
    separator = ", ";
  }
  fmt::format_to(out, "]}}");
}

void write_settings(Out out, const SnapshotSettings& settings) {
  fmt::format_to(out,
                 "{{\"PYTORCH_CUDA_ALLOC_CONF\": {}, \"max_split_size\": {}, \"garbage_collection_threshold\": {:#}, "
                 "\"expandable_segments\": {}, \"pinned_num_register_threads\": 1, \"release_lock_on_cudamalloc\": "
                 "false, \"pinned_use_cuda_host_register\": false, \"graph_capture_record_stream_reuse\": false, "
                 "\"roundup_power2_divisions\": {{",
                 json_text(settings.conf), settings.max_split_size_bytes, settings.garbage_collection_threshold,
                 settings.expandable_segments);
  constexpr std::size_t kIntervals = 16;
  for (std::size_t i = 0; i < kIntervals; ++i)
    fmt::format_to(out, "{}\"{}\": {}", i == 0 ? "" : ", ", std::int64_t{1} << i,
                   i < settings.roundup_power2_divisions.size() ? settings.roundup_power2_divisions[i] : 0);
  fmt::format_to(out, "}}}}");
}

}  // namespace

std::string snapshot_text(const SnapshotParts& parts) {
  std::string text = "{\"segments\": [";
  const auto out = std::back_inserter(text);
  std::string_view separator;
  for (const auto& segment : parts.segments) {
    text += separator;
    write_segment(out, segment);
    separator = ",\n";
  }
  text += "],\n\"device_traces\": [[";
  separator = {};
  for (const auto& event : parts.events) {
    const std::string_view action = name_of(event.action);
    if (action.empty()) continue;
    fmt::format_to(out, "{}{{\"action\": \"{}\", \"{}\": {}, \"size\": {}, \"stream\": {}, \"time_us\": {}}}",
                   separator, action, event.action == Action::out_of_memory ? "device_free" : "addr", event.address,
                   event.bytes, event.stream, event.time_us);
    separator = ",\n";
  }
  text += "]],\n\"allocator_settings\": ";
  write_settings(out, parts.settings);
  text += "}\n";
  return text;
}

}  // namespace assay::trace
