// SPDX-License-Identifier: Apache-2.0
// Limits are looked at before anything runs into them: what fails later names a wrong cause.
#include "suite/process/surroundings.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

namespace assay::process {
namespace {

// The library's threads get stacks of the soft limit; parsing and validating recurse up to 64 levels.
constexpr rlim_t kLeastStackBytes = rlim_t{512} << 10U;
// Three streams, the journal, a lock, and the pipes of one child, which are kept above the child's own numbers.
constexpr rlim_t kLeastFiles = 32;

}  // namespace

void keep_standard_descriptors() {
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is this one. Standard output is opened for reading: a write must not look like success.
    (void)::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
  }
}

Result<void> check_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < kLeastStackBytes)
    return Error{ErrorCode::internal, "the stack is limited to " + std::to_string(limit.rlim_cur >> 10U) + " KiB and " +
                                          std::to_string(kLeastStackBytes >> 10U) +
                                          " are needed; raise the limit (ulimit -s 8192)"};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kLeastFiles)
    return Error{ErrorCode::internal, "only " + std::to_string(limit.rlim_cur) + " open files are allowed and " +
                                          std::to_string(kLeastFiles) + " are needed; raise the limit (ulimit -n 256)"};
  return {};
}

}  // namespace assay::process
