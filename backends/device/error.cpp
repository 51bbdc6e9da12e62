// SPDX-License-Identifier: Apache-2.0
// From a status of the table to an Error that callers can act on.
#include "backends/device/device.hpp"

namespace assay::device {
namespace {

ErrorCode code_of(assay_status status) {
  switch (status) {
    case ASSAY_INVALID_VALUE:
      return ErrorCode::usage;
    case ASSAY_OUT_OF_MEMORY:
      return ErrorCode::out_of_memory;
    case ASSAY_MAP_LIMIT:
      return ErrorCode::map_limit;
    case ASSAY_NO_DEVICE:
      return ErrorCode::no_device;
    case ASSAY_UNSUPPORTED:
      return ErrorCode::unsupported;
    case ASSAY_KERNEL_FAULT:
    case ASSAY_DEVICE_LOST:
      return ErrorCode::fault;
    default:
      return ErrorCode::internal;
  }
}

// What a status means when the module left no words of its own.
const char* meaning_of(assay_status status) {
  switch (status) {
    case ASSAY_NOT_READY:
      return "the work it asks about has not completed";
    case ASSAY_INVALID_VALUE:
      return "an argument is outside its contract";
    case ASSAY_OUT_OF_MEMORY:
      return "the device has not enough memory left";
    case ASSAY_MAP_LIMIT:
      return "a limit on mappings or file descriptors was reached";
    case ASSAY_NO_DEVICE:
      return "no driver or no device of this kind answers";
    case ASSAY_UNSUPPORTED:
      return "this runtime or device lacks the function";
    case ASSAY_KERNEL_FAULT:
      return "a kernel faulted and the device cannot be used any more in this process";
    case ASSAY_DEVICE_LOST:
      return "the device no longer answers";
    default:
      return "the module gave no reason";
  }
}

}  // namespace

Error error_from(const assay_backend& table, assay_status status, std::string_view what) {
  std::string text(what);
  text += ": ";
  const char* words = table.last_error();
  if (words != nullptr && words[0] != '\0')
    text += words;
  else
    text += meaning_of(status);
  if (status < ASSAY_OK || status > ASSAY_INTERNAL) text += " (unknown status " + std::to_string(status) + ")";
  return Error{code_of(status), std::move(text)};
}

}  // namespace assay::device
