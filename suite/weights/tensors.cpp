// SPDX-License-Identifier: Apache-2.0
// Names lie in chunks that never move, so that views into them stay valid while the table grows.
#include "suite/weights/tensors.hpp"

#include <algorithm>
#include <cstring>

namespace assay::weights {
namespace {
constexpr std::size_t kChunk = std::size_t{1} << 18;
}

std::string_view TensorTable::keep(std::string_view name) {
  if (name.size() > chunk_left_) {
    const std::size_t size = std::max(kChunk, name.size());
    chunks_.push_back(std::make_unique<char[]>(size));
    chunk_at_ = chunks_.back().get();
    chunk_left_ = size;
  }
  if (!name.empty()) std::memcpy(chunk_at_, name.data(), name.size());
  const std::string_view kept(chunk_at_, name.size());
  chunk_at_ += name.size();
  chunk_left_ -= name.size();
  return kept;
}

bool TensorTable::add(std::string_view name, std::span<const std::int64_t> shape, TensorRecord record) {
  if (by_name_.contains(name)) return false;
  record.name = keep(name);
  record.rank = static_cast<std::uint8_t>(shape.size());
  record.shape_at = static_cast<std::uint32_t>(extents_.size());
  extents_.insert(extents_.end(), shape.begin(), shape.end());
  by_name_.emplace(record.name, static_cast<std::uint32_t>(records_.size()));
  records_.push_back(record);
  return true;
}

const TensorRecord* TensorTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &records_[found->second];
}

}  // namespace assay::weights
