/* view_top_kernels.c: see view_top_kernels.h. */
#include "report/view_top_kernels.h"

#include <math.h>
#include <stdio.h>

#include "analyze/kernels/top_kernels.h"
#include "analyze/rules/rule.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/cells.h"

#define SHOWN      5
#define SHOWN_JSON 12
/* From here on kernels run as fast as kernels do. */
#define AT_ROOF_PCT 75.0
/* Communication below this share goes without saying. */
#define LEAST_TALK_PCT 5.0
/* Rows that fill less than this of the device's time say nothing. */
#define LEAST_SHARE_PCT 1.0

static const char *const levers[] = {
    "fewer steps (denoising steps, tokens, epochs)",
    "caching repeated results (features, KV, embeddings)",
    "a narrower type (fp8, int8), if the model allows it",
    "sparsity, or a smaller model",
};

static bool is_shown(const struct context *cx)
{
    return wall_of(cx)->bound == BOUND_GPU && top_kernels_of(cx)->by_op.n_rows;
}

/* Nothing above low is left to fix, and the kernels are near their roof. */
static bool at_roof(const struct context *cx)
{
    for (uint32_t i = 0; i < findings_of(cx)->n; i++)
        if (findings_of(cx)->items[i]->severity > SEVERITY_LOW) return false;
    return wall_of(cx)->bound == BOUND_GPU && top_kernels_of(cx)->roof_pct >= AT_ROOF_PCT;
}

static double wall_pct(const struct context *cx, int64_t ns)
{
    return stats_pct(ns, undistort_of(cx)->plain_ns);
}

static void put_rate(struct text_table *table, int col, const struct kernel_row *r)
{
    bool multiplies = r->flops > 0;
    double v = multiplies ? r->tflop_per_s : r->gb_per_s / 1e3;
    if (isfinite(v))
        text_table_cellf(table, col, "%.*f %s", v < 10 ? 2 : 0, v, multiplies ? "TFLOP/s" : "TB/s");
    else text_table_cell(table, col, "-");
}

/* The line it was compiled from, where that is known: an operator has many. */
static void put_origin(struct text_table *table, const struct kernel_row *r)
{
    struct buf line;
    buf_init(&line);
    if (r->source) {
        buf_add_str(&line, frame_file(r->source->place.file));
        frame_print_line(&line, r->source->place.line);
    }
    text_table_cell(table, 1, cell_text(line.n ? buf_str(&line) : r->op, 24).s);
    buf_done(&line);
}

static void put_row(struct text_table *table, const struct context *cx, const struct kernel_row *r)
{
    text_table_row(table, TEXT_PLAIN);
    text_table_cell(table, 0, cell_text(r->short_name, 60).s);
    put_origin(table, r);
    text_table_cellf(table, 2, "%.1f %%", r->share_pct);
    put_rate(table, 3, r);
    if (isfinite(r->roof_pct)) text_table_cellf(table, 4, "%.0f %%", r->roof_pct);
    else text_table_cell(table, 4, "unknown");
    if (r->wall_ns > 0)
        text_table_cellf(table, 5, "%s, %.1f %%", human_time(r->wall_ns).s,
                         wall_pct(cx, r->wall_ns));
    else text_table_cell(table, 5, r->known_ns ? "0" : "-");
}

/* "the kernels run at 87 % of what this GPU reaches (94 % of their time is known)" */
static void put_sentence(struct buf *out, const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    double pct = top_kernels_of(cx)->roof_pct;
    double known = stats_pct(f->known_ns, f->kernel_ns);
    if (f->ceilings.memory.from == CEILING_NONE)
        buf_adds(out, "what fills the GPU's time (what this GPU reaches is unknown)");
    else if (isfinite(pct))
        buf_printf(out,
                   "what fills the GPU's time: its kernels run at %.0f %% of what this GPU "
                   "reaches for such work",
                   pct);
    else
        buf_printf(out,
                   "what fills the GPU's time (the work of %.0f %% of it is known; record with "
                   "record_shapes=True for more)",
                   known);
}

static void put_communication(struct buf *out, const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    double all = (double)f->kernel_ns + (double)f->talking_ns;
    double pct = stats_pct(f->talking_ns, all);
    if (pct >= LEAST_TALK_PCT) buf_printf(out, "; %.0f %% of it is communication", pct);
}

static void put_levers(const struct screen *s, const struct context *cx)
{
    struct buf text;
    buf_init(&text);
    buf_printf(
        &text,
        "The kernels run at %.0f %% of what this GPU reaches, so there is little left to gain in "
        "them. What remains is to change the work itself, with no predicted gain: ",
        top_kernels_of(cx)->roof_pct);
    for (size_t i = 0; i < sizeof levers / sizeof *levers; i++)
        buf_printf(&text, "%s%s", i ? "; " : "", levers[i]);
    buf_adds(&text, ".");
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&text), 2, s->width);
    buf_done(&text);
}

void view_top_kernels_text(const struct screen *s, const struct context *cx)
{
    static const char *const heads[] = {"kernel",  "launched by", "of GPU time",
                                        "reaches", "of its roof", "headroom"};
    if (!is_shown(cx)) return;
    struct text_table table;
    text_table_init(&table);
    for (int i = 0; i < 6; i++) text_table_col(&table, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    const struct kernel_stats *k = &top_kernels_of(cx)->by_op;
    for (uint32_t i = 0; i < k->n_rows && i < SHOWN; i++)
        if (i == 0 || k->rows[i].share_pct >= LEAST_SHARE_PCT) put_row(&table, cx, &k->rows[i]);
    buf_adds(s->out, "\n  ");
    struct buf line;
    buf_init(&line);
    put_sentence(&line, cx);
    put_communication(&line, cx);
    text_wrap(s->out, buf_c(&line), 2, s->width);
    buf_done(&line);
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
    if (at_roof(cx)) put_levers(s, cx);
}

void view_top_kernels_md(struct buf *out, const struct context *cx)
{
    if (!is_shown(cx)) return;
    const struct kernel_stats *k = &top_kernels_of(cx)->by_op;
    buf_adds(out, "\n");
    put_sentence(out, cx);
    put_communication(out, cx);
    buf_adds(out, "\n\n| kernel | launched by | of GPU time | of its roof | headroom |\n"
                  "|---|---|--:|--:|--:|\n");
    for (uint32_t i = 0; i < k->n_rows && i < SHOWN; i++) {
        const struct kernel_row *r = &k->rows[i];
        if (i && r->share_pct < LEAST_SHARE_PCT) break;
        char name[64], op[48];
        buf_printf(out, "| `%s` | `%s` | %.1f %% | ",
                   human_cut(r->short_name, 50, name, sizeof name),
                   human_cut(r->op, 30, op, sizeof op), r->share_pct);
        if (isfinite(r->roof_pct)) buf_printf(out, "%.0f %% | ", r->roof_pct);
        else buf_adds(out, "not known | ");
        buf_printf(out, "%s |\n", r->wall_ns > 0 ? human_time(r->wall_ns).s : "-");
    }
    if (!at_roof(cx)) return;
    buf_adds(out, "\nThe kernels run at their roof. What remains, without a promise: ");
    for (size_t i = 0; i < sizeof levers / sizeof *levers; i++)
        buf_printf(out, "%s%s", i ? "; " : "", levers[i]);
    buf_adds(out, ".\n");
}

static void json_kernel(struct jout *j, const struct context *cx, const struct kernel_row *r)
{
    jout_obj(j, NULL);
    jout_str(j, "name", r->name);
    jout_str(j, "short_name", r->short_name);
    jout_str(j, "op", r->op);
    jout_cstr(j, "family", kernel_family_name(r->family));
    jout_uint(j, "calls", r->calls);
    jout_us(j, "total_us", r->total_ns);
    jout_num(j, "share_pct", r->share_pct, 3);
    jout_cstr(j, "work_from", roof_from_name(r->from));
    if (r->flops) jout_num(j, "tflop_per_s", r->tflop_per_s, 3);
    if (isfinite(r->gb_per_s)) jout_num(j, "gb_per_s", r->gb_per_s, 3);
    if (r->known_ns) {
        jout_num(j, "of_roof_pct", r->roof_pct, 2);
        jout_us(j, "headroom_us", r->headroom_ns);
    }
    if (r->wall_ns >= 0) {
        jout_us(j, "headroom_wall_us", r->wall_ns);
        jout_num(j, "headroom_wall_pct", wall_pct(cx, r->wall_ns), 3);
    }
    jout_end_obj(j);
}

static void json_roofline(struct jout *j, const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    jout_obj(j, "roofline");
    jout_str(j, "gpu", f->ceilings.gpu);
    jout_cstr(j, "from", ceiling_from_name(f->ceilings.memory.from));
    if (f->ceilings.memory.from != CEILING_NONE)
        jout_num(j, "memory_gb_per_s", f->ceilings.memory.per_s / 1e9, 1);
    if (isfinite(top_kernels_of(cx)->roof_pct))
        jout_num(j, "of_roof_pct", top_kernels_of(cx)->roof_pct, 2);
    else jout_null(j, "of_roof_pct");
    jout_us(j, "kernels_us", f->kernel_ns);
    jout_us(j, "known_us", f->known_ns);
    jout_us(j, "communication_us", f->talking_ns);
    jout_bool(j, "at_roof", at_roof(cx));
    jout_arr(j, "levers");
    for (size_t i = 0; at_roof(cx) && i < sizeof levers / sizeof *levers; i++)
        jout_cstr(j, NULL, levers[i]);
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_top_kernels_json(struct jout *j, const struct context *cx)
{
    const struct kernel_stats *k = &top_kernels_of(cx)->by_op;
    json_roofline(j, cx);
    jout_arr(j, "kernels");
    for (uint32_t i = 0; i < k->n_rows && i < SHOWN_JSON; i++) json_kernel(j, cx, &k->rows[i]);
    jout_end_arr(j);
}
