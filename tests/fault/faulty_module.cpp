// SPDX-License-Identifier: Apache-2.0
// libassay-faulty.so: the host module behind a table that fails where ASSAY_FAULT says (tests/fault/injection.hpp).
#include "backends/host/entries.hpp"
#include "tests/fault/injection.hpp"

namespace assay::fault {
namespace {

template <auto Member, Entry Name, class Pointer = decltype(Member)>
struct Decorated;

template <auto Member, Entry Name, class... Arguments>
struct Decorated<Member, Name, assay_status (*assay_backend::*)(Arguments...)> {
  static assay_status call(Arguments... arguments) noexcept {
    const auto injected = before_call(Name);
    if (!injected) return (host::host_table().*Member)(arguments...);
    // What ends a handle has its effect even when it reports a failure, so that nothing outlives what it works on.
    if constexpr (Name == Entry::device_close || Name == Entry::stream_destroy || Name == Entry::event_destroy ||
                  Name == Entry::pool_destroy || Name == Entry::graph_destroy)
      (host::host_table().*Member)(arguments...);
    return *injected;
  }
};

const char* last_error() noexcept {
  const char* sentence = injected_sentence();
  return sentence != nullptr ? sentence : host::host_table().last_error();
}

constexpr assay_backend kFaultyTable = [] {
  assay_backend table{};
  table.size = sizeof(assay_backend);
  table.abi_version = ASSAY_ABI_VERSION;
  table.last_error = last_error;
#define ASSAY_DECORATE(name) table.name = Decorated<&assay_backend::name, Entry::name>::call;
  ASSAY_TABLE_ENTRIES(ASSAY_DECORATE)
#undef ASSAY_DECORATE
  return table;
}();

}  // namespace
}  // namespace assay::fault

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1(void);

const assay_backend* assay_backend_entry_v1(void) {
  return &assay::fault::kFaultyTable;
}
