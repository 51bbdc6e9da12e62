// SPDX-License-Identifier: Apache-2.0
// The backend contract over the GPU modules' shared source on the simulated runtime, with each vendor's habits.
#include "backends/gpu/table.hpp"
#include "tests/contract/backend_contract.hpp"
#include "tests/support/sim_runtime.hpp"

namespace assay::contract {
namespace {

// A fresh world for every test.
template <class Rt>
Provider simulated(const char* name) {
  Provider provider;
  provider.name = name;
  provider.module = [] {
    Rt::world().reset();
    Rt::world().settings.total_bytes = std::size_t{512} << 20;
    return device::Module::wrap(&gpu::backend_table<Rt>);
  };
  provider.ordinal = 0;
  return provider;
}

}  // namespace
}  // namespace assay::contract

ASSAY_INSTANTIATE_BACKEND_CONTRACT(Simulated, simulated<assay::test::SimNvidia>("nvidia"),
                                   simulated<assay::test::SimAmd>("amd"));
