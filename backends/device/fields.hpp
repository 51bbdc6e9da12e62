// SPDX-License-Identifier: Apache-2.0
// Collects the typed fields a module hands to a sink; private to backends/device.
#pragma once

#include <exception>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "results-schema/types/identity.hpp"

namespace assay::device {

// Receives fields through sink(), which throws nothing through the module. A failure on our side (memory) is kept and
// rethrown by take(), back on our side of the boundary.
class FieldCollector {
 public:
  static void sink(void* context, const assay_field* field) noexcept;
  [[nodiscard]] std::vector<IdentityField> take();

 private:
  std::vector<IdentityField> fields_;
  std::exception_ptr failure_;
};

}  // namespace assay::device
