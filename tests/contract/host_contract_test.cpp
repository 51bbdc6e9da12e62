// SPDX-License-Identifier: Apache-2.0
// The backend contract over the host module, in speed mode and with real block shapes.
#include <cstdlib>

#include "tests/contract/backend_contract.hpp"

namespace assay::contract {
namespace {

Provider host(const std::string& name, const std::string& wave) {
  Provider provider;
  provider.name = name;
  provider.module = [] {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    return device::Module::load(std::string(folder != nullptr ? folder : "build/host/bin") + "/libassay-host.so");
  };
  provider.options = {{"wave", wave}, {"memory_bytes", std::to_string(256 * kMiB)}};
  provider.exact_books = true;
  provider.detects_bad_pointers = true;
  provider.detects_stale_handles = true;
  return provider;
}

}  // namespace
}  // namespace assay::contract

ASSAY_INSTANTIATE_BACKEND_CONTRACT(Host, host("wave1", "1"), host("wave32", "32"));
