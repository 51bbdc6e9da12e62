// SPDX-License-Identifier: Apache-2.0
// Umpire's replay log: one JSON object a line; nested allocators log the same memory twice, so the allocator is a part
// of the block's name.
#include <fmt/format.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "results-schema/json/json.hpp"
#include "suite/trace/fields.hpp"
#include "suite/trace/formats.hpp"

namespace assay::trace {
namespace {

using Json = nlohmann::ordered_json;

class Umpire : public Source {
 public:
  explicit Umpire(Input input) : input_(std::move(input)) {
    header_.origin.format = Format::umpire;
    header_.origin.framework = "umpire";
    header_.starts_empty = true;
    header_.warnings.emplace_back(
        "Umpire logs every layer of nested allocators; each block is named by allocator and pointer, and layers add "
        "up");
  }
  [[nodiscard]] const Header& header() const override { return header_; }

  Result<bool> next(Event& event) override {
    while (ready_.empty()) {
      const auto more = input_.line(line_);
      if (!more || !*more) return more;
      if (line_.empty()) continue;
      if (const auto taken = take_line(); !taken) return taken.error();
    }
    event = ready_.front();
    ready_.pop_front();
    return true;
  }

 private:
  Result<void> take_line() {
    const auto parsed = json::parse(line_, input_.path());
    if (!parsed) return input_.at_line("the line is no JSON object; the log is cut off or damaged");
    const Json& record = *parsed;
    if (!record.is_object() || !record.contains("name") || !record["name"].is_string())
      return input_.at_line("the line has no 'name'; this is no Umpire replay log");
    const auto& name = record["name"].get_ref<const std::string&>();
    time_us_ = record.contains("timestamp") && record["timestamp"].is_number_integer()
                   ? record["timestamp"].get<std::int64_t>() / 1000
                   : -1;
    if (name == "version") return take_version(record);
    if (name == "allocate") return take_block(record, Action::alloc);
    if (name == "deallocate") return take_block(record, Action::free);
    if (name == "reallocate") return take_reallocate(record);
    return {};  // pools, copies and moves change no live block
  }

  Result<void> take_version(const Json& record) {
    if (record.contains("numeric_args")) {
      const auto& numbers = record["numeric_args"];
      if (numbers.is_object() && numbers.contains("major") && numbers.contains("minor"))
        header_.origin.framework_version = fmt::format("{}.{}", numbers["major"].dump(), numbers["minor"].dump());
    }
    return {};
  }

  Result<std::string> text(const Json& record, const char* key) const {
    if (record.contains("string_args") && record["string_args"].is_object() && record["string_args"].contains(key) &&
        record["string_args"][key].is_string())
      return record["string_args"][key].get<std::string>();
    return input_.at_line(fmt::format("'{}' is missing", key));
  }

  Result<std::int64_t> size(const Json& record) const {
    if (record.contains("numeric_args") && record["numeric_args"].is_object() &&
        record["numeric_args"].contains("size") && record["numeric_args"]["size"].is_number_integer()) {
      const auto bytes = record["numeric_args"]["size"].get<std::int64_t>();
      if (bytes >= 0 && bytes <= kAbsurdBytes) return bytes;
    }
    return input_.at_line("'size' is missing or no size");
  }

  // A block is (allocator, pointer); both are addresses of the recorded process, mixed into one name.
  Result<std::uint64_t> block_name(const Json& record, const char* pointer_key) const {
    const auto allocator = text(record, "allocator_ref");
    const auto pointer = text(record, pointer_key);
    if (!allocator) return allocator.error();
    if (!pointer) return pointer.error();
    const auto a = address(*allocator);
    const auto p = address(*pointer);
    if (!a || !p) return input_.at_line("an address is no number");
    if (*p == 0) return std::uint64_t{0};
    return *p ^ (*a * 0x9e3779b97f4a7c15ULL);  // an odd multiplier spreads the few allocators over the upper bits
  }

  Result<void> take_block(const Json& record, Action action) {
    const auto name = block_name(record, "pointer");
    if (!name) return name.error();
    std::int64_t bytes = 0;
    if (action == Action::alloc) {
      const auto claimed = size(record);
      if (!claimed) return claimed.error();
      bytes = *claimed;
    }
    inner_ = true;
    push(action, *name, bytes);
    return {};
  }

  // A request line, whatever it does inside, and a line with the new pointer.
  Result<void> take_reallocate(const Json& record) {
    if (record.contains("string_args") && record["string_args"].contains("current_ptr")) {
      const auto current = block_name(record, "current_ptr");
      const auto bytes = size(record);
      if (!current) return current.error();
      if (!bytes) return bytes.error();
      pending_ = {*current, *bytes};
      inner_ = false;
      return {};
    }
    const auto made = block_name(record, "new_ptr");
    if (!made) return made.error();
    if (inner_) return {};  // allocate and deallocate were logged by themselves
    if (pending_.first != 0) push(Action::free, pending_.first, 0);
    push(Action::alloc, *made, pending_.second);
    return {};
  }

  void push(Action action, std::uint64_t name, std::int64_t bytes) {
    ready_.push_back({action, 0, 0, name, bytes, time_us_});
  }

  Input input_;
  Header header_;
  std::string line_;
  std::deque<Event> ready_;
  std::pair<std::uint64_t, std::int64_t> pending_;
  bool inner_ = false;
  std::int64_t time_us_ = -1;
};

}  // namespace

Result<std::unique_ptr<Source>> open_umpire(Input input) {
  return std::unique_ptr<Source>(std::make_unique<Umpire>(std::move(input)));
}

}  // namespace assay::trace
