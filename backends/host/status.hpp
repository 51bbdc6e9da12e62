// SPDX-License-Identifier: Apache-2.0
// Statuses with their sentence, and the one guard that keeps exceptions inside the module.
#pragma once

#include <exception>
#include <new>

#include "backends/abi/assay_backend.h"

namespace assay::host {

// Keeps a sentence for last_error() of the calling thread (cut at 1023 bytes; allocates nothing) and returns `status`.
[[gnu::format(printf, 2, 3)]] assay_status fail(assay_status status, const char* format, ...) noexcept;

// The calling thread's last sentence; never null.
const char* last_error() noexcept;

// Runs the body of a table entry. Nothing leaves it but a status.
template <class Body>
assay_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(ASSAY_OUT_OF_MEMORY, "the process has no memory left for the module's own books; close other programs");
  } catch (const std::exception& error) {
    return fail(ASSAY_INTERNAL, "unexpected failure in the host module: %s", error.what());
  } catch (...) {
    return fail(ASSAY_INTERNAL, "unexpected failure of an unknown kind in the host module");
  }
}

}  // namespace assay::host
