// SPDX-License-Identifier: Apache-2.0
// What builds for ThreadSanitizer state about ordering; empty in every other build.
#pragma once

#include <atomic>

#ifdef ASSAY_TSAN
#include <sanitizer/tsan_interface.h>

extern "C" {
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace assay::host {

#ifdef ASSAY_TSAN
inline constexpr bool kThreadSanitizer = true;
// A count of references must not order the streams that share it: only a recorded event does.
inline constexpr std::memory_order kCountOrder = std::memory_order_relaxed;
inline void order_after(void* edge) {
  __tsan_acquire(edge);
}
inline void order_before(void* edge) {
  __tsan_release(edge);
}
// The module's own locks and queues say nothing about the order of the user's work; inside this scope they are unseen.
class Unseen {
 public:
  Unseen() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};
#else
inline constexpr bool kThreadSanitizer = false;
inline constexpr std::memory_order kCountOrder = std::memory_order_acq_rel;
inline void order_after(void*) {}
inline void order_before(void*) {}
class Unseen {
 public:
  Unseen() {}
};
#endif

}  // namespace assay::host
