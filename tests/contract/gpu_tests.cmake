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
