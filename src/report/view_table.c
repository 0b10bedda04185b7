/* view_table.c: see view_table.h.
 *
 * Columns are a table: each knows its head, how to print a cell, and when it is shown. Times of one
 * kind share a unit, chosen for the largest value and shown in the first line. */
#include "report/view_table.h"

#include <math.h>

#include "analyze/names/frame.h"
#include "analyze/names/kernel_name.h"
#include "base/human.h"
#include "base/jout.h"
#include "report/cells.h"
#include "report/view_quality.h"

#define WIDE 240 /* columns of the terminal that --wide expects */

struct cells {
    const struct screen *s;
    const struct op_table *table;
    const struct view_table_opts *o;
    uint32_t n_rows; /* rows shown */
    struct cell_unit time, avg;
};

typedef struct cell cell_fn(const struct cells *c, const struct op_row *r);

static bool is_device_note(const struct op_row *r)
{
    return r->is_annotation && strcmp(r->device, "cpu") != 0;
}

static struct cell put_name(const struct cells *c, const struct op_row *r)
{
    struct buf name;
    buf_init(&name);
    if (strcmp(r->device, "cpu") == 0) buf_add_str(&name, r->name);
    else kernel_name_short(r->name, &name);
    if (is_device_note(r)) buf_adds(&name, " (on the device)");
    struct cell cell = cell_text(buf_str(&name), 120);
    buf_done(&name);
    return cell;
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

static struct cell put_group(const struct cells *c, const struct op_row *r)
{
    struct buf text;
    buf_init(&text);
    if (c->o->by == OP_BY_SHAPE) buf_add_str(&text, bare_shapes(r->group));
    else if (c->o->by == OP_BY_STACK) put_stack(r->group, &text);
    else buf_add_str(&text, r->group);
    struct cell cell = cell_text(buf_str(&text), c->o->wide ? 80 : 34);
    buf_done(&text);
    return cell;
}

#define CELL(name, value)                                                        \
    static struct cell put_##name(const struct cells *c, const struct op_row *r) \
    {                                                                            \
        return value;                                                            \
    }
CELL(calls, cell_count(r->calls))
CELL(self_cpu, cell_time((double)r->self_cpu_ns, c->time))
CELL(self_cpu_pct, cell_pct(r->self_cpu_pct))
CELL(cpu_total, cell_time((double)r->cpu_total_ns, c->time))
CELL(cpu_total_pct, cell_pct(r->cpu_total_pct))
CELL(cpu_avg, cell_time(r->cpu_avg_ns, c->avg))
CELL(self_device, cell_time((double)r->self_device_ns, c->time))
CELL(self_device_pct, cell_pct(is_device_note(r) ? 0 : r->self_device_pct))
CELL(device_total, cell_time((double)r->device_total_ns, c->time))
CELL(device_avg, cell_time(r->device_avg_ns, c->avg))
CELL(cpu_mem, cell_bytes(r->cpu_mem_bytes))
CELL(self_cpu_mem, cell_bytes(r->self_cpu_mem_bytes))
CELL(device_mem, cell_bytes(r->device_mem_bytes))
CELL(self_device_mem, cell_bytes(r->self_device_mem_bytes))
CELL(flops, cell_scaled((double)r->flops))

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
    const char *head;
    cell_fn *put;
    int shown;
    enum view_table_focus focus; /* with which a SHOWN_WIDE column is shown all the same */
} columns[] = {
    {"name", put_name, SHOWN},
    {"group", put_group, SHOWN_GROUP},
    {"calls", put_calls, SHOWN},
    {"self CPU", put_self_cpu, SHOWN},
    {"%", put_self_cpu_pct, SHOWN_WIDE},
    {"CPU total", put_cpu_total, SHOWN_SINGLE},
    {"%", put_cpu_total_pct, SHOWN_WIDE},
    {"CPU avg", put_cpu_avg, SHOWN_WIDE},
    {"self GPU", put_self_device, SHOWN_DEVICE},
    {"%", put_self_device_pct, SHOWN_DEVICE},
    {"GPU total", put_device_total, SHOWN_DEVICE | SHOWN_SINGLE},
    {"GPU avg", put_device_avg, SHOWN_DEVICE},
    {"CPU mem", put_cpu_mem, SHOWN_MEMORY | SHOWN_WIDE, FOCUS_CPU_MEMORY},
    {"self CPU mem", put_self_cpu_mem, SHOWN_MEMORY | SHOWN_WIDE, FOCUS_CPU_MEMORY},
    {"GPU mem", put_device_mem, SHOWN_MEMORY | SHOWN_WIDE, FOCUS_DEVICE_MEMORY},
    {"self GPU mem", put_self_device_mem, SHOWN_MEMORY | SHOWN_WIDE, FOCUS_DEVICE_MEMORY},
    {"FLOP", put_flops, SHOWN_FLOPS | SHOWN_WIDE, FOCUS_FLOPS},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static bool is_shown(const struct cells *c, const struct column *col)
{
    const struct op_table *t = c->table;
    bool grouped = c->o->by != OP_BY_NAME;
    bool crowded = (grouped || c->o->focus != FOCUS_TIME) && !c->o->wide;
    bool in_focus = col->focus != FOCUS_TIME && col->focus == c->o->focus;
    if ((col->shown & SHOWN_DEVICE) && !t->has_device) return false;
    if ((col->shown & SHOWN_MEMORY) && !t->has_memory) return false;
    if ((col->shown & SHOWN_FLOPS) && !t->has_flops) return false;
    if ((col->shown & SHOWN_WIDE) && !c->o->wide && !in_focus) return false;
    if ((col->shown & SHOWN_GROUP) && !grouped) return false;
    if ((col->shown & SHOWN_SINGLE) && crowded) return false;
    return true;
}

static const char *group_head(enum op_by by)
{
    switch (by) {
    case OP_BY_SHAPE: return "input shapes";
    case OP_BY_STACK: return "called from";
    case OP_BY_MODULE: return "module";
    case OP_BY_NAME: break;
    }
    return "";
}

static void choose_units(struct cells *c)
{
    double time = 0, avg = 0;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct op_row *r = &c->table->rows[i];
        time = fmax(time, fmax((double)r->cpu_total_ns, (double)r->device_total_ns));
        avg = fmax(avg, fmax(c->o->wide ? r->cpu_avg_ns : 0, r->device_avg_ns));
    }
    c->time = cell_unit_total(time);
    c->avg = cell_unit_each(avg);
}

static void add_row(const struct cells *c, const struct op_row *r, struct text_table *text)
{
    int col = 0;
    text_table_row(text, is_device_note(r) ? TEXT_DIM : TEXT_PLAIN);
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!is_shown(c, &columns[i])) continue;
        text_table_cell(text, col++, columns[i].put(c, r).s);
    }
}

static void print_totals(const struct cells *c)
{
    const struct op_table *t = c->table;
    struct buf *out = c->s->out;
    screen_more(c->s, t->n_rows);
    buf_printf(out, "\n  self CPU time total %s", human_time(t->self_cpu_ns).s);
    if (t->has_device)
        buf_printf(out, "   self GPU time total %s", human_time(t->self_device_ns).s);
    buf_addc(out, '\n');
    if (t->n_unfinished)
        buf_printf(out, "  left out: %s spans that were still open when the profiler stopped\n",
                   human_count(t->n_unfinished).s);
    buf_addc(out, '\n');
}

static void print_rows(const struct cells *c)
{
    struct text_table text;
    text_table_init(&text);
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!is_shown(c, &columns[i])) continue;
        bool is_group = columns[i].put == put_group;
        text_table_col(&text, is_group ? group_head(c->o->by) : columns[i].head,
                       i == 0 || is_group ? TEXT_LEFT : TEXT_RIGHT);
    }
    for (uint32_t i = 0; i < c->n_rows; i++) add_row(c, &c->table->rows[i], &text);
    text_table_print(&text, c->s->out, 2, c->o->wide ? WIDE : c->s->width, c->s->color);
    text_table_done(&text);
}

void view_table_text(const struct screen *s, const struct op_table *table,
                     const struct view_table_opts *o)
{
    struct cells c = {.s = s, .table = table, .o = o};
    c.n_rows = s->limit < table->n_rows ? s->limit : table->n_rows;
    choose_units(&c);
    buf_printf(s->out, "times in %s", c.time.name);
    if (table->has_device || o->wide) buf_printf(s->out, ", averages in %s", c.avg.name);
    if (table->has_device || o->wide) buf_adds(s->out, ", % of the total below");
    buf_adds(s->out, "\n\n");
    print_rows(&c);
    print_totals(&c);
    static const struct screen_next next[] = {
        {"table %s --by shape --wide", "which shapes cost most, with memory and FLOPs"},
        {"kernels %s", "kernels with occupancy and achieved rates"},
    };
    screen_next(s, next, table->has_device ? 2 : 1);
}

static void json_group(const struct op_row *r, enum op_by by, struct jout *j)
{
    if (by == OP_BY_SHAPE) jout_raw(j, "input_shapes", r->group.n ? r->group : str_c("[]"));
    if (by == OP_BY_MODULE) jout_str(j, "module", r->group);
    if (by != OP_BY_STACK) return;
    jout_arr(j, "stack");
    for (struct str rest = r->group; rest.n;) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        jout_str(j, NULL, str_from(rest.p, n));
        rest = end ? str_from(end + 1, rest.n - n - 1) : str_from(rest.p, 0);
    }
    jout_end_arr(j);
}

static void json_row(const struct op_row *r, enum op_by by, struct jout *j)
{
    jout_obj(j, NULL);
    jout_str(j, "name", r->name);
    jout_cstr(j, "device", r->device);
    jout_bool(j, "is_annotation", r->is_annotation);
    json_group(r, by, j);
    jout_uint(j, "calls", r->calls);
    jout_us(j, "self_cpu_us", r->self_cpu_ns);
    jout_num(j, "self_cpu_pct", r->self_cpu_pct, 4);
    jout_us(j, "cpu_total_us", r->cpu_total_ns);
    jout_num(j, "cpu_total_pct", r->cpu_total_pct, 4);
    jout_num(j, "cpu_avg_us", r->cpu_avg_ns / 1e3, 6);
    jout_us(j, "self_device_us", r->self_device_ns);
    jout_num(j, "self_device_pct", r->self_device_pct, 4);
    jout_us(j, "device_total_us", r->device_total_ns);
    jout_num(j, "device_avg_us", r->device_avg_ns / 1e3, 6);
    jout_int(j, "cpu_mem_bytes", r->cpu_mem_bytes);
    jout_int(j, "self_cpu_mem_bytes", r->self_cpu_mem_bytes);
    jout_int(j, "device_mem_bytes", r->device_mem_bytes);
    jout_int(j, "self_device_mem_bytes", r->self_device_mem_bytes);
    jout_uint(j, "flops", r->flops);
    jout_end_obj(j);
}

void view_table_json(struct buf *out, const struct context *cx, const struct op_table *table,
                     const struct view_table_opts *o, uint32_t limit)
{
    static const char *const by[] = {"name", "shape", "stack", "module"};
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "by", by[o->by]);
    jout_uint(&j, "n_rows", table->n_rows);
    jout_arr(&j, "rows");
    for (uint32_t i = 0; i < table->n_rows && i < limit; i++) json_row(&table->rows[i], o->by, &j);
    jout_end_arr(&j);
    jout_obj(&j, "totals");
    jout_us(&j, "self_cpu_us", table->self_cpu_ns);
    jout_us(&j, "self_device_us", table->self_device_ns);
    jout_end_obj(&j);
    jout_uint(&j, "n_unfinished", table->n_unfinished);
    view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    jout_end_obj(&j);
}
