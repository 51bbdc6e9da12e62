# SPDX-License-Identifier: Apache-2.0
# Tests of the memory protocol: what needs no device, then launches on the host module.
foreach(part fill plan)
  assay_add_test(NAME unit.measure_${part} LABELS unit SOURCES measure_${part}.cpp LIBRARIES assay::suite)
endforeach()
foreach(part reference run failure shipped instruments)
  assay_add_test(NAME unit.measure_${part} LABELS unit SOURCES measure_${part}.cpp LIBRARIES assay::suite TIMEOUT 180)
  add_dependencies(test-unit-measure_${part} assay-host)
endforeach()
assay_add_test(NAME unit.measure_recording LABELS unit SOURCES measure_recording.cpp LIBRARIES assay::suite assay_fake_device)
