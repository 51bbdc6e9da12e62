# SPDX-License-Identifier: Apache-2.0
# The allocators' contract, property, oracle and race tests.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME contract.allocator_oracle LABELS contract
  SOURCES allocator_oracle_test.cpp ../support/pytorch_trace.cpp
  LIBRARIES assay::allocator assay_fake_device nlohmann_json::nlohmann_json)
assay_add_test(NAME contract.allocator LABELS contract
  SOURCES allocator_contract_test.cpp
  LIBRARIES assay::allocator assay_fake_device)
add_dependencies(test-contract-allocator assay-host)
assay_add_test(NAME contract.allocator_property LABELS contract fuzz
  SOURCES allocator_property_test.cpp
  LIBRARIES assay::allocator assay_fake_device)
