// SPDX-License-Identifier: Apache-2.0
// Our own recorded format: comments with the recorder's identity, then CSV that a spreadsheet opens.
#include <algorithm>
#include <utility>

#include "backends/allocator/statistics.hpp"
#include "suite/trace/columns.hpp"
#include "suite/trace/formats.hpp"

namespace assay::trace {
namespace {

struct ActionName {
  std::string_view name;
  Action action;
};
constexpr std::array kActions{
    ActionName{"alloc", Action::alloc},
    ActionName{"free", Action::free},
    ActionName{"free_requested", Action::free_requested},
    ActionName{"free_completed", Action::free_completed},
    ActionName{"record_stream", Action::record_stream},
    ActionName{"out_of_memory", Action::out_of_memory},
    ActionName{"empty_cache", Action::empty_cache},
};

class Assay : public Source {
 public:
  enum Column : std::size_t { kAction, kDevice, kStream, kAddress, kBytes, kTime };
  static constexpr std::array<std::string_view, 6> kNames{"action", "device", "stream", "address", "bytes", "time_us"};

  Assay(Input input, Columns<6> columns, Header header)
      : input_(std::move(input)), columns_(std::move(columns)), header_(std::move(header)) {}
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<bool> next(Event& event) override {
    const auto more = columns_.next(input_);
    if (!more || !*more) return more;
    const std::string_view action = columns_.cell(kAction);
    const auto known =
        std::find_if(kActions.begin(), kActions.end(), [&](const ActionName& a) { return a.name == action; });
    if (known == kActions.end()) return bad_cell(input_, kNames[kAction], action);
    const auto device = whole<std::int32_t>(columns_.cell(kDevice));
    const auto stream = trace::address(columns_.cell(kStream));
    const auto where = trace::address(columns_.cell(kAddress));
    const auto bytes = whole<std::int64_t>(columns_.cell(kBytes));
    const auto time = whole<std::int64_t>(columns_.cell(kTime));
    if (!device || *device < 0) return bad_cell(input_, kNames[kDevice], columns_.cell(kDevice));
    if (!stream) return bad_cell(input_, kNames[kStream], columns_.cell(kStream));
    if (!where) return bad_cell(input_, kNames[kAddress], columns_.cell(kAddress));
    if (!bytes || *bytes < 0 || *bytes > kAbsurdBytes) return bad_cell(input_, kNames[kBytes], columns_.cell(kBytes));
    if (!time) return bad_cell(input_, kNames[kTime], columns_.cell(kTime));
    event = Event{known->action, *device, *stream, *where, *bytes, *time, -1};
    return take_category(event);
  }

 private:
  // The column may be left out; an empty cell is an event without a category.
  Result<bool> take_category(Event& event) const {
    const auto cell = columns_.optional_cell("category");
    if (!cell || cell->empty()) return true;
    const auto& names = allocator::kCategoryNames;
    const auto known = std::find(names.begin(), names.end(), *cell);
    if (known == names.end()) return bad_cell(input_, "category", *cell);
    event.category = static_cast<std::int8_t>(known - names.begin());
    return true;
  }

  Input input_;
  Columns<6> columns_;
  Header header_;
};

Result<void> take_comment(const Input& input, std::string_view line, Origin& origin) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return input.at_line("a comment line of the head is no '#key=value'");
  const std::string_view key = line.substr(1, equals - 1);
  const std::string value(line.substr(equals + 1));
  if (key == "framework") origin.framework = value;
  if (key == "framework_version") origin.framework_version = value;
  if (key == "platform") origin.platform = value;
  if (key == "device") origin.device = value;
  if (key == "settings") origin.settings = value;
  return {};
}

}  // namespace

Result<std::unique_ptr<Source>> open_assay(Input input) {
  Header header;
  header.origin.format = Format::assay;
  header.starts_empty = true;
  std::string line;
  const auto first = input.line(line);
  if (!first) return first.error();
  if (line != "#assay-trace 1")
    return input.at_line("the trace is of another version than 1; use the Assay that recorded it");
  for (;;) {
    const auto ahead = input.peek(1);
    if (!ahead) return ahead.error();
    if (*ahead != "#") break;
    const auto more = input.line(line);
    if (!more) return more.error();
    if (const auto taken = take_comment(input, line, header.origin); !taken) return taken.error();
  }
  auto columns = Columns<6>::read_header(input, Assay::kNames);
  if (!columns) return columns.error();
  return std::unique_ptr<Source>(std::make_unique<Assay>(std::move(input), std::move(*columns), std::move(header)));
}

}  // namespace assay::trace
