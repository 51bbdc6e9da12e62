// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of the format ASSAY_FUZZ_FORMAT: refused with file and place, or read to its end.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "suite/trace/formats.hpp"
#include "suite/trace/paged_kv.hpp"
#include "suite/trace/snapshot.hpp"

namespace {

using namespace assay;
using trace::Format;

constexpr std::int64_t kMostEvents = 200'000;  // a few bytes can ask for many blocks of a paged pool

Result<std::unique_ptr<trace::Source>> open(const std::string& path) {
  constexpr Format format = Format::ASSAY_FUZZ_FORMAT;
  if constexpr (format == Format::requests_csv || format == Format::requests_jsonl) {
    auto input = trace::Input::open(path);
    if (!input) return input.error();
    auto requests = format == Format::requests_csv ? trace::open_requests_csv(std::move(*input))
                                                   : trace::open_requests_jsonl(std::move(*input));
    if (!requests) return requests.error();
    trace::PagedKvOptions options;
    options.pool_bytes = std::int64_t{1} << 30;  // 512 blocks: full soon
    return std::unique_ptr<trace::Source>(std::make_unique<trace::PagedKv>(std::move(*requests), format, options));
  } else {
    auto input = trace::Input::open(path);
    if (!input) return input.error();
    switch (format) {
      case Format::pytorch_json:
      case Format::pytorch_pickle:
        return trace::open_snapshot(std::move(*input), format);
      case Format::kineto_csv:
        return trace::open_kineto_csv(std::move(*input));
      case Format::kineto_json:
        return trace::open_kineto_json(std::move(*input));
      case Format::rmm_csv:
        return trace::open_rmm_csv(std::move(*input));
      case Format::umpire:
        return trace::open_umpire(std::move(*input));
      default:
        return trace::open_assay(std::move(*input));
    }
  }
}

void require(bool holds) {
  if (!holds) std::abort();
}

void refused_well(const Error& error, const std::string& path) {
  require(error.code == ErrorCode::bad_input);
  require(error.text.find(path) != std::string::npos);
  require(error.text.find('\n') == std::string::npos);
}

void read(Result<std::unique_ptr<trace::Source>> opened, const std::string& path) {
  if (!opened) return refused_well(opened.error(), path);
  const auto source = trace::checked(std::move(*opened), path);
  trace::Event event;
  for (std::int64_t i = 0; i < kMostEvents; ++i) {
    const auto more = source->next(event);
    if (!more) return refused_well(more.error(), path);
    if (!*more) break;
    require(event.bytes >= 0 && event.category < 6);
  }
  for (const auto& segment : source->header().final_segments) {
    std::int64_t sum = 0;
    for (const auto& block : segment.blocks) sum += block.bytes;
    require(sum == segment.bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int file = ::memfd_create("trace", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, 0) != 0) return 0;
  if (size > 0 && ::pwrite(file, bytes, size, 0) != static_cast<ssize_t>(size)) return 0;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  read(open(path), path);
  read(trace::open(path), path);  // whatever its first bytes make of it
  return 0;
}
