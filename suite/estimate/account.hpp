// SPDX-License-Identifier: Apache-2.0
// The account of a run: at every checkpoint, what the device held set out in lines that add up to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/document.hpp"

namespace assay::estimate {

// One line of an account, in bytes; nothing where it was not read.
struct AccountLine {
  std::string name;
  std::optional<std::int64_t> bytes;
};

// One checkpoint. The lines add up to device_used whenever that was read: what no line explains is the last of them,
// "unexplained", taken from the first readings of the ledger and 0 where its equations balance.
struct Account {
  std::string checkpoint;                 // "decode:end"
  std::optional<std::int64_t> used;       // the device's own reading
  std::optional<std::int64_t> estimated;  // live requested bytes by the passes of the plan; part of no sum
  std::vector<AccountLine> lines;
  std::string dominates;  // the name of the largest line
};

// Of every phase of `launch` that ended with a ledger. The estimate is worked out from `workload` alone.
[[nodiscard]] std::vector<Account> accounts(const Launch& launch, const Workload& workload);

// The accounts of the first whole launch of each device and workload, as tables, with the levers for the largest line.
[[nodiscard]] std::string account_pages(const RunDocument& document);

}  // namespace assay::estimate
