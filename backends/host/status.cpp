// SPDX-License-Identifier: Apache-2.0
// The sentence behind a failed call, one per thread.
#include "backends/host/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace assay::host {
namespace {
// A plain array: keeping a sentence must not need memory, since the sentence may be about having none.
thread_local char sentence[1024] = "";
}  // namespace

assay_status fail(assay_status status, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return status;
}

const char* last_error() noexcept {
  return sentence;
}

}  // namespace assay::host
