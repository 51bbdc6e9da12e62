// SPDX-License-Identifier: Apache-2.0
// The text behind a failure, and the wall that lets no exception through the device table.
#pragma once

#include <array>
#include <cstdio>
#include <exception>

#include "backends/abi/assay_backend.h"

namespace assay::gpu {

// The calling thread's last error. A fixed buffer: writing it can neither throw nor allocate.
template <class Rt>
std::array<char, 512>& error_buffer() {
  thread_local std::array<char, 512> text{};
  return text;
}

// Notes a refusal of our own, before the runtime was asked; `sentence` names the thing, the reason and the next step.
template <class Rt>
assay_status refuse(assay_status status, const char* sentence) {
  auto& text = error_buffer<Rt>();
  std::snprintf(text.data(), text.size(), "%s", sentence);
  return status;
}

// Notes a failure of the runtime in its own words.
template <class Rt>
void note(const char* what, typename Rt::Status status) {
  auto& text = error_buffer<Rt>();
  std::snprintf(text.data(), text.size(), "%s: %s (%d): %s", what, Rt::error_name(status), static_cast<int>(status),
                Rt::error_text(status));
}

// Entry<Rt, &function>::call is `function` with every exception turned into a status.
template <class Rt, auto Function>
struct Entry;

template <class Rt, class... Arguments, assay_status (*Function)(Arguments...)>
struct Entry<Rt, Function> {
  static assay_status call(Arguments... arguments) noexcept {
    try {
      return Function(arguments...);
    } catch (const std::exception& error) {
      return refuse<Rt>(ASSAY_INTERNAL, error.what());
    } catch (...) {
      return refuse<Rt>(ASSAY_INTERNAL, "an exception of unknown type was stopped at the module's border");
    }
  }
};

}  // namespace assay::gpu
