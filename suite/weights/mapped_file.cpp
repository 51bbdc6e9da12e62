// SPDX-License-Identifier: Apache-2.0
// Opening without blocking, then mapping the whole length: address space, not memory.
#include "suite/weights/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "suite/weights/reject.hpp"

namespace assay::weights {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& reason) {
    return Error{ErrorCode::bad_input, shown(path.string(), 400) + " " + reason};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return refuse(std::string("cannot be opened: ") + std::strerror(errno) + "; check the path and its permissions");
  struct stat facts {};
  const bool known = ::fstat(descriptor, &facts) == 0;
  if (!known || !S_ISREG(facts.st_mode)) {
    ::close(descriptor);
    return refuse("is not a regular file; give a file of weights");
  }
  if (facts.st_size == 0) {
    ::close(descriptor);
    return refuse("is refused at byte 0: it is empty; download it again or give another file");
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int failure = errno;
  ::close(descriptor);
  if (data == MAP_FAILED)
    return refuse(std::string("cannot be mapped: ") + std::strerror(failure) + "; raise the limit of address space");
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace assay::weights
