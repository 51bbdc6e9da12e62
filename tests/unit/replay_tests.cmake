# SPDX-License-Identifier: Apache-2.0
# Replays of traces and the verification of recordings.
find_package(nlohmann_json REQUIRED)
assay_add_test(NAME unit.replay LABELS unit SOURCES replay_parts.cpp replay_recording.cpp
  LIBRARIES assay::replay nlohmann_json::nlohmann_json TIMEOUT 240)
