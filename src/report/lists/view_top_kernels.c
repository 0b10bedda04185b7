/* view_top_kernels.c: see views_kernels.h. */
#include "report/lists/views_kernels.h"

#include <math.h>
#include <stdio.h>

#include "analyze/answer/answer.h"
#include "analyze/kernels/known.h"
#include "analyze/kernels/top_kernels.h"
#include "analyze/names/program.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/cells.h"
#include "report/md.h"
#include "report/report_private.h"
#include "results/results.h"

#define SHOWN      5
#define SHOWN_JSON 12
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

static bool view_top_kernels_is_shown(const struct context *cx)
{
    return wall_of(cx)->bound == BOUND_GPU && top_kernels_of(cx)->by_op.n_rows;
}

static bool at_roof(const struct context *cx)
{
    return answer_of(cx)->kind == ANSWER_ALREADY_FAST;
}

static double wall_pct(const struct context *cx, int64_t ns)
{
    return stats_pct(ns, undistort_of(cx)->plain_ns);
}

static void view_top_kernels_put_rate(struct text_table *table, int col, const struct kernel_row *r)
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
    if (r->source && r->source->place.file.n) {
        buf_add_str(&line, frame_file(r->source->place.file));
        frame_print_line(&line, r->source->place.line);
    }
    text_table_cell(table, 1, cell_text(line.n ? buf_str(&line) : r->op, 24).s);
    buf_done(&line);
}

static void view_top_kernels_put_row(struct text_table *table, const struct context *cx,
                                     const struct kernel_row *r)
{
    text_table_row(table, TEXT_PLAIN);
    text_table_cell(table, 0, cell_text(r->short_name, 60).s);
    put_origin(table, r);
    text_table_cellf(table, 2, "%.1f %%", r->share_pct);
    view_top_kernels_put_rate(table, 3, r);
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
    else if (isfinite(pct) && answer_of(cx)->kind == ANSWER_FASTER &&
             answer_of(cx)->limit == LIMIT_GPU)
        buf_printf(
            out,
            "what fills the GPU's time: these kernels reach %.0f %% of what kernels of their "
            "kind can; finding 1 replaces them by faster ones",
            pct);
    else if (isfinite(pct))
        buf_printf(out,
                   "what fills the GPU's time: its kernels reach %.0f %% of what this GPU can do",
                   pct);
    else
        buf_printf(out, "what fills the GPU's time (the work of %.0f %% of it is known%s)", known,
                   trace_meta(cx->t, TRACE_META_RECORDED).p ? ""
                   : program_is_torch(cx->t) ? "; record with record_shapes=True for more"
                                             : "");
}

static void put_communication(struct buf *out, const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    double all = (double)f->kernel_ns + (double)f->talking_ns;
    double pct = stats_pct(f->talking_ns, all);
    if (pct >= LEAST_TALK_PCT) buf_printf(out, "; %.0f %% of it is communication", pct);
}

void view_top_kernels_text(const struct screen *s, const struct context *cx)
{
    static const char *const heads[] = {"kernel",  "launched by", "of GPU time",
                                        "reaches", "of its roof", "headroom"};
    if (!view_top_kernels_is_shown(cx)) return;
    struct text_table table;
    text_table_init(&table);
    for (int i = 0; i < 6; i++) text_table_col(&table, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    const struct kernel_stats *k = &top_kernels_of(cx)->by_op;
    for (uint32_t i = 0; i < k->n_rows && i < SHOWN; i++)
        if (i == 0 || k->rows[i].share_pct >= LEAST_SHARE_PCT)
            view_top_kernels_put_row(&table, cx, &k->rows[i]);
    buf_adds(s->out, "\n  ");
    struct buf line;
    buf_init(&line);
    put_sentence(&line, cx);
    put_communication(&line, cx);
    text_wrap(s->out, buf_c(&line), 2, s->width);
    buf_done(&line);
    screen_table(s, &table);
    text_table_done(&table);
    if (!cx->kept[PASS_KNOWN] || !*known_of(cx)->sentence) return;
    buf_adds(s->out, "  ");
    text_wrap(s->out, known_of(cx)->sentence, 2, s->width);
}

void view_top_kernels_md(struct buf *out, const struct context *cx)
{
    if (!view_top_kernels_is_shown(cx)) return;
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
        buf_adds(out, "| ");
        md_code(out, human_cut(r->short_name, 50, name, sizeof name));
        buf_adds(out, " | ");
        md_code(out, human_cut(r->op, 30, op, sizeof op));
        buf_printf(out, " | %.1f %% | ", r->share_pct);
        if (isfinite(r->roof_pct)) buf_printf(out, "%.0f %% | ", r->roof_pct);
        else buf_adds(out, "not known | ");
        buf_printf(out, "%s |\n", r->wall_ns > 0 ? human_time(r->wall_ns).s : "-");
    }
}

static const struct roofline *roofline_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value roofline_memory(const struct rows *r, uint32_t i)
{
    const struct ceiling *m = &roofline_at(r, i)->ceilings.memory;
    return m->from == CEILING_NONE ? value_none() : value_num(m->per_s / 1e9);
}

static void roofline_levers(struct jout *j, const struct rows *r, uint32_t i)
{
    (void)i;
    for (size_t k = 0; at_roof(r->cx) && k < sizeof levers / sizeof *levers; k++)
        jout_cstr(j, NULL, levers[k]);
}

VALUE_OF(roofline_gpu, value_text(roofline_at(r, i)->ceilings.gpu))
VALUE_OF(roofline_from, value_cstr(ceiling_from_name(roofline_at(r, i)->ceilings.memory.from)))
VALUE_OF(roofline_of_roof, value_num(top_kernels_of(r->cx)->roof_pct))
VALUE_OF(roofline_at_roof, value_int(at_roof(r->cx)))

/* clang-format off */
static const struct field roofline_fields[] = {
    FIELD_GET(TEXT, "gpu", "", roofline_gpu, "the GPU"),
    FIELD_GET(WORD, "from", "", roofline_from, "where its ceilings are from"),
    FIELD_GET(NUM, "memory_gb_per_s", "", roofline_memory, "what its memory reaches", .decimals = 1, .sparse = true),
    FIELD_GET(PCT, "of_roof_pct", "", roofline_of_roof, "what the kernels reach of what this GPU can do", .decimals = 2),
    FIELD(NS, "kernels_us", "", struct roofline, kernel_ns, "device time in kernels without communication"),
    FIELD(NS, "known_us", "", struct roofline, known_ns, "of it, with a known roof"),
    FIELD(NS, "communication_us", "", struct roofline, talking_ns, "device time in communication"),
    FIELD_GET(FLAG, "at_roof", "", roofline_at_roof, "the kernels leave little"),
    FIELD_PUT(TEXTS, "levers", "", roofline_levers, "what remains to be done then"),
};
/* clang-format on */

const struct result result_roofline = RESULT(
    "roofline", "what the kernels reach of what this GPU can do", roofline_fields, struct roofline);

struct rows rows_in_roofline(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = roofline_of(r->cx), .n = 1};
}

struct rows rows_in_top_kernels(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_kernels(r->cx, &top_kernels_of(r->cx)->by_op, SHOWN_JSON);
}
