// SPDX-License-Identifier: Apache-2.0
// Finding a trace's format, and checking its events against each other.
#include "suite/trace/trace.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "suite/trace/formats.hpp"
#include "suite/trace/paged_kv.hpp"
#include "suite/trace/snapshot.hpp"

namespace assay::trace {
namespace {

constexpr std::size_t kSniffBytes = 65536;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Checked : public Source {
 public:
  Checked(std::unique_ptr<Source> source, std::string path) : source_(std::move(source)), path_(std::move(path)) {}
  [[nodiscard]] const Header& header() const override { return source_->header(); }

  Result<bool> next(Event& event) override {
    auto more = source_->next(event);
    if (!more || !*more) {
      if (more && count_ == 0)
        return Error{ErrorCode::bad_input, fmt::format("{}: the trace has no events; record it again", path_)};
      return more;
    }
    ++count_;
    if (event.action == Action::alloc && event.address != 0) return take_alloc(event);
    const bool frees = event.action == Action::free || event.action == Action::free_completed;
    if (frees && event.address != 0) return take_free(event);
    return true;
  }

 private:
  [[nodiscard]] Error error(const Event& event, std::string_view what) const {
    return {ErrorCode::bad_input, fmt::format("{}: event {}: address {:#x} is {}; record the trace again", path_,
                                              count_, event.address, what)};
  }
  static std::uint64_t key(const Event& event) {
    return event.address ^ (static_cast<std::uint64_t>(event.device) << 57U);
  }

  Result<bool> take_alloc(const Event& event) {
    auto [entry, fresh] = live_.try_emplace(key(event), true);
    if (!fresh && entry->second) return error(event, "allocated twice with no free between");
    entry->second = true;
    return true;
  }

  Result<bool> take_free(const Event& event) {
    const auto found = live_.find(key(event));
    if (found == live_.end()) {
      if (header().starts_empty) return error(event, "freed but was never allocated");
      live_.emplace(key(event), false);
      return true;
    }
    if (!found->second) return error(event, "freed twice with no allocation between");
    // Where the trace starts empty, an address that is not live needs no entry: a free of it is wrong in any case.
    if (header().starts_empty)
      live_.erase(found);
    else
      found->second = false;
    return true;
  }

  std::unique_ptr<Source> source_;
  std::string path_;
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint64_t, bool> live_;
};

}  // namespace

namespace {

Result<std::unique_ptr<Source>> open_pool(const std::string& path, const PagedKvOptions& options) {
  auto pool = open_paged_kv(path, options);
  if (!pool) return pool.error();
  return std::unique_ptr<Source>(std::move(*pool));
}

}  // namespace

std::string_view to_text(Format format) {
  switch (format) {
    case Format::pytorch_json:
      return "PyTorch snapshot (JSON)";
    case Format::pytorch_pickle:
      return "PyTorch snapshot (pickle)";
    case Format::kineto_csv:
      return "Kineto memory events (CSV)";
    case Format::kineto_json:
      return "Kineto profile (JSON)";
    case Format::rmm_csv:
      return "RMM log (CSV)";
    case Format::umpire:
      return "Umpire replay log";
    case Format::requests_csv:
      return "LLM requests (CSV)";
    case Format::requests_jsonl:
      return "LLM requests (JSON lines)";
    case Format::assay:
      return "Assay trace";
  }
  return "unknown";
}

Result<std::unique_ptr<Source>> open(const std::string& path) {
  return open(path, PagedKvOptions{});
}

Result<std::unique_ptr<Source>> open(const std::string& path, const PagedKvOptions& requests) {
  auto input = Input::open(path);
  if (!input) return input.error();
  const auto sniffed = input->peek(kSniffBytes);
  if (!sniffed) return sniffed.error();
  const std::string_view head = *sniffed;
  if (head.empty()) return Error{ErrorCode::bad_input, fmt::format("{}: the trace is empty; record it again", path)};
  if (head[0] == '\x80') return open_snapshot(std::move(*input), Format::pytorch_pickle);
  if (head.starts_with("#assay-trace")) return open_assay(std::move(*input));
  const std::string_view first_line = head.substr(0, head.find_first_of("\r\n"));
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && head[start] == '{') {
    if (has(first_line, "\"input_length\"")) return open_pool(path, requests);
    if (has(first_line, "\"category\"") && has(first_line, "\"name\"")) return open_umpire(std::move(*input));
    if (has(head, "\"traceEvents\"") || has(head, "\"deviceProperties\"") || has(head, "\"schemaVersion\""))
      return open_kineto_json(std::move(*input));
    return open_snapshot(std::move(*input), Format::pytorch_json);
  }
  if (has(first_line, "ContextTokens")) return open_pool(path, requests);
  if (has(first_line, "Thread") && has(first_line, "Action")) return open_rmm_csv(std::move(*input));
  if (has(first_line, "addr") || has(first_line, "device_type")) return open_kineto_csv(std::move(*input));
  return Error{
      ErrorCode::bad_input,
      fmt::format("{}: the format is not known; give a PyTorch snapshot (JSON or pickle), Kineto memory events, "
                  "an RMM log, an Umpire replay log, LLM requests or an Assay trace, gzip or not",
                  path)};
}

std::unique_ptr<Source> checked(std::unique_ptr<Source> source, std::string path) {
  return std::make_unique<Checked>(std::move(source), std::move(path));
}

}  // namespace assay::trace
