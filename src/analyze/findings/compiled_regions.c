/* compiled_regions.c: see host_side.h. */
#include "analyze/findings/host_side.h"

#include "analyze/names/copy.h"
#include "analyze/names/torch_words.h"

/* ---- as torch marks them ---- */

static bool compiled_regions_is_region(const struct trace *t, row_t r)
{
    return (t->kind[r] == KIND_OP || t->kind[r] == KIND_ANNOTATION) &&
           torch_is_region(trace_name(t, r));
}

static bool is_outermost_region(const struct trace *t, row_t r)
{
    if (!compiled_regions_is_region(t, r)) return false;
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (compiled_regions_is_region(t, up)) return false;
    return true;
}

static void compiled_regions_add(struct compiled_regions *x, struct span time, row_t holder)
{
    if (x->n && x->list[x->n - 1].time.end_ns > time.begin_ns) return;
    x->list[x->n++] = (struct compiled_region){time, holder};
}

static void find_marked(const struct trace *t, const struct lane *lane, struct compiled_regions *x)
{
    for (row_t r = lane->begin; r < lane->end; r++)
        if (is_outermost_region(t, r))
            compiled_regions_add(x, (struct span){t->ts_ns[r], trace_end_ns(t, r)}, ROW_NONE);
}

/* ---- as kernels show them ---- */

enum maker { COMPILED, EITHER, EAGER };

/* Most programs have nothing that was compiled. */
static bool any_compiled(const struct trace *t)
{
    for (str_id id = 0; id < t->strings.n; id++)
        if (torch_is_inductor(trace_str(t, id))) return true;
    return false;
}

static enum maker maker_of(const struct sim_model *m, const struct sim_call *c)
{
    if (!c->n_work) return c->wait == SIM_WAIT_NOTHING || call_allocates(c->kind) ? EITHER : EAGER;
    row_t work = m->works[m->works_by_call[c->first_work]].row;
    struct str name = trace_name(m->t, work);
    if (torch_is_inductor(name)) return COMPILED;
    if (str_has(name, "at::native") || str_has(name, "N2at6native")) return EAGER;
    return copy_of(m->t, work).way == COPY_TO_HOST ? EAGER : EITHER;
}

/* The call of a module that our recorder marked around a row, or ROW_NONE. */
static row_t compiled_regions_module_of(const struct trace *t, row_t r)
{
    while (r != ROW_NONE && t->kind[r] != KIND_ANNOTATION) r = t->parent[r];
    return r != ROW_NONE && trace_is_derived(t, r) ? r : ROW_NONE;
}

/* The region that is being read. */
struct reading {
    struct span time;
    row_t module;
    bool any, compiled; /* it has calls; one of them launches what a compiler made */
};

static void close_region(struct reading *now, struct compiled_regions *x)
{
    if (now->compiled && now->module != ROW_NONE) compiled_regions_add(x, now->time, now->module);
    *now = (struct reading){0};
}

static void find_by_kernels(const struct sim_model *m, uint32_t thread, struct compiled_regions *x)
{
    struct reading now = {0};
    for (uint32_t i = m->threads[thread].first_call; i != SIM_NONE; i = m->calls[i].next) {
        const struct sim_call *c = &m->calls[i];
        enum maker maker = maker_of(m, c);
        row_t module = maker == EAGER ? ROW_NONE : compiled_regions_module_of(m->t, c->row);
        if (maker == EAGER || module != now.module) close_region(&now, x);
        if (maker == EAGER) continue;
        if (!now.any) now = (struct reading){{c->begin_ns, 0}, module, true, false};
        now.time.end_ns = c->end_ns;
        now.compiled |= maker == COMPILED;
    }
    close_region(&now, x);
}

enum regions_from compiled_regions_from(const struct context *cx)
{
    for (row_t r = 0; r < cx->t->n_rows; r++)
        if (compiled_regions_is_region(cx->t, r)) return REGIONS_MARKED;
    return any_compiled(cx->t) ? REGIONS_BY_KERNELS : REGIONS_NONE;
}

static uint32_t compiled_regions_count_calls(const struct sim_model *m, uint32_t thread)
{
    uint32_t n = 0;
    for (uint32_t c = m->threads[thread].first_call; c != SIM_NONE; c = m->calls[c].next) n++;
    return n;
}

int compiled_regions_find(const struct context *cx, uint32_t thread, enum regions_from from,
                          struct compiled_regions *ret, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    const struct lane *lane = &cx->t->lanes[m->threads[thread].lane];
    bool marked = from == REGIONS_MARKED;
    *ret = (struct compiled_regions){0};
    if (from == REGIONS_NONE) return 0;
    size_t most = marked ? lane->end - lane->begin : compiled_regions_count_calls(m, thread);
    ret->list = arena_alloc(cx->mem, (most + 1) * sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    if (marked) find_marked(cx->t, lane, ret);
    else find_by_kernels(m, thread, ret);
    return 0;
}
