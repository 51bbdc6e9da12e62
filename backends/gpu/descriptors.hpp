// SPDX-License-Identifier: Apache-2.0
// Whether this process can still open a file: tells a descriptor limit from a lack of memory.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace assay::gpu {

inline bool descriptors_exhausted() {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno == EMFILE || errno == ENFILE;
  ::close(descriptor);
  return false;
}

}  // namespace assay::gpu
