/* kit.h: traces written by hand, a line a row, for tests of passes. Times are microseconds.
 *
 *     struct kit k = kit_begin();
 *     kit_label(&k, "forward", 0, 100);
 *     kit_launch(&k, 10, "gemm", 20, 50);       call at 10, kernel from 20 to 70
 *     struct trace *t = kit_end(&k);
 *
 * Rows go to thread 1 of process 100 and to stream 7 of device 0 unless k.pid, k.tid, k.stream or
 * k.device is set otherwise. */
#ifndef STRATA_TESTS_KIT_H
#define STRATA_TESTS_KIT_H

#include "test.h"
#include "trace/build.h"

struct kit {
    struct builder *b;
    struct batch *p;
    int64_t correlation; /* of the last call */
    int tid, stream, device;
    double call_us; /* how long launch calls take */
    int64_t bytes;  /* of copies and fills */
    uint32_t grid;  /* blocks of kernels; 0: not recorded */
    int pid;
};

static inline struct kit kit_begin(void)
{
    return (struct kit){builder_new(NULL), batch_new(), 0, 1, 7, 0, 5, 1000, 0, 100};
}

static inline struct trace *kit_end(struct kit *k)
{
    struct trace *t = NULL;
    CHECK_EQ_INT(builder_add_part(k->b, k->p, NULL), 0);
    CHECK_EQ_INT(builder_freeze(k->b, 1, &t, NULL), 0);
    return t;
}

static inline int64_t kit_ns(double us)
{
    return (int64_t)llround(us * 1000);
}

static inline void kit_cat_row(struct kit *k, enum row_kind kind, const char *cat, const char *name,
                               double us, double dur_us, const void *aux)
{
    bool gpu = kind_is_device(kind);
    struct batch_row row = {
        .ts_ns = kit_ns(us),
        .dur_ns = kit_ns(dur_us),
        .name = intern_add(batch_strings(k->p), str_c(name)),
        .kind = kind,
        .cat = batch_cat(k->p, str_c(cat)),
        .phase = kind == KIND_MEMORY || kind == KIND_INSTANT ? 'i' : 'X',
        .pid = {gpu ? k->device : k->pid, 0},
        .tid = {gpu ? k->stream : k->tid, 0},
        .aux = aux,
    };
    CHECK_EQ_INT(batch_add(k->p, &row), 0);
}

static inline void kit_row(struct kit *k, enum row_kind kind, const char *name, double us,
                           double dur_us, const void *aux)
{
    kit_cat_row(k, kind, kind_name(kind), name, us, dur_us, aux);
}

static inline void kit_op(struct kit *k, const char *name, double us, double dur_us)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    kit_row(k, KIND_OP, name, us, dur_us, &op);
}

static inline void kit_shaped_op(struct kit *k, const char *name, const char *dims, double us,
                                 double dur_us)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    op.dims = intern_add(batch_strings(k->p), str_c(dims));
    kit_row(k, KIND_OP, name, us, dur_us, &op);
}

/* An op that takes part in autograd: forward ops have fwd_thread 0. */
static inline void kit_autograd_op(struct kit *k, const char *name, double us, double dur_us,
                                   int64_t sequence, int32_t fwd_thread)
{
    struct op_info op = {ID_NONE, sequence, fwd_thread, STR_NONE, STR_NONE, STR_NONE};
    kit_row(k, KIND_OP, name, us, dur_us, &op);
}

static inline void kit_label(struct kit *k, const char *name, double us, double dur_us)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    kit_row(k, KIND_ANNOTATION, name, us, dur_us, &op);
}

/* An annotation that our recorder made by itself. */
static inline void kit_derived(struct kit *k, const char *name, double us, double dur_us)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    kit_cat_row(k, KIND_ANNOTATION, CAT_DERIVED, name, us, dur_us, &op);
}

static inline void kit_python(struct kit *k, const char *name, double us, double dur_us)
{
    struct py_info py = {-1, -1, -1};
    kit_row(k, KIND_PYTHON, name, us, dur_us, &py);
}

static inline void kit_call(struct kit *k, const char *name, double us, double dur_us)
{
    struct call_info call = {++k->correlation, ID_NONE, 0, 0};
    kit_row(k, KIND_RUNTIME, name, us, dur_us, &call);
}

/* Device work of the last call. */
static inline void kit_work(struct kit *k, enum row_kind kind, const char *name, double us,
                            double dur_us)
{
    struct gpu_info g = {.correlation = k->correlation,
                         .external_id = ID_NONE,
                         .bytes = kind == KIND_KERNEL ? -1 : k->bytes,
                         .graph_id = ID_NONE,
                         .graph_node = ID_NONE,
                         .device = k->device,
                         .stream = k->stream,
                         .grid = {kind == KIND_KERNEL ? k->grid : 0, k->grid > 0, k->grid > 0},
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    kit_row(k, kind, name, us, dur_us, &g);
}

/* Device work whose launch is not in the trace. */
static inline void kit_orphan(struct kit *k, const char *name, double us, double dur_us)
{
    int64_t last = k->correlation;
    k->correlation = 1000000 + kit_ns(us);
    kit_work(k, KIND_KERNEL, name, us, dur_us);
    k->correlation = last;
}

static inline void kit_launch(struct kit *k, double us, const char *kernel, double gpu_us,
                              double gpu_dur_us)
{
    kit_call(k, "cudaLaunchKernel", us, k->call_us);
    kit_work(k, KIND_KERNEL, kernel, gpu_us, gpu_dur_us);
}

/* `.item()`: a copy of a few bytes to pinned memory, done at `done_us`, and a synchronize that
 * returns `return_us` later, under one operator. */
static inline void kit_item(struct kit *k, double us, double done_us, double return_us)
{
    double copy_us = 1;
    kit_op(k, "aten::item", us, done_us + return_us - us + 2);
    kit_op(k, "aten::_local_scalar_dense", us + 1, done_us + return_us - us);
    kit_call(k, "cudaMemcpyAsync", us + 2, 5);
    k->bytes = 4;
    kit_work(k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", done_us - copy_us, copy_us);
    k->bytes = 1000;
    kit_call(k, "cudaStreamSynchronize", us + 8, done_us + return_us - us - 8);
}

/* An allocator event: device -1 is the CPU. */
static inline void kit_memory(struct kit *k, double us, int64_t bytes, int64_t allocated,
                              int64_t reserved)
{
    struct mem_info m = {(uint64_t)kit_ns(us), bytes, allocated, reserved, k->device < 0 ? 0 : 1,
                         (int16_t)k->device};
    int device = k->device;
    k->device = 0;
    kit_row(k, KIND_MEMORY, "[memory]", us, 0, &m);
    k->device = device;
}

static inline void kit_meta(struct kit *k, const char *key, const char *value)
{
    CHECK_EQ_INT(builder_add_meta(k->b, str_c(key), str_c(value)), 0);
}

#endif
