// SPDX-License-Identifier: Apache-2.0
// WeightLines: adds tensors into lines of one group, part and dtype, every sum checked.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "suite/estimate/weights.hpp"

namespace assay::estimate {

class WeightLines {
 public:
  // False when a sum goes beyond 2^53 - 1.
  bool add(Group group, Part part, std::string_view dtype, std::int64_t tensors, std::int64_t elements,
           std::int64_t file_bytes, std::int64_t resident_bytes, bool loaded, const std::string& why);
  // Hands over the lines, largest group order kept, and their totals.
  void finish(WeightsEstimate& out) const;

 private:
  std::map<std::tuple<bool, Group, Part, std::string, std::string>, WeightLine> lines_;
  std::int64_t tensor_bytes_ = 0;
  std::int64_t resident_bytes_ = 0;
  std::int64_t tensors_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace assay::estimate
