/* ranks_parts.c: see ranks_parts.h. */
#include "report/ranks/ranks_parts.h"

#include "report/result_text.h"
#include "results/results.h"

#include <string.h>

#include "analyze/answer/answer.h"
#include "analyze/names/frame.h"
#include "base/stats.h"

#define COLLECTIVES_SHOWN 5
#define PATH_SHOWN        4
#define UNEVEN_PCT        1.0
/* Share of a step: no gain of less is predicted. */
#define RANKS_LEAST_GAIN_PCT 0.1

static int ranks_parts_number_of(const struct rank_set *r, uint32_t i)
{
    return r->ranks[i].rank;
}

/* ---- who is there */

/* By the numbers that were recorded, or by their order. */
static void put_how(struct buf *out, const struct rank_set *r)
{
    uint32_t numbered = 0;
    for (uint32_t i = 0; i < r->n_list; i++) numbered += r->list[i].numbered;
    if (!r->n_list) return;
    if (numbered == r->n_list) buf_adds(out, " by number");
    else if (!numbered) buf_adds(out, " by order");
    else buf_printf(out, " (%s by order)", human_count(r->n_list - numbered).s);
}

void ranks_who(struct buf *out, const struct rank_set *r)
{
    buf_printf(out, "%s of %d ranks, ", human_count(r->n).s, r->world);
    buf_printf(out, "%s collective%s matched", human_count(r->n_list).s, r->n_list == 1 ? "" : "s");
    put_how(out, r);
    if (r->unmatched) buf_printf(out, ", %s not", human_count(r->unmatched).s);
    uint32_t early = 0;
    for (uint32_t i = 0; i < r->n_list; i++) early += r->list[i].early;
    if (early) buf_printf(out, "; %s of the start-up left out", human_count(early).s);
}

static void put_missing(struct buf *out, const struct rank_set *r)
{
    buf_adds(out, "missing: rank");
    for (uint32_t i = 0; i < r->n_missing && i < RANKS_NAMED; i++)
        buf_printf(out, "%s %d", i ? "," : "", r->missing[i]);
    if (r->n_missing > RANKS_NAMED)
        buf_printf(out, " and %s more", human_count(r->n_missing - RANKS_NAMED).s);
}

bool ranks_doubt(struct buf *out, const struct rank_set *r, uint32_t nth)
{
    if (r->n_missing && nth == 0) {
        put_missing(out, r);
        return true;
    }
    nth -= r->n_missing > 0;
    if (nth >= r->n_twice || nth >= RANKS_NAMED) return false;
    buf_printf(out, "rank %d is there twice; left out: %s", r->twice[nth].rank, r->twice[nth].path);
    return true;
}

const char *ranks_no_answer(const struct rank_set *r)
{
    if (r->n_list) return NULL;
    if (r->n < 2) return "it takes the traces of several ranks to see who waits for whom";
    return "who waits for whom is unknown: these traces share no collective";
}

/* ---- who is late */

/* How a cause reads with the name of what is to blame for it, and without one. */
static const struct {
    const char *named, *bare;
} ranks_parts_causes[] = {
    [RANK_CAUSE_UNKNOWN] = {NULL, "the traces do not show why"},
    [RANK_CAUSE_SLOW_KERNEL] = {"%s takes ", "its kernels take "},
    [RANK_CAUSE_SLOW_CLOCK] = {NULL, "a slower clock, all its kernels take "},
    [RANK_CAUSE_MORE_WORK] = {"it has more work than the others (%s)",
                              "it has more work than the others"},
    [RANK_CAUSE_COPIES] = {"it copies for longer (%s)", "it copies for longer"},
    [RANK_CAUSE_SYNC] = {"its CPU waits for the GPU in %s", "its CPU waits for the GPU"},
    [RANK_CAUSE_DATA] = {"it waits for its DataLoader (%s)", "it waits for its DataLoader"},
    [RANK_CAUSE_GC] = {"Python's garbage collector runs (%s)", "Python's garbage collector runs"},
    [RANK_CAUSE_HOST] = {"its CPU works for longer in %s", "its CPU works for longer"},
    [RANK_CAUSE_LAUNCH] = {"its CPU launches too slowly (%s)", "its CPU launches too slowly"},
    [RANK_CAUSE_IDLE] = {"its GPU is idle (%s)", "its GPU is idle"},
    [RANK_CAUSE_SLOW_LINK] = {NULL, "a slow link, its transfers take "},
};

/* "gemm_backward takes 1.50x as long as elsewhere", with the stage and the line it is in. */
static void ranks_parts_put_cause(struct buf *out, const struct rank_straggler *x)
{
    const struct rank_place *p = &x->place;
    const char *named = ranks_parts_causes[x->cause].named,
               *bare = ranks_parts_causes[x->cause].bare;
    const char *hole = named && p->name ? strstr(named, "%s") : NULL;
    char cut[128];
    if (hole) {
        buf_add_str(out, str_from(named, (size_t)(hole - named)));
        buf_adds(out, human_cut(str_c(p->name), 60, cut, sizeof cut));
        buf_adds(out, hole + 2);
    } else {
        buf_adds(out, bare);
    }
    if (x->cause == RANK_CAUSE_SLOW_KERNEL || x->cause == RANK_CAUSE_SLOW_CLOCK ||
        x->cause == RANK_CAUSE_SLOW_LINK) {
        if (x->ratio > 0) buf_printf(out, "%.2fx as long as elsewhere", x->ratio);
        else buf_adds(out, "longer than elsewhere");
    }
    if (p->stage && !(p->name && strcmp(p->stage, p->name) == 0))
        buf_printf(out, ", in %s", human_cut(str_c(p->stage), 40, cut, sizeof cut));
    if (!p->file) return;
    buf_printf(out, " (%s", p->file);
    frame_print_line(out, p->line);
    buf_printf(out, " %s)", p->function ? p->function : "");
}

void ranks_gain(struct buf *out, const struct rank_set *r, int64_t without_ns)
{
    double pct = stats_pct((double)(r->step_ns - without_ns), (double)r->step_ns);
    if (ranks_no_answer(r) || !r->n_stragglers) return;
    if (without_ns <= 0 || pct < RANKS_LEAST_GAIN_PCT) return;
    buf_printf(out, "%s: %s per step (-%s)", r->n_stragglers > 1 ? "If none did" : "Fixing it",
               answer_change(r->step_ns, without_ns).s, human_pct(pct).s);
}

void ranks_headline(struct buf *out, const struct rank_set *r)
{
    if (ranks_no_answer(r)) return;
    if (!r->n_stragglers) {
        if (!r->pipeline.ranks && !r->experts.found)
            buf_adds(out, "No straggler: no rank keeps the others waiting");
        return;
    }
    const struct rank_straggler *x = &r->stragglers[0];
    int rank = ranks_parts_number_of(r, x->rank);
    if (r->n_stragglers == 1) buf_printf(out, "Rank %d is the straggler: ", rank);
    else
        buf_printf(out, "%s ranks come late, rank %d most: ", human_count(r->n_stragglers).s, rank);
    ranks_parts_put_cause(out, x);
}

bool ranks_late(struct buf *out, const struct rank_set *r, uint32_t nth)
{
    if (nth >= r->n_stragglers || nth >= RANKS_STRAGGLERS) return false;
    const struct rank_straggler *x = &r->stragglers[nth];
    buf_printf(out, "rank %d is late by %s in total, to %s collective%s",
               ranks_parts_number_of(r, x->rank), human_time(x->late_ns).s,
               human_count(x->collectives).s, x->collectives == 1 ? "" : "s");
    if (!nth) return true; /* the headline has its cause */
    buf_adds(out, ": ");
    ranks_parts_put_cause(out, x);
    return true;
}

void ranks_bubbles(struct buf *out, const struct rank_set *r)
{
    const struct rank_pipeline *p = &r->pipeline;
    if (!p->ranks) return;
    buf_printf(out, "pipeline of %s ranks: bubbles take %s of the time", human_count(p->ranks).s,
               human_pct(p->bubble_pct).s);
    if (p->uneven_pct >= UNEVEN_PCT) {
        buf_printf(out, "; %s because rank %d computes %.2f times as long as the others",
                   human_pct(p->uneven_pct).s, ranks_parts_number_of(r, p->slowest), p->ratio);
        buf_printf(out, ", %s because the pipeline fills and drains",
                   human_pct(p->bubble_pct - p->uneven_pct).s);
    } else {
        buf_adds(out, ", while it fills and drains: more and smaller microbatches, or an "
                      "interleaved schedule, make them smaller");
    }
}

void ranks_experts(struct buf *out, const struct rank_set *r)
{
    const struct rank_experts *x = &r->experts;
    if (!x->found) return;
    buf_printf(out, "uneven experts: between all-to-alls the busiest rank computes %.2f times as ",
               x->ratio);
    buf_printf(out, "long as the mean, and the others wait for %s of the time",
               human_pct(x->wait_pct).s);
    if (x->size_ratio > 1.02)
        buf_printf(out, "; its messages are %.2f times the mean size", x->size_ratio);
    buf_printf(out, "; most often it is rank %d (%s)", ranks_parts_number_of(r, x->busiest),
               human_pct(100 * x->often).s);
}

/* ---- tables */

static bool ranks_have_device(const struct rank_set *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->ranks[i].has_device) return true;
    return false;
}

void ranks_table(struct text_table *t, const struct rank_set *r, uint32_t most)
{
    const char *keys[] = {"rank",    "wall_us",         "compute_us",
                          "comm_us", "exposed_comm_us", "exposed_comm_pct",
                          "wait_us", "idle_us",         NULL};
    if (!ranks_have_device(r)) keys[7] = NULL;
    struct rows rows = rows_ranks(r);
    struct result_text text;
    result_text_begin(&text, &result_ranks, NULL, keys);
    result_text_fit(&text, &rows);
    for (uint32_t i = 0; i < rows.n && i < most; i++)
        result_text_add(&text, &rows, i, NULL, TEXT_PLAIN);
    *t = text.table;
}

/* The collectives that keep most ranks waiting longest. */
static void pick_widest(const struct rank_set *r, uint32_t *best, uint32_t *n)
{
    for (uint32_t i = 0; i < r->n_list; i++) {
        uint32_t k = *n;
        if (r->list[i].early) continue;
        for (; k > 0 && r->list[best[k - 1]].spread_ns < r->list[i].spread_ns; k--)
            if (k < COLLECTIVES_SHOWN) best[k] = best[k - 1];
        if (k >= COLLECTIVES_SHOWN) continue;
        best[k] = i;
        if (*n < COLLECTIVES_SHOWN) ++*n;
    }
}

void ranks_collectives(struct text_table *t, const struct rank_set *r)
{
    static const char *const keys[] = {"name",      "group",       "seq",
                                       "bytes",     "transfer_us", "bus_gb_per_s",
                                       "spread_us", "last_rank",   NULL};
    uint32_t best[COLLECTIVES_SHOWN], n = 0;
    struct rows rows = rows_collectives(r);
    struct result_text text;
    pick_widest(r, best, &n);
    result_text_begin(&text, &result_collectives, NULL, keys);
    result_text_fit(&text, &rows);
    for (uint32_t i = 0; i < n; i++) result_text_add(&text, &rows, best[i], NULL, TEXT_PLAIN);
    *t = text.table;
}

/* ---- the rest */

void ranks_path(struct buf *out, const struct rank_set *r)
{
    uint32_t best[PATH_SHOWN], n = 0;
    if (!r->n_path) return;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = n;
        if (!r->path_own_ns[i]) continue;
        for (; k > 0 && r->path_own_ns[best[k - 1]] < r->path_own_ns[i]; k--)
            if (k < PATH_SHOWN) best[k] = best[k - 1];
        if (k >= PATH_SHOWN) continue;
        best[k] = i;
        if (n < PATH_SHOWN) n++;
    }
    buf_printf(out, "critical path: transfers %s",
               human_pct(stats_pct((double)r->path_transfer_ns, (double)r->path_ns)).s);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, ", rank %d %s", ranks_parts_number_of(r, best[i]),
                   human_pct(stats_pct((double)r->path_own_ns[best[i]], (double)r->path_ns)).s);
}

void ranks_clocks(struct buf *out, const struct rank_set *r)
{
    if (!r->n_list) return;
    double offset = 0, error = 0;
    uint32_t apart = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct rank_clock *c = &r->clocks[i];
        apart += !c->aligned;
        if (c->offset_ns > offset) offset = c->offset_ns;
        if (-c->offset_ns > offset) offset = -c->offset_ns;
        if (c->error_ns > error) error = c->error_ns;
    }
    buf_printf(out, "clocks: up to %s apart, ", human_time((int64_t)offset).s);
    buf_printf(out, "aligned to %s on the ends of collectives", human_time((int64_t)error).s);
    if (apart)
        buf_printf(out, "; %s rank%s none with the first", human_count(apart).s,
                   apart == 1 ? " shares" : "s share");
}
