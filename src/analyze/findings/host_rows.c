/* host_rows.c: see host_side.h. */
#include "analyze/findings/host_side.h"

#include "base/human.h"

/* What it costs: idle time of devices, or of a program without any all of it. */
static int64_t host_rows_cost(const struct context *cx, row_t r)
{
    if (rule_cpu_only(cx)) return cx->t->dur_ns[r];
    return timeline_idle_in(timeline_of(cx),
                            (struct span){cx->t->ts_ns[r], trace_end_ns(cx->t, r)});
}

static void host_rows_add(const struct context *cx, struct host_rows *h, row_t r,
                          uint32_t *last_step)
{
    const struct trace *t = cx->t;
    uint32_t step = steps_at(steps_of(cx), t->ts_ns[r]);
    h->rows[h->n++] = r;
    h->cpu_ns += t->dur_ns[r];
    h->idle_ns += host_rows_cost(cx, r);
    h->n_steps += step != UINT32_MAX && step != *last_step;
    *last_step = step;
    if (h->longest == ROW_NONE || t->dur_ns[r] > t->dur_ns[h->longest]) h->longest = r;
}

/* On a thread of the program, long enough, and not inside another such row. */
static bool host_rows_is_wanted(const struct context *cx, const struct host_rows_wanted *w, row_t r)
{
    const struct trace *t = cx->t;
    const struct host_causes *causes = host_causes_of(cx);
    if (!w->is(host_causes_row(causes, r)) || t->phase[r] != 'X') return false;
    if (t->dur_ns[r] < w->least_ns || t->lanes[t->lane[r]].kind != LANE_THREAD) return false;
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (w->is(host_causes_row(causes, up))) return false;
    return true;
}

int host_rows_find(const struct context *cx, struct host_rows_wanted wanted, struct host_rows *ret,
                   struct err *e)
{
    uint32_t n = 0, last_step = UINT32_MAX;
    for (row_t r = 0; r < cx->t->n_rows; r++)
        n += wanted.is(host_causes_row(host_causes_of(cx), r));
    *ret = (struct host_rows){.longest = ROW_NONE,
                              .rows = arena_alloc(cx->mem, (n + (size_t)1) * sizeof *ret->rows)};
    if (!ret->rows) return err_nomem(e);
    for (row_t r = 0; n && r < cx->t->n_rows; r++)
        if (host_rows_is_wanted(cx, &wanted, r)) host_rows_add(cx, ret, r, &last_step);
    return 0;
}

bool host_rows_matter(const struct context *cx, const struct host_rows *h)
{
    bool repeats = h->n_steps >= 2;
    /* without a device start-up looks like work: only what comes back in steps counts */
    if (!rule_cpu_only(cx) && steps_of(cx)->n_steps <= 2) repeats = true;
    return h->n >= 2 && h->idle_ns >= rule_least_idle_ns(cx) && repeats;
}

/* Where functions are samples not every row has its line: the longest that has. */
static void host_rows_set_place(const struct context *cx, const struct host_rows *h,
                                struct finding *f)
{
    struct place best, p;
    int64_t longest = -1;
    source_places_find(places_of(cx), h->longest, &best);
    for (uint32_t i = 0; i < h->n; i++) {
        if (cx->t->dur_ns[h->rows[i]] <= longest) continue;
        source_places_find(places_of(cx), h->rows[i], &p);
        if (p.by != SOURCE_BY_FRAME) continue;
        best = p;
        longest = cx->t->dur_ns[h->rows[i]];
    }
    rule_place(cx, f, &best);
}

struct finding *host_rows_finding(const struct context *cx, const struct host_rows *h,
                                  struct findings *out, const struct rule *rule, struct err *e)
{
    struct finding *f = rule_finding(cx, out, rule, e);
    if (!f) return NULL;
    host_rows_set_place(cx, h, f);
    f->effort = EFFORT_ONE_LINE;
    f->show = "gaps %s";
    f->blocked_ns = h->cpu_ns;
    f->exposed_ns = h->idle_ns;
    const char *idle = rule_cpu_only(cx) ? "the loop waits meanwhile"
                                         : rule_text(cx, "the GPU is idle for %s of that time",
                                                     human_time(h->idle_ns).s);
    finding_note(f, cx->mem, cx->t->ts_ns[h->longest], h->longest,
                 "%s in %s calls, at most %s per call; %s", human_time(h->cpu_ns).s,
                 human_count(h->n).s, human_time(cx->t->dur_ns[h->longest]).s, idle);
    if (h->n_steps > 1)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "it recurs in %s of %s steps",
                     human_count(h->n_steps).s, human_count(steps_of(cx)->n_steps).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_ROWS, .rows = h->rows, .n_rows = h->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return f;
}
