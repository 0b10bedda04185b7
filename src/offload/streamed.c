/* streamed.c: finding the loads. Two walks over each thread: one that counts what is launched so
 * far, one that collects copies into loads; then loads become modules of the template step. */
#include "offload/streamed.h"

#include <stdlib.h>

#include "analyze/names/copy.h"
#include "base/search.h"
#include "offload/blocks.h"

/* Uploads smaller than this are step counters and constants, not weights. */
#define LEAST_MODULE_BYTES 512
/* A step that loads this share of the most any step loads goes through the whole model. */
#define WHOLE_SHARE 0.99
/* A step whose sequence of modules repeats up to this often goes through the model that often;
 * more repetitions are the equal blocks of one pass. */
#define MOST_PASSES 3

struct walk {
    const struct trace *t;
    const struct context *cx;
    struct arena *mem;
    struct streamed *s;
    uint32_t *kernels_until;  /* by row: kernels its thread has launched, its own included */
    int64_t *kernel_ns_until; /* and their device time */
};

bool streamed_is_upload(const struct trace *t, row_t r)
{
    return copy_of(t, r).way == COPY_TO_DEVICE;
}

bool streamed_is_download(const struct trace *t, row_t r)
{
    return copy_of(t, r).way == COPY_TO_HOST;
}

bool streamed_is_pageable(const struct trace *t, row_t r)
{
    return copy_of(t, r).memory == MEMORY_PAGEABLE;
}

uint32_t streamed_step_at(const struct streamed *s, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, s->n_steps, s->steps[i].cpu.end_ns <= ts_ns);
    return i < s->n_steps && s->steps[i].cpu.begin_ns <= ts_ns ? i : STREAMED_NONE;
}

/* ---- what a thread has launched so far ---- */

static void streamed_count_kernels(struct walk *w, const struct lane *lane)
{
    const struct trace *t = w->t;
    uint32_t kernels = 0;
    int64_t ns = 0;
    for (row_t r = lane->begin; r < lane->end; r++) {
        uint32_t n;
        const row_t *work = trace_launched(t, r, &n);
        for (uint32_t i = 0; i < n; i++) {
            if (t->kind[work[i]] != KIND_KERNEL) continue;
            kernels++;
            ns += t->dur_ns[work[i]];
        }
        w->kernels_until[r] = kernels;
        w->kernel_ns_until[r] = ns;
    }
}

/* Device time of the kernels launched by rows [from, to) of a thread. */
static int64_t kernel_ns(const struct walk *w, lane_id lane, row_t from, row_t to)
{
    row_t begin = w->t->lanes[lane].begin;
    if (to <= from) return 0;
    return w->kernel_ns_until[to - 1] - (from > begin ? w->kernel_ns_until[from - 1] : 0);
}

static bool launches_kernels(const struct walk *w, lane_id lane, row_t from, row_t to)
{
    row_t begin = w->t->lanes[lane].begin;
    if (to <= from) return false;
    return w->kernels_until[to - 1] != (from > begin ? w->kernels_until[from - 1] : 0);
}

/* ---- one load ---- */

static bool may_widen(const struct walk *w, row_t outer, bool thread_computes)
{
    const struct trace *t = w->t;
    if (t->kind[outer] == KIND_OP) return true;
    if (!thread_computes || (t->kind[outer] != KIND_ANNOTATION && t->kind[outer] != KIND_PYTHON))
        return false;
    return streamed_step_at(w->s, t->ts_ns[outer]) ==
           streamed_step_at(w->s, trace_end_ns(t, outer) - 1);
}

/* The widest span around the copy that is there for nothing but copies. */
static row_t widest_span(const struct walk *w, row_t call)
{
    const struct trace *t = w->t;
    lane_id lane = t->lane[call];
    bool computes = launches_kernels(w, lane, t->lanes[lane].begin, t->lanes[lane].end);
    row_t span = call;
    for (row_t r = t->parent[call]; r != ROW_NONE && may_widen(w, r, computes); r = t->parent[r]) {
        row_t after = trace_lower_bound(t, lane, trace_end_ns(t, r));
        if (launches_kernels(w, lane, r, after)) break;
        span = r;
    }
    return span;
}

/* The end of a load, with the allocator calls and waits that directly follow the span. */
static int64_t end_with_cleanup(const struct walk *w, row_t span)
{
    const struct trace *t = w->t;
    const struct lane *lane = &t->lanes[t->lane[span]];
    int64_t end = trace_end_ns(t, span);
    for (row_t r = trace_lower_bound(t, t->lane[span], end); r < lane->end; r++) {
        enum call_kind k = calls_kind(calls_of(w->cx), t, r);
        if (!call_allocates(k) && !call_syncs(k)) break;
        if (trace_end_ns(t, r) > end) end = trace_end_ns(t, r);
    }
    return end;
}

struct upload {
    row_t call, span;
    int64_t bytes, ns, pageable_bytes;
};

/* Whether the call copies from the host, and how much. */
static bool read_copy(const struct walk *w, row_t call, struct upload *ret)
{
    const struct trace *t = w->t;
    uint32_t n;
    const row_t *work = trace_launched(t, call, &n);
    *ret = (struct upload){.call = call};
    for (uint32_t i = 0; i < n; i++) {
        if (!streamed_is_upload(t, work[i])) continue;
        int64_t bytes = trace_gpu(t, work[i])->bytes;
        if (bytes <= 0) continue;
        ret->bytes += bytes;
        ret->ns += t->dur_ns[work[i]];
        if (streamed_is_pageable(t, work[i])) ret->pageable_bytes += bytes;
    }
    if (ret->bytes) ret->span = widest_span(w, call);
    return ret->bytes > 0;
}

/* Copies under one span are one load; so are bare operators with no kernel between them. */
static bool same_load(const struct walk *w, const struct streamed_load *l, row_t last_span,
                      const struct upload *c)
{
    const struct trace *t = w->t;
    if (c->span == last_span) return true;
    bool labelled = t->kind[c->span] == KIND_ANNOTATION || t->kind[c->span] == KIND_PYTHON ||
                    t->kind[last_span] == KIND_ANNOTATION || t->kind[last_span] == KIND_PYTHON;
    return !labelled && l->step == streamed_step_at(w->s, t->ts_ns[c->call]) &&
           !launches_kernels(w, l->lane, l->first_call, c->call);
}

static void streamed_add_copy(const struct walk *w, struct streamed_load *l, const struct upload *c)
{
    l->last_call = c->call;
    l->end_ns = end_with_cleanup(w, c->span);
    l->bytes += c->bytes;
    l->copy_ns += c->ns;
    l->n_copies++;
    l->pageable = c->pageable_bytes * 2 > c->bytes;
}

/* What the replay model has a node for, as sim_model_run decides: a call without a duration, or of
 * the profiler itself, cannot be replayed. */
static bool can_load(const struct walk *w, row_t r, struct upload *ret)
{
    const struct trace *t = w->t;
    if (!trace_call(t, r) || t->phase[r] != 'X' || t->flags[r] & ROW_PROFILER) return false;
    return read_copy(w, r, ret);
}

static void collect_loads(struct walk *w, lane_id lane_no)
{
    const struct trace *t = w->t;
    struct streamed *s = w->s;
    struct streamed_load *now = NULL;
    row_t last_span = ROW_NONE;
    for (row_t r = t->lanes[lane_no].begin; r < t->lanes[lane_no].end; r++) {
        struct upload c;
        if (!can_load(w, r, &c)) continue;
        uint32_t step = streamed_step_at(s, t->ts_ns[r]);
        if (step == STREAMED_NONE) continue;
        if (!now || !same_load(w, now, last_span, &c)) {
            now = &s->loads[s->n_loads++];
            *now = (struct streamed_load){.module = STREAMED_NONE,
                                          .step = step,
                                          .lane = lane_no,
                                          .first_call = r,
                                          .begin_ns = t->ts_ns[c.span]};
        }
        streamed_add_copy(w, now, &c);
        last_span = c.span;
    }
}

/* ---- all loads ---- */

static int streamed_by_time(const void *a, const void *b)
{
    const struct streamed_load *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->first_call < y->first_call ? -1 : x->first_call > y->first_call;
}

static void drop_small(struct streamed *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_loads; i++)
        if (s->loads[i].bytes >= LEAST_MODULE_BYTES) s->loads[n++] = s->loads[i];
    s->n_loads = n;
}

/* Device time launched between this load and the next one of its thread, or the end of the step. */
static void set_compute(struct walk *w)
{
    struct streamed *s = w->s;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        struct streamed_load *l = &s->loads[i];
        bool last = i + 1 == s->n_loads || s->loads[i + 1].step != l->step;
        int64_t until = last ? s->steps[l->step].cpu.end_ns : s->loads[i + 1].begin_ns;
        row_t from = trace_lower_bound(w->t, l->lane, l->end_ns);
        row_t to = trace_lower_bound(w->t, l->lane, until);
        l->compute_ns = kernel_ns(w, l->lane, from, to);
    }
}

static void streamed_count_steps(struct streamed *s)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        struct streamed_step *st = &s->steps[s->loads[i].step];
        st->bytes += s->loads[i].bytes;
        st->n_loads++;
        if (st->bytes > most) most = st->bytes;
    }
    for (uint32_t i = 0; i < s->n_steps; i++)
        s->steps[i].whole = most && (double)s->steps[i].bytes >= WHOLE_SHARE * (double)most;
}

static int one_step(struct walk *w)
{
    struct streamed *s = w->s;
    s->steps = arena_zalloc(w->mem, 1, sizeof *s->steps);
    if (!s->steps) return ERR_NOMEM;
    s->n_steps = 1;
    s->steps[0].cpu = (struct span){w->t->begin_ns, w->t->end_ns + 1};
    return 0;
}

static int find_steps(struct walk *w)
{
    const struct steps *found = steps_of(w->cx);
    struct streamed *s = w->s;
    s->steps_are_guess = !found->n_steps && !s->asked_steps;
    if (s->asked_steps || !found->n_steps) return one_step(w);
    s->n_steps = found->n_steps;
    s->steps = arena_zalloc(w->mem, s->n_steps, sizeof *s->steps);
    if (!s->steps) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_steps; i++) s->steps[i].cpu = found->steps[i].cpu;
    return 0;
}

/* Labels around the loads can look like a loop: then every "step" begins with the load itself. */
static bool steps_are_loads(const struct streamed *s)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < s->n_loads; i++)
        same += s->loads[i].begin_ns == s->steps[s->loads[i].step].cpu.begin_ns;
    return s->n_steps > 2 && s->n_loads > 2 && same * 2 > s->n_loads;
}

/* Equal shares of the loads are the steps asked for. */
static int divide_steps(struct walk *w, struct err *e)
{
    struct streamed *s = w->s;
    uint32_t n = s->asked_steps, each = s->n_loads / n;
    if (s->n_loads % n)
        return FAIL(e, ERR_USAGE, "%u loads of weights cannot be divided into %u equal steps",
                    s->n_loads, n);
    int64_t end = s->steps[0].cpu.end_ns;
    s->steps = arena_zalloc(w->mem, n, sizeof *s->steps);
    if (!s->steps) return ERR_NOMEM;
    s->n_steps = n;
    for (uint32_t i = 0; i < s->n_loads; i++) s->loads[i].step = i / each;
    for (uint32_t i = 0; each && i < n; i++)
        s->steps[i].cpu = (struct span){s->loads[i * each].begin_ns,
                                        i + 1 < n ? s->loads[(i + 1) * each].begin_ns : end};
    return 0;
}

static int collect_all(struct walk *w)
{
    const struct trace *t = w->t;
    size_t rows = t->n_rows + (size_t)1;
    /* every load has at least one copy */
    w->s->loads = arena_zalloc(w->mem, t->n_launched + (size_t)1, sizeof *w->s->loads);
    w->kernels_until = arena_alloc(w->mem, rows * sizeof *w->kernels_until);
    w->kernel_ns_until = arena_alloc(w->mem, rows * sizeof *w->kernel_ns_until);
    if (!w->s->loads || !w->kernels_until || !w->kernel_ns_until) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        streamed_count_kernels(w, &t->lanes[l]);
        collect_loads(w, l);
    }
    qsort(w->s->loads, w->s->n_loads, sizeof *w->s->loads, streamed_by_time);
    drop_small(w->s);
    return 0;
}

static int find_loads(struct walk *w, struct err *e)
{
    struct streamed *s = w->s;
    TRY(collect_all(w));
    if (s->asked_steps && s->n_loads) TRY(divide_steps(w, e));
    if (!s->asked_steps && steps_are_loads(s)) {
        TRY(one_step(w));
        s->steps_are_guess = true;
        for (uint32_t i = 0; i < s->n_loads; i++) s->loads[i].step = 0;
    }
    streamed_count_steps(s);
    set_compute(w);
    return 0;
}

/* ---- modules ---- */

/* The step whose loads name the modules: one that loads everything, a later one if there is one,
 * because the first may load what is never used again. */
static uint32_t template_step(const struct streamed *s)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        if (!s->steps[i].whole) continue;
        if (i > 0) return i;
        found = i;
    }
    return found;
}

static uint32_t first_load_of(const struct streamed *s, uint32_t step)
{
    uint32_t i = 0;
    while (i < s->n_loads && s->loads[i].step < step) i++;
    return i;
}

/* The smallest period that divides the sequence of the step's loads, by bytes. */
static uint32_t exact_period(const struct streamed_load *l, uint32_t n)
{
    for (uint32_t p = 1; p <= n / 2; p++) {
        if (n % p) continue;
        uint32_t i = p;
        while (i < n && l[i].bytes == l[i - p].bytes) i++;
        if (i == n) return p;
    }
    return n;
}

static int make_modules(struct walk *w)
{
    struct streamed *s = w->s;
    uint32_t step = template_step(s), first = first_load_of(s, step);
    uint32_t n = s->n_loads ? s->steps[step].n_loads : 0;
    uint32_t period = exact_period(&s->loads[first], n);
    s->passes = period && n > period && n / period <= MOST_PASSES ? n / period : 1;
    if (s->asked_passes && n % s->asked_passes == 0) s->passes = s->asked_passes;
    s->n_modules = n / s->passes;
    s->modules = arena_zalloc(w->mem, s->n_modules + (size_t)1, sizeof *s->modules);
    if (!s->modules) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_modules; i++) {
        s->modules[i].bytes = s->loads[first + i].bytes;
        s->modules[i].n_copies = s->loads[first + i].n_copies;
        s->model_bytes += s->modules[i].bytes;
    }
    return 0;
}

/* Loads of a step are the modules in order; where some are missing (they stayed on the device),
 * the next module of the same size is meant. */
static void name_loads(struct streamed *s, bool *seen)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        struct streamed_load *l = &s->loads[i];
        if (i == 0 || l->step != s->loads[i - 1].step) at = 0;
        uint32_t tried = 0;
        while (tried < s->n_modules && s->modules[(at + tried) % s->n_modules].bytes != l->bytes)
            tried++;
        if (tried == s->n_modules) continue;
        l->module = (at + tried) % s->n_modules;
        at = l->module + 1;
        struct streamed_module *m = &s->modules[l->module];
        m->copy_ns += l->copy_ns;
        m->compute_ns += l->compute_ns;
        m->n_loads++;
        l->again = seen[l->module];
        seen[l->module] = true;
    }
    for (uint32_t i = 0; i < s->n_modules; i++) {
        struct streamed_module *m = &s->modules[i];
        if (!m->n_loads) continue;
        m->copy_ns /= m->n_loads;
        m->compute_ns /= m->n_loads;
    }
}

static int streamed_number_blocks(struct walk *w)
{
    struct streamed *s = w->s;
    struct arena_mark mark = arena_mark(w->mem);
    int64_t *bytes = arena_alloc(w->mem, (s->n_modules + (size_t)1) * sizeof *bytes);
    uint32_t *block = arena_alloc(w->mem, (s->n_modules + (size_t)1) * sizeof *block);
    if (!bytes || !block) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_modules; i++) bytes[i] = s->modules[i].bytes;
    TRY(blocks_number(bytes, s->n_modules, w->mem, block, &s->n_blocks));
    for (uint32_t i = 0; i < s->n_modules; i++) {
        s->modules[i].block = block[i];
        s->modules[i].loose = blocks_is_loose(bytes, block, s->n_modules, i);
    }
    arena_reset_to(w->mem, mark);
    return 0;
}

static int streamed_find_all(struct walk *w, struct err *e)
{
    TRY(find_steps(w));
    TRY(find_loads(w, e));
    TRY(make_modules(w));
    bool *seen = arena_zalloc(w->mem, w->s->n_modules + (size_t)1, sizeof *seen);
    if (!seen) return ERR_NOMEM;
    name_loads(w->s, seen);
    return streamed_number_blocks(w);
}

int streamed_run(const struct trace *t, const struct context *cx, struct arena *mem,
                 struct streamed *ret, struct err *e)
{
    *ret = (struct streamed){.asked_steps = ret->asked_steps, .asked_passes = ret->asked_passes};
    struct walk w = {.t = t, .cx = cx, .mem = mem, .s = ret};
    int rc = streamed_find_all(&w, e);
    return err_grow(e, rc);
}
