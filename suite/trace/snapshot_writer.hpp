// SPDX-License-Identifier: Apache-2.0
// A memory snapshot in PyTorch's shape: the same keys, types and actions as torch.cuda.memory._snapshot gives.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "suite/trace/trace.hpp"

namespace assay::trace {

struct SnapshotSettings {
  std::string conf;                        // PYTORCH_CUDA_ALLOC_CONF
  std::int64_t max_split_size_bytes = -1;  // -1: unlimited
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  std::vector<std::int64_t> roundup_power2_divisions;  // of 1, 2, 4, ... 32768 MiB; missing ones are 0
};

struct SnapshotParts {
  std::vector<RecordedSegment> segments;  // in address order, blocks filling each
  std::deque<Event> events;               // of device 0, oldest first
  SnapshotSettings settings;
};

// As JSON text. Events that PyTorch has no action for are left out. Open a snapshot written to a file with
// trace::open; PyTorch's own viewer takes pickles: json.load and pickle.dump make one of it.
[[nodiscard]] std::string snapshot_text(const SnapshotParts& parts);

}  // namespace assay::trace
