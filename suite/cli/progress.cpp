// SPDX-License-Identifier: Apache-2.0
// Progress on a terminal.
#include "suite/cli/progress.hpp"

#include <ostream>

namespace assay::cli {

void Progress::show(std::string_view text) {
  if (!enabled_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(2)) return;
  stream_ << "\r\033[K" << text.substr(0, 79) << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) stream_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace assay::cli
