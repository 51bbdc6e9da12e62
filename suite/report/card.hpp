// SPDX-License-Identifier: Apache-2.0
// The decision card: one page that keeps apart what was computed, what was observed and what is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "results-schema/types/document.hpp"

namespace assay::report {

struct CardOptions {
  std::optional<std::int64_t> reserve_bytes;  // an assumption of the reader, shown in its own column only
};

// One page a device. Lines of at most kScreenColumns.
[[nodiscard]] std::string card(const RunDocument& document, const CardOptions& options = {});

}  // namespace assay::report
