# SPDX-License-Identifier: Apache-2.0
# The allocators' contract, property, oracle and race tests.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME contract.allocator_oracle LABELS contract
  SOURCES allocator_oracle_test.cpp ../support/pytorch_trace.cpp
  LIBRARIES assay::replay assay::allocator assay_fake_device nlohmann_json::nlohmann_json)
assay_add_test(NAME contract.allocator_comparison LABELS contract
  SOURCES allocator_comparison_test.cpp ../support/pytorch_trace.cpp ../support/synthetic_trace.cpp
  LIBRARIES assay::allocator assay_fake_device nlohmann_json::nlohmann_json)
assay_add_test(NAME contract.allocator LABELS contract TIMEOUT 600
  SOURCES allocator_contract_test.cpp
  LIBRARIES assay::allocator assay_fake_device)
add_dependencies(test-contract-allocator assay-host)
assay_add_test(NAME contract.allocator_property LABELS contract fuzz TIMEOUT 300
  SOURCES allocator_property_test.cpp LIBRARIES assay_allocator_shadow)
add_executable(allocator-race-child allocator_race_child.cpp)
target_link_libraries(allocator-race-child PRIVATE assay::allocator assay_flags)
set_target_properties(allocator-race-child PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
assay_add_test(NAME contract.allocator_race LABELS contract TIMEOUT 900
  SOURCES allocator_race_test.cpp LIBRARIES assay::device)
target_compile_definitions(test-contract-allocator_race PRIVATE "ASSAY_RACE_CHILD=\"$<TARGET_FILE:allocator-race-child>\"")
add_dependencies(test-contract-allocator_race allocator-race-child assay-host)
