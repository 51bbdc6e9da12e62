// SPDX-License-Identifier: Apache-2.0
// Reading a whole trace in a test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "suite/trace/trace.hpp"

namespace assay::test {

struct WholeTrace {
  trace::Header header;
  std::vector<trace::Event> events;
  std::string failure;  // empty when the trace was read to its end
};

// Opens, checks and reads to the end or to the first error.
inline WholeTrace read_whole(const std::string& path) {
  WholeTrace whole;
  auto opened = trace::open(path);
  if (!opened) {
    whole.failure = opened.error().text;
    return whole;
  }
  const auto source = trace::checked(std::move(*opened), path);
  for (trace::Event event;;) {
    const auto more = source->next(event);
    if (!more) {
      whole.failure = more.error().text;
      break;
    }
    if (!*more) break;
    whole.events.push_back(event);
  }
  whole.header = source->header();
  return whole;
}

}  // namespace assay::test
