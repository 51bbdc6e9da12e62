// SPDX-License-Identifier: Apache-2.0
// What a cost model states of one launch.
#pragma once

#include <cstdint>

namespace assay::kernels {

// bytes: the least that must cross between memory and chip: each input element once, each output element once; what is
// read again is assumed to be found in a cache. flops: additions, multiplications, divisions and comparisons of the
// formula, one each; exp, power, sine, cosine and root count as one operation.
struct Cost {
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
};

}  // namespace assay::kernels
