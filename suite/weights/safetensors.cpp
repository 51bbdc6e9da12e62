// SPDX-License-Identifier: Apache-2.0
// The header as a stream of events: nothing is kept but the table, and every rule speaks with the byte it was broken
// at.
#include "suite/weights/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "suite/weights/json_walk.hpp"

namespace assay::weights {
namespace {

constexpr std::int64_t kMaxExtent = (std::int64_t{1} << 48) - 1;  // the schema's bound on integers
constexpr std::size_t kMaxExtents = 64;
constexpr std::size_t kMaxName = 4096;

class HeaderHandler : public JsonHandler {
 public:
  HeaderHandler(std::string_view text, std::string_view file, std::uint32_t file_index, TensorTable& table)
      : JsonHandler(text, file, 8), file_index_(file_index), table_(table) {}

  bool start_object(std::size_t) {
    switch (where_) {
      case Where::outside:
        where_ = Where::top;
        return true;
      case Where::top_value:
        if (name_ == "__metadata__") {
          where_ = Where::metadata;
          return true;
        }
        where_ = Where::tensor;
        type_ = nullptr;
        has_shape_ = has_offsets_ = false;
        shape_.clear();
        offsets_ = 0;
        at_ = byte();
        return true;
      default:
        return refuse("an object stands where the header has none");
    }
  }
  bool end_object() {
    switch (where_) {
      case Where::tensor:
        where_ = Where::top;
        return finish_tensor();
      case Where::metadata:
        where_ = Where::top;
        return true;
      default:
        where_ = Where::outside;
        return true;
    }
  }
  bool start_array(std::size_t) {
    if (where_ == Where::field && field_ == Field::shape && !has_shape_) {
      where_ = Where::shape;
      return has_shape_ = true;
    }
    if (where_ == Where::field && field_ == Field::offsets && !has_offsets_) {
      where_ = Where::offsets;
      return has_offsets_ = true;
    }
    return refuse("an array stands where the header has none");
  }
  bool end_array() {
    if (where_ == Where::offsets && offsets_ != 2) return refuse("data_offsets does not hold two numbers");
    where_ = Where::tensor;
    return true;
  }
  bool key(const std::string& key) {
    if (where_ == Where::metadata || where_ == Where::metadata_value) {
      where_ = Where::metadata_value;
      return true;
    }
    if (where_ == Where::top) {
      if (key.size() > kMaxName) return refuse("a tensor's name is longer than 4096 bytes");
      if (key == "__metadata__" && std::exchange(metadata_seen_, true)) return refuse("__metadata__ stands twice");
      name_ = key;
      where_ = Where::top_value;
      return true;
    }
    field_ = key == "dtype" ? Field::dtype : key == "shape" ? Field::shape : Field::offsets;
    if (field_ == Field::offsets && key != "data_offsets")
      return refuse(fmt::format("a tensor has the unknown member \"{}\"", shown(key, 40)));
    where_ = Where::field;
    return true;
  }
  bool string(const std::string& value) {
    if (where_ == Where::metadata_value) {
      where_ = Where::metadata;
      return true;
    }
    if (where_ != Where::field || field_ != Field::dtype || type_ != nullptr)
      return refuse("a text stands where the header has none");
    type_ = safetensors_type(value);
    if (type_ == nullptr)
      return refuse(fmt::format("tensor \"{}\" has the unknown dtype \"{}\"", shown(name_), shown(value, 30)));
    where_ = Where::tensor;
    return true;
  }
  bool number_integer(std::int64_t value) { return refuse(fmt::format("the number {} is negative", value)); }
  bool number_unsigned(std::uint64_t value) {
    if (where_ == Where::shape) {
      if (value > static_cast<std::uint64_t>(kMaxExtent))
        return refuse(fmt::format("the extent {} is above 2^48 - 1", value));
      if (shape_.size() == kMaxExtents) return refuse("a tensor has more than 64 extents");
      shape_.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (where_ == Where::offsets) {
      if (offsets_ == 2) return refuse("data_offsets holds more than two numbers");
      if (value > static_cast<std::uint64_t>(INT64_MAX))
        return refuse(fmt::format("the offset {} is too large", value));
      range_[offsets_++] = static_cast<std::int64_t>(value);
      return true;
    }
    return refuse("a number stands where the header has none");
  }

 private:
  enum class Where { outside, top, top_value, metadata, metadata_value, tensor, field, shape, offsets };
  enum class Field { dtype, shape, offsets };

  bool finish_tensor() {
    if (type_ == nullptr || !has_shape_ || !has_offsets_)
      return refuse(fmt::format("tensor \"{}\" lacks its {}", shown(name_),
                                type_ == nullptr ? "dtype"
                                : has_shape_     ? "data_offsets"
                                                 : "shape"));
    std::int64_t elements = 1;
    // A zero extent anywhere makes the product zero, whatever the others are; they must still multiply without
    // overflow.
    for (const auto extent : shape_)
      if (__builtin_mul_overflow(elements, extent, &elements))
        return refuse(fmt::format("the extents of tensor \"{}\" multiply beyond 2^63 - 1", shown(name_)));
    const auto bytes = bytes_of(*type_, elements);
    if (!bytes)
      return refuse(fmt::format("tensor \"{}\": {} elements of {} are not a whole number of bytes below 2^63",
                                shown(name_), elements, type_->name));
    const auto [begin, end] = range_;
    if (end < begin) return refuse(fmt::format("tensor \"{}\" ends at {} before it begins", shown(name_), end));
    if (end - begin != *bytes)
      return refuse(fmt::format("tensor \"{}\" holds {} bytes, and its dtype and shape need {}", shown(name_),
                                end - begin, *bytes));
    TensorRecord record;
    record.type = type_;
    record.elements = elements;
    record.begin = begin;
    record.bytes = *bytes;
    record.file = file_index_;
    record.header_at = static_cast<std::uint32_t>(at_);
    if (!table_.add(name_, shape_, record))
      return refuse(fmt::format("a tensor named \"{}\" stands twice", shown(name_)));
    return true;
  }

  std::uint32_t file_index_;
  TensorTable& table_;
  Where where_ = Where::outside;
  Field field_ = Field::dtype;
  bool metadata_seen_ = false;
  std::string name_;
  const TensorType* type_ = nullptr;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::vector<std::int64_t> shape_;
  std::array<std::int64_t, 2> range_{};
  std::size_t offsets_ = 0;
  std::uint64_t at_ = 0;
};

// Neither hole nor overlap, from 0 on. Gives the end of the last tensor.
Result<std::int64_t> check_layout(const TensorTable& table, std::size_t first, std::string_view name) {
  std::vector<const TensorRecord*> order;
  bool sorted = true;
  for (std::size_t i = first; i < table.all().size(); ++i) {
    const auto& tensor = table.all()[i];
    if (!order.empty()) sorted = sorted && order.back()->begin <= tensor.begin;
    order.push_back(&tensor);
  }
  // A tensor without elements may stand before or after its neighbour at the same offset.
  const auto earlier = [](const TensorRecord* a, const TensorRecord* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->bytes < b->bytes;
  };
  if (!sorted || !std::is_sorted(order.begin(), order.end(), earlier)) std::sort(order.begin(), order.end(), earlier);
  std::int64_t at = 0;
  for (const auto* tensor : order) {
    if (tensor->begin != at)
      return reject(name, tensor->header_at,
                    fmt::format("tensor \"{}\" begins at {} of the data where {} is expected ({})", shown(tensor->name),
                                tensor->begin, at, tensor->begin < at ? "an overlap" : "a gap"));
    if (__builtin_add_overflow(at, tensor->bytes, &at))
      return reject(name, tensor->header_at, "the tensors add up to more than 2^63 - 1 bytes");
  }
  return at;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

Result<FileFacts> read_safetensors(std::string_view bytes, std::string_view name, std::uint32_t file, bool whole,
                                   TensorTable& table) {
  if (bytes.size() < 8)
    return reject(name, bytes.size(), "the file is shorter than the 8 bytes of a safetensors header's length");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = (length << 8) | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  if (length == 0) return reject(name, 0, "the header's length is 0");
  if (length > kMaxHeaderBytes)
    return reject(name, 0, fmt::format("the header's length {} is above the format's 100,000,000", length));
  if (length > bytes.size() - 8)
    return reject(
        name, 0, fmt::format("the header's length {} is more than the {} bytes that follow", length, bytes.size() - 8));
  const auto text = bytes.substr(8, static_cast<std::size_t>(length));
  const auto start = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_space) - text.begin());
  if (start == text.size() || text[start] != '{')
    return reject(name, 8 + std::min(start, text.size() - 1), "the header is not a JSON object");

  const std::size_t first = table.all().size();
  HeaderHandler handler(text, name, file, table);
  if (auto walked = walk_json(text, handler); !walked) return walked.error();
  auto end = check_layout(table, first, name);
  if (!end) return end.error();

  FileFacts facts;
  facts.file_bytes = static_cast<std::int64_t>(bytes.size());
  facts.header_bytes = static_cast<std::int64_t>(8 + length);
  facts.tensor_bytes = *end;
  if (__builtin_add_overflow(facts.header_bytes, *end, &facts.declared_bytes))
    return reject(name, 0, "the tensors add up to more than 2^63 - 1 bytes");
  if (facts.file_bytes > facts.declared_bytes)
    return reject(name, static_cast<std::uint64_t>(facts.declared_bytes),
                  fmt::format("{} bytes follow the last tensor", facts.file_bytes - facts.declared_bytes));
  if (facts.file_bytes < facts.declared_bytes) {
    facts.data_missing = true;
    if (whole && facts.file_bytes != facts.header_bytes)
      return reject(name, static_cast<std::uint64_t>(facts.file_bytes),
                    fmt::format("the file is cut off: its header speaks of {} bytes", facts.declared_bytes));
  }
  return facts;
}

}  // namespace assay::weights
