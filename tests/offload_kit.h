/* offload_kit.h: traces of runs that stream their weights, written by a few numbers, for tests of
 * src/offload. One stream, one thread; per module: upload, then one kernel.
 *
 *     CPU     [load: memcpy, sync] launch     [load ...
 *     stream     =====copy=====    ##kernel##  */
#ifndef STRATA_TESTS_OFFLOAD_KIT_H
#define STRATA_TESTS_OFFLOAD_KIT_H

#include "kit.h"
#include "offload/planner.h"

struct stream_spec {
    int steps, passes;
    const int64_t *bytes; /* of the modules */
    int n_modules;
    double bytes_per_ns;
    double compute_us; /* of each module */
    bool pageable;
    bool labels;      /* "load_module" around the copies of a module */
    bool in_two;      /* a tenth of each module is a bias, copied by itself */
    const bool *kept; /* by module: not loaded again after its first use; may be NULL */
    bool constant;    /* every step uploads a step counter of 8 bytes */
    double free_us;   /* memory is given back to the driver after each kernel; 0: it is not */
    bool no_steps;    /* no labels around the steps */
};

struct stream_run {
    const struct stream_spec *spec;
    struct kit k;
    double cpu_us, gpu_us; /* where the thread and the stream are */
};

static inline void stream_copy(struct stream_run *r, int64_t bytes)
{
    const struct stream_spec *s = r->spec;
    double dur = (double)bytes / s->bytes_per_ns / 1000, begin = r->cpu_us + 5;
    if (begin < r->gpu_us + 1) begin = r->gpu_us + 1;
    kit_op(&r->k, "aten::to", r->cpu_us, s->pageable ? begin + dur + 5 - r->cpu_us : 10);
    kit_call(&r->k, "cudaMemcpyAsync", r->cpu_us + 2,
             s->pageable ? begin + dur + 1 - r->cpu_us - 2 : 5);
    struct gpu_info g = {.correlation = r->k.correlation,
                         .external_id = ID_NONE,
                         .bytes = bytes,
                         .graph_id = ID_NONE,
                         .graph_node = ID_NONE,
                         .stream = 7,
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    kit_row(&r->k, KIND_MEMCPY,
            s->pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
            begin, dur, &g);
    if (s->pageable) kit_call(&r->k, "cudaStreamSynchronize", begin + dur + 2, 2);
    r->gpu_us = begin + dur;
    r->cpu_us = s->pageable ? begin + dur + 6 : r->cpu_us + 11;
}

static inline void stream_module(struct stream_run *r, int i, bool loaded)
{
    const struct stream_spec *s = r->spec;
    double begin = r->cpu_us;
    if (loaded) {
        int64_t bias = s->in_two ? s->bytes[i] / 10 : 0;
        r->cpu_us += 3;
        stream_copy(r, s->bytes[i] - bias);
        if (bias) stream_copy(r, bias);
        if (s->labels) kit_label(&r->k, "load_module", begin, r->cpu_us - begin);
    }
    double kernel = r->cpu_us + 10;
    if (kernel < r->gpu_us + 1) kernel = r->gpu_us + 1;
    kit_op(&r->k, "aten::linear", r->cpu_us + 1, 18);
    kit_launch(&r->k, r->cpu_us + 4, "gemm", kernel, s->compute_us);
    r->gpu_us = kernel + s->compute_us;
    r->cpu_us += 20;
    if (!loaded || s->free_us <= 0) return;
    kit_call(&r->k, "cudaFree", r->cpu_us + 1, s->free_us);
    r->cpu_us += s->free_us + 2;
}

static inline struct trace *stream_trace(const struct stream_spec *s)
{
    struct stream_run r = {.spec = s, .k = kit_begin(), .cpu_us = 100};
    for (int step = 0; step < s->steps; step++) {
        double begin = r.cpu_us;
        r.cpu_us += 2;
        if (s->constant) stream_copy(&r, 8);
        for (int pass = 0; pass < s->passes; pass++)
            for (int i = 0; i < s->n_modules; i++)
                stream_module(&r, i, !(s->kept && s->kept[i] && step + pass > 0));
        double done = r.gpu_us > r.cpu_us ? r.gpu_us : r.cpu_us;
        kit_call(&r.k, "cudaDeviceSynchronize", r.cpu_us, done + 3 - r.cpu_us);
        r.cpu_us = done + 4;
        if (!s->no_steps) kit_label(&r.k, "transformer_forward", begin, r.cpu_us - begin);
        r.cpu_us += 5;
    }
    return kit_end(&r.k);
}

/* Everything from a trace up to the trial. */
struct stream_lab {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct sim_model m;
    struct undistort u;
    struct streamed s;
    struct trial tr;
    struct observed o;
};

static inline int stream_lab_open(struct stream_lab *l, struct trace *t, bool plain, struct err *e)
{
    *l = (struct stream_lab){.t = t};
    arena_init(&l->mem);
    context_init(&l->cx, t, &l->mem);
    TRY(context_need(&l->cx, &steps_pass, e));
    TRY(sim_model_run(t, calls_of(&l->cx), &l->mem, &l->m, e));
    TRY(undistort_run(&l->m, 0, &l->mem, &l->u, e));
    if (!plain) l->u.cost_ns = 0; /* times as written, so that they can be checked by hand */
    TRY(streamed_run(t, &l->cx, &l->mem, &l->s, e));
    l->tr = (struct trial){.t = t, .cx = &l->cx, .m = &l->m, .u = &l->u, .s = &l->s};
    TRY(trial_init(&l->tr, &l->mem, e));
    return observe_run(&l->tr, &l->mem, &l->o, e);
}

static inline void stream_lab_close(struct stream_lab *l)
{
    context_done(&l->cx);
    arena_done(&l->mem);
    trace_free(l->t);
}

#endif
