/* view_compare.c: see view_compare.h. */
#include "report/view_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jout.h"

static const char *verdict_name(enum timing_verdict v)
{
    switch (v) {
    case TIMING_SAME: return "same";
    case TIMING_FASTER: return "faster";
    case TIMING_SLOWER: return "slower";
    case TIMING_ONE_SIDE: return "one_side";
    case TIMING_UNKNOWN: break;
    }
    return "unknown";
}

static void json_side(struct jout *j, const char *key, const struct timing_change *c, int side)
{
    const struct timing_stage *s = side ? c->after : c->before;
    if (!s) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_uint(j, "runs", c->stats.n[side]);
    jout_uint(j, "count", s->count);
    jout_us(j, "total_us", s->total_ns);
    if (c->stats.n[side]) jout_num(j, "median_us", c->stats.typical_ns[side] / 1e3, 3);
    else jout_null(j, "median_us");
    if (s->gpu_median_ns >= 0) jout_us(j, "gpu_us", s->gpu_median_ns);
    else jout_null(j, "gpu_us");
    if (c->peak_bytes[side] >= 0) jout_int(j, "peak_bytes", c->peak_bytes[side]);
    else jout_null(j, "peak_bytes");
    jout_end_obj(j);
}

static void json_interval(struct jout *j, const struct diff_stats *s)
{
    if (s->known) jout_num(j, "low_pct", s->low_pct, 2);
    else jout_null(j, "low_pct");
    if (s->known) jout_num(j, "high_pct", s->high_pct, 2);
    else jout_null(j, "high_pct");
}

static double wall_change(const struct timing_diff *d)
{
    return d->wall.n[0] && d->wall.n[1] ? d->wall.change_pct : NAN;
}

/* How far the runs of one side are apart, where that is so far that the machine was busy; 0
 * otherwise. */
static double busy_pct(const struct timing_diff *d)
{
    double most =
        d->wall.apart_pct[0] > d->wall.apart_pct[1] ? d->wall.apart_pct[0] : d->wall.apart_pct[1];
    return most > TIMING_BUSY_PCT ? most : 0;
}

void view_compare_json(struct buf *out, const struct timing_diff *d)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_obj(&j, "wall");
    jout_num(&j, "before_us", d->wall.typical_ns[0] / 1e3, 3);
    jout_num(&j, "after_us", d->wall.typical_ns[1] / 1e3, 3);
    jout_num(&j, "change_pct", wall_change(d), 2);
    json_interval(&j, &d->wall);
    jout_end_obj(&j);
    jout_uint(&j, "runs_before", d->side[0].n);
    jout_uint(&j, "runs_after", d->side[1].n);
    jout_bool(&j, "busy_machine", busy_pct(d) > 0);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < d->n; i++) {
        const struct timing_change *c = &d->changes[i];
        jout_obj(&j, NULL);
        jout_cstr(&j, "name", c->name);
        jout_cstr(&j, "path", c->path);
        json_side(&j, "before", c, 0);
        json_side(&j, "after", c, 1);
        jout_num(&j, "change_pct", c->change_pct, 2);
        json_interval(&j, &c->stats);
        jout_cstr(&j, "verdict", verdict_name(c->verdict));
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
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

static enum text_style style_of(enum timing_verdict v)
{
    if (v == TIMING_SLOWER) return TEXT_RED;
    if (v == TIMING_FASTER) return TEXT_GREEN;
    return v == TIMING_SAME ? TEXT_DIM : TEXT_PLAIN;
}

static int64_t median_of(const struct timing_change *c, int side)
{
    return (int64_t)(c->stats.typical_ns[side] + 0.5);
}

static void add_row(struct text_table *t, const struct timing_change *c, int unit)
{
    char name[160];
    int depth = 0;
    for (const char *p = c->path; p + strlen(c->name) < c->path + strlen(c->path); p++)
        depth += *p == '/';
    text_table_row(t, style_of(c->verdict));
    text_table_cellf(t, 0, "%*s%s", 2 * depth, "",
                     human_cut(str_c(c->name), 60, name, sizeof name));
    text_table_cellf(t, 1, "%llu", (unsigned long long)(c->before ? c->before->count : 0));
    text_table_cellf(t, 2, "%llu", (unsigned long long)(c->after ? c->after->count : 0));
    screen_time(t, 3, median_of(c, 0), unit);
    screen_time(t, 4, median_of(c, 1), unit);
    if (isfinite(c->change_pct)) text_table_cellf(t, 5, "%+.1f %%", c->change_pct);
    else text_table_cell(t, 5, "-");
    for (int i = 0; i < 2; i++) screen_bytes(t, 6 + i, c->peak_bytes[i] > 0 ? c->peak_bytes[i] : 0);
    text_table_cell(t, 8, verdict_text(c));
}

static void put_wall(const struct screen *s, const struct timing_diff *d)
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
    if (busy_pct(d) > 0) {
        char line[160];
        snprintf(
            line, sizeof line,
            "  runs of the same side differ by up to %.0f %%: the machine was busy, or the runs "
            "are not alike\n",
            busy_pct(d));
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
            "a verdict give\n  three or more per side, strata compare A1 A2 A3 vs B1 B2 B3.\n\n");
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
            if (median_of(&d->changes[i], k) > most) most = median_of(&d->changes[i], k);
    put_wall(s, d);
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; i < 8; i++) text_table_col(&t, heads[i], i == 7 ? TEXT_LEFT : TEXT_RIGHT);
    for (uint32_t i = 0; i < d->n && i < s->limit; i++)
        add_row(&t, &d->changes[i], screen_unit(most));
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, d->n);
    put_notes(s, d);
    static const struct screen_next next[] = {
        {"diff BEFORE AFTER", "two traces: which kernels, gaps and syncs changed"},
    };
    screen_next(s, next, 1);
}
