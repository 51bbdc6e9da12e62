// SPDX-License-Identifier: Apache-2.0
// An estimate as a person reads it, and as a program does.
#pragma once

#include <string>

#include "suite/estimate/estimate.hpp"

namespace assay::estimate {

// Each number with its formula, the numbers put in, and its basis; bytes with GB and GiB.
[[nodiscard]] std::string to_text(const Estimate& estimate);

// One JSON object ending in a newline. Keys other programs rely on: parameters, weights {file_bytes, tensor_bytes,
// resident_bytes}, kv_cache {bytes_per_token, bytes, bounds[] {name, bytes_per_token, bytes_per_sequence}},
// total_bytes. The object that holds numbers holds `formula`, `inputs`, `basis` and, for a null, `reason`, each keyed
// by the number's name.
[[nodiscard]] std::string to_json(const Estimate& estimate);

}  // namespace assay::estimate
