// SPDX-License-Identifier: Apache-2.0
// From the plain values of a snapshot to segments and events (keys: torch/csrc/cuda/Module.cpp, memory_snapshot.cpp).
#include "suite/trace/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "suite/trace/fields.hpp"
#include "suite/trace/json_value.hpp"
#include "suite/trace/pickle.hpp"
#include "suite/trace/value.hpp"

namespace assay::trace {
namespace {

// One dictionary of the snapshot, and where it stands, for messages.
class Record {
 public:
  Record(const Arena& arena, Value value, const std::string& path, std::string place)
      : arena_(arena), value_(value), path_(path), place_(std::move(place)) {}

  [[nodiscard]] Error error(std::string_view what) const {
    return {ErrorCode::bad_input, fmt::format("{}: {}: {}; record the snapshot again", path_, place_, printable(what))};
  }
  [[nodiscard]] bool is_dictionary() const { return value_.kind == ValueKind::dictionary; }

  Result<std::int64_t> integer(std::string_view key) const {
    const Value* found = arena_.find(value_, key);
    if (found == nullptr) return error(fmt::format("'{}' is missing", key));
    if (found->kind != ValueKind::integer) return error(fmt::format("'{}' is no integer", key));
    return found->integer;
  }
  Result<std::int64_t> bytes(std::string_view key) const {
    const auto value = integer(key);
    if (value && (*value < 0 || *value > kAbsurdBytes))
      return error(fmt::format("'{}' is {}, which is no size", key, *value));
    return value;
  }
  Result<std::string_view> text(std::string_view key) const {
    const Value* found = arena_.find(value_, key);
    if (found == nullptr) return error(fmt::format("'{}' is missing", key));
    if (found->kind != ValueKind::text) return error(fmt::format("'{}' is no text", key));
    return arena_.text_of(*found);
  }
  [[nodiscard]] std::optional<Value> optional(std::string_view key) const {
    const Value* found = arena_.find(value_, key);
    return found == nullptr ? std::nullopt : std::optional<Value>(*found);
  }

 private:
  const Arena& arena_;
  Value value_;
  const std::string& path_;
  std::string place_;
};

Result<const Arena::List*> list_under(const Arena& arena, Value dictionary, std::string_view key,
                                      const std::string& path) {
  const Value* found = arena.find(dictionary, key);
  if (found == nullptr || found->kind != ValueKind::list)
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: '{}' is missing or no list; this is no memory snapshot", path, key)};
  return &arena.list_of(*found);
}

Result<RecordedBlock> read_block(const Record& record) {
  RecordedBlock block;
  const auto address = record.integer("address");
  const auto bytes = record.bytes("size");
  const auto state = record.text("state");
  if (!address) return address.error();
  if (!bytes) return bytes.error();
  if (!state) return state.error();
  block.address = static_cast<std::uint64_t>(*address);
  block.bytes = *bytes;
  // Old recorders leave requested_size out: then the block's size is the best that is known.
  const auto requested = record.optional("requested_size") ? record.bytes("requested_size") : bytes;
  if (!requested) return requested.error();
  block.requested_bytes = *requested;
  if (*state == "active_allocated")
    block.state = RecordedState::active;
  else if (*state == "active_pending_free" || *state == "active_awaiting_free")
    block.state = RecordedState::pending_free;
  else if (*state != "inactive")
    return record.error(fmt::format("'{}' is no state of a block", *state));
  return block;
}

Result<RecordedSegment> read_segment(const Arena& arena, Value value, const std::string& path,
                                     const std::string& place) {
  const Record record(arena, value, path, place);
  if (!record.is_dictionary()) return record.error("a segment is no dictionary");
  RecordedSegment segment;
  const auto address = record.integer("address");
  const auto bytes = record.bytes("total_size");
  const auto stream = record.integer("stream");
  const auto type = record.text("segment_type");
  if (!address) return address.error();
  if (!bytes) return bytes.error();
  if (!stream) return stream.error();
  if (!type) return type.error();
  segment.address = static_cast<std::uint64_t>(*address);
  segment.bytes = *bytes;
  segment.stream = static_cast<std::uint64_t>(*stream);
  segment.small_pool = *type == "small";
  if (const auto device = record.optional("device"); device && device->kind == ValueKind::integer)
    segment.device = static_cast<std::int32_t>(device->integer);
  if (const auto expandable = record.optional("is_expandable")) segment.expandable = expandable->integer != 0;
  if (const auto pool = record.optional("segment_pool_id"); pool && pool->kind == ValueKind::list) {
    const auto& pair = arena.list_of(*pool);
    if (pair.size() == 2) {
      segment.pool_first = static_cast<std::uint64_t>(pair[0].integer);
      segment.pool_second = static_cast<std::uint64_t>(pair[1].integer);
    }
  }
  const auto blocks = list_under(arena, value, "blocks", path);
  if (!blocks) return blocks.error();
  std::uint64_t expected = segment.address;
  for (std::size_t i = 0; i < (*blocks)->size(); ++i) {
    const Record one(arena, (**blocks)[i], path, fmt::format("{}.blocks[{}]", place, i));
    if (!one.is_dictionary()) return one.error("a block is no dictionary");
    auto block = read_block(one);
    if (!block) return block.error();
    // Old recorders give blocks no address: they stand one behind the other.
    if (block->address != expected) return one.error("the block does not begin where the one before it ends");
    expected += static_cast<std::uint64_t>(block->bytes);
    segment.blocks.push_back(*block);
  }
  if (expected != segment.address + static_cast<std::uint64_t>(segment.bytes))
    return record.error("the blocks do not fill the segment");
  return segment;
}

struct RecordedName {
  std::string_view name;
  Action action;
};
constexpr RecordedName kRecordedNames[] = {
    {"alloc", Action::alloc},
    {"free_requested", Action::free_requested},
    {"free_completed", Action::free_completed},
    {"free", Action::free},
    {"segment_alloc", Action::segment_alloc},
    {"segment_free", Action::segment_free},
    {"segment_map", Action::segment_map},
    {"segment_unmap", Action::segment_unmap},
    {"oom", Action::out_of_memory},
    {"snapshot", Action::snapshot},
    {"annotate", Action::snapshot},
};

class Snapshot : public Source {
 public:
  Snapshot(std::string path, Arena arena) : path_(std::move(path)), arena_(std::move(arena)) {}
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<bool> next(Event& event) override {
    while (device_ < traces_->size()) {
      const auto& trace = arena_.list_of((*traces_)[device_]);
      if (index_ < trace.size()) {
        const std::size_t index = index_++;
        const Record record(arena_, trace[index], path_, fmt::format("device_traces[{}][{}]", device_, index));
        return read_event(record, event);
      }
      ++device_;
      index_ = 0;
    }
    return false;
  }

  Result<void> prepare(Value root, Format format) {
    header_.origin.format = format;
    header_.origin.framework = "pytorch";
    if (root.kind != ValueKind::dictionary)
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: the top level is no dictionary; this is no memory snapshot", path_)};
    const auto segments = list_under(arena_, root, "segments", path_);
    if (!segments) return segments.error();
    for (std::size_t i = 0; i < (*segments)->size(); ++i) {
      auto segment = read_segment(arena_, (**segments)[i], path_, fmt::format("segments[{}]", i));
      if (!segment) return segment.error();
      header_.final_segments.push_back(std::move(*segment));
    }
    const auto traces = list_under(arena_, root, "device_traces", path_);
    if (!traces) return traces.error();
    traces_ = *traces;
    std::size_t events = 0;
    for (const Value& trace : *traces_) {
      if (trace.kind != ValueKind::list)
        return Error{ErrorCode::bad_input,
                     fmt::format("{}: an entry of 'device_traces' is no list; record the snapshot again", path_)};
      events += arena_.list_of(trace).size();
    }
    if (events == 0)
      return Error{
          ErrorCode::bad_input,
          fmt::format("{}: the snapshot has no events; record it with _record_memory_history before the workload",
                      path_)};
    read_settings(root);
    header_.warnings.emplace_back(
        "the recorder keeps only the newest events: what was live before them is reconstructed from the final "
        "segments");
    return {};
  }

 private:
  void read_settings(Value root) {
    const Value* settings = arena_.find(root, "allocator_settings");
    if (settings == nullptr || settings->kind != ValueKind::dictionary) return;
    const Record record(arena_, *settings, path_, "allocator_settings");
    if (const auto conf = record.optional("PYTORCH_CUDA_ALLOC_CONF"); conf && conf->kind == ValueKind::text)
      header_.origin.settings = arena_.text_of(*conf);
    if (const auto split = record.optional("max_split_size"); split && split->kind == ValueKind::integer)
      header_.origin.max_split_size_bytes = split->integer;
    if (const auto expandable = record.optional("expandable_segments"))
      header_.origin.expandable_segments = expandable->integer != 0;
  }

  Result<bool> read_event(const Record& record, Event& event) const {
    if (!record.is_dictionary()) return record.error("an event is no dictionary");
    const auto name = record.text("action");
    if (!name) return name.error();
    const auto* known = std::find_if(std::begin(kRecordedNames), std::end(kRecordedNames),
                                     [&](const RecordedName& a) { return a.name == *name; });
    if (known == std::end(kRecordedNames))
      return record.error(fmt::format("'{}' is no action this version knows", *name));
    event = Event{};
    event.action = known->action;
    event.device = static_cast<std::int32_t>(device_);
    if (known->action == Action::snapshot) return true;
    const auto address = record.integer(known->action == Action::out_of_memory ? "device_free" : "addr");
    const auto bytes = record.bytes("size");
    const auto stream = record.integer("stream");
    if (!address) return address.error();
    if (!bytes) return bytes.error();
    if (!stream) return stream.error();
    event.address = static_cast<std::uint64_t>(*address);
    event.bytes = *bytes;
    event.stream = static_cast<std::uint64_t>(*stream);
    if (const auto time = record.optional("time_us"); time && time->kind == ValueKind::integer)
      event.time_us = time->integer;
    return true;
  }

  std::string path_;
  Arena arena_;
  Header header_;
  const Arena::List* traces_ = nullptr;
  std::size_t device_ = 0;
  std::size_t index_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> open_snapshot(Input input, Format format) {
  Arena arena;
  // Stack frames are most of a large snapshot and nothing of a replay.
  const JsonOptions options{
      [](std::string_view key) { return key == "frames" || key == "user_metadata" || key == "external_annotations"; }};
  const auto root = format == Format::pytorch_pickle ? read_pickle(input, arena) : read_json(input, arena, options);
  if (!root) return root.error();
  auto source = std::make_unique<Snapshot>(input.path(), std::move(arena));
  if (const auto ready = source->prepare(*root, format); !ready) return ready.error();
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::trace
