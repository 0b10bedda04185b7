/* view_kernels.c: see views_kernels.h. */
#include "report/lists/views_kernels.h"

#include <math.h>

#include "analyze/kernels/known.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

#define WIDE 240 /* columns of the terminal that --wide expects */

/* Columns by how the table is requested; --wide shows all of them. */
static const char *const by_name[] = {"short_name", "calls",  "total_us",      "share_pct",
                                      "median_us",  "p95_us", "occupancy_pct", "tflop_per_s",
                                      "gb_per_s",   NULL};
static const char *const by_op[] = {"short_name",  "op",        "calls",
                                    "total_us",    "share_pct", "median_us",
                                    "tflop_per_s", "gb_per_s",  NULL};
static const char *const by_config[] = {"short_name", "calls",         "total_us",    "share_pct",
                                        "median_us",  "occupancy_pct", "tflop_per_s", "gb_per_s",
                                        "grid",       "block",         NULL};
static const char *const by_shape[] = {"short_name", "op",          "shapes",   "calls", "total_us",
                                       "share_pct",  "tflop_per_s", "gb_per_s", NULL};
static const char *const by_module[] = {"short_name", "module",      "calls",    "total_us",
                                        "share_pct",  "tflop_per_s", "gb_per_s", NULL};
static const char *const by_line[] = {"short_name", "where",       "calls",    "total_us",
                                      "share_pct",  "tflop_per_s", "gb_per_s", NULL};
static const char *const at_roof[] = {"short_name",       "op",          "calls",    "total_us",
                                      "share_pct",        "tflop_per_s", "gb_per_s", "of_roof_pct",
                                      "headroom_wall_us", NULL};
static const char *const wide[] = {
    "short_name", "op",          "calls",    "total_us",    "share_pct",
    "mean_us",    "median_us",   "p95_us",   "max_us",      "occupancy_pct",
    "limiter",    "tflop_per_s", "gb_per_s", "of_roof_pct", "headroom_wall_us",
    "family",     "grid",        "block",    "registers",   "shared_bytes",
    NULL};

static const char *const *choose_columns(const struct kernels_how *how)
{
    if (how->wide) return wide;
    if (how->roof) return at_roof;
    switch (how->by) {
    case KERNEL_BY_NAME: return by_name;
    case KERNEL_BY_CONFIG: return by_config;
    case KERNEL_BY_OP: return by_op;
    case KERNEL_BY_SHAPE: return by_shape;
    case KERNEL_BY_MODULE: return by_module;
    case KERNEL_BY_LINE: return by_line;
    }
    return by_name;
}

/* "train.py:8 loss", as much of it as tells it from others. */
static void put_line(struct text_table *t, int col, const struct kernel_row *r, bool full)
{
    struct buf text;
    char cut[256];
    if (!r->source || !r->source->place.file.n) {
        text_table_cell(t, col, "-");
        return;
    }
    const struct frame *f = &r->source->place;
    buf_init(&text);
    buf_add_str(&text, full ? f->file : frame_file(f->file));
    frame_print_line(&text, f->line);
    buf_printf(&text, " " STR_FMT, STR_ARG(f->function));
    text_table_cell(t, col, human_cut(buf_str(&text), full ? 60 : 30, cut, sizeof cut));
    if (!buf_ok(&text)) t->failed = true;
    buf_done(&text);
}

/* Lines are shown where a compiler says which. */
static bool has_lines(const struct kernel_stats *k)
{
    for (uint32_t i = 0; i < k->n_rows; i++)
        if (k->rows[i].source && k->rows[i].source->place.file.n) return true;
    return false;
}

static bool has_value(const struct rows *r, const char *key)
{
    const struct field *f = result_field(r->of, key);
    for (uint32_t i = 0; i < r->n; i++)
        if (rows_value(r, i, f).known) return true;
    return false;
}

/* Without the rates that no row has. */
static void choose_known(const struct rows *r, const struct kernels_how *how, const char **ret)
{
    for (const char *const *key = choose_columns(how); *key; key++) {
        bool rate = strcmp(*key, "tflop_per_s") == 0 || strcmp(*key, "gb_per_s") == 0;
        if (!rate || has_value(r, *key)) *ret++ = *key;
    }
    *ret = NULL;
}

/* What the rows add up to; 0 where they are in another order than that of their total. */
static double view_kernels_total(const struct kernel_stats *k)
{
    double sum = 0;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        if (i && k->rows[i].total_ns > k->rows[i - 1].total_ns) return 0;
        sum += (double)k->rows[i].total_ns;
    }
    return sum;
}

/* The rows that hold enough of the time, and what those add up to. */
static uint32_t view_kernels_enough(const struct screen *s, const struct kernel_stats *k,
                                    double total, double *ret_sum)
{
    uint32_t n = 0;
    double sum = 0;
    while (n < k->n_rows && !screen_full(s, n, sum, total)) sum += (double)k->rows[n++].total_ns;
    n = screen_rows(s, n, k->n_rows);
    *ret_sum = sum;
    return n;
}

static void view_kernels_print_rows(const struct screen *s, const struct context *cx,
                                    const struct kernel_stats *k, const struct kernels_how *how)
{
    double sum, total = view_kernels_total(k);
    struct rows rows = rows_kernels(cx, k, view_kernels_enough(s, k, total, &sum));
    struct screen to = *s;
    struct result_text t;
    bool lines = !how->roof && how->by < KERNEL_BY_SHAPE && has_lines(k);
    const char *keys[TEXT_COLS + 1];
    choose_known(&rows, how, keys);
    result_text_begin(&t, &result_kernels, NULL, keys);
    result_text_fit(&t, &rows);
    int line = t.table.n_cols;
    if (lines) text_table_col(&t.table, "line", TEXT_LEFT);
    for (uint32_t i = 0; i < rows.n; i++) {
        char name[512];
        result_text_add(&t, &rows, i, human_cut(k->rows[i].short_name, 120, name, sizeof name),
                        TEXT_PLAIN);
        if (lines) put_line(&t.table, line, &k->rows[i], how->wide);
    }
    if (how->wide && to.columns < WIDE) to.columns = WIDE;
    result_text_print(&t, &to);
    result_text_done(&t);
    screen_rest(s, rows.n, k->n_rows, sum, total);
}

/* "2.08 s of GPU work: 69 % attention, 21 % gemm, 9 % triton" */
static void view_kernels_say(const struct screen *s, const struct kernel_stats *k)
{
    struct kernel_family_sum list[FAMILY_COUNT];
    struct buf line;
    int n = kernel_stats_families(k, list);
    double sum = 0, rows_ns = 0;
    buf_init(&line);
    for (int i = 0; i < n; i++) rows_ns += list[i].total_ns;
    if (rows_ns < (double)k->work_ns) buf_printf(&line, "%s of ", human_time((int64_t)rows_ns).s);
    buf_printf(&line, "%s of GPU work", human_time(k->work_ns).s);
    for (int i = 0; i < n && sum < (double)k->work_ns * SCREEN_ENOUGH_PCT / 100; i++) {
        double pct = stats_pct(list[i].total_ns, (double)k->work_ns);
        sum += list[i].total_ns;
        if (pct < 0.5) break;
        buf_printf(&line, "%s %.0f %% %s", i ? "," : ":", pct, kernel_family_name(list[i].family));
    }
    buf_printf(&line, " (%s kernel%s, ", human_count(k->n_kernels).s, k->n_kernels == 1 ? "" : "s");
    buf_printf(&line, "%s cop%s, ", human_count(k->n_copies).s, k->n_copies == 1 ? "y" : "ies");
    buf_printf(&line, "%s memset%s)", human_count(k->n_sets).s, k->n_sets == 1 ? "" : "s");
    text_wrap(s->out, buf_c(&line), 0, s->width);
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
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

/* Rows without a module, line or shapes are marked "-"; how much they hold in total, so that the
 * named ones are not taken for the whole. */
static void put_unknown(const struct screen *s, const struct kernel_stats *k)
{
    static const char *const words[] = {[KERNEL_BY_SHAPE] = "shapes are not known",
                                        [KERNEL_BY_MODULE] = "module is not known",
                                        [KERNEL_BY_LINE] = "line is not known"};
    double unknown = 0, rows_ns = 0;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        rows_ns += (double)k->rows[i].total_ns;
        if (!k->rows[i].where.n) unknown += (double)k->rows[i].total_ns;
    }
    if (k->by < KERNEL_BY_SHAPE || !(unknown > 0)) return;
    buf_printf(s->out, "  rows with \"-\": the %s (%s, %.1f %% of the time of all rows)\n",
               words[k->by], human_time((int64_t)unknown).s, stats_pct(unknown, rows_ns));
}

void view_kernels_text(const struct screen *s, const struct context *cx,
                       const struct kernel_stats *k, const struct kernels_how *how)
{
    if (!k->n_kernels && !k->n_copies && !k->n_sets) {
        buf_adds(s->out, "the trace has no device work: it was recorded on the CPU only\n");
        return;
    }
    view_kernels_say(s, k);
    if (how->roof) buf_adds(s->out, "headroom is on the wall clock\n");
    if (how->roof) put_ceilings(s, how->roof);
    else buf_addc(s->out, '\n');
    view_kernels_print_rows(s, cx, k, how);
    put_unknown(s, k);
    put_replayed(s, k);
    if (*known_of(cx)->sentence) {
        buf_adds(s->out, "  ");
        text_wrap(s->out, known_of(cx)->sentence, 2, s->width);
    }
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"kernels %s --by op", "grouped by the operator that launches them"},
        {"kernels %s --roof", "how close kernels are to the roofline, and the headroom"},
        {"gaps %s --launches", "how far the CPU runs ahead of the GPU"},
        {"kernels %s --by config", "grouped by launch configuration"},
    };
    screen_next(s, next + (how->roof ? 2 : how->by == KERNEL_BY_OP ? 1 : 0), 2);
}

/* ---- JSON */

struct kernels_shown {
    const struct kernel_stats *stats;
    uint32_t most;
};

static const struct kernel_stats *document_at(const struct rows *r, uint32_t i)
{
    return ((const struct kernels_shown *)rows_at(r, i))->stats;
}

static struct value document_n_rows(const struct rows *r, uint32_t i)
{
    return value_int(document_at(r, i)->n_rows);
}

static struct rows document_rows(const struct rows *r, uint32_t i)
{
    return rows_kernels(r->cx, document_at(r, i),
                        ((const struct kernels_shown *)rows_at(r, i))->most);
}

static struct rows document_known(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = known_of(r->cx), .n = 1};
}

static struct rows document_totals(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = document_at(r, i), .n = 1};
}

/* clang-format off */
static const struct field totals_fields[] = {
    FIELD(NS, "work_us", "", struct kernel_stats, work_ns, "all device work, durations added"),
    FIELD(COUNT, "kernels", "", struct kernel_stats, n_kernels, "kernels"),
    FIELD(COUNT, "copies", "", struct kernel_stats, n_copies, "copies, without memsets"),
    FIELD(COUNT, "memsets", "", struct kernel_stats, n_sets, "memsets"),
    FIELD(NS, "replayed_us", "", struct kernel_stats, replayed_ns, "of `work_us`, from nodes of CUDA graphs"),
    FIELD(NS, "captured_us", "", struct kernel_stats, captured_ns, "of that, where it is known what was captured"),
};
static const struct result result_totals = RESULT("totals", "all device work", totals_fields, struct kernel_stats);

static const struct field known_fields[] = {
    FIELD(NS, "kernel_us", "", struct known, kernel_ns, "all kernels but communication, durations added"),
    FIELD(NS, "op_us", "", struct known, op_ns, "of it, where the operator is known"),
    FIELD(NS, "shapes_us", "", struct known, shapes_ns, "of it, where the shapes of its inputs are known"),
    FIELD(NS, "module_us", "", struct known, module_ns, "of it, where the module is known"),
    FIELD(NS, "line_us", "", struct known, line_ns, "of it, where the line of the program is known exactly"),
    FIELD(COUNT, "units_in_depth", "", struct known, n_deep, "units that were recorded in depth and left out of all times"),
    FIELD(NS, "compared_us", "", struct known, asked_ns, "kernels that were compared with those units, launched by themselves"),
    FIELD(NS, "carried_us", "", struct known, like_ns, "of that, what is like work in one of them, and has its operator, module and line"),
    FIELD(NS, "differing_us", "", struct known, differs_ns, "of that, where units in depth differ in the operator, module or line of the same launch, which is left out then"),
};
static const struct result result_known = RESULT("known", "how much of the device's time is known to be whose", known_fields, struct known);

static const struct field document_fields[] = {
    FIELD_GET(COUNT, "n_rows", "", document_n_rows, "how many rows there are"),
    FIELD_IN(LIST, "rows", "", &result_kernels, document_rows, "launches of one kernel, name or family, as the command asks"),
    FIELD_IN(OBJECT, "totals", "", &result_totals, document_totals, "all device work"),
    FIELD_IN(OBJECT, "known", "", &result_known, document_known, "how much of the time of kernels is known to be whose"),
    FIELD_IN(OBJECT, "communication", "", &result_comm, rows_in_comm, "", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_kernels =
    RESULT("kernels", "where the time of the device goes", document_fields, struct kernels_shown);

void view_kernels_json(struct jout *j, const char *key, const struct context *cx,
                       const struct kernel_stats *k, uint32_t limit)
{
    struct kernels_shown shown = {k, limit};
    document_json(j, key, cx, &document_kernels, &shown, NULL);
}
