/* op_table.c: see op_table.h. Links first, then every lane on its own, then one merge by text. */
#include "analyze/ops/op_table.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/names/shapes.h"
#include "analyze/names/torch_words.h"
#include "analyze/ops/op_nest.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/wrap.h"

#define PARALLEL_ROWS 100000 /* below this starting threads costs more than it saves */

static const struct lane *stream_of(const struct trace *t, const struct lane *note)
{
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *s = &t->lanes[l];
        if (s->kind == LANE_STREAM && s->process == note->process && s->device == note->device &&
            s->stream == note->stream)
            return s;
    }
    return NULL;
}

/* Kineto widens device-side annotations so that viewers nest work inside them: by 1 ns at the start
 * and 1 ns at the end since 2024, by 1 us at the start before. The work underneath tells. */
static int64_t excess_of(const struct trace *t, const struct lane *note)
{
    const struct lane *stream = stream_of(t, note);
    if (!stream) return -1;
    for (row_t r = note->begin; r < note->end; r++) {
        if (t->kind[r] != KIND_GPU_ANNOTATION) continue;
        row_t work = trace_lower_bound(t, (lane_id)(stream - t->lanes), t->ts_ns[r]);
        if (work == stream->end) continue;
        int64_t late = wrap_sub(t->ts_ns[work], t->ts_ns[r]);
        if (late == 0) return 0;
        if (late == 1) return 2;
        if (late == 1000) return 1000;
    }
    return -1;
}

static int64_t annotation_excess_ns(const struct trace *t)
{
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_GPU_NOTE) continue;
        int64_t excess = excess_of(t, &t->lanes[l]);
        if (excess >= 0) return excess;
    }
    return 0;
}

/* Allocator events outside every span are rows of their own; running out of memory always is. */
static void add_loose_memory(struct op_nest *n)
{
    const struct op_memory *memory = &n->pass->memory;
    const struct trace *t = n->pass->t;
    for (uint32_t p = 0; p < memory->n_lines; p++) {
        const struct op_memory_line *m = &memory->lines[p];
        int64_t over = 0;
        for (uint32_t i = 0; i < m->n; i++) {
            row_t r = m->row[i];
            over += m->cover[i];
            if (over > 0 && !str_is(trace_name(t, r), "[OutOfMemory]")) continue;
            uint32_t group = op_groups_find(&n->groups, t, t->name[r], op_class_cpu(false), 0);
            if (group == UINT32_MAX) {
                n->failed = true;
                return;
            }
            struct op_bytes b = op_memory_of(t, r);
            op_groups_add(&n->groups, t, group, r, &(struct op_sums){.bytes = b, .self_bytes = b});
        }
    }
}

/* Merging: groups of all workers by their texts. Steps are one row whatever their number, mangled
 * and readable names of one kernel meet, and so do shapes that torch does not tell apart. */
struct merge {
    const struct op_pass *pass;
    struct arena *mem;
    struct op_table *table;
    struct demangler demangler;
    struct intern texts;
    struct map bases; /* (name, class) -> number of the pair */
    struct map rows;  /* (pair, extra) -> row */
    struct buf scratch;
};

static struct str shown_name(struct merge *m, str_id id)
{
    struct str name = trace_str(m->pass->t, id);
    if (torch_is_step(name)) return str_c(TORCH_STEP "*");
    buf_reset(&m->scratch);
    return demangle(&m->demangler, name, &m->scratch) ? buf_str(&m->scratch) : name;
}

/* Frames joined with newlines, innermost first. */
static void print_stack(struct merge *m, const struct op_groups *from, uint32_t extra)
{
    uint32_t chain[OP_STACK_MAX];
    int n = 0;
    for (; extra && n < OP_STACK_MAX; extra = from->stack[extra - 1].below) chain[n++] = extra;
    while (n-- > 0) {
        buf_add_str(&m->scratch, trace_str(m->pass->t, from->stack[chain[n] - 1].name));
        if (n) buf_addc(&m->scratch, '\n');
    }
}

/* What the group is identified by; empty when it has nothing. */
static struct str shown_extra(struct merge *m, const struct op_groups *from, uint32_t extra)
{
    const struct trace *t = m->pass->t;
    enum op_by by = m->pass->opts->by;
    buf_reset(&m->scratch);
    if (by == OP_BY_STACK) print_stack(m, from, extra);
    if (by == OP_BY_SHAPE)
        shape_flatten(extra ? trace_str(t, extra - 1) : str_c("[]"), &m->scratch);
    if (by == OP_BY_MODULE && extra) {
        struct str module = trace_str(t, extra - 1);
        size_t prefix = strlen("nn.Module: ");
        buf_add(&m->scratch, module.p + prefix, module.n - prefix);
    }
    return buf_str(&m->scratch);
}

/* A fresh row for the group; NULL when out of memory. */
static struct op_row *new_row(struct merge *m, const struct op_group *g, str_id name, str_id extra)
{
    struct op_row *row = &m->table->rows[m->table->n_rows++];
    *row = (struct op_row){.first = g->first,
                           .device = op_class_device(g->class),
                           .is_annotation = op_class_is_annotation(g->class)};
    struct str text = intern_get(&m->texts, name);
    row->name = str_from(arena_strdup(m->mem, text), text.n);
    if (m->pass->opts->by == OP_BY_NAME) return row->name.p ? row : NULL;
    text = intern_get(&m->texts, extra);
    row->group = str_from(arena_strdup(m->mem, text), text.n);
    return row->name.p && row->group.p ? row : NULL;
}

static struct op_row *row_for(struct merge *m, const struct op_groups *from,
                              const struct op_group *g)
{
    str_id name = intern_add(&m->texts, shown_name(m, g->name));
    str_id extra = intern_add(&m->texts, shown_extra(m, from, g->extra));
    if (name == STR_NONE || extra == STR_NONE || !buf_ok(&m->scratch)) return NULL;
    uint32_t *base = map_at(&m->bases, (uint64_t)name << 8 | g->class);
    if (!base) return NULL;
    if (*base == MAP_NONE) *base = (uint32_t)m->bases.n;
    uint32_t *slot = map_at(&m->rows, (uint64_t)*base << 32 | extra);
    if (!slot) return NULL;
    if (*slot != MAP_NONE) return &m->table->rows[*slot];
    *slot = m->table->n_rows;
    return new_row(m, g, name, extra);
}

static void op_table_add_group(const struct trace *t, struct op_row *row, const struct op_group *g)
{
    const struct op_sums *s = &g->sums;
    if (op_groups_earlier(t, g->first, row->first)) row->first = g->first;
    row->calls += g->calls;
    row->flops += g->flops;
    row->cpu_total_ns = wrap_add(row->cpu_total_ns, s->cpu_ns);
    row->self_cpu_ns = wrap_add(row->self_cpu_ns, s->self_cpu_ns);
    row->device_total_ns = wrap_add(row->device_total_ns, s->device_ns);
    row->self_device_ns = wrap_add(row->self_device_ns, s->self_device_ns);
    row->cpu_mem_bytes = wrap_add(row->cpu_mem_bytes, s->bytes.cpu);
    row->self_cpu_mem_bytes = wrap_add(row->self_cpu_mem_bytes, s->self_bytes.cpu);
    row->device_mem_bytes = wrap_add(row->device_mem_bytes, s->bytes.device);
    row->self_device_mem_bytes = wrap_add(row->self_device_mem_bytes, s->self_bytes.device);
}

static int by_first(const void *a, const void *b, void *trace)
{
    row_t x = ((const struct op_row *)a)->first, y = ((const struct op_row *)b)->first;
    return x == y ? 0 : op_groups_earlier(trace, x, y) ? -1 : 1;
}

static void op_table_add_up(struct op_table *table)
{
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct op_row *row = &table->rows[i];
        bool is_device = strcmp(row->device, "cpu") != 0;
        table->self_cpu_ns = wrap_add(table->self_cpu_ns, row->self_cpu_ns);
        table->has_device |= is_device;
        table->has_flops |= row->flops > 0;
        if (is_device && !row->is_annotation)
            table->self_device_ns = wrap_add(table->self_device_ns, row->self_device_ns);
    }
}

static double op_table_pct(int64_t part, int64_t whole)
{
    return whole ? (double)part * 100 / (double)whole : NAN;
}

static void fill_ratios(struct op_table *table)
{
    for (uint32_t i = 0; i < table->n_rows; i++) {
        struct op_row *row = &table->rows[i];
        row->cpu_avg_ns = (double)row->cpu_total_ns / (double)row->calls;
        row->device_avg_ns = (double)row->device_total_ns / (double)row->calls;
        row->self_cpu_pct = op_table_pct(row->self_cpu_ns, table->self_cpu_ns);
        row->cpu_total_pct = op_table_pct(row->cpu_total_ns, table->self_cpu_ns);
        row->self_device_pct = op_table_pct(row->self_device_ns, table->self_device_ns);
    }
}

static bool merge_all(struct merge *m, const struct op_nest *nests, int n_nests)
{
    size_t most = 0;
    for (int i = 0; i < n_nests; i++) most += nests[i].groups.n;
    m->table->rows = arena_zalloc(m->mem, most + 1, sizeof *m->table->rows);
    if (!m->table->rows) return true;
    for (int i = 0; i < n_nests; i++) {
        for (size_t k = 0; k < nests[i].groups.n; k++) {
            const struct op_group *g = &nests[i].groups.groups[k];
            if (!g->calls) continue;
            struct op_row *row = row_for(m, &nests[i].groups, g);
            if (!row) return true;
            op_table_add_group(m->pass->t, row, g);
        }
        m->table->n_unfinished += nests[i].n_unfinished;
    }
    qsort_r(m->table->rows, m->table->n_rows, sizeof *m->table->rows, by_first, (void *)m->pass->t);
    op_table_add_up(m->table);
    fill_ratios(m->table);
    return false;
}

static bool op_table_merge(const struct op_pass *pass, const struct op_nest *nests, int n_nests,
                           struct arena *mem, struct op_table *ret)
{
    struct merge m = {.pass = pass, .mem = mem, .table = ret};
    if (intern_init(&m.texts)) return true;
    demangler_init(&m.demangler);
    map_init(&m.bases);
    map_init(&m.rows);
    buf_init(&m.scratch);
    bool failed = merge_all(&m, nests, n_nests);
    buf_done(&m.scratch);
    map_done(&m.rows);
    map_done(&m.bases);
    demangler_done(&m.demangler);
    intern_done(&m.texts);
    return failed;
}

static void nest_item(void *ctx, int item, int worker)
{
    struct op_nest *nests = ctx;
    op_nest_lane(&nests[worker], (lane_id)item);
}

static bool nest_all(struct op_pass *pass, struct arena *mem, struct op_table *ret)
{
    int n =
        pass->t->n_rows < PARALLEL_ROWS || pass->opts->n_threads < 1 ? 1 : pass->opts->n_threads;
    struct op_nest *nests = arena_zalloc(mem, (size_t)n, sizeof *nests);
    if (!nests) return true;
    for (int i = 0; i < n; i++) op_nest_init(&nests[i], pass);
    pool_run(n, (int)pass->t->n_lanes, nest_item, nests);
    add_loose_memory(&nests[0]);
    bool failed = false;
    for (int i = 0; i < n; i++) failed |= nests[i].failed;
    if (!failed) failed = op_table_merge(pass, nests, n, mem, ret);
    for (int i = 0; i < n; i++) op_nest_done(&nests[i]);
    return failed;
}

int op_table_run(const struct trace *t, const struct op_table_opts *opts, struct arena *mem,
                 struct op_table *ret, struct err *e)
{
    struct op_pass pass = {.t = t, .opts = opts, .vendor = op_vendor(t)};
    *ret = (struct op_table){0};
    TRY(op_links_run(t, mem, &pass.links, e));
    TRY(op_memory_run(t, mem, &pass.memory, e));
    if (opts->by == OP_BY_STACK || opts->by == OP_BY_MODULE)
        TRY(op_forward_init(&pass.forward, t, e));
    pass.annotation_excess_ns = annotation_excess_ns(t);
    bool failed = nest_all(&pass, mem, ret);
    op_forward_done(&pass.forward);
    if (failed) return err_nomem(e);
    ret->has_memory = pass.memory.n_events > 0;
    ret->has_python = t->n_py > 0;
    return 0;
}
