# SPDX-License-Identifier: Apache-2.0
# assay_add_test: one GoogleTest program, run by ctest as one test.
include_guard()

# assay_add_test(NAME unit.allocator LABELS unit SOURCES a.cpp LIBRARIES assay::allocator [TIMEOUT 120] [ENVIRONMENT K=V...])
# A test that exits 77 is counted as skipped. Names are KIND.SUBJECT; the label is the kind.
function(assay_add_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "LABELS;SOURCES;LIBRARIES;ENVIRONMENT;ARGUMENTS" ${ARGN})
  string(REPLACE "." "-" target "test-${T_NAME}")
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE ${T_LIBRARIES} assay_flags GTest::gmock GTest::gtest_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(ASSAY_SANITIZE)
    math(EXPR T_TIMEOUT "${T_TIMEOUT} * 5")
  endif()
  if(ASSAY_SANITIZE MATCHES "thread")
    # A process whose threads still wait for work would otherwise sleep for a second at its end.
    list(APPEND T_ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0 $ENV{TSAN_OPTIONS}")
  endif()
  add_test(NAME ${T_NAME} COMMAND ${target} ${T_ARGUMENTS})
  set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "ASSAY_BIN_DIR=${PROJECT_BINARY_DIR}/bin;ASSAY_SOURCE_DIR=${PROJECT_SOURCE_DIR};${T_ENVIRONMENT}")
endfunction()

# assay_leave_out(NAME REASON): this build does not have the test, and ci/left-out says why.
function(assay_leave_out name reason)
  set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_LEFT_OUT "${name}: ${reason}\n")
  get_property(left_out GLOBAL PROPERTY ASSAY_LEFT_OUT)
  file(WRITE "${PROJECT_BINARY_DIR}/left-out.txt" "${left_out}")
endfunction()
