// SPDX-License-Identifier: Apache-2.0
// A cursor over the mapped bytes: nothing is allocated by a count that the file states.
#include "suite/weights/gguf.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "suite/weights/reject.hpp"

namespace assay::weights {
namespace {

enum Kind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64, kinds };
constexpr std::array<std::uint32_t, kinds> kSize{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t kMaxKey = 65535;
constexpr std::uint64_t kMaxText = 1ULL << 30;
constexpr std::uint64_t kMaxArray = 1ULL << 30;
// Texts of all arrays together. The largest vocabularies have a few million; more would only cost time.
constexpr std::uint64_t kMaxTexts = 1ULL << 25;
constexpr std::size_t kMaxTensorName = 63;
constexpr std::uint32_t kMostExtents = 4;
constexpr std::size_t kKeptText = 4096;

class Cursor {
 public:
  Cursor(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  template <class T>
  bool read(T& out, std::string_view what) {
    std::uint64_t value = 0;
    if (!need(sizeof(T), what)) return false;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    at_ += sizeof(T);
    out = static_cast<T>(value);
    return true;
  }
  bool read_text(std::string_view& out, std::uint64_t limit, std::string_view what) {
    std::uint64_t length = 0;
    const auto at = at_;
    if (!read(length, what)) return false;
    if (length > limit || length > remaining())
      return fail_at(at, fmt::format("{} has the length {}, and {} bytes are left", what, length, remaining()));
    out = bytes_.substr(at_, static_cast<std::size_t>(length));
    at_ += static_cast<std::size_t>(length);
    return true;
  }
  bool skip(std::uint64_t count, std::string_view what) {
    if (!need(count, what)) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  [[nodiscard]] std::uint64_t remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  bool fail(const std::string& reason) { return fail_at(at_, reason); }
  bool fail_at(std::uint64_t at, const std::string& reason) {
    if (!error_) error_ = reject(name_, at, reason);
    return false;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  bool need(std::uint64_t count, std::string_view what) {
    if (count <= remaining()) return true;
    return fail(
        fmt::format("the file is cut off in {}: {} bytes are needed and {} are left", what, count, remaining()));
  }
  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

// One number of `kind`, as it is kept.
bool read_number(Cursor& in, std::uint32_t kind, std::int64_t& whole, std::optional<double>& real) {
  const auto integer = [&](auto sample) {
    decltype(sample) value{};
    if (!in.read(value, "a metadata value")) return false;
    whole = std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : INT64_MAX;
    return true;
  };
  switch (kind) {
    case u8:
      return integer(std::uint8_t{});
    case i8:
      return integer(std::int8_t{});
    case u16:
      return integer(std::uint16_t{});
    case i16:
      return integer(std::int16_t{});
    case u32:
      return integer(std::uint32_t{});
    case i32:
      return integer(std::int32_t{});
    case u64:
      return integer(std::uint64_t{});
    case i64:
      return integer(std::int64_t{});
    case boolean: {
      const auto at = in.at();
      if (!integer(std::uint8_t{})) return false;
      return whole <= 1 || in.fail_at(at, fmt::format("a boolean has the value {}", whole));
    }
    case f32: {
      std::uint32_t bits = 0;
      if (!in.read(bits, "a metadata value")) return false;
      real = static_cast<double>(std::bit_cast<float>(bits));
      return true;
    }
    default: {
      std::uint64_t bits = 0;
      if (!in.read(bits, "a metadata value")) return false;
      real = std::bit_cast<double>(bits);
      return true;
    }
  }
}

bool read_array(Cursor& in, GgufValue& value, std::uint64_t& texts) {
  const auto at = in.at();
  std::uint64_t count = 0;
  if (!in.read(value.type, "an array's type") || !in.read(count, "an array's length")) return false;
  value.array = true;
  value.count = count;
  if (value.type == array) return in.fail_at(at, "an array holds arrays, which the format's readers refuse");
  if (value.type >= kinds) return in.fail_at(at, fmt::format("an array has the unknown element type {}", value.type));
  const std::uint64_t least = value.type == string ? 8 : kSize[value.type];
  if (count > kMaxArray || count > in.remaining() / least)
    return in.fail_at(at, fmt::format("an array of {} elements does not fit the {} bytes left", count, in.remaining()));
  if (value.type == string) {
    if (count > kMaxTexts - texts) return in.fail_at(at, "the arrays hold more than 33,554,432 texts");
    texts += count;
    std::string_view ignored;
    for (std::uint64_t i = 0; i < count; ++i)
      if (!in.read_text(ignored, kMaxText, "a text of an array")) return false;
    return true;
  }
  if (count > kMaxKeptArray || value.type == f32 || value.type == f64)
    return in.skip(count * kSize[value.type], "an array");
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t whole = 0;
    std::optional<double> ignored;
    if (!read_number(in, value.type, whole, ignored)) return false;
    value.integers.push_back(whole);
  }
  return true;
}

bool read_value(Cursor& in, GgufValue& value, std::uint64_t& texts) {
  const auto at = in.at();
  if (!in.read(value.type, "a metadata type")) return false;
  if (value.type >= kinds) return in.fail_at(at, fmt::format("metadata has the unknown type {}", value.type));
  if (value.type == array) return read_array(in, value, texts);
  if (value.type == string) {
    std::string_view text;
    if (!in.read_text(text, kMaxText, "a metadata text")) return false;
    value.text = std::string(text.substr(0, kKeptText));
    return true;
  }
  std::int64_t whole = 0;
  if (!read_number(in, value.type, whole, value.real)) return false;
  if (!value.real) value.integers.push_back(whole);
  return true;
}

bool read_metadata(Cursor& in, std::uint64_t count, GgufHeader& header) {
  std::uint64_t texts = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = in.at();
    std::string_view key;
    if (!in.read_text(key, kMaxKey, "a metadata key")) return false;
    if (key.empty()) return in.fail_at(at, "a metadata key is empty");
    auto [entry, fresh] = header.values.emplace(key, GgufValue{});
    if (!fresh) return in.fail_at(at, fmt::format("the metadata key \"{}\" stands twice", shown(key)));
    const auto value_at = in.at();
    if (!read_value(in, entry->second, texts)) return false;
    if (key != "general.alignment") continue;
    const auto& value = entry->second;
    if (value.array || value.type != u32)
      return in.fail_at(value_at, "general.alignment is not an unsigned 32-bit number");
    header.alignment = static_cast<std::uint64_t>(value.integers.front());
    if (!std::has_single_bit(header.alignment))
      return in.fail_at(value_at, fmt::format("general.alignment is {}, not a power of two", header.alignment));
  }
  return true;
}

// Rounds up to the alignment, or nothing beyond 2^63 - 1.
std::optional<std::uint64_t> padded(std::uint64_t value, std::uint64_t alignment) {
  if (value > static_cast<std::uint64_t>(INT64_MAX) - (alignment - 1)) return std::nullopt;
  return (value + alignment - 1) & ~(alignment - 1);
}

bool read_tensor(Cursor& in, std::uint32_t file, const GgufHeader& header, std::uint64_t& expected, FileFacts& facts,
                 TensorTable& table) {
  const auto at = in.at();
  std::string_view name;
  if (!in.read_text(name, kMaxTensorName, "a tensor's name")) return false;
  std::uint32_t rank = 0;
  const auto rank_at = in.at();
  if (!in.read(rank, "a tensor's number of extents")) return false;
  if (rank > kMostExtents) return in.fail_at(rank_at, fmt::format("a tensor has {} extents, and at most 4 are", rank));
  std::array<std::int64_t, kMostExtents> shape{};
  std::int64_t elements = 1;
  for (std::uint32_t i = 0; i < rank; ++i) {
    const auto extent_at = in.at();
    if (!in.read(shape[i], "a tensor's extent")) return false;
    if (shape[i] < 0)
      return in.fail_at(extent_at, fmt::format("the extent {} of \"{}\" is negative", shape[i], shown(name)));
    if (__builtin_mul_overflow(elements, shape[i], &elements))
      return in.fail_at(extent_at, fmt::format("the extents of \"{}\" multiply beyond 2^63 - 1", shown(name)));
  }
  std::uint32_t id = 0;
  const auto type_at = in.at();
  if (!in.read(id, "a tensor's type")) return false;
  bool removed = false;
  const auto* type = ggml_type(id, &removed);
  if (type == nullptr)
    return in.fail_at(
        type_at, fmt::format("tensor \"{}\" has the {} type {}", shown(name), removed ? "removed" : "unknown", id));
  const std::int64_t row = rank > 0 ? shape[0] : 1;
  const auto bytes = row % type->block_elements == 0 ? bytes_of(*type, elements) : std::nullopt;
  if (!bytes)
    return in.fail_at(type_at, fmt::format("tensor \"{}\": rows of {} elements do not fill blocks of {} ({})",
                                           shown(name), row, type->block_elements, type->name));
  std::uint64_t offset = 0;
  const auto offset_at = in.at();
  if (!in.read(offset, "a tensor's offset")) return false;
  if (offset != expected)
    return in.fail_at(offset_at, fmt::format("tensor \"{}\" begins at {} of the data where {} is expected", shown(name),
                                             offset, expected));
  const auto size = padded(static_cast<std::uint64_t>(*bytes), header.alignment);
  if (!size || __builtin_add_overflow(expected, *size, &expected) || expected > static_cast<std::uint64_t>(INT64_MAX))
    return in.fail_at(offset_at, "the tensors add up to more than 2^63 - 1 bytes");
  TensorRecord record;
  record.type = type;
  record.elements = elements;
  record.begin = static_cast<std::int64_t>(offset);
  record.bytes = *bytes;
  record.file = file;
  record.header_at = static_cast<std::uint32_t>(at);
  if (!table.add(name, {shape.data(), rank}, record))
    return in.fail_at(at, fmt::format("a tensor named \"{}\" stands twice", shown(name)));
  facts.tensor_bytes += *bytes;
  return true;
}

bool check_size(Cursor& in, std::uint64_t size, std::uint64_t expected, std::uint64_t last_bytes, bool whole,
                GgufHeader& header) {
  auto& facts = header.facts;
  const auto infos_end = in.at();
  const auto start = header.tensors > 0 ? padded(infos_end, header.alignment) : std::optional(infos_end);
  std::uint64_t end = 0;
  if (!start || __builtin_add_overflow(*start, expected, &end) || end > static_cast<std::uint64_t>(INT64_MAX))
    return in.fail("the tensors add up to more than 2^63 - 1 bytes");
  facts.file_bytes = static_cast<std::int64_t>(size);
  facts.header_bytes = static_cast<std::int64_t>(*start);
  facts.declared_bytes = static_cast<std::int64_t>(end);
  if (size > end) facts.trailing_bytes = static_cast<std::int64_t>(size - end);
  // Writers may leave out the padding of the last tensor.
  const auto least = end - last_bytes;
  if (size >= least) return true;
  facts.data_missing = true;
  if (!whole || size == infos_end || size == *start) return true;
  return in.fail_at(size, fmt::format("the file is cut off: its header speaks of {} bytes", end));
}

bool read_header(Cursor& in, std::uint64_t size, std::uint32_t file, bool whole, GgufHeader& header,
                 TensorTable& table) {
  std::uint32_t magic = 0;
  if (!in.read(magic, "the magic number")) return false;
  if (magic != 0x46554747) return in.fail_at(0, "it does not begin with \"GGUF\"");
  if (!in.read(header.version, "the version")) return false;
  if ((header.version & 0xffff) == 0 && header.version != 0)
    return in.fail_at(4, "it is written in the other byte order (big endian), which is not read");
  if (header.version < 2 || header.version > 3)
    return in.fail_at(4, fmt::format("its version is {}, and 2 and 3 are read", header.version));
  std::uint64_t values = 0;
  if (!in.read(header.tensors, "the number of tensors") || !in.read(values, "the number of metadata values"))
    return false;
  // The least an entry takes: a key of one byte with its type and a byte; a tensor's name, extents, type and offset.
  if (values > in.remaining() / 14)
    return in.fail_at(16, fmt::format("{} metadata values do not fit the {} bytes left", values, in.remaining()));
  if (header.tensors > in.remaining() / 24)
    return in.fail_at(8, fmt::format("{} tensors do not fit the {} bytes left", header.tensors, in.remaining()));
  if (!read_metadata(in, values, header)) return false;
  std::uint64_t expected = 0;
  std::uint64_t last_padding = 0;
  for (std::uint64_t i = 0; i < header.tensors; ++i) {
    if (!read_tensor(in, file, header, expected, header.facts, table)) return false;
    const auto& last = table.all().back();
    last_padding = expected - static_cast<std::uint64_t>(last.begin) - static_cast<std::uint64_t>(last.bytes);
  }
  return check_size(in, size, expected, last_padding, whole, header);
}

}  // namespace

std::optional<std::int64_t> GgufHeader::integer(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end() || found->second.array || found->second.integers.size() != 1) return std::nullopt;
  return found->second.integers.front();
}

std::string GgufHeader::text(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second.text;
}

Result<GgufHeader> read_gguf(std::string_view bytes, std::string_view name, std::uint32_t file, bool whole,
                             TensorTable& table) {
  GgufHeader header;
  Cursor in(bytes, name);
  if (!read_header(in, bytes.size(), file, whole, header, table)) {
    if (in.error()) return *in.error();
    return reject(name, in.at(), "its header cannot be read");
  }
  return header;
}

}  // namespace assay::weights
