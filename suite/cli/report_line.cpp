// SPDX-License-Identifier: Apache-2.0
// Events of a child, written whole.
#include "suite/cli/report_line.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "results-schema/json/json.hpp"
#include "suite/process/child.hpp"

namespace assay::cli {

Result<void> report_entry(const JournalEntry& entry) {
  const auto line = json::to_line(entry) + '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const auto n = ::write(process::kReportDescriptor, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error{ErrorCode::output, std::string("the report cannot be written: ") + std::strerror(errno) +
                                          "; this command is for the program's own use"};
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace assay::cli
