// SPDX-License-Identifier: Apache-2.0
// Writes weight files as tests need them: safetensors and GGUF headers, right ones and wrong ones, with or without
// data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::test {

struct SafeTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
};

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

// A file with this JSON as its header and nothing behind it.
inline std::string safetensors_with(const std::string& header, const std::string& data = "") {
  return little_endian(header.size(), 8) + header + data;
}

inline std::int64_t product_of(const std::vector<std::int64_t>& shape) {
  std::int64_t out = 1;
  for (const auto extent : shape) out *= extent;
  return out;
}

// One tensor of `element_bytes` an element.
inline SafeTensor safe_tensor(std::string name, std::string dtype, std::vector<std::int64_t> shape,
                              std::int64_t element_bytes) {
  const auto bytes = product_of(shape) * element_bytes;
  return {std::move(name), std::move(dtype), std::move(shape), bytes};
}

// The header of a file with these tensors one behind the other; `padding` blanks at its end.
inline std::string safetensors_header(const std::vector<SafeTensor>& tensors, std::size_t padding = 0) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::int64_t at = 0;
  for (const auto& tensor : tensors) {
    json += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) json += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
    json += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + tensor.bytes) + "]}";
    at += tensor.bytes;
  }
  return safetensors_with(json + "}" + std::string(padding, ' '));
}

inline std::int64_t bytes_of_all(const std::vector<SafeTensor>& tensors) {
  std::int64_t out = 0;
  for (const auto& tensor : tensors) out += tensor.bytes;
  return out;
}

// A GGUF header, piece by piece.
class Gguf {
 public:
  explicit Gguf(std::uint32_t version = 3) : version_(version) {}
  Gguf& text(std::string_view key, std::string_view value) {
    return entry(key, 8, little_endian(value.size(), 8) + std::string(value));
  }
  Gguf& u32(std::string_view key, std::uint32_t value) { return entry(key, 4, little_endian(value, 4)); }
  Gguf& list(std::string_view key, const std::vector<std::int32_t>& values) {
    auto bytes = little_endian(5, 4) + little_endian(values.size(), 8);
    for (const auto value : values) bytes += little_endian(static_cast<std::uint32_t>(value), 4);
    return entry(key, 9, bytes);
  }
  Gguf& entry(std::string_view key, std::uint32_t type, const std::string& value) {
    values_ += little_endian(key.size(), 8) + std::string(key) + little_endian(type, 4) + value;
    ++value_count_;
    return *this;
  }
  // `bytes`: of the tensor's data, as its type needs.
  Gguf& tensor(std::string_view name, const std::vector<std::int64_t>& shape, std::uint32_t type, std::int64_t bytes) {
    return raw_tensor(name, shape, type, static_cast<std::uint64_t>(at_), bytes);
  }
  Gguf& raw_tensor(std::string_view name, const std::vector<std::int64_t>& shape, std::uint32_t type,
                   std::uint64_t offset, std::int64_t bytes) {
    infos_ += little_endian(name.size(), 8) + std::string(name) + little_endian(shape.size(), 4);
    for (const auto extent : shape) infos_ += little_endian(static_cast<std::uint64_t>(extent), 8);
    infos_ += little_endian(type, 4) + little_endian(offset, 8);
    at_ += (bytes + alignment_ - 1) / alignment_ * alignment_;
    ++tensor_count_;
    return *this;
  }
  Gguf& alignment(std::int64_t value) {
    alignment_ = value;
    return *this;
  }
  // Magic to the last tensor's entry, without padding.
  [[nodiscard]] std::string header() const {
    return "GGUF" + little_endian(version_, 4) + little_endian(tensor_count_, 8) + little_endian(value_count_, 8) +
           values_ + infos_;
  }
  // Padded to the data, as a file with data begins.
  [[nodiscard]] std::string padded() const {
    auto out = header();
    out.resize((out.size() + static_cast<std::size_t>(alignment_) - 1) / static_cast<std::size_t>(alignment_) *
               static_cast<std::size_t>(alignment_));
    return out;
  }
  [[nodiscard]] std::int64_t data_bytes() const { return at_; }

 private:
  std::uint32_t version_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t value_count_ = 0;
  std::int64_t alignment_ = 32;
  std::int64_t at_ = 0;
  std::string values_;
  std::string infos_;
};

}  // namespace assay::test
