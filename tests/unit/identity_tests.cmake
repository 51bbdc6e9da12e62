# SPDX-License-Identifier: Apache-2.0
# Tests of identities and of finding modules; they load the fake module as a real one is loaded.
set(canned "ASSAY_CANNED_MODULE=$<TARGET_FILE:assay_canned_module>")
assay_add_test(NAME unit.identity LABELS unit
  SOURCES identity_assemble.cpp identity_compare.cpp identity_conflation.cpp
  LIBRARIES assay::suite ENVIRONMENT "${canned}")
assay_add_test(NAME unit.identity_host LABELS unit SOURCES identity_host.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.modules LABELS unit SOURCES modules_choose.cpp modules_probe.cpp
  LIBRARIES assay::suite ENVIRONMENT "${canned}")
assay_add_test(NAME unit.modules_commands LABELS unit SOURCES modules_commands.cpp
  LIBRARIES assay::suite assay::json ENVIRONMENT "${canned}")
add_dependencies(test-unit-identity assay_canned_module)
add_dependencies(test-unit-identity_host assay assay-host)
add_dependencies(test-unit-modules assay_canned_module assay)
add_dependencies(test-unit-modules_commands assay_canned_module assay assay-host)
