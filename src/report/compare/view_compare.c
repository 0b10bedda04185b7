/* view_compare.c: see views_compare.h. */
#include "report/compare/views_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/result_json.h"

static const char *verdict_name(enum timing_verdict v)
{
    switch (v) {
    case TIMING_SAME: return "no_difference";
    case TIMING_FASTER: return "faster";
    case TIMING_SLOWER: return "slower";
    case TIMING_ONE_SIDE: return "one_side";
    case TIMING_UNKNOWN: break;
    }
    return "unknown";
}

static double wall_change(const struct timing_diff *d)
{
    return d->wall.n[0] && d->wall.n[1] ? d->wall.change_pct : NAN;
}

/* How far the runs of one side are apart, where that is so far that the machine was busy; 0
 * otherwise. */
static double view_compare_busy_pct(const struct timing_diff *d)
{
    double most =
        d->wall.apart_pct[0] > d->wall.apart_pct[1] ? d->wall.apart_pct[0] : d->wall.apart_pct[1];
    return most > timing_busy_pct ? most : 0;
}

/* ---- JSON */

struct compare_side {
    const struct timing_change *change;
    const struct timing_stage *stage;
    int side;
};

static struct compare_side compare_at(const struct rows *r, uint32_t i, int side)
{
    const struct timing_change *c = rows_at(r, i);
    return (struct compare_side){c, side ? c->after : c->before, side};
}

static struct value compare_median(struct compare_side s)
{
    const struct diff_stats *st = &s.change->stats;
    return st->n[s.side] ? value_num(st->typical_ns[s.side]) : value_none();
}

static struct value compare_pct(const struct diff_stats *s, double pct)
{
    return s->known ? value_num(pct) : value_none();
}

static const struct timing_diff *diff_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(wall_change_of, value_num(wall_change(diff_at(r, i))))
VALUE_OF(wall_low, compare_pct(&diff_at(r, i)->wall, diff_at(r, i)->wall.low_pct))
VALUE_OF(wall_high, compare_pct(&diff_at(r, i)->wall, diff_at(r, i)->wall.high_pct))
VALUE_OF(change_low,
         compare_pct(&compare_at(r, i, 0).change->stats, compare_at(r, i, 0).change->stats.low_pct))
VALUE_OF(change_high, compare_pct(&compare_at(r, i, 0).change->stats,
                                  compare_at(r, i, 0).change->stats.high_pct))
VALUE_OF(change_verdict, value_cstr(verdict_name(compare_at(r, i, 0).change->verdict)))
VALUE_OF(compare_busy, value_int(view_compare_busy_pct(diff_at(r, i)) > 0))
ROWS_OF(change_before, .list = rows_at(r, i), .n = compare_at(r, i, 0).stage != NULL)
ROWS_OF(change_after, .list = rows_at(r, i), .n = compare_at(r, i, 1).stage != NULL)
ROWS_OF(compare_wall, .list = diff_at(r, i), .n = 1)
ROWS_OF(compare_stages, .list = diff_at(r, i)->changes, .n = diff_at(r, i)->n)

/* clang-format off */
#define COMPARE_SIDE(name, side) \
VALUE_OF(name##_count, value_int((int64_t)compare_at(r, i, side).stage->count)) \
VALUE_OF(name##_total, value_int(compare_at(r, i, side).stage->total_ns)) \
VALUE_OF(name##_median, compare_median(compare_at(r, i, side))) \
VALUE_OF(name##_gpu, value_int(compare_at(r, i, side).stage->gpu_median_ns)) \
static const struct field name##_fields[] = { \
    FIELD(COUNT, "runs", "", struct timing_change, stats.n[side], "runs that have the stage"), \
    FIELD_GET(COUNT, "count", "", name##_count, "its calls in the first of them"), \
    FIELD_GET(NS, "total_us", "", name##_total, "how long these took"), \
    FIELD_GET(MEAN_NS, "median_us", "", name##_median, "the median call, mean of the runs", .decimals = 3), \
    FIELD_GET(NS, "gpu_us", "", name##_gpu, "device time of a call, median", .null = NULL_NEGATIVE), \
    FIELD(BYTES, "peak_bytes", "", struct timing_change, peak_bytes[side], "most memory of any run", .null = NULL_NEGATIVE), \
}; \
static const struct result result_##name = RESULT(#name, "a stage on one side", name##_fields, struct timing_change);
COMPARE_SIDE(before, 0)
COMPARE_SIDE(after, 1)

static const struct field wall_fields[] = {
    FIELD(MEAN_NS, "before_us", "", struct timing_diff, wall.typical_ns[0], "before", .decimals = 3),
    FIELD(MEAN_NS, "after_us", "", struct timing_diff, wall.typical_ns[1], "after", .decimals = 3),
    FIELD_GET(PCT, "change_pct", "", wall_change_of, "the change", .decimals = 2),
    FIELD_GET(PCT, "low_pct", "", wall_low, "its 99 % interval", .decimals = 2),
    FIELD_GET(PCT, "high_pct", "", wall_high, "its 99 % interval", .decimals = 2),
};
static const struct result result_wall = RESULT("wall", "the wall clock", wall_fields, struct timing_diff);

static const struct field change_fields[] = {
    FIELD(TEXT, "name", "", struct timing_change, name, "the stage"),
    FIELD(TEXT, "path", "", struct timing_change, path, "with those around it"),
    FIELD_IN(OBJECT, "before", "", &result_before, change_before, "null where no run has it", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "after", "", &result_after, change_after, "null where no run has it", .null = NULL_SOMETIMES),
    FIELD(PCT, "change_pct", "", struct timing_change, change_pct, "the change", .decimals = 2),
    FIELD_GET(PCT, "low_pct", "", change_low, "its 99 % interval", .decimals = 2),
    FIELD_GET(PCT, "high_pct", "", change_high, "its 99 % interval", .decimals = 2),
    FIELD_GET(WORD, "verdict", "", change_verdict, "`faster`, `slower`, `no_difference`, `one_side`, `unknown` with fewer than three runs per side"),
};
static const struct result result_changes = RESULT("stages", "both sides of each stage", change_fields, struct timing_change);

static const struct field compare_fields[] = {
    FIELD_IN(OBJECT, "wall", "", &result_wall, compare_wall, "the wall clock"),
    FIELD(COUNT, "runs_before", "", struct timing_diff, side[0].n, "runs before"),
    FIELD(COUNT, "runs_after", "", struct timing_diff, side[1].n, "runs after"),
    FIELD_GET(FLAG, "busy_machine", "", compare_busy, "runs of one side are so far apart that the machine was busy"),
    FIELD_IN(LIST, "stages", "", &result_changes, compare_stages, "both sides of each stage"),
};
/* clang-format on */

const struct result document_compare =
    RESULT("compare", "stages of runs, side by side", compare_fields, struct timing_diff);

void view_compare_json(struct jout *j, const struct timing_diff *d)
{
    document_json(j, NULL, NULL, &document_compare, d, NULL);
}

static const char *verdict_text(const struct timing_change *c)
{
    switch (c->verdict) {
    case TIMING_SAME: return "within noise";
    case TIMING_FASTER: return "faster";
    case TIMING_SLOWER: return "slower";
    case TIMING_ONE_SIDE: return c->before ? "gone" : "new";
    case TIMING_UNKNOWN: break;
    }
    return "";
}

static enum text_style view_compare_style_of(enum timing_verdict v)
{
    if (v == TIMING_SLOWER) return TEXT_RED;
    if (v == TIMING_FASTER) return TEXT_GREEN;
    return v == TIMING_SAME ? TEXT_DIM : TEXT_PLAIN;
}

static int64_t view_compare_median_of(const struct timing_change *c, int side)
{
    return (int64_t)(c->stats.typical_ns[side] + 0.5);
}

static void view_compare_add_row(struct text_table *t, const struct timing_change *c, int unit)
{
    char name[160];
    int depth = 0;
    for (const char *p = c->path; p + strlen(c->name) < c->path + strlen(c->path); p++)
        depth += *p == '/';
    text_table_row(t, view_compare_style_of(c->verdict));
    text_table_cellf(t, 0, "%*s%s", 2 * depth, "",
                     human_cut(str_c(c->name), 60, name, sizeof name));
    text_table_cellf(t, 1, "%llu", (unsigned long long)(c->before ? c->before->count : 0));
    text_table_cellf(t, 2, "%llu", (unsigned long long)(c->after ? c->after->count : 0));
    screen_time(t, 3, view_compare_median_of(c, 0), unit);
    screen_time(t, 4, view_compare_median_of(c, 1), unit);
    if (isfinite(c->change_pct)) text_table_cellf(t, 5, "%+.1f %%", c->change_pct);
    else text_table_cell(t, 5, "-");
    for (int i = 0; i < 2; i++) screen_bytes(t, 6 + i, c->peak_bytes[i] > 0 ? c->peak_bytes[i] : 0);
    text_table_cell(t, 8, verdict_text(c));
}

static void view_compare_put_wall(const struct screen *s, const struct timing_diff *d)
{
    const struct diff_stats *w = &d->wall;
    buf_printf(s->out, "wall %s -> %s", human_time((int64_t)w->typical_ns[0]).s,
               human_time((int64_t)w->typical_ns[1]).s);
    if (isfinite(wall_change(d))) buf_printf(s->out, "  (%+.1f %%)", wall_change(d));
    if (w->known)
        buf_printf(s->out, "   %u and %u runs, stages: %u faster, %u slower\n", d->side[0].n,
                   d->side[1].n, d->n_faster, d->n_slower);
    else
        buf_printf(s->out, "   %u run%s before, %u after: too few for a verdict\n", d->side[0].n,
                   d->side[0].n == 1 ? "" : "s", d->side[1].n);
    if (view_compare_busy_pct(d) > 0) {
        char line[160];
        snprintf(
            line, sizeof line,
            "  runs of the same side differ by up to %.0f %%: the machine was busy, or the runs "
            "are not alike\n",
            view_compare_busy_pct(d));
        text_styled(s->out, TEXT_YELLOW, s->color, line);
    }
    buf_addc(s->out, '\n');
}

static void put_notes(const struct screen *s, const struct timing_diff *d)
{
    if (!d->wall.known)
        buf_adds(
            s->out,
            "\n  Columns in pairs: before, after. Two runs of the same program differ, too: for "
            "a verdict give\n  three or more per side, strata diff A1 A2 A3 vs B1 B2 B3.\n\n");
    else
        buf_adds(s->out, "\n  Columns in pairs: before, after; the median call, mean of the runs. "
                         "Verdicts hold for 99 %.\n\n");
}

void view_compare_text(const struct screen *s, const struct timing_diff *d)
{
    static const char *const heads[] = {"calls",  "calls",    "median",   "median",
                                        "change", "peak mem", "peak mem", ""};
    int64_t most = 0;
    for (uint32_t i = 0; i < d->n; i++)
        for (int k = 0; k < 2; k++)
            if (view_compare_median_of(&d->changes[i], k) > most)
                most = view_compare_median_of(&d->changes[i], k);
    view_compare_put_wall(s, d);
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; i < 8; i++) text_table_col(&t, heads[i], i == 7 ? TEXT_LEFT : TEXT_RIGHT);
    for (uint32_t i = 0; i < d->n && i < s->limit; i++)
        view_compare_add_row(&t, &d->changes[i], screen_unit(most));
    screen_table(s, &t);
    text_table_done(&t);
    screen_more(s, d->n);
    put_notes(s, d);
    static const struct screen_next next[] = {
        {"diff BEFORE AFTER", "two traces: which kernels, gaps and syncs changed"},
    };
    screen_next(s, next, 1);
}
