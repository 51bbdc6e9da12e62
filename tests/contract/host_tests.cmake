# SPDX-License-Identifier: Apache-2.0
# The backend contract over the host, what is particular to the host, and failures.
assay_add_test(NAME contract.backend_host LABELS contract SOURCES host_contract_test.cpp LIBRARIES assay::device)
add_dependencies(test-contract-backend_host assay-host)
assay_add_test(NAME contract.host LABELS contract SOURCES host_test.cpp host_limits_test.cpp LIBRARIES assay::device)
add_dependencies(test-contract-host assay-host)
assay_add_test(NAME contract.host_modes LABELS contract TIMEOUT 300 SOURCES host_modes_test.cpp
  LIBRARIES assay::device assay::check)
add_dependencies(test-contract-host_modes assay-host)
assay_add_test(NAME contract.host_fault LABELS contract SOURCES host_fault_test.cpp
  LIBRARIES assay::device assay_host_objects assay::kernels)
# Orders between streams, seen by ThreadSanitizer; skips in every other build.
assay_add_test(NAME contract.stream_races LABELS contract SOURCES stream_race_test.cpp LIBRARIES assay::device TIMEOUT 300)
add_dependencies(test-contract-stream_races assay-host)

# Failures: injected at every call of the table, of modules that are none, and of kernels.
assay_add_test(NAME contract.faults LABELS contract SOURCES fault_test.cpp module_load_test.cpp LIBRARIES assay::device
  ENVIRONMENT ASSAY_TEST_MODULES=${PROJECT_BINARY_DIR}/tests/modules)
add_dependencies(test-contract-faults assay-host assay-faulty assay-wrong_no_entry assay-wrong_version assay-wrong_size
  assay-wrong_null assay-wrong_abort assay-wrong_unresolved)
