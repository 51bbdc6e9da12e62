// SPDX-License-Identifier: Apache-2.0
// Reads through zlib, which passes plain files on as they are.
#include "suite/trace/input.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/trace/fields.hpp"

namespace assay::trace {
namespace {

#ifdef ASSAY_TRACE_CHUNK_BYTES
constexpr std::size_t kChunkBytes = ASSAY_TRACE_CHUNK_BYTES;  // fuzzing: many edges between chunks, and little to clear
#else
constexpr std::size_t kChunkBytes = 256 * 1024;
#endif
constexpr std::size_t kLongestLine = 4 * 1024 * 1024;

gzFile as_gz(void* file) {
  return static_cast<gzFile>(file);
}

}  // namespace

void Input::Closer::operator()(void* file) const {
  gzclose(as_gz(file));
}

Result<Input> Input::open(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return Error{ErrorCode::bad_input, fmt::format("{}: {}; give the path of a trace", path, std::strerror(errno))};
  if (S_ISDIR(info.st_mode))
    return Error{ErrorCode::bad_input, fmt::format("{} is a folder; give the path of a trace", path)};
  if (!S_ISREG(info.st_mode))
    return Error{ErrorCode::bad_input, fmt::format("{} is no regular file; give the path of a trace", path)};
  gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr)
    return Error{ErrorCode::bad_input,
                 fmt::format("{} cannot be read: {}; check its permissions", path, std::strerror(errno))};
  gzbuffer(file, kChunkBytes);
  return Input(path, file);
}

Result<bool> Input::refill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kChunkBytes);
  const int got = gzread(as_gz(file_.get()), buffer_.data() + old, static_cast<unsigned>(kChunkBytes));
  buffer_.resize(old + static_cast<std::size_t>(std::max(got, 0)));
  int code = Z_OK;
  const char* text = gzerror(as_gz(file_.get()), &code);
  // zlib hands out what it could undo of a cut-off file before it says so.
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    ended_ = true;
    return at_byte(code == Z_BUF_ERROR ? std::string("the gzip data ends early; copy the file again")
                                       : fmt::format("the gzip data is damaged ({}); copy the file again", text));
  }
  if (got == 0) ended_ = true;
  return got > 0;
}

Result<std::string_view> Input::peek(std::size_t count) {
  while (buffer_.size() - begin_ < count) {
    const auto more = refill();
    if (!more) return more.error();
    if (!*more) break;
  }
  return std::string_view(buffer_).substr(begin_, count);
}

Result<bool> Input::line(std::string& out) {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      ++line_number_;
      out.assign(buffer_, begin_, end - begin_);
      consumed_ += end + 1 - begin_;
      begin_ = end + 1;
      if (!out.empty() && out.back() == '\r') out.pop_back();
      return true;
    }
    const std::size_t pending = buffer_.size() - begin_;
    if (pending > kLongestLine) return at_line("the line is longer than 4 MiB; this is no trace of a known format");
    const auto more = refill();
    if (!more) return more.error();
    searched = begin_ + pending;
    if (*more) continue;
    if (begin_ == buffer_.size()) return false;
    ++line_number_;
    out.assign(buffer_, begin_);
    consumed_ += out.size();
    begin_ = buffer_.size();
    if (!out.empty() && out.back() == '\r') out.pop_back();
    return true;
  }
}

Result<std::size_t> Input::read(char* out, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    if (begin_ == buffer_.size()) {
      const auto more = refill();
      if (!more) return more.error();
      if (!*more) break;
    }
    const std::size_t part = std::min(count - done, buffer_.size() - begin_);
    std::memcpy(out + done, buffer_.data() + begin_, part);
    begin_ += part;
    done += part;
    consumed_ += part;
  }
  return done;
}

Error Input::at_line(std::string_view what) const {
  return {ErrorCode::bad_input,
          fmt::format("{}:{}: {}", path_, std::max<std::uint64_t>(line_number_, 1), printable(what))};
}

Error Input::at_byte(std::string_view what) const {
  return {ErrorCode::bad_input, fmt::format("{}: at byte {}: {}", path_, consumed_, printable(what))};
}

}  // namespace assay::trace
