# SPDX-License-Identifier: Apache-2.0
# Flags of our own code: warnings always, errors only when CMAKE_COMPILE_WARNING_AS_ERROR says so, sanitizers by option.
add_library(assay_flags INTERFACE)
target_compile_options(assay_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
# g++ 12 sees overlapping copies in std::string's own code when it inlines at -O3 (GCC bug 105651).
target_compile_options(assay_flags INTERFACE
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>:-Wno-restrict>)
# Sources compiled together are included by one file, which g++ then takes for headers with unnamed namespaces.
if(CMAKE_UNITY_BUILD)
  target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
target_include_directories(assay_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
  # Sanitized programs are large, and many: lld takes less than half the time of the default linker.
  find_program(ASSAY_LLD ld.lld)
  if(ASSAY_LLD)
    target_link_options(assay_flags INTERFACE -fuse-ld=lld)
  endif()
  if(ASSAY_SANITIZE MATCHES "thread")
    target_compile_definitions(assay_flags INTERFACE ASSAY_TSAN=1)
  endif()
endif()

# The fuzz targets' own option stands here because every library they reach must count its branches for libFuzzer.
option(ASSAY_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)
if(ASSAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ASSAY_FUZZ needs clang; configure with -D CMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ASSAY_CCACHE}")
endif()
