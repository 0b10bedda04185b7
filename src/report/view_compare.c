/* view_compare.c: see view_compare.h. */
#include "report/view_compare.h"

#include <math.h>
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

static void json_side(struct jout *j, const char *key, const struct timing_stage *s)
{
    if (!s) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_uint(j, "count", s->count);
    jout_us(j, "total_us", s->total_ns);
    if (s->median_ns >= 0) jout_us(j, "median_us", s->median_ns);
    else jout_null(j, "median_us");
    if (s->gpu_median_ns >= 0) jout_us(j, "gpu_us", s->gpu_median_ns);
    else jout_null(j, "gpu_us");
    if (s->peak_bytes >= 0) jout_int(j, "peak_bytes", s->peak_bytes);
    else jout_null(j, "peak_bytes");
    jout_end_obj(j);
}

static double wall_change(const struct timing_diff *d)
{
    if (d->before->wall_ns <= 0) return NAN;
    return 100.0 * (double)(d->after->wall_ns - d->before->wall_ns) / (double)d->before->wall_ns;
}

void view_compare_json(struct buf *out, const struct timing_diff *d)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_obj(&j, "wall");
    jout_us(&j, "before_us", d->before->wall_ns);
    jout_us(&j, "after_us", d->after->wall_ns);
    jout_num(&j, "change_pct", wall_change(d), 2);
    jout_end_obj(&j);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < d->n; i++) {
        const struct timing_change *c = &d->changes[i];
        jout_obj(&j, NULL);
        jout_cstr(&j, "name", c->name);
        jout_cstr(&j, "path", c->path);
        json_side(&j, "before", c->before);
        json_side(&j, "after", c->after);
        jout_num(&j, "change_pct", c->change_pct, 2);
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
    return "too few calls to tell";
}

static enum text_style style_of(enum timing_verdict v)
{
    if (v == TIMING_SLOWER) return TEXT_RED;
    if (v == TIMING_FASTER) return TEXT_GREEN;
    return v == TIMING_SAME ? TEXT_DIM : TEXT_PLAIN;
}

static int64_t median_of(const struct timing_stage *s)
{
    return s && s->median_ns > 0 ? s->median_ns : 0;
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
    screen_time(t, 3, median_of(c->before), unit);
    screen_time(t, 4, median_of(c->after), unit);
    if (isfinite(c->change_pct)) text_table_cellf(t, 5, "%+.1f %%", c->change_pct);
    else text_table_cell(t, 5, "-");
    screen_bytes(t, 6, c->before && c->before->peak_bytes > 0 ? c->before->peak_bytes : 0);
    screen_bytes(t, 7, c->after && c->after->peak_bytes > 0 ? c->after->peak_bytes : 0);
    text_table_cell(t, 8, verdict_text(c));
}

void view_compare_text(const struct screen *s, const struct timing_diff *d)
{
    static const char *const heads[] = {"calls",  "calls",    "median",   "median",
                                        "change", "peak mem", "peak mem", ""};
    int64_t most = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (median_of(d->changes[i].before) > most) most = median_of(d->changes[i].before);
        if (median_of(d->changes[i].after) > most) most = median_of(d->changes[i].after);
    }
    buf_printf(s->out, "wall %s -> %s", human_time(d->before->wall_ns).s,
               human_time(d->after->wall_ns).s);
    if (isfinite(wall_change(d))) buf_printf(s->out, "  (%+.1f %%, one run each)", wall_change(d));
    buf_printf(s->out, "   stages: %u faster, %u slower\n\n", d->n_faster, d->n_slower);
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; i < 8; i++) text_table_col(&t, heads[i], i == 7 ? TEXT_LEFT : TEXT_RIGHT);
    for (uint32_t i = 0; i < d->n && i < s->limit; i++)
        add_row(&t, &d->changes[i], screen_unit(most));
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, d->n);
    buf_adds(s->out, "\n  Columns in pairs: before, after. The verdict leaves out the first call "
                     "of a stage.\n\n");
    static const struct screen_next next[] = {
        {"diff BEFORE AFTER", "two traces: which kernels, gaps and syncs changed"},
    };
    screen_next(s, next, 1);
}
