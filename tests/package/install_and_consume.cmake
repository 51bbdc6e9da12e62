# SPDX-License-Identifier: Apache-2.0
# Installs the build into a stage, moves the stage (nothing may depend on where it was), builds the consumer against it
# and runs the installed program.
# Needs -D: BUILD_DIR SOURCE_DIR STAGE DOCUMENT COMPILER
function(run_or_fail what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}): ${ARGN}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${STAGE}" "${STAGE}-moved" "${STAGE}-consumer")
run_or_fail("install" "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${STAGE}")
file(RENAME "${STAGE}" "${STAGE}-moved")
run_or_fail("consumer configure" "${CMAKE_COMMAND}" -S "${SOURCE_DIR}/tests/package/consumer" -B "${STAGE}-consumer" -G Ninja
  "-DCMAKE_PREFIX_PATH=${STAGE}-moved" "-DCMAKE_CXX_COMPILER=${COMPILER}")
run_or_fail("consumer build" "${CMAKE_COMMAND}" --build "${STAGE}-consumer")
run_or_fail("consumer" "${STAGE}-consumer/consumer" "${DOCUMENT}")
if(NOT output MATCHES "^run with [0-9]+ devices")
  message(FATAL_ERROR "the consumer read the document wrongly: ${output}")
endif()
run_or_fail("installed backends" "${STAGE}-moved/bin/assay" backends --json)
if(NOT output MATCHES "libassay-host\\.so")
  message(FATAL_ERROR "the installed program does not find the installed host module: ${output}")
endif()
run_or_fail("installed dry run" "${STAGE}-moved/bin/assay" run --backend host --model decoder-135m --dry-run)
