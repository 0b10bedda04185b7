/* trace.c: a new trace, and the questions every reader asks of it. */
#include "trace/trace.h"

#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "base/search.h"

struct trace *trace_new(void)
{
    struct trace *t = mem_zalloc(1, sizeof *t);
    if (!t) return NULL;
    t->columns_owned = true;
    t->begin_ns = t->end_ns = t->window_begin_ns = t->window_end_ns = ID_NONE;
    if (intern_init(&t->strings)) {
        mem_free(t);
        return NULL;
    }
    return t;
}

const struct op_info *trace_op(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_OP);
    return i < t->n_ops ? &t->ops[i] : NULL;
}

const struct gpu_info *trace_gpu(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_GPU);
    return i < t->n_gpu ? &t->gpu[i] : NULL;
}

const struct py_info *trace_py(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_PY);
    return i < t->n_py ? &t->py[i] : NULL;
}

const struct mem_info *trace_mem(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_MEM);
    return i < t->n_mem ? &t->mem[i] : NULL;
}

const struct async_info *trace_async(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_ASYNC);
    return i < t->n_asyncs ? &t->asyncs[i] : NULL;
}

row_t trace_up(const struct trace *t, row_t r, enum row_kind kind)
{
    while (r != ROW_NONE && t->kind[r] != kind) r = t->parent[r];
    return r;
}

const row_t *trace_launched(const struct trace *t, row_t call, uint32_t *ret_n)
{
    const struct call_info *c = trace_call(t, call);
    *ret_n = c && (uint64_t)c->first_gpu + c->n_gpu <= t->n_launched ? c->n_gpu : 0;
    return *ret_n ? t->launched + c->first_gpu : NULL;
}

row_t trace_launch_of(const struct trace *t, row_t r)
{
    const struct gpu_info *g = trace_gpu(t, r);
    return g && g->launch < t->n_rows ? g->launch : ROW_NONE;
}

struct str trace_meta(const struct trace *t, const char *key)
{
    for (uint32_t i = 0; i < t->n_metas; i++)
        if (str_is(trace_str(t, t->metas[i].key), key)) return trace_str(t, t->metas[i].value);
    return (struct str){NULL, 0};
}

bool trace_timeline_is_ours(const struct trace *t)
{
    return trace_meta(t, TRACE_META_RECORDED).p != NULL;
}

bool trace_is_ours(const struct trace *t)
{
    return trace_meta(t, TRACE_META_EXTENT).p || trace_timeline_is_ours(t);
}

/* ---- how much text may come out of a trace: a name is stored once and stands in every event that
 * has it, so a file of a megabyte could ask for tens of gigabytes ---- */

/* What any trace may have, small as it is; bytes per event, several long names of C++ with all that
 * stands around them; and how often the text that was read may be written or read. */
#define BUDGET_LEAST     ((uint64_t)64 << 20)
#define BUDGET_PER_EVENT ((uint64_t)4096)
#define BUDGET_TIMES     ((uint64_t)32)

/* A native file says itself how much text it was made of, so only what it holds counts. */
static uint64_t trace_read_bytes(const struct trace *t)
{
    uint64_t args = t->args ? t->args->plain_bytes : 0;
    return t->mapping.p ? t->mapping.n + args : t->source_bytes;
}

uint64_t trace_text_budget(const struct trace *t)
{
    uint64_t n_events = (uint64_t)t->n_rows + t->n_flows;
    return BUDGET_LEAST + n_events * BUDGET_PER_EVENT + BUDGET_TIMES * trace_read_bytes(t);
}

static uint64_t trace_args_left(const struct trace *t)
{
    uint64_t most = trace_text_budget(t);
    uint64_t taken = atomic_load_explicit(&t->args->taken_bytes, memory_order_relaxed);
    return taken < most ? most - taken : 0;
}

static void trace_args_take(const struct trace *t, uint64_t bytes)
{
    atomic_fetch_add_explicit(&t->args->taken_bytes, bytes, memory_order_relaxed);
}

int trace_over_budget(uint64_t most, struct err *e)
{
    return FAIL(e, ERR_LIMIT,
                "this would be more than %s, out of proportion to the trace: many of its events "
                "repeat a long text; strata export --to sqlite writes each name once",
                human_bytes((int64_t)most).s);
}

static int trace_args_at(const struct trace *t, uint64_t src, struct buf *out, struct err *e)
{
    if (!t->args) {
        buf_adds(out, "{}");
        return 0;
    }
    size_t before = out->n, most = out->most;
    out->most = before + trace_args_left(t) + 1;
    int rc = t->args->read(t->args, src, out, e);
    out->most = most;
    if (out->over) {
        out->n = before;
        out->failed = out->over = false;
        rc = trace_over_budget(trace_text_budget(t), e);
    }
    if (rc < 0) err_at(e, t->path, ERR_NO_OFFSET);
    else trace_args_take(t, out->n - before);
    return rc;
}

int trace_args(const struct trace *t, row_t r, struct buf *out, struct err *e)
{
    return trace_args_at(t, t->src[r], out, e);
}

int trace_deep_args(const struct trace *t, row_t r, struct buf *out, struct err *e)
{
    return trace_args_at(t, t->deep->src[r], out, e);
}

static void trace_count_row(const struct trace *t, row_t r, struct trace_counts *c)
{
    enum row_kind kind = t->kind[r];
    c->by_kind[kind]++;
    c->by_cat[t->cat[r]]++;
    if (kind == KIND_ANNOTATION && str_starts(trace_name(t, r), "ProfilerStep#")) c->step_marks++;
    if (trace_is_work(t, r) && trace_launch_of(t, r) == ROW_NONE) c->unlinked++;
}

void trace_count(const struct trace *t, struct trace_counts *ret)
{
    if (t->counted) {
        *ret = t->counts;
        return;
    }
    *ret = (struct trace_counts){0};
    for (row_t r = 0; r < t->n_rows; r++) trace_count_row(t, r, ret);
}

row_t trace_lower_bound(const struct trace *t, lane_id lane, int64_t ts_ns)
{
    row_t i = t->lanes[lane].begin;
    SEARCH_PAST(i, t->lanes[lane].end, t->ts_ns[i] < ts_ns);
    return i;
}
