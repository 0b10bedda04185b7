/* page_spans.c: see page_set.h. One walk over the tracks; every column grows by itself. */
#include "page/page_set.h"

#include "analyze/names/kernel_name.h"
#include "base/mem.h"

enum span_flag { SPAN_UNFINISHED = 1, SPAN_INSTANT = 2, SPAN_PROFILER = 4, SPAN_FAILED = 8 };

enum column {
    COL_START,
    COL_DUR,
    COL_NAME,
    COL_DEPTH,
    COL_KIND,
    COL_FLAGS,
    COL_LAUNCH,
    COL_HOW,
    COL_DELAY,
    COL_AFTER,
    COL_WAIT,
    COL_QUEUED,
    COL_CONFIG,
    COL_BYTES,
    COL_CORRELATION,
    COL_GRAPH,
    COL_FAMILY,
    COL_CALL,
    COL_DIMS,
    COL_TYPES,
    COL_EXTERNAL,
    N_COLUMNS
};

static const char *const column_names[N_COLUMNS] = {
    [COL_START] = "start",       [COL_DUR] = "dur",           [COL_NAME] = "name",
    [COL_DEPTH] = "depth",       [COL_KIND] = "kind",         [COL_FLAGS] = "flags",
    [COL_LAUNCH] = "gpu_launch", [COL_HOW] = "gpu_how",       [COL_DELAY] = "gpu_delay",
    [COL_AFTER] = "gpu_after",   [COL_WAIT] = "gpu_wait",     [COL_QUEUED] = "gpu_depth",
    [COL_CONFIG] = "gpu_config", [COL_BYTES] = "gpu_bytes",   [COL_CORRELATION] = "gpu_correlation",
    [COL_GRAPH] = "gpu_graph",   [COL_FAMILY] = "gpu_family", [COL_CALL] = "call_correlation",
    [COL_DIMS] = "op_dims",      [COL_TYPES] = "op_types",    [COL_EXTERNAL] = "op_external",
};

struct writer {
    const struct page_spans_in *in;
    const struct trace *t;
    struct page_col cols[N_COLUMNS];
    struct intern configs; /* byte for byte; the empty string is none of them */
    uint8_t *families;     /* by str_id: enum kernel_family + 1, 0: not looked at yet */
    bool failed;
};

static int64_t page_spans_id_of(int64_t id)
{
    return id == ID_NONE ? PAGE_NO_ID : id;
}

static uint8_t flags_of(const struct trace *t, row_t r)
{
    uint8_t f = 0;
    if (t->flags[r] & ROW_UNFINISHED) f |= SPAN_UNFINISHED;
    if (t->phase[r] != 'X') f |= SPAN_INSTANT;
    if (t->flags[r] & ROW_PROFILER) f |= SPAN_PROFILER;
    if (t->flags[r] & ROW_FAILED) f |= SPAN_FAILED;
    return f;
}

static uint32_t page_spans_config_of(struct writer *w, const struct gpu_info *g)
{
    struct page_config c;
    memset(&c, 0, sizeof c); /* compared byte by byte: no byte may be left open */
    memcpy(c.grid, g->grid, sizeof c.grid);
    memcpy(c.block, g->block, sizeof c.block);
    c.shared_bytes = g->shared_bytes;
    c.registers = g->registers;
    c.occupancy_pct = g->occupancy_pct;
    if (!g->grid[0]) return 0;
    str_id id = intern_add(&w->configs, str_from((const char *)&c, sizeof c));
    if (id == STR_NONE) w->failed = true;
    return id == STR_NONE ? 0 : id;
}

static uint8_t page_spans_family_of(struct writer *w, row_t r)
{
    uint8_t *seen = &w->families[w->t->name[r]];
    enum row_kind kind = (enum row_kind)w->t->kind[r];
    if (kind != KIND_KERNEL) return (uint8_t)kernel_family(kind, trace_name(w->t, r));
    if (!*seen) *seen = (uint8_t)(kernel_family(kind, trace_name(w->t, r)) + 1);
    return (uint8_t)(*seen - 1);
}

/* Time between the return of the call and the start during which the stream was busy. */
static int64_t queue_wait(const struct launch_wait *s)
{
    if (s->how != LAUNCH_WAIT_QUEUED) return 0;
    int64_t ns = s->after_prev_ns >= 0 ? s->from_end_ns - s->after_prev_ns : s->from_end_ns;
    return ns > 0 ? ns : 0;
}

static void page_spans_put_start(struct writer *w, const struct launch_wait *s)
{
    bool known = s && s->how != LAUNCH_WAIT_UNKNOWN;
    page_col_byte(&w->cols[COL_HOW], s ? s->how : LAUNCH_WAIT_UNKNOWN);
    page_col_int(&w->cols[COL_DELAY], known ? s->from_start_ns : 0);
    page_col_int(&w->cols[COL_AFTER], known ? s->from_end_ns : 0);
    page_col_uint(&w->cols[COL_WAIT], known ? (uint64_t)queue_wait(s) : 0);
    page_col_uint(&w->cols[COL_QUEUED], known ? s->depth : 0);
}

static void page_spans_put_work(struct writer *w, row_t r)
{
    const struct gpu_info *g = trace_gpu(w->t, r);
    uint32_t launch = page_detail_span(w->in->detail, g->launch);
    page_col_id(&w->cols[COL_LAUNCH], launch == PAGE_NO_SPAN ? PAGE_NO_ID : launch);
    page_spans_put_start(w, w->in->starts[w->t->aux[r]]);
    page_col_uint(&w->cols[COL_CONFIG], page_spans_config_of(w, g));
    page_col_uint(&w->cols[COL_BYTES], g->bytes >= 0 ? (uint64_t)g->bytes + 1 : 0);
    page_col_id(&w->cols[COL_CORRELATION], page_spans_id_of(g->correlation));
    page_col_uint(&w->cols[COL_GRAPH], g->graph_id > 0 ? (uint64_t)g->graph_id + 1 : 0);
    page_col_byte(&w->cols[COL_FAMILY], page_spans_family_of(w, r));
}

static uint64_t page_spans_text_of(struct writer *w, str_id id)
{
    return id == STR_NONE || id == 0 ? 0 : (uint64_t)page_names_of(w->in->names, id) + 1;
}

static void page_spans_put_op(struct writer *w, const struct op_info *op)
{
    page_col_uint(&w->cols[COL_DIMS], page_spans_text_of(w, op ? op->dims : STR_NONE));
    page_col_uint(&w->cols[COL_TYPES], page_spans_text_of(w, op ? op->types : STR_NONE));
    page_col_id(&w->cols[COL_EXTERNAL], op ? page_spans_id_of(op->external_id) : PAGE_NO_ID);
}

/* What only some kinds have. */
static void put_more(struct writer *w, row_t r)
{
    const struct call_info *call;
    switch ((enum row_kind)w->t->kind[r]) {
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET: page_spans_put_work(w, r); break;
    case KIND_RUNTIME:
    case KIND_DRIVER:
        call = trace_call(w->t, r);
        page_col_id(&w->cols[COL_CALL], call ? page_spans_id_of(call->correlation) : PAGE_NO_ID);
        break;
    case KIND_OP:
    case KIND_ANNOTATION: page_spans_put_op(w, trace_op(w->t, r)); break;
    default: break;
    }
}

static void put_span(struct writer *w, row_t r, int64_t after_ns)
{
    page_col_uint(&w->cols[COL_START], (uint64_t)(w->t->ts_ns[r] - after_ns));
    page_col_uint(&w->cols[COL_DUR], (uint64_t)w->t->dur_ns[r]);
    page_col_uint(&w->cols[COL_NAME], page_names_row(w->in->names, r));
    page_col_byte(&w->cols[COL_DEPTH], w->in->tracks->row_of[r]);
    page_col_byte(&w->cols[COL_KIND], w->t->kind[r]);
    page_col_byte(&w->cols[COL_FLAGS], flags_of(w->t, r));
    put_more(w, r);
}

static void put_spans(struct writer *w)
{
    for (uint32_t i = 0; i < w->in->tracks->n && !w->failed; i++) {
        const struct lane *l = &w->t->lanes[w->in->tracks->list[i].lane];
        int64_t last_ns = w->t->begin_ns == ID_NONE ? 0 : w->t->begin_ns;
        for (row_t r = l->begin; r < l->end; r++) {
            if (w->in->detail->span_of[r] == PAGE_NO_SPAN) continue;
            put_span(w, r, last_ns);
            last_ns = w->t->ts_ns[r];
        }
    }
}

static bool take_configs(struct writer *w, struct arena *mem, struct page_configs *ret)
{
    struct page_config *list = arena_zalloc(mem, w->configs.n + 1, sizeof *list);
    if (!list) return true;
    for (str_id id = 1; id < w->configs.n; id++)
        memcpy(&list[id - 1], intern_get(&w->configs, id).p, sizeof *list);
    *ret = (struct page_configs){list, w->configs.n ? w->configs.n - 1 : 0};
    return false;
}

int page_spans_run(const struct page_spans_in *in, struct arena *mem, struct page_configs *ret,
                   struct err *e)
{
    struct writer w = {.in = in, .t = in->cx->t};
    w.families = mem_zalloc(w.t->strings.n + 1, 1);
    w.failed = intern_init(&w.configs) || !w.families;
    if (!w.failed) put_spans(&w);
    bool failed = w.failed || take_configs(&w, mem, ret);
    for (int i = 0; i < N_COLUMNS; i++) page_block_name(in->block, column_names[i], &w.cols[i]);
    intern_done(&w.configs);
    mem_free(w.families);
    return failed ? err_nomem(e) : 0;
}
