# SPDX-License-Identifier: Apache-2.0
# The program as a user runs it.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME golden.cli LABELS golden SOURCES cli_goldens.cpp)
assay_add_test(NAME golden.cli_bad_input LABELS golden SOURCES cli_bad_input.cpp)
assay_add_test(NAME golden.cli_end_to_end LABELS golden SOURCES cli_end_to_end.cpp TIMEOUT 240)
assay_add_test(NAME golden.cli_html LABELS golden SOURCES cli_html.cpp)
assay_add_test(NAME golden.cli_limits LABELS golden SOURCES cli_limits.cpp)
assay_add_test(NAME golden.cli_journal LABELS golden SOURCES cli_journal.cpp)
assay_add_test(NAME golden.cli_checks LABELS golden SOURCES cli_checks.cpp)
add_dependencies(test-golden-cli assay)
add_dependencies(test-golden-cli_html assay)
add_dependencies(test-golden-cli_bad_input assay assay-host assay-faulty assay-wrong_version assay-wrong_size)
add_dependencies(test-golden-cli_limits assay assay-host)
add_dependencies(test-golden-cli_journal assay assay-host assay-faulty)
add_dependencies(test-golden-cli_checks assay assay-host assay-faulty)
add_dependencies(test-golden-cli_end_to_end assay assay-host assay-faulty)
# It looks for processes that were left behind, which those of another test would seem to be.
set_tests_properties(golden.cli_end_to_end PROPERTIES RUN_SERIAL TRUE)
find_package(ZLIB REQUIRED)
assay_add_test(NAME golden.cli_replay LABELS golden SOURCES cli_replay.cpp TIMEOUT 240
  LIBRARIES nlohmann_json::nlohmann_json ZLIB::ZLIB)
add_dependencies(test-golden-cli_replay assay)
