/* rocm_rows.h: what AMD's rocprofv3 records, as rows: one meaning for its JSON and its databases.
 * Rows get the names and categories PyTorch's own recorder gives them on ROCm. */
#ifndef STRATA_IMPORT_ROCM_ROCM_ROWS_H
#define STRATA_IMPORT_ROCM_ROCM_ROWS_H

#include "base/map.h"
#include "trace/build.h"

struct rocm {
    struct builder *builder;
    struct batch *part;
    struct map devices; /* agent -> number of its device, for GPUs only */
    struct map named;   /* device and stream -> 0: streams that have their label */
    int32_t n_devices;
    uint64_t n_rows; /* serves as place in the file */
};

void rocm_init(struct rocm *r, struct builder *b, struct batch *p);
void rocm_done(struct rocm *r);

/* An agent that is a GPU. `index` is its number among GPUs, or -1 for the next free one. */
struct rocm_gpu {
    uint64_t agent;
    int64_t index, n_cus, wave_size, memory_bytes;
    struct str name;
};
int rocm_add_gpu(struct rocm *r, const struct rocm_gpu *g) MUST_USE;

struct rocm_times {
    int64_t start_ns, end_ns;
};

struct rocm_kernel {
    struct rocm_times at;
    struct str name;
    uint64_t agent;
    int64_t correlation, stream, n_registers, lds_bytes;
    int64_t threads[3], block[3]; /* AMD counts the threads of a grid, not its blocks */
    bool fills;                   /* no kernel of the program: memory is set to one value */
};
int rocm_add_kernel(struct rocm *r, const struct rocm_kernel *k) MUST_USE;

struct rocm_copy {
    struct rocm_times at;
    struct str name;   /* MEMORY_COPY_HOST_TO_DEVICE ... */
    uint64_t from, to; /* agents */
    int64_t correlation, stream, bytes;
};
int rocm_add_copy(struct rocm *r, const struct rocm_copy *c) MUST_USE;

struct rocm_call {
    struct rocm_times at;
    struct str name, category; /* HIP_RUNTIME_API, HSA_CORE_API, MARKER_CORE_API ... */
    int64_t pid, tid, correlation;
};
int rocm_add_call(struct rocm *r, const struct rocm_call *c) MUST_USE;

struct rocm_alloc {
    int64_t ts_ns, bytes, pid, tid; /* bytes < 0: given back */
    uint64_t address, agent;
};
int rocm_add_alloc(struct rocm *r, const struct rocm_alloc *a) MUST_USE;

#endif
