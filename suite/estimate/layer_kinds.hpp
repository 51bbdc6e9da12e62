// SPDX-License-Identifier: Apache-2.0
// Which layer keeps what: full attention, a window, a latent, a state of fixed size, or nothing.
#pragma once

#include "suite/estimate/architecture.hpp"
#include "suite/estimate/config_fields.hpp"

namespace assay::estimate {

// Fills `a.layers` from lists and patterns of the configuration, or from the family's rule.
void assign_layers(ConfigFields& fields, Architecture& a);

// Elements of a state-space or linear-attention layer's state: the matrix and the convolution's past.
Dim gated_delta_state(const Architecture& a);
Dim mamba_state(Dim inner, Dim state, Dim kernel, Dim groups);

}  // namespace assay::estimate
