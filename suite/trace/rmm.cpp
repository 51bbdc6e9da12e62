// SPDX-License-Identifier: Apache-2.0
// RMM's CSV log (logging_resource_adaptor): streams kept, whether written in decimal or hexadecimal.
#include <utility>

#include "suite/trace/columns.hpp"
#include "suite/trace/formats.hpp"

namespace assay::trace {
namespace {

class Rmm : public Source {
 public:
  enum Column : std::size_t { kThread, kTime, kAction, kPointer, kSize, kStream };
  static constexpr std::array<std::string_view, 6> kNames{"Thread", "Time", "Action", "Pointer", "Size", "Stream"};

  Rmm(Input input, Columns<6> columns) : input_(std::move(input)), columns_(std::move(columns)) {
    header_.origin.format = Format::rmm_csv;
    header_.origin.framework = "rmm";
    header_.starts_empty = true;
  }
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<bool> next(Event& event) override {
    const auto more = columns_.next(input_);
    if (!more || !*more) return more;
    event = Event{};
    const std::string_view action = columns_.cell(kAction);
    if (action == "allocate")
      event.action = Action::alloc;
    else if (action == "free")
      event.action = Action::free;
    else if (action == "allocate failure")
      event.action = Action::out_of_memory;
    else
      return bad_cell(input_, kNames[kAction], action);
    const auto bytes = whole<std::int64_t>(columns_.cell(kSize));
    const auto stream = trace::address(columns_.cell(kStream));
    const std::string_view pointer = columns_.cell(kPointer);
    const auto where = pointer == "(nil)" ? std::optional<std::uint64_t>(0) : trace::address(pointer);
    if (!bytes || *bytes < 0 || *bytes > kAbsurdBytes) return bad_cell(input_, kNames[kSize], columns_.cell(kSize));
    if (!stream) return bad_cell(input_, kNames[kStream], columns_.cell(kStream));
    if (!where) return bad_cell(input_, kNames[kPointer], pointer);
    const auto time = time_of_day_us(columns_.cell(kTime));
    if (!time) return bad_cell(input_, kNames[kTime], columns_.cell(kTime));
    event.bytes = *bytes;
    event.stream = *stream;
    event.address = event.action == Action::out_of_memory ? 0 : *where;
    event.time_us = *time;
    return true;
  }

 private:
  // "HH:MM:SS.ffffff" or "HH:MM:SS:ffffff" without a date.
  static std::optional<std::int64_t> time_of_day_us(std::string_view text) {
    if (text.size() < 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
    const auto hours = whole<std::int64_t>(text.substr(0, 2));
    const auto minutes = whole<std::int64_t>(text.substr(3, 2));
    const auto seconds = whole<std::int64_t>(text.substr(6, 2));
    if (!hours || !minutes || !seconds) return std::nullopt;
    std::int64_t fraction = 0;
    if (text.size() > 9) {
      const std::string_view digits = text.substr(9, 6);
      const auto part = whole<std::int64_t>(digits);
      if (!part) return std::nullopt;
      fraction = *part;
      for (std::size_t i = digits.size(); i < 6; ++i) fraction *= 10;
    }
    return ((*hours * 60 + *minutes) * 60 + *seconds) * 1'000'000 + fraction;
  }

  Input input_;
  Columns<6> columns_;
  Header header_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_rmm_csv(Input input) {
  auto columns = Columns<6>::read_header(input, Rmm::kNames);
  if (!columns) return columns.error();
  return std::unique_ptr<Source>(std::make_unique<Rmm>(std::move(input), std::move(*columns)));
}

}  // namespace assay::trace
