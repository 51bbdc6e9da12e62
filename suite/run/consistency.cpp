// SPDX-License-Identifier: Apache-2.0
// The plan's hash; the other rules need no cryptography and stand with the documents.
#include "suite/run/consistency.hpp"

#include <fmt/format.h>

#include "results-schema/json/json.hpp"
#include "suite/identity/sha256.hpp"

namespace assay::run {

Result<std::string> plan_hash(const Plan& plan) {
  return identity::sha256(json::write_plan(plan));
}

Result<void> check_document(const RunDocument& document, std::string_view name, bool newer) {
  if (document.run.plan_sha256 && !newer) {
    const auto hash = plan_hash(document.plan);
    if (!hash) return hash.error();
    if (*hash != *document.run.plan_sha256)
      return Error{ErrorCode::bad_input, fmt::format("{} contradicts itself: its plan is not the one its run began "
                                                     "with; it was changed after it was written",
                                                     name)};
  }
  return json::check_consistency(document, name);
}

}  // namespace assay::run
