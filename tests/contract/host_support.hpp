// SPDX-License-Identifier: Apache-2.0
// The host module of this build and its first device, for tests of what is particular to it.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

inline device::Module host_module() {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  auto module = device::Module::load(std::string(folder != nullptr ? folder : "") + "/libassay-host.so");
  EXPECT_TRUE(module) << (module ? "" : module.error().text);
  return std::move(module).value();
}

inline device::Device open_host(const device::Module& module, const device::Options& options = {}) {
  auto device = device::Device::open(module, 0, options);
  EXPECT_TRUE(device) << (device ? "" : device.error().text);
  return std::move(device).value();
}

}  // namespace assay::contract
