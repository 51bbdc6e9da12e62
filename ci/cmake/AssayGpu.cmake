# SPDX-License-Identifier: Apache-2.0
# GPU toolkits: finding them, compiling device code with them, and linking a module.
#
# Device code is compiled by a custom command, for nvcc and hipcc alike: CMake 3.25's CUDA language does not know C++20
# and its HIP language does not accept Debian's packages, and the tests read the compilers' own words about registers and
# spills, which a language rule does not keep.
include_guard()

# Sets ASSAY_<NAME>_COMPILER, or leaves it empty. ON and the environment's ASSAY_REQUIRE turn "not found" into an error.
function(assay_find_device_compiler name program)
  string(TOUPPER "${name}" upper)
  set(wish "${ASSAY_${upper}}")
  set(ASSAY_${upper}_COMPILER "" PARENT_SCOPE)
  if(NOT wish MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "ASSAY_${upper} is '${wish}'; it takes AUTO, ON or OFF")
  endif()
  if(wish STREQUAL "OFF")
    message(STATUS "Assay: ${name} module turned off by ASSAY_${upper}=OFF")
    return()
  endif()
  find_program(ASSAY_${upper}_PROGRAM ${program} HINTS ${ARGN})
  if(NOT ASSAY_${upper}_PROGRAM)
    string(REPLACE "," ";" required "$ENV{ASSAY_REQUIRE}")
    if(wish STREQUAL "ON" OR "${name}" IN_LIST required)
      message(FATAL_ERROR "Assay: ${program} was not found and the ${name} module is required; install it or add it to PATH")
    endif()
    message(STATUS "Assay: ${name} module not built, no ${program} found")
    return()
  endif()
  set(ASSAY_${upper}_COMPILER "${ASSAY_${upper}_PROGRAM}" PARENT_SCOPE)
endfunction()

# Writes generated/<name>_build.hpp, what the module states of its device code.
function(assay_write_build_header name)
  cmake_parse_arguments(B "" "COMPILER;FLAGS;FP_FLAGS;TARGETS;CODE_OBJECT_VERSION" "" ${ARGN})
  set(host "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/assay_generated/${name}_build.hpp" @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Written by the build: how the device code of the ${name} module is compiled.
#pragma once
#define ASSAY_DEVICE_COMPILER \"@B_COMPILER@\"
#define ASSAY_HOST_COMPILER \"@host@\"
#define ASSAY_DEVICE_FLAGS \"@B_FLAGS@\"
#define ASSAY_DEVICE_FP_FLAGS \"@B_FP_FLAGS@\"
#define ASSAY_DEVICE_TARGETS \"@B_TARGETS@\"
#define ASSAY_CODE_OBJECT_VERSION \"@B_CODE_OBJECT_VERSION@\"
")
endfunction()

# Compiles one source to an object; the compiler's output stays in <object>.log, which the compile gates read.
function(assay_device_object name source out)
  cmake_parse_arguments(D "" "COMPILER" "FLAGS" ${ARGN})
  string(MAKE_C_IDENTIFIER "${source}" stem)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${stem}.o")
  add_custom_command(OUTPUT "${object}" BYPRODUCTS "${object}.log"
    COMMAND "${CMAKE_COMMAND}" -E env "${CMAKE_COMMAND}" "-DLOG=${object}.log" -P "${PROJECT_SOURCE_DIR}/ci/cmake/compile_device.cmake" --
            "${D_COMPILER}" ${D_FLAGS} "-I${PROJECT_SOURCE_DIR}" -MD -MF "${object}.d" -MT "${object}" -c
            "${PROJECT_SOURCE_DIR}/${source}" -o "${object}"
    DEPFILE "${object}.d" DEPENDS "${PROJECT_SOURCE_DIR}/${source}" "${PROJECT_SOURCE_DIR}/ci/cmake/compile_device.cmake"
    COMMENT "Compiling ${source} for ${name}" VERBATIM COMMAND_EXPAND_LISTS)
  set(${out} "${object}" PARENT_SCOPE)
endfunction()

# A module: hidden visibility, one exported symbol by version script, no unique symbols that two modules would share.
function(assay_gpu_module name)
  cmake_parse_arguments(M "" "" "SOURCES;OBJECTS;LIBRARIES;INCLUDES" ${ARGN})
  add_library(assay_${name} MODULE ${M_SOURCES} ${M_OBJECTS})
  set_source_files_properties(${M_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(assay_${name} SYSTEM PRIVATE ${M_INCLUDES})
  target_link_libraries(assay_${name} PRIVATE assay_flags assay::gpu_common ${M_LIBRARIES} ${CMAKE_DL_LIBS})
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fno-gnu-unique ASSAY_HAS_NO_GNU_UNIQUE)
  if(ASSAY_HAS_NO_GNU_UNIQUE)
    target_compile_options(assay_${name} PRIVATE -fno-gnu-unique)
  endif()
  set(script "${PROJECT_SOURCE_DIR}/backends/gpu/exports.map")
  target_link_options(assay_${name} PRIVATE "LINKER:--version-script=${script}" LINKER:--no-undefined LINKER:--exclude-libs,ALL)
  set_target_properties(assay_${name} PROPERTIES OUTPUT_NAME "assay-${name}${ASSAY_MODULE_SUFFIX}" LINK_DEPENDS "${script}"
    INSTALL_RPATH_USE_LINK_PATH TRUE)
  set_target_properties(assay_${name} PROPERTIES ASSAY_DEVICE_LOG "${M_OBJECTS}.log")
endfunction()
