/* view_table.c: see views_kernels.h.
 * A table says when which column is shown. */
#include "report/lists/views_kernels.h"

#include "analyze/names/frame.h"
#include "analyze/names/kernel_name.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

#define WIDE 240 /* columns of the terminal that --wide expects */

static bool is_device_note(const struct op_row *r)
{
    return r->is_annotation && strcmp(r->device, "cpu") != 0;
}

static void view_table_name(struct text_table *t, const struct op_row *r)
{
    char cut[512];
    struct buf name;
    buf_init(&name);
    if (strcmp(r->device, "cpu") == 0) buf_add_str(&name, r->name);
    else kernel_name_short(r->name, &name);
    if (is_device_note(r)) buf_adds(&name, " (on the device)");
    text_table_cell(t, 0, human_cut(buf_str(&name), 120, cut, sizeof cut));
    if (!buf_ok(&name)) t->failed = true;
    buf_done(&name);
}

/* Shapes without the list's brackets and without what follows the last tensor. */
static struct str bare_shapes(struct str s)
{
    if (s.n < 2) return s;
    s = str_from(s.p + 1, s.n - 2);
    while (str_ends(s, ", []")) s.n -= strlen(", []");
    return str_is(s, "[]") ? str_from(s.p, 0) : s;
}

/* The innermost frame that has a file, else the innermost one. */
static void put_stack(struct str stack, struct buf *out)
{
    struct str rest = stack;
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        struct frame f;
        if (frame_parse(str_from(rest.p, n), &f)) {
            struct str path = frame_path(f.file);
            buf_printf(out, STR_FMT ":%d " STR_FMT, STR_ARG(path), (int)f.line,
                       STR_ARG(f.function));
            return;
        }
        rest = str_from(rest.p + n + (end != NULL), rest.n - n - (end != NULL));
    }
    const char *end = stack.n ? memchr(stack.p, '\n', stack.n) : NULL;
    buf_add(out, stack.p, end ? (size_t)(end - stack.p) : stack.n);
}

static void view_table_group(struct text_table *t, int col, const struct op_row *r,
                             const struct view_table_opts *o)
{
    char cut[512];
    struct buf text;
    buf_init(&text);
    if (o->by == OP_BY_SHAPE) buf_add_str(&text, bare_shapes(r->group));
    else if (o->by == OP_BY_STACK) put_stack(r->group, &text);
    else buf_add_str(&text, r->group);
    text_table_cell(t, col, human_cut(buf_str(&text), o->wide ? 80 : 34, cut, sizeof cut));
    if (!buf_ok(&text)) t->failed = true;
    buf_done(&text);
}

enum shown {
    SHOWN = 1,         /* always */
    SHOWN_DEVICE = 2,  /* when there is device time */
    SHOWN_MEMORY = 4,  /* when memory was recorded */
    SHOWN_FLOPS = 8,   /* when shapes were recorded */
    SHOWN_WIDE = 16,   /* only with --wide */
    SHOWN_GROUP = 32,  /* only when grouped by more than the name */
    SHOWN_SINGLE = 64, /* gives way to a group or to what the table is about */
};

static const struct column {
    const char *key;
    int shown;
    enum view_table_focus focus; /* with which a SHOWN_WIDE column is shown all the same */
} columns[] = {
    {"name", SHOWN},
    {NULL, SHOWN_GROUP}, /* what rows are grouped by */
    {"calls", SHOWN},
    {"self_cpu_us", SHOWN},
    {"self_cpu_pct", SHOWN_WIDE},
    {"cpu_total_us", SHOWN_SINGLE},
    {"cpu_total_pct", SHOWN_WIDE},
    {"cpu_avg_us", SHOWN_WIDE},
    {"self_device_us", SHOWN_DEVICE},
    {"self_device_pct", SHOWN_DEVICE},
    {"device_total_us", SHOWN_DEVICE | SHOWN_SINGLE},
    {"device_avg_us", SHOWN_DEVICE},
    {"cpu_mem_bytes", SHOWN_MEMORY | SHOWN_WIDE, FOCUS_CPU_MEMORY},
    {"self_cpu_mem_bytes", SHOWN_MEMORY | SHOWN_WIDE, FOCUS_CPU_MEMORY},
    {"device_mem_bytes", SHOWN_MEMORY | SHOWN_WIDE, FOCUS_DEVICE_MEMORY},
    {"self_device_mem_bytes", SHOWN_MEMORY | SHOWN_WIDE, FOCUS_DEVICE_MEMORY},
    {"flops", SHOWN_FLOPS | SHOWN_WIDE, FOCUS_FLOPS},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static bool view_table_is_shown(const struct op_table *t, const struct view_table_opts *o,
                                const struct column *col)
{
    bool grouped = o->by != OP_BY_NAME;
    bool crowded = (grouped || o->focus != FOCUS_TIME) && !o->wide;
    bool in_focus = col->focus != FOCUS_TIME && col->focus == o->focus;
    if ((col->shown & SHOWN_DEVICE) && !t->has_device) return false;
    if ((col->shown & SHOWN_MEMORY) && !t->has_memory) return false;
    if ((col->shown & SHOWN_FLOPS) && !t->has_flops) return false;
    if ((col->shown & SHOWN_WIDE) && !o->wide && !in_focus) return false;
    if ((col->shown & SHOWN_GROUP) && !grouped) return false;
    if ((col->shown & SHOWN_SINGLE) && crowded) return false;
    return true;
}

static const char *const group_keys[] = {
    [OP_BY_SHAPE] = "input_shapes", [OP_BY_STACK] = "stack", [OP_BY_MODULE] = "module"};

/* What the rows shown add up to, on either side. */
struct view_table_sums {
    double cpu_ns, device_ns;
};

/* In its own order the table ends where it has enough of both sides. */
static bool view_table_full(const struct screen *s, const struct op_table *t,
                            const struct view_table_opts *o, uint32_t shown,
                            const struct view_table_sums *sum)
{
    if (o->sorted || !shown) return screen_full(s, shown, 0, 0);
    bool cpu = t->self_cpu_ns <= 0 || screen_full(s, shown, sum->cpu_ns, (double)t->self_cpu_ns);
    bool gpu =
        t->self_device_ns <= 0 || screen_full(s, shown, sum->device_ns, (double)t->self_device_ns);
    return screen_full(s, shown, 0, 0) || (cpu && gpu);
}

static uint32_t view_table_enough(const struct screen *s, const struct op_table *t,
                                  const struct view_table_opts *o, struct view_table_sums *ret_sum)
{
    struct view_table_sums sum = {0};
    uint32_t n = 0;
    for (; n < t->n_rows && !view_table_full(s, t, o, n, &sum); n++) {
        const struct op_row *r = &t->rows[n];
        sum.cpu_ns += (double)r->self_cpu_ns;
        if (strcmp(r->device, "cpu") != 0 && !r->is_annotation)
            sum.device_ns += (double)r->self_device_ns;
    }
    *ret_sum = sum;
    return screen_rows(s, n, t->n_rows);
}

static void view_table_say_rest(const struct screen *s, const struct op_table *t,
                                const struct view_table_opts *o, uint32_t shown,
                                const struct view_table_sums *sum)
{
    double cpu = stats_pct((double)t->self_cpu_ns - sum->cpu_ns, (double)t->self_cpu_ns);
    double gpu = stats_pct((double)t->self_device_ns - sum->device_ns, (double)t->self_device_ns);
    if (o->sorted || s->limited || shown >= s->limit) screen_rest(s, shown, t->n_rows, 0, 0);
    else screen_rest(s, shown, t->n_rows, 100 - (cpu > gpu ? cpu : gpu), 100);
}

static void view_table_print_rows(const struct screen *s, const struct context *cx,
                                  const struct op_table *table, const struct view_table_opts *o)
{
    const char *keys[N_COLUMNS + 1];
    int n = 0, group = -1;
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!view_table_is_shown(table, o, &columns[i])) continue;
        if (!columns[i].key) group = n;
        keys[n++] = columns[i].key ? columns[i].key : group_keys[o->by];
    }
    keys[n] = NULL;
    struct view_table_sums sum;
    struct rows rows = rows_ops(cx, table, o->by, view_table_enough(s, table, o, &sum));
    struct screen to = *s;
    struct result_text t;
    result_text_begin(&t, rows.of, NULL, keys);
    result_text_fit(&t, &rows);
    for (uint32_t i = 0; i < rows.n; i++) {
        const struct op_row *r = rows_at(&rows, i);
        result_text_add(&t, &rows, i, "", is_device_note(r) ? TEXT_DIM : TEXT_PLAIN);
        view_table_name(&t.table, r);
        if (group >= 0) view_table_group(&t.table, group, r, o);
    }
    if (o->wide && to.columns < WIDE) to.columns = WIDE;
    result_text_print(&t, &to);
    result_text_done(&t);
    view_table_say_rest(s, table, o, rows.n, &sum);
}

/* "19.9 ms of GPU time, most in aten::addmm (81.4 %); 41.0 ms of CPU time, most in ..." */
static void view_table_say(const struct screen *s, const struct op_table *t)
{
    const struct op_row *gpu = NULL, *cpu = NULL;
    char name[96];
    for (uint32_t i = 0; i < t->n_rows; i++) {
        const struct op_row *r = &t->rows[i];
        if (strcmp(r->device, "cpu") != 0) continue;
        if (r->self_device_ns > (gpu ? gpu->self_device_ns : 0)) gpu = r;
        if (r->self_cpu_ns > (cpu ? cpu->self_cpu_ns : 0)) cpu = r;
    }
    struct buf line;
    buf_init(&line);
    if (t->has_device) {
        buf_printf(&line, "%s of GPU time", human_time(t->self_device_ns).s);
        if (gpu)
            buf_printf(&line, ", most in %s (%s)", human_cut(gpu->name, 40, name, sizeof name),
                       human_pct(gpu->self_device_pct).s);
        buf_adds(&line, "; ");
    }
    buf_printf(&line, "%s of CPU time", human_time(t->self_cpu_ns).s);
    if (cpu)
        buf_printf(&line, ", most in %s (%s)", human_cut(cpu->name, 40, name, sizeof name),
                   human_pct(cpu->self_cpu_pct).s);
    text_wrap(s->out, buf_c(&line), 0, s->width);
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
    buf_addc(s->out, '\n');
}

/* A comparison with key_averages() finds more there where such rows are. */
static void view_table_say_overhead(const struct screen *s, const struct trace *trace,
                                    const struct op_table *t)
{
    for (uint32_t i = 0; t->has_device && i < t->n_rows; i++) {
        const struct op_row *r = &t->rows[i];
        if (r->first == ROW_NONE || trace->kind[r->first] != KIND_OVERHEAD) continue;
        buf_printf(s->out,
                   "  key_averages() of torch 2.11 to 2.13 counts the GPU work under " STR_FMT
                   " twice\n",
                   STR_ARG(r->name));
        return;
    }
}

static void view_table_say_notes(const struct screen *s, const struct trace *trace,
                                 const struct op_table *t)
{
    if (t->has_device)
        buf_adds(s->out, "  a kernel has a row of its own beside the operator that launches it, as "
                         "in torch's table\n");
    view_table_say_overhead(s, trace, t);
    if (t->n_unfinished)
        buf_printf(s->out, "  left out: %s span%s still open when the profiler stopped\n",
                   human_count(t->n_unfinished).s,
                   t->n_unfinished == 1 ? " that was" : "s that were");
    buf_addc(s->out, '\n');
}

void view_table_text(const struct screen *s, const struct context *cx, const struct op_table *table,
                     const struct view_table_opts *o)
{
    view_table_say(s, table);
    view_table_print_rows(s, cx, table, o);
    view_table_say_notes(s, cx->t, table);
    static const struct screen_next next[] = {
        {"table %s --by shape --wide", "which shapes cost most, with memory and FLOPs"},
        {"kernels %s", "kernels with occupancy and achieved rates"},
    };
    screen_next(s, next, table->has_device ? 2 : 1);
}

/* ---- JSON */

struct table_shown {
    const struct op_table *table;
    enum op_by by;
    uint32_t most;
};

static const struct table_shown *document_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value document_by(const struct rows *r, uint32_t i)
{
    static const char *const by[] = {"name", "shape", "stack", "module"};
    return value_cstr(by[document_at(r, i)->by]);
}

static struct value document_n_rows(const struct rows *r, uint32_t i)
{
    return value_int(document_at(r, i)->table->n_rows);
}

static struct value document_n_unfinished(const struct rows *r, uint32_t i)
{
    return value_int((int64_t)document_at(r, i)->table->n_unfinished);
}

static struct rows document_rows(const struct rows *r, uint32_t i)
{
    const struct table_shown *d = document_at(r, i);
    return rows_ops(r->cx, d->table, d->by, d->most);
}

static struct rows document_totals(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = document_at(r, i)->table, .n = 1};
}

/* clang-format off */
static const struct field totals_fields[] = {
    FIELD(NS, "self_cpu_us", "", struct op_table, self_cpu_ns, "all rows"),
    FIELD(NS, "self_device_us", "", struct op_table, self_device_ns, "device rows that are not labels"),
};
static const struct result result_totals = RESULT("totals", "all rows", totals_fields, struct op_table);

#define DOCUMENT_FIELDS(rows_of) { \
    FIELD_GET(WORD, "by", "", document_by, "what rows are grouped by: `name`, `shape`, `stack`, `module`"), \
    FIELD_GET(COUNT, "n_rows", "", document_n_rows, "how many rows there are"), \
    FIELD_IN(LIST, "rows", "", (rows_of), document_rows, "one per operator, with the figures of torch's `key_averages()`"), \
    FIELD_IN(OBJECT, "totals", "", &result_totals, document_totals, "of all rows"), \
    FIELD_GET(COUNT, "n_unfinished", "", document_n_unfinished, "operators that never ended"), \
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""), \
}
static const struct field document_by_name[] = DOCUMENT_FIELDS(&results_ops[OP_BY_NAME]);
static const struct field document_by_shape[] = DOCUMENT_FIELDS(&results_ops[OP_BY_SHAPE]);
static const struct field document_by_stack[] = DOCUMENT_FIELDS(&results_ops[OP_BY_STACK]);
static const struct field document_by_module[] = DOCUMENT_FIELDS(&results_ops[OP_BY_MODULE]);

const struct result documents_table[] = {
    [OP_BY_NAME] = RESULT("table", "operators", document_by_name, struct table_shown),
    [OP_BY_SHAPE] = RESULT("table_by_shape", "operators", document_by_shape, struct table_shown),
    [OP_BY_STACK] = RESULT("table_by_stack", "operators", document_by_stack, struct table_shown),
    [OP_BY_MODULE] = RESULT("table_by_module", "operators", document_by_module, struct table_shown),
};
/* clang-format on */

void view_table_json(struct jout *j, const char *key, const struct context *cx,
                     const struct op_table *table, const struct view_table_opts *o, uint32_t limit)
{
    struct table_shown shown = {table, o->by, limit};
    document_json(j, key, cx, &documents_table[o->by], &shown, NULL);
}
