/* view_kernels.c: see view_kernels.h. */
#include "report/view_kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/cells.h"
#include "report/source_out.h"
#include "report/view_comm.h"
#include "report/view_quality.h"

#define WIDE 240 /* columns of the terminal that --wide expects */

enum column {
    COL_NAME,
    COL_OP,
    COL_LINE,
    COL_CALLS,
    COL_TOTAL,
    COL_SHARE,
    COL_MEAN,
    COL_MEDIAN,
    COL_P95,
    COL_MAX,
    COL_OCCUPANCY,
    COL_LIMITER,
    COL_RATE,
    COL_ROOF,
    COL_OF_ROOF,
    COL_HEADROOM,
    COL_FAMILY,
    COL_GRID,
    COL_BLOCK,
    COL_REGISTERS,
    COL_SHARED,
    N_COLUMNS
};

static const struct {
    const char *head;
    enum text_align align;
    bool wide; /* only with --wide */
} columns[N_COLUMNS] = {
    [COL_NAME] = {"kernel", TEXT_LEFT, false},
    [COL_OP] = {"launched by", TEXT_LEFT, true},
    [COL_LINE] = {"line", TEXT_LEFT, true},
    [COL_CALLS] = {"calls", TEXT_RIGHT, false},
    [COL_TOTAL] = {"total", TEXT_RIGHT, false},
    [COL_SHARE] = {"%", TEXT_RIGHT, false},
    [COL_MEAN] = {"mean", TEXT_RIGHT, true},
    [COL_MEDIAN] = {"median", TEXT_RIGHT, false},
    [COL_P95] = {"p95", TEXT_RIGHT, false},
    [COL_MAX] = {"max", TEXT_RIGHT, true},
    [COL_OCCUPANCY] = {"occ %", TEXT_RIGHT, false},
    [COL_LIMITER] = {"limited by", TEXT_LEFT, false},
    [COL_RATE] = {"achieved", TEXT_RIGHT, false},
    [COL_ROOF] = {"roof", TEXT_RIGHT, true},
    [COL_OF_ROOF] = {"of roof", TEXT_RIGHT, true},
    [COL_HEADROOM] = {"headroom", TEXT_RIGHT, true},
    [COL_FAMILY] = {"family", TEXT_LEFT, true},
    [COL_GRID] = {"grid", TEXT_LEFT, true},
    [COL_BLOCK] = {"block", TEXT_LEFT, true},
    [COL_REGISTERS] = {"regs", TEXT_RIGHT, true},
    [COL_SHARED] = {"shared", TEXT_RIGHT, true},
};

struct view {
    const struct screen *s;
    bool shown[N_COLUMNS];
    struct cell_unit total, each;
    bool wide, roof;
};

static struct cell cell_dims(const uint32_t d[3])
{
    struct cell c = {"-"};
    if (d[0]) snprintf(c.s, sizeof c.s, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, d[0], d[1], d[2]);
    return c;
}

/* Operations per second of what multiplies, else bytes; times `factor`. */
static struct cell cell_rate(const struct kernel_row *r, double factor)
{
    bool multiplies = r->flops > 0;
    double v = (multiplies ? r->tflop_per_s : r->gb_per_s) * factor;
    struct cell c = cell_number(v);
    size_t n = strlen(c.s);
    if (isfinite(v)) snprintf(c.s + n, sizeof c.s - n, " %s", multiplies ? "TFLOP/s" : "GB/s");
    return c;
}

/* On the wall clock; what was not replayed shows nothing. */
static struct cell cell_headroom(const struct view *v, const struct kernel_row *r)
{
    struct cell c = {"-"};
    return r->wall_ns >= 0 ? cell_time((double)r->wall_ns, v->total) : c;
}

static struct cell cell_op(const struct kernel_row *r, bool wide)
{
    struct cell c = cell_text(r->op, wide ? 40 : 26);
    size_t n = strlen(c.s);
    if (r->n_ops > 1) snprintf(c.s + n, sizeof c.s - n, " +%" PRIu32, r->n_ops - 1);
    return c;
}

/* "train.py:8 loss", as much of it as tells it from others. */
static struct cell cell_line(const struct kernel_row *r, bool wide)
{
    struct cell c = {"-"};
    if (!r->source) return c;
    const struct frame *f = &r->source->place;
    struct buf text;
    buf_init(&text);
    buf_add_str(&text, wide ? f->file : frame_file(f->file));
    frame_print_line(&text, f->line);
    buf_printf(&text, " " STR_FMT, STR_ARG(f->function));
    c = cell_text(buf_str(&text), wide ? 60 : 30);
    buf_done(&text);
    return c;
}

static struct cell cell_of(const struct view *v, const struct kernel_row *r, enum column col)
{
    struct cell c = {"-"};
    switch (col) {
    case COL_NAME: return cell_text(r->short_name, 120);
    case COL_OP: return cell_op(r, v->wide);
    case COL_LINE: return cell_line(r, v->wide);
    case COL_CALLS: return cell_count(r->calls);
    case COL_TOTAL: return cell_time((double)r->total_ns, v->total);
    case COL_SHARE: return cell_pct(r->share_pct);
    case COL_MEAN: return cell_time(r->mean_ns, v->each);
    case COL_MEDIAN: return cell_time((double)r->median_ns, v->each);
    case COL_P95: return cell_time((double)r->p95_ns, v->each);
    case COL_MAX: return cell_time((double)r->max_ns, v->each);
    case COL_OCCUPANCY:
        if (isfinite(r->occupancy_pct)) snprintf(c.s, sizeof c.s, "%.0f", r->occupancy_pct);
        break;
    case COL_LIMITER: return r->limiter ? cell_text(str_c(r->limiter), 20) : c;
    case COL_RATE: return cell_rate(r, 1);
    case COL_ROOF: return cell_rate(r, 100 / r->roof_pct);
    case COL_OF_ROOF:
        if (isfinite(r->roof_pct)) snprintf(c.s, sizeof c.s, "%.0f %%", r->roof_pct);
        break;
    case COL_HEADROOM: return cell_headroom(v, r);
    case COL_FAMILY: return cell_text(str_c(kernel_family_name(r->family)), 20);
    case COL_GRID: return cell_dims(r->config.grid);
    case COL_BLOCK: return cell_dims(r->config.block);
    case COL_REGISTERS: return cell_count(r->config.registers);
    case COL_SHARED: return cell_bytes(r->config.shared_bytes);
    case N_COLUMNS: break;
    }
    return c;
}

static void choose_columns(struct view *v, enum kernel_by by, bool wide)
{
    static const enum column roof[] = {COL_NAME,  COL_OP,   COL_CALLS,   COL_TOTAL,
                                       COL_SHARE, COL_RATE, COL_OF_ROOF, COL_HEADROOM};
    for (int i = 0; i < N_COLUMNS; i++) v->shown[i] = wide || (!v->roof && !columns[i].wide);
    for (size_t i = 0; v->roof && i < sizeof roof / sizeof *roof; i++) v->shown[roof[i]] = true;
    if (v->roof) return;
    if (!wide) v->shown[COL_ROOF] = v->shown[COL_OF_ROOF] = v->shown[COL_HEADROOM] = false;
    if (by == KERNEL_BY_OP) v->shown[COL_OP] = true;
    if (by == KERNEL_BY_CONFIG) v->shown[COL_GRID] = v->shown[COL_BLOCK] = true;
    if (wide || by == KERNEL_BY_NAME) return;
    v->shown[COL_LIMITER] = v->shown[COL_P95] = false; /* make room */
}

/* Lines are shown where a compiler says which, in the room of two other columns. */
static void show_lines(struct view *v, const struct kernel_stats *k)
{
    bool any = false;
    for (uint32_t i = 0; i < k->n_rows && !any; i++) any = k->rows[i].source;
    v->shown[COL_LINE] = any && !v->roof;
    if (any && !v->wide) v->shown[COL_LIMITER] = v->shown[COL_P95] = false;
}

static void choose_units(struct view *v, const struct kernel_stats *k)
{
    int64_t total = 0, each = 0;
    for (uint32_t i = 0; i < k->n_rows && i < v->s->limit; i++) {
        if (k->rows[i].total_ns > total) total = k->rows[i].total_ns;
        if (k->rows[i].p95_ns > each) each = k->rows[i].p95_ns;
    }
    v->total = cell_unit_total((double)total);
    v->each = cell_unit_each((double)each);
}

static void print_rows(const struct view *v, const struct kernel_stats *k, int width)
{
    struct text_table text;
    text_table_init(&text);
    for (int c = 0; c < N_COLUMNS; c++)
        if (v->shown[c]) text_table_col(&text, columns[c].head, columns[c].align);
    for (uint32_t i = 0; i < k->n_rows && i < v->s->limit; i++) {
        int at = 0;
        text_table_row(&text, TEXT_PLAIN);
        for (int c = 0; c < N_COLUMNS; c++)
            if (v->shown[c]) text_table_cell(&text, at++, cell_of(v, &k->rows[i], c).s);
    }
    text_table_print(&text, v->s->out, 2, width, v->s->color);
    text_table_done(&text);
}

static void put_ceilings(const struct screen *s, const struct roofline *f)
{
    const struct ceilings *c = &f->ceilings;
    struct buf line;
    buf_init(&line);
    buf_printf(&line, STR_FMT " reaches ", STR_ARG(c->gpu.n ? c->gpu : str_c("this GPU")));
    if (c->memory.from == CEILING_NONE) buf_adds(&line, "unknown rates: it is not in the table");
    else buf_printf(&line, "%.2f TB/s", c->memory.per_s / 1e12);
    for (int p = PRECISIONS; p-- > 0;)
        if (roofline_uses(f, (enum precision)p) && c->compute[p].from != CEILING_NONE)
            buf_printf(&line, ", %.0f TFLOP/s in %s", c->compute[p].per_s / 1e12,
                       precision_name((enum precision)p));
    buf_adds(&line, c->memory.from == CEILING_MEASURED ? " (measured)" : "");
    double pct = roofline_pct(f);
    if (isfinite(pct))
        buf_printf(&line,
                   "; the kernels run at %.0f %% of it, where their work is known (%s of %s)", pct,
                   human_time(f->known_ns).s, human_time(f->kernel_ns).s);
    text_wrap(s->out, buf_c(&line), 0, s->width);
    buf_addc(s->out, '\n');
    buf_done(&line);
}

static void put_replayed(const struct screen *s, const struct kernel_stats *k)
{
    if (!k->captured_ns) return;
    buf_printf(
        s->out,
        "  %s of it replayed from CUDA graphs; what was captured is known for %.0f %% of that\n",
        human_time(k->replayed_ns).s, stats_pct((double)k->captured_ns, (double)k->replayed_ns));
}

void view_kernels_text(const struct screen *s, const struct kernel_stats *k,
                       const struct kernels_how *how)
{
    struct view v = {.s = s, .wide = how->wide, .roof = how->roof != NULL};
    if (!k->n_kernels && !k->n_copies && !k->n_sets) {
        buf_adds(s->out, "the trace has no device work: it was recorded on the CPU only\n");
        return;
    }
    choose_columns(&v, how->by, how->wide);
    show_lines(&v, k);
    choose_units(&v, k);
    buf_printf(s->out, "%s kernel%s, ", human_count(k->n_kernels).s, k->n_kernels == 1 ? "" : "s");
    buf_printf(s->out, "%s cop%s, ", human_count(k->n_copies).s, k->n_copies == 1 ? "y" : "ies");
    buf_printf(s->out, "%s memset%s: ", human_count(k->n_sets).s, k->n_sets == 1 ? "" : "s");
    buf_printf(s->out, "%s of device work; totals in %s, ", human_time(k->work_ns).s, v.total.name);
    if (how->roof) buf_printf(s->out, "headroom in %s of wall clock\n", v.total.name);
    else buf_printf(s->out, "single calls in %s\n\n", v.each.name);
    if (how->roof) put_ceilings(s, how->roof);
    print_rows(&v, k, how->wide ? WIDE : s->width);
    screen_more(s, k->n_rows);
    put_replayed(s, k);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"kernels %s --by op", "grouped by the operator that launches them"},
        {"kernels %s --roof", "how close kernels are to the roofline, and the headroom"},
        {"launches %s", "how far the CPU runs ahead of the GPU"},
        {"kernels %s --by config", "grouped by launch configuration"},
    };
    screen_next(s, next + (how->roof ? 2 : how->by == KERNEL_BY_OP ? 1 : 0), 2);
}

static void json_dims(struct jout *j, const char *key, const uint32_t d[3])
{
    jout_arr(j, key);
    for (int i = 0; i < 3; i++) jout_uint(j, NULL, d[i]);
    jout_end_arr(j);
}

static void json_launch(struct jout *j, const struct kernel_row *r)
{
    if (r->kind != KIND_KERNEL) return;
    jout_num(j, "occupancy_pct", r->occupancy_pct, 2);
    jout_cstr(j, "occupancy_source",
              !isfinite(r->occupancy_pct) ? NULL
              : r->occupancy_recorded     ? "recorded"
                                          : "computed");
    jout_cstr(j, "limiter", r->limiter);
    jout_uint(j, "registers", r->config.registers);
    jout_uint(j, "shared_bytes", r->config.shared_bytes);
    json_dims(j, "grid", r->config.grid);
    json_dims(j, "block", r->config.block);
    jout_uint(j, "configs", r->n_configs);
}

static void json_source(struct jout *j, const struct kernel_row *r)
{
    if (!r->source) return;
    jout_obj(j, "source");
    jout_str(j, "file", r->source->place.file);
    jout_int(j, "line", r->source->place.line);
    jout_str(j, "function", r->source->place.function);
    jout_str(j, "module", r->source->module);
    jout_end_obj(j);
}

static void json_roof(struct jout *j, const struct kernel_row *r)
{
    jout_cstr(j, "work_from", roof_from_name(r->from));
    if (!r->known_ns) return;
    jout_num(j, "roof_us", r->roof_ns / 1e3, 3);
    jout_num(j, "of_roof_pct", r->roof_pct, 2);
    jout_us(j, "headroom_us", r->headroom_ns);
    if (r->wall_ns >= 0) jout_us(j, "headroom_wall_us", r->wall_ns);
}

static void json_row(struct jout *j, const struct kernel_row *r)
{
    jout_obj(j, NULL);
    jout_str(j, "name", r->name);
    jout_str(j, "short_name", r->short_name);
    jout_cstr(j, "kind", kind_name(r->kind));
    jout_cstr(j, "family", kernel_family_name(r->family));
    jout_uint(j, "calls", r->calls);
    jout_uint(j, "graph_calls", r->graph_calls);
    jout_us(j, "total_us", r->total_ns);
    jout_num(j, "share_pct", r->share_pct, 4);
    jout_num(j, "mean_us", r->mean_ns / 1e3, 6);
    jout_us(j, "min_us", r->min_ns);
    jout_us(j, "median_us", r->median_ns);
    jout_us(j, "p95_us", r->p95_ns);
    jout_us(j, "max_us", r->max_ns);
    json_launch(j, r);
    if (r->bytes >= 0) {
        jout_int(j, "bytes", r->bytes);
        jout_num(j, "gb_per_s", r->gb_per_s, 3);
    }
    if (r->flops) {
        jout_uint(j, "flops", r->flops);
        jout_num(j, "tflop_per_s", r->tflop_per_s, 3);
        jout_cstr(j, "precision", precision_name(r->precision));
    }
    json_roof(j, r);
    jout_str(j, "op", r->op);
    jout_uint(j, "ops", r->n_ops);
    json_source(j, r);
    if (r->captured) source_json_captured(j, r->captured);
    jout_end_obj(j);
}

void view_kernels_json(struct buf *out, const struct context *cx, const struct kernel_stats *k,
                       uint32_t limit)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_uint(&j, "n_rows", k->n_rows);
    jout_arr(&j, "rows");
    for (uint32_t i = 0; i < k->n_rows && i < limit; i++) json_row(&j, &k->rows[i]);
    jout_end_arr(&j);
    jout_obj(&j, "totals");
    jout_us(&j, "work_us", k->work_ns);
    jout_uint(&j, "kernels", k->n_kernels);
    jout_uint(&j, "copies", k->n_copies);
    jout_uint(&j, "memsets", k->n_sets);
    jout_us(&j, "replayed_us", k->replayed_ns);
    jout_us(&j, "captured_us", k->captured_ns);
    jout_end_obj(&j);
    view_comm_json(&j, cx);
    view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    jout_end_obj(&j);
}
