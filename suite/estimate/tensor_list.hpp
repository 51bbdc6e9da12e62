// SPDX-License-Identifier: Apache-2.0
// The weight tensors that an architecture has, where no file says it: names as transformers saves them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/estimate/architecture.hpp"

namespace assay::estimate {

enum class Group : std::uint8_t {
  embedding,
  attention,
  feed_forward,
  experts,
  router,
  norms,
  recurrent,
  output_head,
  prediction,  // multi-token prediction
  tower,       // vision, audio
  buffers,
  other
};
std::string_view to_text(Group group);

// One tensor, or `copies` alike (the experts of one layer).
struct ExpectedTensor {
  std::string name;  // "model.layers.0.self_attn.q_proj.weight"; of the first copy
  Group group = Group::other;
  std::int64_t layer = -1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;  // a vector: rows x 1
  std::int64_t copies = 1;
  std::int64_t active = 1;  // of the copies, those that one token uses
  bool matrix = false;      // of a linear layer: what quantisers pack
  bool always_f32 = false;  // whatever the others are stored in
};

struct ExpectedTensors {
  std::vector<ExpectedTensor> loaded;
  std::vector<ExpectedTensor> prediction;  // in published files, not loaded
  std::string missing;                     // why the list cannot be made; empty when it is whole
};

// Every tensor of the text model, a tied output head left out. `missing` names the first dimension that lacks.
ExpectedTensors expected_tensors(const Architecture& architecture);

}  // namespace assay::estimate
