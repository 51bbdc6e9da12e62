// SPDX-License-Identifier: Apache-2.0
// The kernels that this module carries, in their fixed order.
#pragma once

#include <span>

#include "kernels/common/kernel.hpp"

namespace assay::host {

// Static storage. Defined by the library of compiled kernels; a test may link a table of its own instead.
[[nodiscard]] std::span<const kernels::KernelEntry> kernel_table();

}  // namespace assay::host
