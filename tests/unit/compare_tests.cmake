# SPDX-License-Identifier: Apache-2.0
# Tests of the statistics and of comparing documents.
assay_add_test(NAME unit.stats LABELS unit SOURCES stats.cpp LIBRARIES assay::suite)
set(canned "ASSAY_CANNED_MODULE=$<TARGET_FILE:assay_canned_module>")
assay_add_test(NAME unit.compare LABELS unit SOURCES compare_rule.cpp compare_conflation.cpp LIBRARIES assay::suite assay::json
  ENVIRONMENT "${canned}")
add_dependencies(test-unit-compare assay_canned_module)
assay_add_test(NAME unit.compare_simulation LABELS unit SOURCES compare_simulation.cpp LIBRARIES assay::suite assay::json
  TIMEOUT 300)
