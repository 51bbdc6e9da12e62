# SPDX-License-Identifier: Apache-2.0
# Installs the locked packages into the build folder, once for each lock file, and runs the check.
# Needs -D: SOURCE (this folder) WORK PROGRAM SCHEMA_FOLDER NODE NPM
file(MAKE_DIRECTORY "${WORK}/modules")
file(SHA256 "${SOURCE}/package-lock.json" wanted)
set(have "")
if(EXISTS "${WORK}/modules/installed")
  file(READ "${WORK}/modules/installed" have)
endif()
if(NOT have STREQUAL wanted)
  foreach(file package.json package-lock.json .npmrc)
    file(COPY "${SOURCE}/${file}" DESTINATION "${WORK}/modules")
  endforeach()
  execute_process(COMMAND "${NPM}" ci --ignore-scripts WORKING_DIRECTORY "${WORK}/modules"
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "npm ci failed; the check needs the packages of its lock file: ${output}")
  endif()
  file(WRITE "${WORK}/modules/installed" "${wanted}")
endif()
execute_process(COMMAND "${NODE}" "${SOURCE}/check.mjs" "${WORK}/modules" "${SCHEMA_FOLDER}" "${PROGRAM}" "${WORK}/documents"
  RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "ajv and assay do not agree (${code})")
endif()
