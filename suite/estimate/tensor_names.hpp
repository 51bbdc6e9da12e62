// SPDX-License-Identifier: Apache-2.0
// What the name of a tensor in a file says: its group, its part, its layer, and whether a loader leaves it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "suite/estimate/quantisation.hpp"
#include "suite/estimate/tensor_list.hpp"

namespace assay::estimate {

struct NamedAs {
  Group group = Group::other;
  Part part = Part::weights;
  std::int64_t layer = -1;
  std::string_view module;  // the name without the last word that says the part
};

// `layers`: of the model, without those for prediction; -1 when not known (then only names tell prediction apart).
NamedAs named_as(std::string_view name, std::size_t rank, std::int64_t layers, bool gguf);

bool is_embedding(std::string_view name);
bool is_output_head(std::string_view name);

}  // namespace assay::estimate
