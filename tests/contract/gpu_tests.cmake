# SPDX-License-Identifier: Apache-2.0
# The backend contract over the GPU modules' shared source: simulated with each vendor's habits, and as built.
assay_add_test(NAME contract.backend_sim LABELS contract SOURCES gpu_sim_contract_test.cpp
  LIBRARIES assay::device assay_sim_runtime)
assay_add_test(NAME contract.backend_gpu LABELS contract gpu SOURCES gpu_module_contract_test.cpp LIBRARIES assay::device)
foreach(name cuda hip)
  if(TARGET assay_${name})
    add_dependencies(test-contract-backend_gpu assay_${name})
  endif()
endforeach()
# What the contract cannot ask of every backend: faults on demand, each vendor's habits, and the boards' readers.
assay_add_test(NAME contract.gpu_source LABELS contract SOURCES gpu_faults_test.cpp gpu_habits_test.cpp
  LIBRARIES assay_sim_runtime)
assay_add_test(NAME contract.gpu_boards LABELS contract SOURCES gpu_boards_test.cpp gpu_amd_board_test.cpp
  LIBRARIES assay_sim_runtime assay::nvml assay::amd_board)
