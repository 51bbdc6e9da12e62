# SPDX-License-Identifier: Apache-2.0
# The tests of documents, files and journal.
assay_add_test(NAME unit.json_document LABELS unit SOURCES json_document.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.json_examples LABELS unit SOURCES json_examples.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.json_parse LABELS unit SOURCES json_parse.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.json_file LABELS unit SOURCES json_file.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.journal_fold LABELS unit SOURCES journal_fold.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.journal_faults LABELS unit SOURCES journal_faults.cpp LIBRARIES assay::json)
assay_add_test(NAME unit.json_consistency LABELS unit SOURCES json_consistency.cpp LIBRARIES assay::json)
