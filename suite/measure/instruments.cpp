// SPDX-License-Identifier: Apache-2.0
// File names of single launches.
#include "suite/measure/instruments.hpp"

namespace assay::measure {

std::string path_of_launch(const std::string& path, std::int64_t order, std::int64_t launches) {
  if (launches <= 1 || path.empty()) return path;
  const std::size_t slash = path.find_last_of('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = path.find('.', name + 1);  // a dot in front is part of the name
  const std::size_t end = dot == std::string::npos ? path.size() : dot;
  return path.substr(0, end) + "-" + std::to_string(order) + path.substr(end);
}

Instruments of_launch(const Instruments& instruments, std::int64_t order, std::int64_t launches) {
  Instruments out = instruments;
  out.record_trace = path_of_launch(instruments.record_trace, order, launches);
  out.snapshot = path_of_launch(instruments.snapshot, order, launches);
  return out;
}

}  // namespace assay::measure
