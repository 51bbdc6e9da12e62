// SPDX-License-Identifier: Apache-2.0
// TensorTable: what the headers say of every tensor, kept compact because a model may have half a million of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "suite/weights/tensor_type.hpp"

namespace assay::weights {

struct TensorRecord {
  std::string_view name;  // owned by the table
  const TensorType* type = nullptr;
  std::int64_t elements = 0;
  std::int64_t begin = 0;  // offset in the data of its file
  std::int64_t bytes = 0;
  std::uint32_t shape_at = 0;   // into the table's extents
  std::uint32_t file = 0;       // index of the file it lies in
  std::uint32_t header_at = 0;  // byte of the header where it was read: for messages
  std::uint8_t rank = 0;
};

class TensorTable {
 public:
  // Copies name and extents; false when a tensor of this name is there already.
  bool add(std::string_view name, std::span<const std::int64_t> shape, TensorRecord record);
  [[nodiscard]] const TensorRecord* find(std::string_view name) const;
  [[nodiscard]] std::span<const std::int64_t> shape(const TensorRecord& tensor) const {
    return {extents_.data() + tensor.shape_at, tensor.rank};
  }
  [[nodiscard]] const std::vector<TensorRecord>& all() const { return records_; }
  // Room for names read from elsewhere (an index) that shall live as long as the table.
  std::string_view keep(std::string_view name);

 private:
  std::vector<TensorRecord> records_;
  std::vector<std::int64_t> extents_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_left_ = 0;
  char* chunk_at_ = nullptr;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
};

}  // namespace assay::weights
