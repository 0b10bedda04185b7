/* nccl_abi.h: the profiler interface of NCCL (2.23 and later), as far as it is used here, in our
 * own words. NCCL looks for the newest of ncclProfiler_v1, _v2, ... that it knows: a struct of
 * functions. Versions differ in what the start of an event says. Fields that come after those used
 * here are left out. */
#ifndef STRATA_BACKEND_NCCL_NCCL_ABI_H
#define STRATA_BACKEND_NCCL_NCCL_ABI_H

#include <stddef.h>
#include <stdint.h>

enum nccl_event { NCCL_COLLECTIVE = 1 << 1, NCCL_PAIR = 1 << 2 };

/* v1: functions, types, algorithms and protocols are numbers. */
struct nccl_collective_v1 {
    const char *name;
    uint64_t hash, seq;
    uint8_t func;
    const void *send;
    void *receive;
    size_t count;
    int root;
    uint8_t type;
    uint32_t op;
    size_t traffic;
    uint8_t channels, warps, algorithm, protocol;
};

struct nccl_pair_v1 {
    const char *name;
    uint64_t hash;
    uint8_t func;
    void *buffer;
    uint8_t type;
    size_t count;
    int peer;
};

struct nccl_collective_v2 {
    const char *name;
    uint64_t hash, seq;
    const char *func;
    const void *send;
    void *receive;
    size_t count;
    int root;
    const char *type;
    size_t traffic;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

/* v3: without the traffic. */
struct nccl_collective_v3 {
    const char *name;
    uint64_t hash, seq;
    const char *func;
    const void *send;
    void *receive;
    size_t count;
    int root;
    const char *type;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

/* v2, v3 */
struct nccl_pair_v2 {
    const char *name;
    uint64_t hash;
    const char *func;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
};

/* v4 and later: the communicator is described once, when it is made. */
struct nccl_collective_v4 {
    uint64_t seq;
    const char *func;
    const void *send;
    void *receive;
    size_t count;
    int root;
    const char *type;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

struct nccl_pair_v4 {
    const char *func;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
    uint8_t channels;
};

/* `type` is an enum nccl_event: one byte up to v4, eight from v5 on. */
struct nccl_start {
    union {
        uint8_t type;
        uint64_t wide_type;
    };
    void *parent;
    int rank;
    union {
        struct nccl_collective_v1 collective_v1;
        struct nccl_pair_v1 pair_v1;
        struct nccl_collective_v2 collective_v2;
        struct nccl_pair_v2 pair_v2;
        struct nccl_collective_v3 collective_v3;
        struct nccl_collective_v4 collective_v4;
        struct nccl_pair_v4 pair_v4;
    };
};

/* All return 0 for success. */
typedef int nccl_init_v1_fn(void **ret_context, int *ret_events);
typedef int nccl_init_v4_fn(void **ret_context, int *ret_events, const char *name, uint64_t hash,
                            int nodes, int ranks, int rank, void *log);
typedef int nccl_init_v5_fn(void **ret_context, uint64_t hash, int *ret_events, const char *name,
                            int nodes, int ranks, int rank, void *log);
typedef int nccl_start_fn(void *context, void **ret_event, const struct nccl_start *what);
typedef int nccl_stop_fn(void *event);
typedef int nccl_state_fn(void *event, int state, const void *details);
typedef int nccl_finalize_fn(void *context);

struct nccl_profiler {
    const char *name;
    union {
        nccl_init_v1_fn *init_v1; /* v1, v2, v3 */
        nccl_init_v4_fn *init_v4;
        nccl_init_v5_fn *init_v5; /* v5, v6 */
    };
    nccl_start_fn *start;
    nccl_stop_fn *stop;
    nccl_state_fn *state;
    nccl_finalize_fn *finalize;
};

_Static_assert(offsetof(struct nccl_start, collective_v1) == 24, "layout of a start");
_Static_assert(sizeof(struct nccl_profiler) == 48, "layout of the profiler");

#endif
