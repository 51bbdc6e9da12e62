# SPDX-License-Identifier: Apache-2.0
# Runs one compiler and keeps what it said in LOG: cmake -DLOG=file -P compile_device.cmake -- compiler arguments...
# On failure the words are printed; a success is silent.
set(command)
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE words ERROR_VARIABLE words)
file(WRITE "${LOG}" "${words}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${words}\nThe device compiler failed (${result}).")
endif()
