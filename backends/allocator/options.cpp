// SPDX-License-Identifier: Apache-2.0
// Reading and printing the options of the caching and expandable policies.
#include "backends/allocator/options.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace assay::allocator {
namespace {

Error refuse(std::string text) {
  return {ErrorCode::usage, std::move(text)};
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <class Value>
std::optional<Value> whole_number(std::string_view text) {
  Value value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "a:1,b:[x,y]" cut at the commas outside brackets.
Result<std::vector<std::string_view>> cut(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') inside = true;
    if (i < text.size() && text[i] == ']') inside = false;
    if (i == text.size() || (text[i] == ',' && !inside)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (inside) return refuse("Allocator options " + quoted(text) + " have a '[' that is never closed; add the ']'.");
  return parts;
}

Result<std::size_t> mebibytes(std::string_view key, std::string_view text, std::size_t least) {
  const auto value = whole_number<std::size_t>(text);
  if (!value || *value < least || *value > (kUnlimited >> 20))
    return refuse("Allocator option " + std::string(key) + " is " + quoted(text) +
                  ", but takes a whole number of MiB, at least " + std::to_string(least) + ".");
  return *value * kMiB;
}

Result<double> share(std::string_view key, std::string_view text, bool one_allowed) {
  const auto value = whole_number<double>(text);
  if (!value || !(*value > 0) || !(one_allowed ? *value <= 1 : *value < 1))
    return refuse("Allocator option " + std::string(key) + " is " + quoted(text) + ", but takes a number above 0 and " +
                  (one_allowed ? "at most" : "below") + " 1.");
  return *value;
}

Result<std::size_t> division(std::string_view text) {
  const auto value = whole_number<std::size_t>(text);
  if (!value || (*value != 0 && !std::has_single_bit(*value)) || *value > kMiB)
    return refuse("Allocator option roundup_power2_divisions has the division count " + quoted(text) +
                  ", but takes 0 or a power of two.");
  return *value;
}

// One number for every interval, or "[256:1,512:2,>:8]". As in PyTorch 2.6: the first entry also covers every smaller
// interval, and ">" covers everything from the last named interval on, that one included.
Result<void> read_divisions(std::string_view text, Options& options) {
  auto& divisions = options.roundup_power2_divisions;
  if (text.empty() || text.front() != '[') {
    auto all = division(text);
    if (!all) return all.error();
    divisions.fill(*all);
    return {};
  }
  if (text.back() != ']') return refuse("Allocator option roundup_power2_divisions needs a ']' at its end.");
  auto entries = cut(text.substr(1, text.size() - 2));
  if (!entries) return entries.error();
  std::size_t last = 0;
  bool first = true;
  for (const std::string_view entry : *entries) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos)
      return refuse("Allocator option roundup_power2_divisions has the entry " + quoted(entry) +
                    ", but takes SIZE_MB:DIVISIONS.");
    auto count = division(entry.substr(colon + 1));
    if (!count) return count.error();
    const std::string_view size = entry.substr(0, colon);
    if (size == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last), divisions.end(), *count);
      continue;
    }
    const auto megabytes = whole_number<std::size_t>(size);
    if (!megabytes || !std::has_single_bit(*megabytes))
      return refuse("Allocator option roundup_power2_divisions has the size " + quoted(size) +
                    ", but takes a power of two in MiB or '>'.");
    last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(*megabytes)) - 1, kRoundupIntervals - 1);
    if (first) std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(last), *count);
    first = false;
    divisions[last] = *count;
  }
  return {};
}

// PyTorch's keys that move no device memory: of pinned host memory, of locks, and of what an error looks like.
constexpr std::array<std::string_view, 7> kWithoutEffectHere{
    "pinned_use_cuda_host_register",  "pinned_num_register_threads", "pinned_use_background_threads",
    "pinned_reserve_segment_size_mb", "release_lock_on_cudamalloc",  "graph_capture_record_stream_reuse",
    "throw_on_cudamalloc_oom"};

constexpr std::array<std::string_view, 3> kVariables{
    "PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_HIP_ALLOC_CONF=", "PYTORCH_ALLOC_CONF="};

Result<void> read_one(std::string_view key, std::string_view value, Options& options) {
  const auto store = [](auto result, auto& target) -> Result<void> {
    if (!result) return result.error();
    target = *result;
    return {};
  };
  if (key == "max_split_size_mb") return store(mebibytes(key, value, 21), options.max_split_bytes);
  if (key == "max_non_split_rounding_mb") return store(mebibytes(key, value, 21), options.max_non_split_rounding_bytes);
  if (key == "large_segment_size_mb") return store(mebibytes(key, value, 10), options.large_segment_bytes);
  if (key == "garbage_collection_threshold")
    return store(share(key, value, false), options.garbage_collection_threshold);
  if (key == "per_process_memory_fraction") return store(share(key, value, true), options.memory_fraction);
  if (key == "roundup_power2_divisions") return read_divisions(value, options);
  if (key == "tie_break") {
    if (value != "address" && value != "creation")
      return refuse("Allocator option tie_break is " + quoted(value) + ", but takes address or creation.");
    options.tie_break = value == "address" ? TieBreak::address : TieBreak::creation;
    return {};
  }
  if (key == "least_page_mb") return store(mebibytes(key, value, 2), options.least_page_bytes);
  if (key == "expandable_segments") {
    options.expandable = value == "True" || value == "true" || value == "1";
    if (options.expandable || value == "False" || value == "false" || value == "0") return {};
    return refuse("Allocator option expandable_segments is " + quoted(value) + ", but takes True or False.");
  }
  if (key == "backend") {
    if (value == "native") return {};
    return refuse("Allocator option backend is " + quoted(value) +
                  (value == "cudaMallocAsync" || value == "hipMallocAsync"
                       ? ", the runtime's own pool; leave the option out and choose the policy native."
                       : ", but the caching policy is native; leave the option out or choose another policy."));
  }
  if (std::find(kWithoutEffectHere.begin(), kWithoutEffectHere.end(), key) != kWithoutEffectHere.end()) return {};
  return refuse("Allocator option " + quoted(key) +
                " is unknown to the caching policy or would have no effect; remove it.");
}

Result<void> refuse_inert(const Options& options, const std::vector<std::string_view>& seen) {
  const auto given = [&](std::string_view key) { return std::find(seen.begin(), seen.end(), key) != seen.end(); };
  if (given("garbage_collection_threshold") && !given("per_process_memory_fraction"))
    return refuse(
        "Allocator option garbage_collection_threshold has no effect without per_process_memory_fraction; "
        "give both or neither.");
  if (given("max_non_split_rounding_mb") && !given("max_split_size_mb"))
    return refuse(
        "Allocator option max_non_split_rounding_mb has no effect without max_split_size_mb; give both or "
        "neither.");
  if (given("least_page_mb") && !options.expandable)
    return refuse(
        "Allocator option least_page_mb has no effect without expandable_segments:True; give both or neither.");
  if (options.large_segment_bytes > options.max_split_bytes)
    return refuse(
        "Allocator option large_segment_size_mb exceeds max_split_size_mb, so that no large segment could "
        "be split and shared; make it smaller.");
  return {};
}

template <class Value>
std::string shortest(Value value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

// The list form names every interval from the first one on; equal counts collapse to one number.
std::string print_divisions(const Options& options) {
  const auto& divisions = options.roundup_power2_divisions;
  if (std::all_of(divisions.begin(), divisions.end(), [&](std::size_t d) { return d == divisions.front(); }))
    return shortest(divisions.front());
  std::string text = "[";
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    if (i > 0) text += ',';
    text += shortest(std::size_t{1} << i) + ':' + shortest(divisions[i]);
  }
  return text + "]";
}

}  // namespace

Result<Options> parse_options(std::string_view text) {
  std::string compact;
  for (const char c : text)
    if (c != ' ' && c != '\t') compact += c;
  for (const std::string_view variable : kVariables)
    if (compact.compare(0, variable.size(), variable) == 0) {
      compact.erase(0, variable.size());
      break;
    }
  Options options;
  if (compact.empty()) return options;
  auto parts = cut(compact);
  if (!parts) return parts.error();
  std::vector<std::string_view> seen;
  for (const std::string_view part : *parts) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos)
      return refuse("Allocator option " + quoted(part) + " has no value; write KEY:VALUE.");
    const std::string_view key = part.substr(0, colon);
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return refuse("Allocator option " + quoted(key) + " is given twice; keep one.");
    seen.push_back(key);
    if (auto read = read_one(key, part.substr(colon + 1), options); !read) return read.error();
  }
  if (auto checked = refuse_inert(options, seen); !checked) return checked.error();
  return options;
}

std::string print_options(const Options& options) {
  const Options defaults;
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!text.empty()) text += ',';
    text += std::string(key) + ':' + value;
  };
  if (options.max_split_bytes != defaults.max_split_bytes)
    add("max_split_size_mb", shortest(options.max_split_bytes / kMiB));
  if (options.max_non_split_rounding_bytes != defaults.max_non_split_rounding_bytes)
    add("max_non_split_rounding_mb", shortest(options.max_non_split_rounding_bytes / kMiB));
  if (options.large_segment_bytes != defaults.large_segment_bytes)
    add("large_segment_size_mb", shortest(options.large_segment_bytes / kMiB));
  if (options.roundup_power2_divisions != defaults.roundup_power2_divisions)
    add("roundup_power2_divisions", print_divisions(options));
  if (options.memory_fraction > 0) add("per_process_memory_fraction", shortest(options.memory_fraction));
  if (options.garbage_collection_threshold > 0)
    add("garbage_collection_threshold", shortest(options.garbage_collection_threshold));
  if (options.tie_break != defaults.tie_break) add("tie_break", "creation");
  if (options.expandable) add("expandable_segments", "True");
  if (options.least_page_bytes != defaults.least_page_bytes)
    add("least_page_mb", shortest(options.least_page_bytes / kMiB));
  return text;
}

}  // namespace assay::allocator
