# SPDX-License-Identifier: Apache-2.0
# The program as a user runs it.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME golden.cli LABELS golden SOURCES cli_goldens.cpp)
assay_add_test(NAME golden.cli_bad_input LABELS golden SOURCES cli_bad_input.cpp)
assay_add_test(NAME golden.cli_end_to_end LABELS golden SOURCES cli_end_to_end.cpp TIMEOUT 240)
assay_add_test(NAME golden.cli_html LABELS golden SOURCES cli_html.cpp)
add_dependencies(test-golden-cli assay)
add_dependencies(test-golden-cli_html assay)
add_dependencies(test-golden-cli_bad_input assay assay-host assay-faulty assay-wrong_version assay-wrong_size)
add_dependencies(test-golden-cli_end_to_end assay assay-host assay-faulty)
# It looks for processes that were left behind, which those of another test would seem to be.
set_tests_properties(golden.cli_end_to_end PROPERTIES RUN_SERIAL TRUE)
