// SPDX-License-Identifier: Apache-2.0
// The backend contract over the cuda and hip modules as built: skipped, and said so, where no device answers.
#include <cstdlib>

#include "tests/contract/backend_contract.hpp"

namespace assay::contract {
namespace {

Provider built(const std::string& name) {
  Provider provider;
  provider.name = name;
  provider.module = [name]() -> Result<device::Module> {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    return device::Module::load(std::string(folder == nullptr ? "." : folder) + "/libassay-" + name + ".so");
  };
  return provider;
}

}  // namespace
}  // namespace assay::contract

ASSAY_INSTANTIATE_BACKEND_CONTRACT(Modules, built("cuda"), built("hip"));
