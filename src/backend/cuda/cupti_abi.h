/* cupti_abi.h: the part of CUPTI's interface that we use, declared here so that nothing of CUDA is
 * needed to build. Newer versions of its records only append fields, so the prefixes below are
 * those of every version from 12.0 on; the library itself steps from record to record. */
#ifndef STRATA_BACKEND_CUDA_CUPTI_ABI_H
#define STRATA_BACKEND_CUDA_CUPTI_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_MAX_LIMIT_REACHED = 12, /* no further record in the buffer */
    CUPTI_NOT_INITIALIZED = 15,   /* no driver, or one too old for this CUPTI */
    CUPTI_INVALID_KIND = 21,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUALIZED = 33,
    CUPTI_NO_PRIVILEGES = 35,
    CUPTI_OTHER_SUBSCRIBER = 39,
    CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
    CUPTI_CONFIDENTIAL = 41,
    CUPTI_WSL = 45,
    CUPTI_UNKNOWN = 999,
};

enum cupti_kind {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_KERNEL = 10, /* "concurrent": the other kind makes kernels wait for each other */
    CUPTI_OVERHEAD = 17,
    CUPTI_PEER_COPY = 22,
    CUPTI_SYNC = 38,
    CUPTI_MEMORY = 49,
    CUPTI_GRAPH = 51,
};

enum cupti_attribute { CUPTI_ATTR_ZEROED = 5, CUPTI_ATTR_PER_THREAD = 9 };
enum { CUPTI_FLUSH_FORCED = 1, CUPTI_SYSTEM_THREAD_IDS = 1 };
enum cupti_domain {
    CUPTI_DOMAIN_DRIVER = 1,
    CUPTI_DOMAIN_RESOURCE = 3,
    CUPTI_DOMAIN_STATE = 6,
};
enum { CUPTI_NODE_CREATED = 13, CUPTI_NODE_CLONED = 20 }; /* resources */
enum { CUPTI_STATE_FATAL = 1 };
enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

#define CUPTI_12_3 21u /* per-thread buffers, of our choice */
#define CUPTI_12_9 27u /* a buffer may be refused */
#define CUPTI_13_0 130000u

struct cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partitioned[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved0;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, pad[1];
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t carveout_scheme, graph;
};

struct cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation;
    uint32_t pad;
    void *reserved0;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_peer_copy {
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, src_device, src_context, dst_device, dst_context;
    uint32_t correlation;
    void *reserved0;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t pad;
    void *reserved0;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream;
};

struct cupti_overhead {
    uint32_t kind, overhead_kind, object_kind;
    uint32_t process, thread, object2; /* process and thread for objects of kind 2 */
    uint64_t start, end;
};

struct cupti_memory {
    uint32_t kind, operation, memory_kind, correlation;
    uint64_t address, bytes, timestamp, pc;
    uint32_t process, device;
};

struct cupti_graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
};

static_assert(offsetof(struct cupti_kernel, start) == 16, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_kernel, grid) == 52, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_kernel, correlation) == 92, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_kernel, name) == 104, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_kernel, graph_node) == 144, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_kernel, graph) == 156, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memcpy, correlation) == 44, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memcpy, graph_node) == 64, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_peer_copy, correlation) == 60, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_peer_copy, graph_node) == 72, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memset, memory_kind) == 50, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memset, graph_node) == 64, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_sync, correlation) == 24, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_overhead, start) == 24, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memory, timestamp) == 32, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_memory, device) == 52, "as in cupti_activity.h");
static_assert(offsetof(struct cupti_graph, device) == 24, "as in cupti_activity.h");

/* What a callback around a call of the driver gets. */
struct cupti_call {
    uint32_t site; /* enum cupti_site */
    const char *function;
    const void *params;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *own; /* ours, from the enter to the exit of one call */
    uint32_t correlation;
};

static_assert(offsetof(struct cupti_call, own) == 56, "as in cupti_callbacks.h");
static_assert(offsetof(struct cupti_call, correlation) == 64, "as in cupti_callbacks.h");

/* What a callback about a resource gets, and what it points to where that is a node of a graph. */
struct cupti_graph_node {
    void *graph, *original_graph;
    void *node, *original_node; /* the latter of a clone */
};

struct cupti_resource {
    void *context, *stream;
    const struct cupti_graph_node *node;
};

struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *holder; /* who holds the place already */
    size_t holder_size;
};

typedef void (*cupti_callback_fn)(void *ours, uint32_t domain, uint32_t id, const void *data);
typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t n_valid);
typedef uint64_t (*cupti_clock_fn)(void);

#endif
