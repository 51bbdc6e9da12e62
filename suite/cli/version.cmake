# SPDX-License-Identifier: Apache-2.0
# Run at build time: writes OUTPUT with version, commit and dirty flag, and touches it only when they change.
# Needs SOURCE_DIR, FALLBACK_VERSION, OUTPUT, INPUT.
set(ASSAY_VERSION "${FALLBACK_VERSION}")
set(ASSAY_COMMIT "unknown")
set(ASSAY_DIRTY "false")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --show-toplevel WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  file(REAL_PATH "${SOURCE_DIR}" here)
  # A tarball unpacked inside somebody else's repository has no commit of its own.
  if(NOT failed AND top STREQUAL here)
    execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse HEAD WORKING_DIRECTORY "${SOURCE_DIR}"
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE no_commit ERROR_QUIET)
    execute_process(COMMAND "${GIT_EXECUTABLE}" describe --tags --always --dirty WORKING_DIRECTORY "${SOURCE_DIR}"
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE no_description ERROR_QUIET)
    if(NOT no_commit)
      set(ASSAY_COMMIT "${commit}")
    endif()
    if(NOT no_description AND described MATCHES "-dirty$")
      set(ASSAY_DIRTY "true")
    endif()
    string(REGEX REPLACE "-dirty$" "" described "${described}")
    if(NOT no_description AND described MATCHES "^v?([0-9]+\\.[0-9]+\\.[0-9]+.*)$")
      set(ASSAY_VERSION "${CMAKE_MATCH_1}")
    endif()
  endif()
endif()
configure_file("${INPUT}" "${OUTPUT}" @ONLY)
