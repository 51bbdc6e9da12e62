// SPDX-License-Identifier: Apache-2.0
// Streamed like a header: index files of 60 MB exist.
#include "suite/weights/index.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "suite/weights/json_walk.hpp"

namespace assay::weights {
namespace {

// A plain name in the folder, or the reason why not.
std::string unsafe(std::string_view shard) {
  if (shard.empty()) return "is empty";
  if (shard.front() == '/') return "is an absolute path";
  if (shard == "." || shard == ".." || shard.find("..") != std::string_view::npos)
    return "leaves the folder with \"..\"";
  if (shard.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos) return "is not a plain file name";
  if (shard.size() > 255) return "is longer than 255 bytes";
  return {};
}

class IndexHandler : public JsonHandler {
 public:
  IndexHandler(std::string_view text, std::string_view file, TensorTable& names, Index& out)
      : JsonHandler(text, file, 0), names_(names), out_(out) {}

  bool null() { return scalar(); }
  bool boolean(bool) { return scalar(); }
  bool number_float(double value, const std::string&) {
    // Some writers state whole totals as reals.
    if (skipped_ == 0 && where_ == Where::metadata_value && value >= 0 && value < 9e15 &&
        static_cast<double>(static_cast<std::int64_t>(value)) == value)
      return number_unsigned(static_cast<std::uint64_t>(value));
    return scalar();
  }
  bool number_integer(std::int64_t) { return scalar(); }
  bool number_unsigned(std::uint64_t value) {
    if (skipped_ == 0 && where_ == Where::metadata_value && value <= static_cast<std::uint64_t>(INT64_MAX)) {
      if (key_ == "total_size") out_.total_bytes = static_cast<std::int64_t>(value);
      if (key_ == "total_parameters") out_.total_parameters = static_cast<std::int64_t>(value);
    }
    return scalar();
  }
  bool string(const std::string& value) {
    if (skipped_ > 0 || where_ != Where::map_value) return scalar();
    where_ = Where::map;
    const auto reason = unsafe(value);
    if (!reason.empty())
      return refuse(
          fmt::format("the index maps \"{}\" to a file whose name \"{}\" {}", shown(key_), shown(value), reason));
    const auto [shard, fresh] = shards_.emplace(value, static_cast<std::uint32_t>(out_.shards.size()));
    if (fresh) {
      if (out_.shards.size() == kMaxShards) return refuse("the index names more than 10,000 files");
      out_.shards.push_back(value);
    }
    const auto name = names_.keep(key_);
    if (!seen_.insert(name).second) return refuse(fmt::format("the index maps \"{}\" twice", shown(key_)));
    out_.entries.push_back({name, shard->second});
    return true;
  }
  bool key(const std::string& key) {
    if (skipped_ > 0) return true;
    switch (where_) {
      case Where::top:
        key_ = key;
        where_ = Where::top_value;
        if (key == "weight_map" && std::exchange(map_seen_, true)) return refuse("weight_map stands twice");
        return true;
      case Where::map:
        if (key.size() > 4096) return refuse("a tensor's name is longer than 4096 bytes");
        key_ = key;
        where_ = Where::map_value;
        return true;
      default:
        key_ = key;
        where_ = Where::metadata_value;
        return true;
    }
  }
  bool start_object(std::size_t) {
    if (where_ == Where::outside) {
      where_ = Where::top;
      return true;
    }
    if (skipped_ == 0 && where_ == Where::top_value && key_ == "weight_map") {
      where_ = Where::map;
      return true;
    }
    if (skipped_ == 0 && where_ == Where::top_value && key_ == "metadata") {
      where_ = Where::metadata;
      return true;
    }
    return skip();
  }
  bool end_object() {
    if (skipped_ > 0) return unskip();
    where_ = where_ == Where::top ? Where::outside : Where::top;
    return true;
  }
  bool start_array(std::size_t) { return skip(); }
  bool end_array() { return unskip(); }
  [[nodiscard]] bool has_map() const { return map_seen_; }

 private:
  enum class Where { outside, top, top_value, map, map_value, metadata, metadata_value };

  bool scalar() {
    if (skipped_ > 0) return true;
    if (where_ == Where::map_value || (where_ == Where::top_value && key_ == "weight_map") || where_ == Where::outside)
      return refuse("the index's weight_map is not a table from tensor names to file names");
    step_out();
    return true;
  }
  void step_out() {
    if (where_ == Where::top_value) where_ = Where::top;
    if (where_ == Where::metadata_value) where_ = Where::metadata;
  }
  bool skip() {
    if (where_ == Where::map_value || where_ == Where::outside || (where_ == Where::top_value && key_ == "weight_map"))
      return refuse("the index's weight_map is not a table from tensor names to file names");
    if (++skipped_ > 64) return refuse("the index is nested deeper than 64 levels");
    return true;
  }
  bool unskip() {
    if (--skipped_ == 0) step_out();
    return true;
  }

  TensorTable& names_;
  Index& out_;
  Where where_ = Where::outside;
  std::string key_;
  bool map_seen_ = false;
  int skipped_ = 0;
  std::unordered_map<std::string, std::uint32_t> shards_;
  std::unordered_set<std::string_view> seen_;
};

}  // namespace

Result<Index> read_index(std::string_view text, std::string_view name, TensorTable& names) {
  Index index;
  IndexHandler handler(text, name, names, index);
  if (auto walked = walk_json(text, handler); !walked) return walked.error();
  if (!handler.has_map() || index.entries.empty())
    return reject(name, 0, "the index has no weight_map, or an empty one");
  return index;
}

}  // namespace assay::weights
