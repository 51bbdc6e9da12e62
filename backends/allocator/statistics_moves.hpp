// SPDX-License-Identifier: Apache-2.0
// Moves of the statistics that every policy shares: an amount added to or taken from `all` and one pool kind, resets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/allocator/statistics.hpp"

namespace assay::allocator {

inline std::size_t stat_index(bool small_pool) {
  return static_cast<std::size_t>(small_pool ? StatPool::small_pool : StatPool::large_pool);
}
inline void increase(StatArray& stat, bool small_pool, std::size_t amount) {
  stat[0].increase(static_cast<std::int64_t>(amount));
  stat[stat_index(small_pool)].increase(static_cast<std::int64_t>(amount));
}
inline void decrease(StatArray& stat, bool small_pool, std::size_t amount) {
  stat[0].decrease(static_cast<std::int64_t>(amount));
  stat[stat_index(small_pool)].decrease(static_cast<std::int64_t>(amount));
}

inline CategoryStatistics& of_category(Statistics& statistics, Category category) {
  return statistics.categories[static_cast<std::size_t>(category)];
}

// The five statistics of an allocation, and its category's three.
inline void count_allocation(Statistics& statistics, bool small_pool, std::size_t bytes, std::size_t requested,
                             Category category) {
  increase(statistics.allocation, small_pool, 1);
  increase(statistics.allocated_bytes, small_pool, bytes);
  increase(statistics.active, small_pool, 1);
  increase(statistics.active_bytes, small_pool, bytes);
  increase(statistics.requested_bytes, small_pool, requested);
  CategoryStatistics& own = of_category(statistics, category);
  own.allocated_bytes.increase(static_cast<std::int64_t>(bytes));
  own.active_bytes.increase(static_cast<std::int64_t>(bytes));
  own.requested_bytes.increase(static_cast<std::int64_t>(requested));
}
// What falls when the caller gives a block back.
inline void count_free_request(Statistics& statistics, bool small_pool, std::size_t bytes, Category category) {
  decrease(statistics.allocation, small_pool, 1);
  decrease(statistics.allocated_bytes, small_pool, bytes);
  of_category(statistics, category).allocated_bytes.decrease(static_cast<std::int64_t>(bytes));
}
// What falls when no stream uses it any more.
inline void count_free_completion(Statistics& statistics, bool small_pool, std::size_t bytes, std::size_t requested,
                                  Category category) {
  decrease(statistics.active, small_pool, 1);
  decrease(statistics.active_bytes, small_pool, bytes);
  decrease(statistics.requested_bytes, small_pool, requested);
  CategoryStatistics& own = of_category(statistics, category);
  own.active_bytes.decrease(static_cast<std::int64_t>(bytes));
  own.requested_bytes.decrease(static_cast<std::int64_t>(requested));
}

// The same moves for books whose blocks all belong to the large pool: `all` and the category now, the large pool's copy
// of `all` when it is read (mirror_large_pool).
inline void count_allocation_once(Statistics& statistics, std::size_t bytes, std::size_t requested, Category category) {
  statistics.allocation[0].increase(1);
  statistics.allocated_bytes[0].increase(static_cast<std::int64_t>(bytes));
  statistics.active[0].increase(1);
  statistics.active_bytes[0].increase(static_cast<std::int64_t>(bytes));
  statistics.requested_bytes[0].increase(static_cast<std::int64_t>(requested));
  CategoryStatistics& own = of_category(statistics, category);
  own.allocated_bytes.increase(static_cast<std::int64_t>(bytes));
  own.active_bytes.increase(static_cast<std::int64_t>(bytes));
  own.requested_bytes.increase(static_cast<std::int64_t>(requested));
}
inline void count_free_request_once(Statistics& statistics, std::size_t bytes, Category category) {
  statistics.allocation[0].decrease(1);
  statistics.allocated_bytes[0].decrease(static_cast<std::int64_t>(bytes));
  of_category(statistics, category).allocated_bytes.decrease(static_cast<std::int64_t>(bytes));
}
inline void count_free_completion_once(Statistics& statistics, std::size_t bytes, std::size_t requested,
                                       Category category) {
  statistics.active[0].decrease(1);
  statistics.active_bytes[0].decrease(static_cast<std::int64_t>(bytes));
  statistics.requested_bytes[0].decrease(static_cast<std::int64_t>(requested));
  CategoryStatistics& own = of_category(statistics, category);
  own.active_bytes.decrease(static_cast<std::int64_t>(bytes));
  own.requested_bytes.decrease(static_cast<std::int64_t>(requested));
}
inline void mirror_large_pool(Statistics& statistics) {
  for (StatArray* array : {&statistics.allocation, &statistics.active, &statistics.allocated_bytes,
                           &statistics.active_bytes, &statistics.requested_bytes})
    (*array)[stat_index(false)] = (*array)[0];
}

template <class Visit>
void visit_stats(Statistics& statistics, Visit visit) {
  for (StatArray* array : {&statistics.allocation, &statistics.segment, &statistics.active, &statistics.inactive_split,
                           &statistics.allocated_bytes, &statistics.reserved_bytes, &statistics.active_bytes,
                           &statistics.inactive_split_bytes, &statistics.requested_bytes})
    for (Stat& stat : *array) visit(stat);
  visit(statistics.oversize_allocations);
  visit(statistics.oversize_segments);
  for (CategoryStatistics& category : statistics.categories) {
    visit(category.allocated_bytes);
    visit(category.active_bytes);
    visit(category.requested_bytes);
  }
}

// Adds every current, peak and sum. The peaks of parts need not belong to one instant: their sum is an upper bound.
inline void add_statistics(Statistics& into, Statistics& from) {
  std::vector<const Stat*> parts;
  visit_stats(from, [&](Stat& stat) { parts.push_back(&stat); });
  std::size_t next = 0;
  visit_stats(into, [&](Stat& stat) {
    const Stat& part = *parts[next++];
    stat.current += part.current;
    stat.peak += part.peak;
    stat.allocated += part.allocated;
    stat.freed += part.freed;
  });
  into.num_alloc_retries += from.num_alloc_retries;
  into.num_ooms += from.num_ooms;
  into.num_sync_all_streams += from.num_sync_all_streams;
  into.num_device_alloc += from.num_device_alloc;
  into.num_device_free += from.num_device_free;
  into.num_splits += from.num_splits;
}

// Peak = current, everywhere; frees nothing.
inline void reset_all_peaks(Statistics& statistics) {
  visit_stats(statistics, [](Stat& stat) { stat.reset_peak(); });
}
// allocated = freed = 0 everywhere, and the scalar counters too; what is current stays.
inline void reset_all_accumulated(Statistics& statistics) {
  visit_stats(statistics, [](Stat& stat) { stat.reset_accumulated(); });
  statistics.num_alloc_retries = statistics.num_ooms = statistics.num_sync_all_streams = 0;
  statistics.num_device_alloc = statistics.num_device_free = statistics.num_splits = 0;
}

}  // namespace assay::allocator
