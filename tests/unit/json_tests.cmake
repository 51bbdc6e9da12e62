# SPDX-License-Identifier: Apache-2.0
# The tests of documents, files and journal.
assay_add_test(NAME unit.json_document LABELS unit SOURCES json_document.cpp LIBRARIES assay::json)
