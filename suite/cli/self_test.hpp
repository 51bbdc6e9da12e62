// SPDX-License-Identifier: Apache-2.0
// assay compare --self-test: the procedure against itself on this machine's host backend.
#pragma once

#include <cstdint>

#include "suite/cli/context.hpp"

namespace assay::cli {

struct SelfTestOptions {
  bool wanted = false;
  std::int64_t families = 1;
  std::int64_t launches = 7;
};

// Exit 1 on a false alarm or a slow-down that was missed.
Exit run_self_test(const SelfTestOptions& options, double alpha, double margin, bool json, const Context& context);

}  // namespace assay::cli
