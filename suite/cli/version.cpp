// SPDX-License-Identifier: Apache-2.0
// The one translation unit that changes when the commit does.
#include "suite/cli/version.hpp"

namespace {
#include "suite_version.inc"
}  // namespace

namespace assay::cli {

Version version() {
  return kVersion;
}

}  // namespace assay::cli
