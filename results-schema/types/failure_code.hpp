// SPDX-License-Identifier: Apache-2.0
// failure_code: the word a document has for a kind of failure.
#pragma once

#include "results-schema/types/result.hpp"

namespace assay {

// The codes of phases, cases and failures; the schema knows no other, besides "crashed" and "not_run".
[[nodiscard]] constexpr const char* failure_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::map_limit:
      return "map_limit";
    case ErrorCode::fault:
      return "fault";
    case ErrorCode::hung:
      return "hung";
    case ErrorCode::interrupted:
      return "interrupted";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::wrong_result:
      return "wrong_result";
    case ErrorCode::usage:
    case ErrorCode::bad_input:
      return "bad_input";
    case ErrorCode::output:
      return "output";
    default:
      return "internal";
  }
}

}  // namespace assay
