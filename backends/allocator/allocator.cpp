// SPDX-License-Identifier: Apache-2.0
// What a policy without private pools answers.
#include "backends/allocator/allocator.hpp"

namespace assay::allocator {
namespace {

Error no_pools(const Allocator& allocator) {
  return {ErrorCode::unsupported, "Allocator policy " + std::string(allocator.policy()) +
                                      " keeps no private pools; choose caching or expandable."};
}

}  // namespace

Result<void> Allocator::begin_pool(MempoolId, std::function<bool(assay_stream*)>) {
  return no_pools(*this);
}
Result<void> Allocator::end_pool(MempoolId) {
  return no_pools(*this);
}
Result<void> Allocator::release_pool(MempoolId) {
  return no_pools(*this);
}

}  // namespace assay::allocator
