# SPDX-License-Identifier: Apache-2.0
# Tests of the kernels, of their executor on the CPU and of their checks.
assay_add_test(NAME unit.kernels_exec LABELS unit SOURCES kernels_exec.cpp LIBRARIES assay::host_exec)
assay_add_test(NAME unit.kernels_correct LABELS unit TIMEOUT 300 SOURCES kernels_correct.cpp
  LIBRARIES assay::host_exec assay::check)
assay_add_test(NAME unit.kernels_version LABELS unit SOURCES kernels_version.cpp LIBRARIES assay::kernels)
assay_add_test(NAME unit.kernels_negative LABELS unit SOURCES kernels_negative.cpp
  LIBRARIES assay::host_exec assay::check)

set(conversions)
foreach(isa baseline v3)
  if(isa STREQUAL "baseline" OR CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_library(assay_conversions_${isa} OBJECT kernels_convert.cpp)
    target_compile_definitions(assay_conversions_${isa} PRIVATE ASSAY_ISA=${isa})
    # As the kernels themselves are compiled.
    target_compile_options(assay_conversions_${isa} PRIVATE -ffp-contract=fast -fno-math-errno -fno-trapping-math $<$<STREQUAL:${isa},v3>:-march=x86-64-v3>)
    target_link_libraries(assay_conversions_${isa} PRIVATE assay_kernels assay_flags)
    list(APPEND conversions assay_conversions_${isa})
  endif()
endforeach()
assay_add_test(NAME unit.kernels_storage LABELS unit SOURCES kernels_storage.cpp
  LIBRARIES assay::host_exec ${conversions})
assay_add_test(NAME unit.kernels_exp LABELS unit SOURCES kernels_exp.cpp
  LIBRARIES assay::host_exec ${conversions})
