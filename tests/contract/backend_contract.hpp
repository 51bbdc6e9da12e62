// SPDX-License-Identifier: Apache-2.0
// The contract of the device table as tests: whatever passes them is a backend. Instantiated once per provider.
#pragma once

// A program that wants a backend tested includes this header in one source file and writes, at namespace scope,
//   ASSAY_INSTANTIATE_BACKEND_CONTRACT(Cuda, Provider{...}, Provider{...});
// The parts are separate headers only to keep each short.
#include "tests/contract/parts/fixture.hpp"
#include "tests/contract/parts/identity.hpp"
#include "tests/contract/parts/kernels.hpp"
#include "tests/contract/parts/memory.hpp"
#include "tests/contract/parts/misuse.hpp"
#include "tests/contract/parts/pools_and_graphs.hpp"
#include "tests/contract/parts/streams.hpp"
#include "tests/contract/parts/threads.hpp"
#include "tests/contract/parts/virtual_memory.hpp"

// Every suite of the contract for the given providers. `prefix` tells several instantiations of one program apart.
#define ASSAY_INSTANTIATE_BACKEND_CONTRACT(prefix, ...)                                                   \
  namespace assay::contract {                                                                             \
  INSTANTIATE_TEST_SUITE_P(prefix, BackendContract, ::testing::Values(__VA_ARGS__), provider_name);       \
  INSTANTIATE_TEST_SUITE_P(prefix, VirtualMemoryContract, ::testing::Values(__VA_ARGS__), provider_name); \
  INSTANTIATE_TEST_SUITE_P(prefix, PoolContract, ::testing::Values(__VA_ARGS__), provider_name);          \
  INSTANTIATE_TEST_SUITE_P(prefix, GraphContract, ::testing::Values(__VA_ARGS__), provider_name);         \
  }                                                                                                       \
  static_assert(true)
