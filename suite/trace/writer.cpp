// SPDX-License-Identifier: Apache-2.0
// Whole lines, in whole writes.
#include "suite/trace/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "backends/allocator/statistics.hpp"

namespace assay::trace {
namespace {

std::string_view action_text(Action action) {
  switch (action) {
    case Action::alloc:
      return "alloc";
    case Action::free:
      return "free";
    case Action::free_requested:
      return "free_requested";
    case Action::free_completed:
      return "free_completed";
    case Action::record_stream:
      return "record_stream";
    case Action::out_of_memory:
      return "out_of_memory";
    case Action::empty_cache:
      return "empty_cache";
    default:
      return {};  // what the recorded allocator did by itself is no part of this format
  }
}

// One line of a head: a value must not end it.
std::string head_line(std::string_view key, std::string_view value) {
  std::string line = fmt::format("#{}={}", key, value);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return line + "\n";
}

// One whole gzip member.
Result<std::string> packed(const std::string& bytes, const std::string& path) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{ErrorCode::output, fmt::format("{} cannot be compressed: zlib refuses; leave out .gz", path)};
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END)
    return Error{ErrorCode::output, fmt::format("{} cannot be compressed: zlib fails; leave out .gz", path)};
  return out;
}

}  // namespace

TraceWriter::TraceWriter(std::string path, int descriptor, bool gzip)
    : path_(std::move(path)), descriptor_(descriptor), gzip_(gzip), last_flush_(std::chrono::steady_clock::now()) {}

TraceWriter::TraceWriter(TraceWriter&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      gzip_(other.gzip_),
      failed_(other.failed_),
      held_(std::move(other.held_)),
      last_flush_(other.last_flush_) {}

TraceWriter::~TraceWriter() {
  (void)close();
}

Result<TraceWriter> TraceWriter::create(const std::string& path, const Origin& origin) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return Error{ErrorCode::output,
                 fmt::format("{} cannot be created: {}; name another file for the trace", path, std::strerror(errno))};
  TraceWriter writer(path, descriptor, path.ends_with(".gz"));
  writer.held_ = "#assay-trace 1\n" + head_line("framework", origin.framework) +
                 head_line("framework_version", origin.framework_version) + head_line("platform", origin.platform) +
                 head_line("device", origin.device) + head_line("settings", origin.settings) +
                 "action,device,stream,address,bytes,time_us,category\n";
  if (auto flushed = writer.flush(); !flushed) return flushed.error();
  return writer;
}

Result<void> TraceWriter::write(const Event& event) {
  const std::string_view action = action_text(event.action);
  if (action.empty() || failed_) return {};
  const std::string_view category =
      event.category < 0 ? std::string_view() : allocator::kCategoryNames.at(static_cast<std::size_t>(event.category));
  fmt::format_to(std::back_inserter(held_), "{},{},{},{:#x},{},{},{}\n", action, event.device, event.stream,
                 event.address, event.bytes, event.time_us, category);
  if (held_.size() < kHeldBytes && std::chrono::steady_clock::now() - last_flush_ < kHeldTime) return {};
  return flush();
}

Result<void> TraceWriter::put(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto written = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failed_ = true;
      const std::string reason = std::strerror(errno);
      // Back to the last whole write, where there is one.
      const auto end = ::lseek(descriptor_, 0, SEEK_CUR);
      if (end >= 0 && ::ftruncate(descriptor_, end - static_cast<off_t>(done)) != 0)
        return Error{ErrorCode::output, fmt::format("{} cannot be written: {}, and it ends in a torn line; free space "
                                                    "and record again",
                                                    path_, reason)};
      return Error{ErrorCode::output,
                   fmt::format("{} cannot be written: {}; free space and record again", path_, reason)};
    }
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> TraceWriter::flush() {
  last_flush_ = std::chrono::steady_clock::now();
  if (descriptor_ < 0 || failed_ || held_.empty()) return {};
  const std::string bytes = std::exchange(held_, {});
  if (!gzip_) return put(bytes);
  auto member = packed(bytes, path_);
  if (!member) {
    failed_ = true;
    return member.error();
  }
  return put(*member);
}

Result<void> TraceWriter::close() {
  if (descriptor_ < 0) return {};
  auto flushed = flush();
  if (::close(std::exchange(descriptor_, -1)) != 0 && flushed)
    return Error{ErrorCode::output,
                 fmt::format("{} cannot be closed: {}; free space and record again", path_, std::strerror(errno))};
  return flushed;
}

}  // namespace assay::trace
