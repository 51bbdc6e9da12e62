# SPDX-License-Identifier: Apache-2.0
# The allocators' contract, property, oracle and race tests.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME contract.allocator_oracle LABELS contract
  SOURCES allocator_oracle_test.cpp ../support/pytorch_trace.cpp
  LIBRARIES assay::allocator assay_fake_device nlohmann_json::nlohmann_json)
