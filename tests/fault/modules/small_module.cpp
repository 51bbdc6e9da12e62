// SPDX-License-Identifier: Apache-2.0
// Small modules that are wrong in one way each, chosen by ASSAY_WRONG_*; none of them has a working entry.
#include <cstddef>
#include <cstdlib>

#include "backends/abi/assay_backend.h"

#if defined(ASSAY_WRONG_NO_ENTRY)

extern "C" __attribute__((visibility("default"))) int assay_backend_entry_v0(void);
int assay_backend_entry_v0(void) {
  return 0;
}

#else

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1(void);

#if defined(ASSAY_WRONG_VERSION)

const assay_backend* assay_backend_entry_v1(void) {
  static const assay_backend table = [] {
    assay_backend wrong{};
    wrong.size = sizeof(assay_backend);
    wrong.abi_version = ASSAY_ABI_VERSION + 1;
    return wrong;
  }();
  return &table;
}

#elif defined(ASSAY_WRONG_SIZE)

const assay_backend* assay_backend_entry_v1(void) {
  static const assay_backend table = [] {
    assay_backend wrong{};
    wrong.size = offsetof(assay_backend, graph_begin);
    wrong.abi_version = ASSAY_ABI_VERSION;
    return wrong;
  }();
  return &table;
}

#elif defined(ASSAY_WRONG_NULL)

const assay_backend* assay_backend_entry_v1(void) {
  return nullptr;
}

#elif defined(ASSAY_WRONG_ABORT)

namespace {
struct Aborts {
  Aborts() { std::abort(); }
};
const Aborts at_load;
}  // namespace

const assay_backend* assay_backend_entry_v1(void) {
  return nullptr;
}

#elif defined(ASSAY_WRONG_UNRESOLVED)

extern "C" void assay_no_library_defines_this(void);

const assay_backend* assay_backend_entry_v1(void) {
  assay_no_library_defines_this();
  return nullptr;
}

#endif
#endif
