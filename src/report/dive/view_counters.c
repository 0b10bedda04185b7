/* view_counters.c: see views_dive.h. */
#include "report/dive/views_dive.h"

#include "base/jout.h"

static bool is_bytes(enum pm_counter c)
{
    return c == PM_PCIE_READ || c == PM_PCIE_WRITE;
}

static void view_counters_add_row(struct text_table *t, enum pm_counter c,
                                  const struct pm_result *r)
{
    const struct pm_stat *stat = &r->counters[c];
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, 0, pm_counter_about(c));
    if (is_bytes(c)) {
        text_table_cell(t, 4, human_bytes((int64_t)stat->sum).s);
        return;
    }
    text_table_cellf(t, 1, "%.1f %%", stat->mean);
    text_table_cellf(t, 2, "%.0f %%", stat->p95);
    text_table_cellf(t, 3, "%.0f %%", stat->most);
}

void view_counters_text(const struct screen *s, const struct pm_result *r)
{
    static const struct screen_next next[] = {
        {"dive TRACE -- COMMAND", "the same per kernel, with what limits it"},
    };
    struct text_table t;
    buf_printf(s->out, "%s   the GPU was busy %s of %s; one sample every %s, %s in total\n",
               s->path, human_time((int64_t)(r->active_seconds * 1e9)).s,
               human_time((int64_t)(r->seconds * 1e9)).s, human_time((int64_t)r->interval_ns).s,
               human_count(r->n_samples).s);
    if (r->n_overflows)
        buf_printf(s->out,
                   "  samples were lost %s times because the machine was too busy to fetch them\n",
                   human_count(r->n_overflows).s);
    buf_adds(s->out, "  share of the peak while the GPU was busy\n\n");
    text_table_init(&t);
    text_table_col(&t, "part", TEXT_LEFT);
    text_table_col(&t, "mean", TEXT_RIGHT);
    text_table_col(&t, "p95", TEXT_RIGHT);
    text_table_col(&t, "most", TEXT_RIGHT);
    text_table_col(&t, "total", TEXT_RIGHT);
    for (int i = 0; i < PM_COUNTERS; i++)
        if (r->counters[i].known) view_counters_add_row(&t, (enum pm_counter)i, r);
    screen_table(s, &t);
    text_table_done(&t);
    buf_addc(s->out, '\n');
    screen_next(s, next, 1);
}

void view_counters_json(struct buf *out, const struct pm_result *r)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_num(&j, "seconds", r->seconds, 6);
    jout_num(&j, "active_seconds", r->active_seconds, 6);
    jout_num(&j, "interval_us", r->interval_ns / 1e3, 3);
    jout_uint(&j, "samples", r->n_samples);
    jout_uint(&j, "active_samples", r->n_active);
    jout_uint(&j, "overflows", r->n_overflows);
    jout_obj(&j, "counters");
    for (int i = 0; i < PM_COUNTERS; i++) {
        const struct pm_stat *stat = &r->counters[i];
        enum pm_counter c = (enum pm_counter)i;
        if (!stat->known) continue;
        jout_obj(&j, pm_counter_key(c));
        if (is_bytes(c)) {
            jout_num(&j, "sum", stat->sum, 0);
        } else {
            jout_num(&j, "mean", stat->mean, 2);
            jout_num(&j, "p95", stat->p95, 1);
            jout_num(&j, "most", stat->most, 2);
        }
        jout_end_obj(&j);
    }
    jout_end_obj(&j);
    jout_end_obj(&j);
    buf_addc(out, '\n');
}
