// SPDX-License-Identifier: Apache-2.0
// A reader of pickles that hold plain data only: nothing in the file is ever imported, called or built.
#pragma once

#include "suite/trace/input.hpp"
#include "suite/trace/value.hpp"

namespace assay::trace {

// Reads one pickle (protocols 2 to 5) from the input's current position. Memory is in proportion to the bytes read.
// Errors: bad_input with file and byte, for a cut-off file, an opcode that would build an object, a length beyond the
// file, an integer beyond 64 bits, or a stack that does not fit the opcode.
Result<Value> read_pickle(Input& input, Arena& arena);

}  // namespace assay::trace
