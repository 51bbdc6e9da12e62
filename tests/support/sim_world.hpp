// SPDX-License-Identifier: Apache-2.0
// SimWorld: a GPU runtime on host memory, with the documented quirks of either vendor, and every fault on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "kernels/common/kernel.hpp"
#include "tests/support/sim_objects.hpp"

namespace assay::test {

enum class Vendor { nvidia, amd };

// What a test sets before, and between, calls.
struct SimSettings {
  bool driver = true;
  int devices = 2;
  std::size_t total_bytes = std::size_t{256} << 20;
  bool vmm_attribute = true;
  bool vmm_works = true;           // false: the attribute says yes, mapping fails
  bool vmm_lost_address = false;   // reserve answers success and no address (HIP before 6.1)
  bool memory_corrupt = false;     // reads of device memory give other bytes than were filled
  bool threshold_ignored = false;  // setting a pool's release threshold is accepted and not kept
  bool memory_info_works = true;   // HIP over an older kernel driver answers 1
  bool board_reads = true;         // the board's readings of memory
  bool peers = true;
  bool runs_kernels = true;        // false: launches are taken and do nothing
  bool has_uuid = true;
  float elapsed_offset_ms = 0;  // added to every elapsed time
  int version = 0;              // of the runtime; 0: the vendor's default, -1: answers 0
  int binary_version = 90;      // of kernels
};

// One world a vendor; everything under one mutex. Work is queued and runs when somebody waits or asks, one item a
// question: the laziest order that the runtimes' rules allow, so that whoever forgets to wait reads old bytes, always.
class SimWorld {
 public:
  explicit SimWorld(Vendor whose) : vendor(whose) { reset(); }

  // Forgets everything: objects, faults, counts.
  void reset();

  // The n-th next call (1: the next) of this name answers `code`; an empty name is any call.
  void fail_call(const std::string& name, long nth, int code);
  // The next kernel that runs faults: its stream, and then every call, answers `code`.
  void fault_next_kernel(int code);
  [[nodiscard]] long calls() const { return calls_; }
  [[nodiscard]] long calls(const std::string& name) const;
  [[nodiscard]] const std::string& failed_call() const { return failed_call_; }
  // Objects that somebody made and nobody gave back.
  [[nodiscard]] std::size_t live() const;
  // Uses of the default stream, of a stream on another current device, and calls that a capture forbids.
  [[nodiscard]] long violations() const { return violations_; }

  // ---- what the traits call ----
  SimStatus device_count(int* out);
  SimStatus set_device(int ordinal);
  SimStatus properties(SimProperties* out, int ordinal);
  SimStatus clear_last_error();
  SimStatus runtime_version(int* out);
  SimStatus driver_version(int* out);
  SimStatus device_synchronize();
  SimStatus can_access_peer(int* out, int from, int to);
  SimStatus memory_info(std::size_t* free_bytes, std::size_t* total);
  SimStatus malloc(void** out, std::size_t bytes);
  SimStatus free(void* pointer);
  SimStatus host_malloc(void** out, std::size_t bytes);
  SimStatus host_free(void* pointer);
  SimStatus stream_create(SimStream** out, int priority);
  SimStatus stream_destroy(SimStream* stream);
  SimStatus stream_query(SimStream* stream);
  SimStatus stream_synchronize(SimStream* stream);
  SimStatus stream_wait_event(SimStream* stream, SimEvent* event);
  SimStatus event_create(SimEvent** out, bool timing);
  SimStatus event_destroy(SimEvent* event);
  SimStatus event_record(SimEvent* event, SimStream* stream);
  SimStatus event_query(SimEvent* event);
  SimStatus event_synchronize(SimEvent* event);
  SimStatus event_elapsed(float* out, SimEvent* start, SimEvent* end);
  SimStatus copy(void* to, const void* from, std::size_t bytes, int kind, SimStream* stream);
  SimStatus fill(void* to, int value, std::size_t bytes, SimStream* stream);
  SimStatus peer_copy(void* to, int to_device, const void* from, int from_device, std::size_t bytes, SimStream* stream);
  SimStatus function_attributes(SimFunction* out, const void* entry);
  SimStatus allow_shared(const void* entry, int bytes);
  SimStatus launch(const void* entry, std::uint32_t grid, std::uint32_t block, void** arguments, SimStream* stream);
  SimStatus pool_create(SimPool** out, int ordinal);
  SimStatus pool_destroy(SimPool* pool);
  SimStatus pool_malloc(void** out, std::size_t bytes, SimPool* pool, SimStream* stream);
  SimStatus pool_free(void* pointer, SimStream* stream);
  SimStatus pool_trim(SimPool* pool, std::size_t keep);
  SimStatus pool_get(SimPool* pool, int attribute, void* out);
  SimStatus pool_set(SimPool* pool, int attribute, void* value);
  SimStatus vmm_attribute(int* out);
  SimStatus vmm_granularity(std::size_t* out, bool recommended);
  SimStatus vmm_reserve(void** out, std::size_t bytes, std::size_t alignment);
  SimStatus vmm_unreserve(void* address, std::size_t bytes);
  SimStatus vmm_create(SimPhysical** out, std::size_t bytes, int ordinal);
  SimStatus vmm_release(SimPhysical* physical);
  SimStatus vmm_map(void* address, std::size_t bytes, std::size_t offset, SimPhysical* physical);
  SimStatus vmm_set_access(void* address, std::size_t bytes);
  SimStatus vmm_unmap(void* address, std::size_t bytes);
  SimStatus capture_begin(SimStream* stream);
  SimStatus capture_end(SimStream* stream, SimGraph** out);
  SimStatus graph_destroy(SimGraph* graph);
  SimStatus graph_instantiate(SimGraphExec** out, SimGraph* graph);
  SimStatus graph_launch(SimGraphExec* exec, SimStream* stream);
  SimStatus graph_exec_destroy(SimGraphExec* exec);

  const Vendor vendor;
  SimSettings settings;
  kernels::KernelTable kernels;  // of the CPU; kept by reset()

 private:
  friend class SimCall;
  SimStatus enqueue(SimStream* stream, SimItem item);
  void run_one(SimStream& stream);
  void drain(SimStream& stream);
  void drain_device(int device);
  bool valid(SimStream* stream);
  bool take(std::size_t bytes, int device);
  void release_free(SimPool& pool, std::size_t keep);
  void finish_pool_free(SimPool& pool, void* pointer);
  [[nodiscard]] std::size_t granularity() const { return std::size_t{vendor == Vendor::nvidia ? 2048U : 4U} << 10; }

  std::recursive_mutex mutex_;
  long calls_ = 0;
  std::map<std::string, long> calls_by_name_;
  std::string fail_name_;
  long fail_after_ = 0;
  int fail_code_ = 0;
  std::string failed_call_;
  int kernel_fault_ = 0;
  int sticky_ = 0;
  int last_error_ = 0;
  long violations_ = 0;
  std::map<int, std::size_t> used_;
  std::map<void*, SimBlock> memory_;
  std::map<void*, SimBlock> host_;
  std::map<SimStream*, std::unique_ptr<SimStream>> streams_;
  std::map<SimEvent*, std::unique_ptr<SimEvent>> events_;
  std::map<SimPool*, std::unique_ptr<SimPool>> pools_;
  std::map<SimPhysical*, std::unique_ptr<SimPhysical>> physicals_;
  std::map<SimGraph*, std::unique_ptr<SimGraph>> graphs_;
  std::map<SimGraphExec*, std::unique_ptr<SimGraphExec>> execs_;
  std::map<void*, std::size_t> reservations_;
  std::map<void*, SimMapping> mappings_;
};

// The two worlds of a test program, with the CPU's kernels.
SimWorld& sim_world(Vendor vendor);

}  // namespace assay::test
