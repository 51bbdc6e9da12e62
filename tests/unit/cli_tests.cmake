# SPDX-License-Identifier: Apache-2.0
# Tests of the command line, child processes, estimates and reports.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME unit.process LABELS unit SOURCES process_child.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.cli LABELS unit SOURCES cli_errors.cpp cli_options.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.plan LABELS unit SOURCES plan_file.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.run LABELS unit SOURCES run_steps.cpp run_children.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.estimate LABELS unit SOURCES estimate_numbers.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.report_format LABELS unit SOURCES report_format.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.report_pages LABELS unit SOURCES report_pages.cpp LIBRARIES assay::suite)
assay_add_test(NAME unit.weights LABELS unit SOURCES weights_safetensors.cpp weights_gguf.cpp
  LIBRARIES assay::weights nlohmann_json::nlohmann_json)
assay_add_test(NAME unit.weights_mutations LABELS unit SOURCES weights_mutations.cpp LIBRARIES assay::weights)
assay_add_test(NAME unit.estimate_models LABELS unit SOURCES estimate_rows.cpp estimate_files.cpp estimate_measured.cpp
          estimate_executed.cpp estimate_families.cpp
  LIBRARIES assay::suite nlohmann_json::nlohmann_json)
