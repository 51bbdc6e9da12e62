/* SPDX-License-Identifier: Apache-2.0 */
/* The device table: what a backend module offers to the program, in plain C, so that program and module can be built
 * by different compilers against different toolkits.
 *
 * Rules that hold for every entry:
 *  - A module exports exactly one symbol, ASSAY_ENTRY_SYMBOL, of type assay_entry_fn. It is never unloaded.
 *  - No call throws, aborts or prints. Each returns an assay_status; the text behind a failure is last_error(), which
 *    belongs to the calling thread and stays valid until that thread's next call into the module.
 *  - Out-parameters are written only on ASSAY_OK, except where a comment says otherwise.
 *  - Sizes are bytes, times nanoseconds. A count of -1 means "cannot be read here".
 *  - Calls are thread-safe unless a comment says otherwise. No call uses the runtime's default stream.
 *  - The table only grows at its end. A reader checks abi_version for equality and size before touching a newer entry.
 *    Every entry is non-null; what a runtime lacks returns ASSAY_UNSUPPORTED.
 */
#ifndef ASSAY_BACKEND_H
#define ASSAY_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ABI_VERSION 1u
#define ASSAY_ENTRY_SYMBOL "assay_backend_entry_v1"

typedef int32_t assay_status;
enum {
  ASSAY_OK = 0,
  ASSAY_NOT_READY = 1,     /* a query: work is still pending; not a failure */
  ASSAY_INVALID_VALUE = 2, /* an argument is outside its contract */
  ASSAY_OUT_OF_MEMORY = 3, /* the device, or the host budget, has not enough memory left */
  ASSAY_MAP_LIMIT = 4,     /* a limit on mappings or file descriptors, not on memory, was reached */
  ASSAY_NO_DEVICE = 5,     /* no driver, or no device of this kind */
  ASSAY_UNSUPPORTED = 6,   /* this runtime or device lacks the function, found by a real probe */
  ASSAY_KERNEL_FAULT = 7,  /* a kernel faulted; the device is unusable for the rest of this process */
  ASSAY_DEVICE_LOST = 8,   /* the device no longer answers */
  ASSAY_INTERNAL = 9       /* anything else; last_error() has the runtime's own words */
};

typedef struct assay_device assay_device;
typedef struct assay_stream assay_stream;
typedef struct assay_event assay_event;
typedef struct assay_pool assay_pool;
typedef struct assay_physical assay_physical; /* physical memory without an address (virtual memory management) */
typedef struct assay_graph assay_graph;

/* ---- identity and sensors: typed fields handed to a sink, so that a new field needs no new version ---- */

enum { ASSAY_FIELD_VALUE = 0, ASSAY_FIELD_NOT_APPLICABLE = 1, ASSAY_FIELD_UNKNOWN = 2 };
enum { ASSAY_TYPE_TEXT = 0, ASSAY_TYPE_INTEGER = 1, ASSAY_TYPE_BOOLEAN = 2 };

typedef struct assay_field {
  const char* key;    /* a key of the registry in results-schema/types/identity.hpp, e.g. "arch" */
  int32_t state;      /* ASSAY_FIELD_* */
  int32_t type;       /* ASSAY_TYPE_*, meaningful for a value */
  int64_t integer;    /* the value of INTEGER and BOOLEAN */
  const char* text;   /* the value of TEXT; the reason of NOT_APPLICABLE and UNKNOWN */
  const char* source; /* where it was read: "cudaDeviceGetAttribute", "/sys/...", "build" */
} assay_field;

/* Strings of `field` are valid only during the call. */
typedef void (*assay_field_sink)(void* context, const assay_field* field);

/* ---- memory readings ---- */

/* Who asked for device memory; a backend that keeps its own books (host) reports them apart. */
enum { ASSAY_OWNER_EXTERNAL = 0, ASSAY_OWNER_ALLOCATOR = 1 };

typedef struct assay_memory_info {
  int64_t total_bytes;    /* what the device declares; the budget on the host */
  int64_t used_bytes;     /* the device's own reading, every process included where the platform counts so */
  int64_t walked_bytes;   /* used memory of this process by a second way (walk over live ranges, NVML, sysfs), or -1 */
  int64_t allocator_bytes; /* of these, obtained with ASSAY_OWNER_ALLOCATOR by this process, or -1 */
  int64_t external_bytes; /* of these, obtained with ASSAY_OWNER_EXTERNAL, read on its own account, or -1 */
  const char* used_source;     /* static text naming the reading, e.g. "cudaMemGetInfo" */
  const char* walked_source;   /* static text; the reason when walked_bytes is -1 */
  const char* external_source; /* static text; the reason when external_bytes is -1 */
} assay_memory_info;

/* ---- kernels ---- */

typedef struct assay_kernel_info {
  const char* name;           /* "rmsnorm" */
  const char* dtype;          /* storage type: "f32", "f16", "bf16" */
  const char* implementation; /* "portable", "matrix", "library" */
  int32_t source_version;     /* grows whenever the body changes */
  uint32_t params_bytes;      /* sizeof the parameter struct in kernels/<name>/params.hpp */
} assay_kernel_info;

typedef struct assay_kernel_resources {
  int32_t registers;          /* per thread, or -1 */
  int32_t static_shared_bytes; /* or -1 */
  int32_t local_bytes;        /* spills and stack per thread, or -1 */
  int32_t max_threads;        /* per block, or -1 */
  int32_t binary_version;     /* the runtime's own number of the code used, or -1 */
  int32_t ptx_version;        /* NVIDIA only, or -1 */
} assay_kernel_resources;

enum { ASSAY_COPY_HOST_TO_DEVICE = 1, ASSAY_COPY_DEVICE_TO_HOST = 2, ASSAY_COPY_DEVICE_TO_DEVICE = 3 };
enum { ASSAY_EVENT_TIMING = 1 };
enum { ASSAY_CAPABILITY_POOL = 1, ASSAY_CAPABILITY_VMM = 2, ASSAY_CAPABILITY_GRAPH = 3, ASSAY_CAPABILITY_PEER = 4 };
enum {
  ASSAY_POOL_RELEASE_THRESHOLD = 1,
  ASSAY_POOL_RESERVED_CURRENT = 2,
  ASSAY_POOL_RESERVED_HIGH = 3,
  ASSAY_POOL_USED_CURRENT = 4,
  ASSAY_POOL_USED_HIGH = 5,
  ASSAY_POOL_REUSE_FOLLOW_EVENT = 6,
  ASSAY_POOL_REUSE_OPPORTUNISTIC = 7,
  ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES = 8
};

/* An option of device_open. The host knows "memory_bytes", "wave" (1, 32, 64), "threads" and "block"; an unknown key
 * is ASSAY_INVALID_VALUE. */
typedef struct assay_option {
  const char* key;
  const char* value;
} assay_option;

typedef struct assay_backend {
  uint32_t size; /* sizeof(assay_backend) as the module was built */
  uint32_t abi_version;

  const char* (*last_error)(void);

  /* What the module is, without touching a device: backend, platform, toolkit, compiler, flags, embedded targets. */
  assay_status (*describe)(assay_field_sink sink, void* context);

  /* Kernels in the module, in a fixed order; no device needed. */
  assay_status (*kernel_count)(int32_t* out);
  assay_status (*kernel_info)(int32_t index, assay_kernel_info* out);

  /* Devices. *out is 0 with ASSAY_NO_DEVICE when there is no driver or device. */
  assay_status (*device_count)(int32_t* out);
  assay_status (*device_open)(int32_t ordinal, const assay_option* options, size_t option_count, assay_device** out);
  assay_status (*device_close)(assay_device* device); /* waits for the device's work; frees what the device still holds */
  assay_status (*device_identity)(assay_device* device, assay_field_sink sink, void* context);
  assay_status (*device_sensors)(assay_device* device, assay_field_sink sink, void* context); /* clocks, throttle, power... */
  assay_status (*device_capability)(assay_device* device, int32_t capability, int32_t* supported);
  assay_status (*device_synchronize)(assay_device* device);

  /* Memory. malloc(0) is INVALID_VALUE. free waits for work that may still use the memory; a null pointer is OK. */
  assay_status (*memory_info)(assay_device* device, assay_memory_info* out);
  assay_status (*malloc)(assay_device* device, size_t bytes, uint32_t owner, void** out); /* 256-byte aligned at least */
  assay_status (*free)(assay_device* device, void* pointer);
  assay_status (*host_malloc)(assay_device* device, size_t bytes, void** out); /* page-locked where that means something */
  assay_status (*host_free)(assay_device* device, void* pointer);

  /* Streams are non-blocking in-order queues. Destroying one waits for its work. */
  assay_status (*stream_create)(assay_device* device, int32_t priority, assay_stream** out);
  assay_status (*stream_destroy)(assay_stream* stream);
  assay_status (*stream_query)(assay_stream* stream); /* OK, NOT_READY, or the stream's failure */
  assay_status (*stream_synchronize)(assay_stream* stream);
  assay_status (*stream_wait_event)(assay_stream* stream, assay_event* event);

  /* Events. One never recorded counts as complete. elapsed needs two completed events made with ASSAY_EVENT_TIMING. */
  assay_status (*event_create)(assay_device* device, uint32_t flags, assay_event** out);
  assay_status (*event_destroy)(assay_event* event);
  assay_status (*event_record)(assay_event* event, assay_stream* stream);
  assay_status (*event_query)(assay_event* event);
  assay_status (*event_synchronize)(assay_event* event);
  assay_status (*event_elapsed)(assay_event* start, assay_event* end, double* out_ns);

  /* Work, ordered on `stream`. Host memory of an asynchronous copy must stay valid until the stream has passed it. */
  assay_status (*copy)(assay_stream* stream, void* to, const void* from, size_t bytes, int32_t kind);
  assay_status (*fill)(assay_stream* stream, void* to, uint8_t value, size_t bytes);
  assay_status (*peer_copy)(assay_stream* stream, void* to, assay_device* to_device, const void* from,
                            assay_device* from_device, size_t bytes);
  assay_status (*kernel_resources)(assay_device* device, int32_t index, assay_kernel_resources* out);
  /* `params` is copied before the call returns; params_bytes must equal the kernel's. An empty grid is OK and does nothing. */
  assay_status (*launch)(assay_stream* stream, int32_t kernel, const void* params, size_t params_bytes);

  /* The runtime's own stream-ordered pool. */
  assay_status (*pool_create)(assay_device* device, assay_pool** out);
  assay_status (*pool_destroy)(assay_pool* pool);
  assay_status (*pool_malloc)(assay_pool* pool, size_t bytes, assay_stream* stream, void** out);
  assay_status (*pool_free)(assay_pool* pool, void* pointer, assay_stream* stream);
  assay_status (*pool_trim)(assay_pool* pool, size_t keep_bytes);
  assay_status (*pool_get)(assay_pool* pool, int32_t attribute, uint64_t* out);
  assay_status (*pool_set)(assay_pool* pool, int32_t attribute, uint64_t value);

  /* Virtual memory management. Sizes and addresses are multiples of the granularity. map maps all of `physical` and
   * grants read and write to `device`; unmapping does not release the physical memory. */
  assay_status (*vmm_granularity)(assay_device* device, size_t* minimum, size_t* recommended);
  assay_status (*vmm_reserve)(assay_device* device, size_t bytes, void** out);
  assay_status (*vmm_unreserve)(assay_device* device, void* address, size_t bytes);
  assay_status (*vmm_create)(assay_device* device, size_t bytes, uint32_t owner, assay_physical** out);
  assay_status (*vmm_release)(assay_device* device, assay_physical* physical);
  assay_status (*vmm_map)(assay_device* device, void* address, size_t bytes, assay_physical* physical);
  assay_status (*vmm_unmap)(assay_device* device, void* address, size_t bytes);

  /* Captured work, replayed as one submission. While a stream captures, malloc, free and synchronisation of the device
   * are INVALID_VALUE. */
  assay_status (*graph_begin)(assay_stream* stream);
  assay_status (*graph_end)(assay_stream* stream, assay_graph** out);
  assay_status (*graph_launch)(assay_graph* graph, assay_stream* stream);
  assay_status (*graph_destroy)(assay_graph* graph);
} assay_backend;

/* Never fails; the table is static. */
typedef const assay_backend* (*assay_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
