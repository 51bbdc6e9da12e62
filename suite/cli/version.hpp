// SPDX-License-Identifier: Apache-2.0
// The version this program was built from, as every document records it.
#pragma once

namespace assay::cli {

struct Version {
  const char* version;  // of the last tag, with the distance from it; the project's version where there is no tag
  const char* commit;   // "unknown" for a tarball
  bool dirty;           // built from a tree with uncommitted changes
};

[[nodiscard]] Version version();

}  // namespace assay::cli
