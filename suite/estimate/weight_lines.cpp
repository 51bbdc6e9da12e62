// SPDX-License-Identifier: Apache-2.0
// The sums behind the lines.
#include "suite/estimate/weight_lines.hpp"

#include <algorithm>

#include "suite/model/bytes.hpp"

namespace assay::estimate {

bool WeightLines::add(Group group, Part part, std::string_view dtype, std::int64_t tensors, std::int64_t elements,
                      std::int64_t file_bytes, std::int64_t resident_bytes, bool loaded, const std::string& why) {
  const auto stored = model::checked_add(tensor_bytes_, file_bytes);
  const auto kept = model::checked_add(resident_bytes_, loaded ? resident_bytes : 0);
  if (!stored || !kept) return false;
  tensor_bytes_ = *stored;
  resident_bytes_ = *kept;
  tensors_ += tensors;
  if (loaded && tensors > 0) largest_ = std::max(largest_, resident_bytes / tensors);
  auto& line = lines_[{!loaded, group, part, std::string(dtype), why}];
  line.group = group;
  line.part = part;
  line.dtype = std::string(dtype);
  line.tensors += tensors;
  line.elements += elements;
  line.file_bytes += file_bytes;
  line.resident_bytes += loaded ? resident_bytes : 0;
  line.loaded = loaded;
  line.why = why;
  return true;
}

void WeightLines::finish(WeightsEstimate& out) const {
  for (const auto& [key, line] : lines_) out.lines.push_back(line);
  out.tensors = tensors_;
  out.tensor_bytes = tensor_bytes_;
  out.resident_bytes = resident_bytes_;
  out.largest_bytes = largest_;
}

}  // namespace assay::estimate
