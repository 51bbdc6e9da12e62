// SPDX-License-Identifier: Apache-2.0
// Kineto memory events, from CSV and from the profile itself.
#include <cmath>
#include <limits>
#include <utility>

#include "suite/trace/columns.hpp"
#include "suite/trace/formats.hpp"
#include "suite/trace/json_value.hpp"

namespace assay::trace {
namespace {

// c10's DeviceType.
constexpr std::int64_t kCudaType = 1;
constexpr std::int64_t kHipType = 6;

constexpr const char* kWindowWarning =
    "the profile is a window: what was live before its first event is not known, so peaks are those of the window only";

// Turns the signed byte counts of Kineto into events. False when the event is none of a GPU's memory.
bool fill_event(Event& event, std::int64_t type, std::int64_t device, std::uint64_t address, std::int64_t bytes,
                double time_us) {
  if (type != kCudaType && type != kHipType) return false;
  event = Event{};
  event.action = bytes < 0 ? Action::free : Action::alloc;
  event.device = static_cast<std::int32_t>(device);
  event.address = address;
  event.bytes = bytes < 0 ? -bytes : bytes;
  event.time_us = static_cast<std::int64_t>(time_us);
  return true;
}

bool plausible(std::int64_t bytes, std::int64_t device, double time_us) {
  return bytes != 0 && bytes >= -kAbsurdBytes && bytes <= kAbsurdBytes && device >= 0 &&
         device <= std::numeric_limits<std::int16_t>::max() && std::isfinite(time_us) && std::abs(time_us) < 9.0e15;
}

Header window_header(Format format) {
  Header header;
  header.origin.format = format;
  header.origin.framework = "pytorch";
  header.warnings.emplace_back(kWindowWarning);
  return header;
}

// Device type 6 says AMD. Type 1 says "cuda", which a ROCm build of PyTorch says of AMD boards too.
void note_type(Header& header, std::int64_t type) {
  if (type == kHipType) header.origin.platform = "amd";
}

class KinetoCsv : public Source {
 public:
  enum Column : std::size_t { kTime, kType, kDevice, kAddress, kBytes };
  static constexpr std::array<std::string_view, 5> kNames{"t_us", "device_type", "device_id", "addr", "bytes"};

  KinetoCsv(Input input, Columns<5> columns) : input_(std::move(input)), columns_(std::move(columns)) {}
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<bool> next(Event& event) override {
    for (;;) {
      const auto more = columns_.next(input_);
      if (!more || !*more) return more;
      const auto type = whole<std::int64_t>(columns_.cell(kType));
      const auto device = whole<std::int64_t>(columns_.cell(kDevice));
      const auto where = trace::address(columns_.cell(kAddress));
      const auto bytes = whole<std::int64_t>(columns_.cell(kBytes));
      const auto time = whole_real(columns_.cell(kTime));
      if (!type) return bad_cell(input_, kNames[kType], columns_.cell(kType));
      if (!device) return bad_cell(input_, kNames[kDevice], columns_.cell(kDevice));
      if (!where) return bad_cell(input_, kNames[kAddress], columns_.cell(kAddress));
      if (!bytes) return bad_cell(input_, kNames[kBytes], columns_.cell(kBytes));
      if (!time) return bad_cell(input_, kNames[kTime], columns_.cell(kTime));
      if (!plausible(*bytes, *device, *time)) return input_.at_line("the size, device or time is out of any range");
      note_type(header_, *type);
      if (fill_event(event, *type, *device, *where, *bytes, *time)) return true;
    }
  }

 private:
  Input input_;
  Columns<5> columns_;
  Header header_ = window_header(Format::kineto_csv);
};

class KinetoJson : public Source {
 public:
  KinetoJson(std::string path, Arena arena, Value root)
      : path_(std::move(path)), arena_(std::move(arena)), root_(root) {}
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<void> prepare() {
    const Value* events = root_.kind == ValueKind::dictionary ? arena_.find(root_, "traceEvents") : nullptr;
    if (events == nullptr || events->kind != ValueKind::list)
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: 'traceEvents' is missing or no list; this is no Kineto profile", path_)};
    events_ = &arena_.list_of(*events);
    if (const Value* devices = arena_.find(root_, "deviceProperties");
        devices != nullptr && devices->kind == ValueKind::list)
      for (const Value& device : arena_.list_of(*devices))
        if (const Value* name = device.kind == ValueKind::dictionary ? arena_.find(device, "name") : nullptr;
            name != nullptr && name->kind == ValueKind::text && !arena_.text_of(*name).empty()) {
          header_.origin.device = arena_.text_of(*name);
          break;
        }
    return {};
  }

  Result<bool> next(Event& event) override {
    while (index_ < events_->size()) {
      const Value record = (*events_)[index_++];
      if (record.kind != ValueKind::dictionary) continue;
      const Value* name = arena_.find(record, "name");
      const Value* args = arena_.find(record, "args");
      if (name == nullptr || name->kind != ValueKind::text || arena_.text_of(*name) != "[memory]") continue;
      if (args == nullptr || args->kind != ValueKind::dictionary) return error("'args' is missing");
      const auto type = number(*args, "Device Type");
      const auto device = number(*args, "Device Id");
      const auto where = number(*args, "Addr");
      const auto bytes = number(*args, "Bytes");
      if (!type || !bytes || !where) return error("'Device Type', 'Addr' or 'Bytes' is missing or no integer");
      double time = 0;
      if (const Value* ts = arena_.find(record, "ts"); ts != nullptr)
        time = ts->kind == ValueKind::real ? ts->real : static_cast<double>(ts->integer);
      if (*type != kCudaType && *type != kHipType) continue;
      if (!plausible(*bytes, device.value_or(0), time)) return error("the size, device or time is out of any range");
      note_type(header_, *type);
      if (fill_event(event, *type, device.value_or(0), static_cast<std::uint64_t>(*where), *bytes, time)) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] Error error(std::string_view what) const {
    return {ErrorCode::bad_input,
            fmt::format("{}: traceEvents[{}]: {}; record the profile again", path_, index_ - 1, what)};
  }
  [[nodiscard]] std::optional<std::int64_t> number(Value dictionary, std::string_view key) const {
    const Value* found = arena_.find(dictionary, key);
    if (found == nullptr || found->kind != ValueKind::integer) return std::nullopt;
    return found->integer;
  }

  std::string path_;
  Arena arena_;
  Value root_;
  const Arena::List* events_ = nullptr;
  std::size_t index_ = 0;
  Header header_ = window_header(Format::kineto_json);
};

}  // namespace

Result<std::unique_ptr<Source>> open_kineto_csv(Input input) {
  auto columns = Columns<5>::read_header(input, KinetoCsv::kNames);
  if (!columns) return columns.error();
  return std::unique_ptr<Source>(std::make_unique<KinetoCsv>(std::move(input), std::move(*columns)));
}

Result<std::unique_ptr<Source>> open_kineto_json(Input input) {
  Arena arena;
  const JsonOptions options{[](std::string_view key) { return key == "stackTraces" || key == "baseTimeNanoseconds"; }};
  const auto root = read_json(input, arena, options);
  if (!root) return root.error();
  auto source = std::make_unique<KinetoJson>(input.path(), std::move(arena), *root);
  if (const auto ready = source->prepare(); !ready) return ready.error();
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::trace
