// SPDX-License-Identifier: Apache-2.0
// Mappings, limits, and the reasons for refusals.
#include "backends/host/system.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backends/host/status.hpp"

namespace assay::host {
namespace {

// Reads a file through `use(data, bytes)` without allocating: at the limit on mappings an allocation could fail.
template <class Use>
bool read_file(const char* path, Use&& use) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(file, buffer.data(), buffer.size())) > 0) use(buffer.data(), static_cast<std::size_t>(got));
  ::close(file);
  return got == 0;
}

std::int64_t count_mappings() noexcept {
  std::int64_t lines = 0;
  const bool ok = read_file(
      "/proc/self/maps", [&](const char* data, std::size_t bytes) { lines += std::count(data, data + bytes, '\n'); });
  return ok ? lines : -1;
}

std::int64_t mapping_limit() noexcept {
  std::array<char, 32> text{};
  std::size_t length = 0;
  const bool ok = read_file("/proc/sys/vm/max_map_count", [&](const char* data, std::size_t bytes) {
    const std::size_t take = std::min(bytes, text.size() - 1 - length);
    std::memcpy(text.data() + length, data, take);
    length += take;
  });
  return ok ? std::strtoll(text.data(), nullptr, 10) : -1;
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::int64_t machine_memory_bytes() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return 0;
  return static_cast<std::int64_t>(info.totalram) * static_cast<std::int64_t>(info.mem_unit);
}

void* map_anonymous(std::size_t bytes) noexcept {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

assay_status explain_refusal(int error, const char* what, std::size_t bytes) noexcept {
  if (error == EMFILE || error == ENFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return fail(ASSAY_MAP_LIMIT, "%s of %zu bytes reached the limit on open files (%llu); raise it with ulimit -n",
                what, bytes, static_cast<unsigned long long>(limit.rlim_cur));
  }
  if (error == ENOMEM) {
    const std::int64_t mappings = count_mappings();
    const std::int64_t limit = mapping_limit();
    // One call needs up to two new mappings beside the one it splits; the kernel's own vsyscall line is not counted.
    constexpr std::int64_t kMargin = 4;
    if (mappings >= 0 && limit > 0 && mappings + kMargin >= limit)
      return fail(
          ASSAY_MAP_LIMIT,
          "%s of %zu bytes reached vm.max_map_count: this process has %lld mappings of %lld allowed; use larger "
          "pieces or raise the limit with sysctl",
          what, bytes, static_cast<long long>(mappings), static_cast<long long>(limit));
    return fail(
        ASSAY_OUT_OF_MEMORY,
        "%s of %zu bytes was refused by the operating system, which has not enough memory or address space left; "
        "lower --host-memory or close other programs",
        what, bytes);
  }
  return fail(ASSAY_INTERNAL, "%s of %zu bytes was refused by the operating system: %s", what, bytes,
              std::strerror(error));
}

}  // namespace assay::host
