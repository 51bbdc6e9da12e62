// SPDX-License-Identifier: Apache-2.0
// What the program needs of the shell that starts it: three open standard streams, a stack, and some descriptors.
#pragma once

#include "results-schema/types/result.hpp"

namespace assay::process {

// Opens what is closed of descriptors 0 to 2, so that no file of ours gets their numbers. What was closed stays so to
// its user: reading ends at once, and writing to standard output fails. For the beginning of main, before any thread.
void keep_standard_descriptors();

// Whether the limits on stack and open files leave room for this program and its threads. Uses little stack itself.
// Errors: internal, with the limit and how to raise it.
Result<void> check_limits();

}  // namespace assay::process
