// SPDX-License-Identifier: Apache-2.0
// Private pools: which pool a request is served from, and who uses one.
#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "backends/allocator/splitting.hpp"

namespace assay::allocator {
namespace {

Error refuse(MempoolId id, const char* why) {
  return {ErrorCode::usage,
          "Private pool (" + std::to_string(id.first) + ", " + std::to_string(id.second) + ") cannot be " + why};
}

}  // namespace

Pool& SplittingAllocator::pool_for(std::size_t rounded, assay_stream* stream) {
  const bool small = rounded <= kSmallBytes;
  for (const Underway& underway : underway_)
    if (underway.uses(stream)) return pool_of(underway.id, small);
  return small ? small_ : large_;
}

Pool& SplittingAllocator::pool_of(MempoolId id, bool small) {
  if (id == MempoolId{}) return small ? small_ : large_;
  PrivatePool& pool = private_pools_[id];
  pool.small.id = pool.large.id = id;
  pool.small.small = true;
  return small ? pool.small : pool.large;
}

Result<void> SplittingAllocator::begin_pool(MempoolId id, std::function<bool(assay_stream*)> uses) {
  const std::lock_guard lock(mutex_);
  const auto same = [id](const Underway& underway) { return underway.id == id; };
  if (id == MempoolId{} || std::any_of(underway_.begin(), underway_.end(), same))
    return refuse(id,
                  "begun: (0, 0) is the default pool, and a pool is begun once before it ends; choose another id or "
                  "end it first.");
  const auto known = private_pools_.find(id);
  if (known != private_pools_.end()) ++known->second.users;
  (void)pool_of(id, true);
  underway_.push_back({id, std::move(uses)});
  return {};
}

Result<void> SplittingAllocator::end_pool(MempoolId id) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(underway_.begin(), underway_.end(), [id](const Underway& underway) { return underway.id == id; });
  if (found == underway_.end()) return refuse(id, "ended: it was not begun; begin it first.");
  underway_.erase(found);
  return {};
}

Result<void> SplittingAllocator::release_pool(MempoolId id) {
  const std::lock_guard lock(mutex_);
  const auto found = private_pools_.find(id);
  if (found == private_pools_.end() || found->second.users == 0)
    return refuse(id, "released: it was not begun or is released already; release once for each begin.");
  --found->second.users;
  return {};
}

}  // namespace assay::allocator
