# SPDX-License-Identifier: Apache-2.0
# Tests of the kernels, of their executor on the CPU and of their checks.
assay_add_test(NAME unit.kernels_exec LABELS unit SOURCES kernels_exec.cpp LIBRARIES assay::host_exec)
assay_add_test(NAME unit.kernels_correct LABELS unit TIMEOUT 300 SOURCES kernels_correct.cpp
  LIBRARIES assay::host_exec assay::check)
assay_add_test(NAME unit.kernels_version LABELS unit SOURCES kernels_version.cpp LIBRARIES assay::kernels)
