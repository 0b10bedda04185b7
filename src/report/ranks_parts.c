/* ranks_parts.c: see ranks_parts.h. */
#include "report/ranks_parts.h"

#include "analyze/names/frame.h"
#include "base/stats.h"

#define COLLECTIVES_SHOWN 5
#define PATH_SHOWN        4
#define UNEVEN_PCT        1.0

static int number_of(const struct rank_set *r, uint32_t i)
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

static void put_cause(struct buf *out, const struct rank_straggler *x)
{
    const struct rank_place *p = &x->place;
    char cut[128];
    buf_adds(out, rank_cause_words(x->cause));
    if (x->cause != RANK_CAUSE_SLOW_CLOCK && p->name)
        buf_printf(out, ": %s", human_cut(str_c(p->name), 60, cut, sizeof cut));
    if (x->ratio > 0) buf_printf(out, ", %.2f times as long as elsewhere", x->ratio);
    if (p->stage && !(p->name && strcmp(p->stage, p->name) == 0))
        buf_printf(out, ", in %s", human_cut(str_c(p->stage), 40, cut, sizeof cut));
    if (!p->file) return;
    buf_printf(out, " (%s", p->file);
    frame_print_line(out, p->line);
    buf_printf(out, " %s)", p->function ? p->function : "");
}

void ranks_late(struct buf *out, const struct rank_set *r, const struct rank_straggler *x)
{
    buf_printf(out, "rank %d is late by %s in total, ", number_of(r, x->rank),
               human_time(x->late_ns).s);
    buf_printf(out, "to %s collective%s: ", human_count(x->collectives).s,
               x->collectives == 1 ? "" : "s");
    put_cause(out, x);
}

void ranks_step(struct buf *out, const struct rank_set *r, int64_t without_ns)
{
    if (without_ns <= 0 || !r->n_stragglers) return;
    buf_printf(out, "a step takes %s; ", human_time(r->step_ns).s);
    buf_printf(out, "%s if no rank came late", human_time(without_ns).s);
}

void ranks_bubbles(struct buf *out, const struct rank_set *r)
{
    const struct rank_pipeline *p = &r->pipeline;
    if (!p->ranks) return;
    buf_printf(out, "pipeline of %s ranks: bubbles take %s of the time", human_count(p->ranks).s,
               human_pct(p->bubble_pct).s);
    if (p->uneven_pct >= UNEVEN_PCT) {
        buf_printf(out, "; %s because rank %d computes %.2f times as long as the others",
                   human_pct(p->uneven_pct).s, number_of(r, p->slowest), p->ratio);
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
    buf_printf(out, "; most often it is rank %d (%s)", number_of(r, x->busiest),
               human_pct(100 * x->often).s);
}

/* ---- tables */

void ranks_table(struct text_table *t, const struct rank_set *r, uint32_t most)
{
    static const char *const heads[] = {"rank",    "wall",    "compute", "comm",
                                        "exposed", "of wall", "waits",   "idle"};
    int64_t largest = 0;
    if (most > r->n) most = r->n;
    text_table_init(t);
    for (int i = 0; i < 8; i++) text_table_col(t, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < most; i++)
        if (r->ranks[i].wall_ns > largest) largest = r->ranks[i].wall_ns;
    int unit = screen_unit(largest);
    for (uint32_t i = 0; i < most; i++) {
        const struct rank_summary *x = &r->ranks[i];
        text_table_row(t, TEXT_PLAIN);
        text_table_cellf(t, 0, "%d", x->rank);
        screen_time(t, 1, x->wall_ns, unit);
        screen_time(t, 2, x->compute_ns, unit);
        screen_time(t, 3, x->comm_ns, unit);
        screen_time(t, 4, x->exposed_ns, unit);
        text_table_cell(t, 5, human_pct(stats_pct((double)x->exposed_ns, (double)x->wall_ns)).s);
        screen_time(t, 6, r->wait_ns[i], unit);
        screen_time(t, 7, x->idle_ns, unit);
    }
}

/* The collectives that keep most ranks waiting longest. */
static void pick_widest(const struct rank_set *r, uint32_t *best, uint32_t *n)
{
    for (uint32_t i = 0; i < r->n_list; i++) {
        uint32_t k = *n;
        for (; k > 0 && r->list[best[k - 1]].spread_ns < r->list[i].spread_ns; k--)
            if (k < COLLECTIVES_SHOWN) best[k] = best[k - 1];
        if (k >= COLLECTIVES_SHOWN) continue;
        best[k] = i;
        if (*n < COLLECTIVES_SHOWN) ++*n;
    }
}

void ranks_collectives(struct text_table *t, const struct rank_set *r)
{
    static const char *const heads[] = {"collective", "group", "number", "size",
                                        "transfer",   "bus",   "spread", "last rank"};
    uint32_t best[COLLECTIVES_SHOWN], n = 0;
    pick_widest(r, best, &n);
    text_table_init(t);
    for (int i = 0; i < 8; i++) text_table_col(t, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < n; i++) {
        const struct rank_collective *c = &r->list[best[i]];
        text_table_row(t, TEXT_PLAIN);
        text_table_cell(t, 0, collective_name(c->what));
        text_table_cell(t, 1, c->group[0] ? c->group : "-");
        text_table_cellf(t, 2, "%lld", (long long)c->seq);
        double bus = rank_collective_bus(c);
        text_table_cell(t, 3, c->bytes >= 0 ? human_bytes(c->bytes).s : "-");
        text_table_cell(t, 4, human_time(c->transfer_ns).s);
        if (bus > 0 && bus < 9e18) text_table_cellf(t, 5, "%s/s", human_bytes((int64_t)bus).s);
        else text_table_cell(t, 5, "-");
        text_table_cell(t, 6, human_time(c->spread_ns).s);
        text_table_cellf(t, 7, "%d", number_of(r, c->members[c->last].rank));
    }
}

/* ---- the rest */

void ranks_path(struct buf *out, const struct rank_set *r)
{
    uint32_t best[PATH_SHOWN], n = 0;
    int64_t all = r->path_transfer_ns;
    if (!r->n_path) return;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = n;
        all += r->path_own_ns[i];
        if (!r->path_own_ns[i]) continue;
        for (; k > 0 && r->path_own_ns[best[k - 1]] < r->path_own_ns[i]; k--)
            if (k < PATH_SHOWN) best[k] = best[k - 1];
        if (k >= PATH_SHOWN) continue;
        best[k] = i;
        if (n < PATH_SHOWN) n++;
    }
    buf_printf(out, "critical path: transfers %s",
               human_pct(stats_pct((double)r->path_transfer_ns, (double)all)).s);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, ", rank %d %s", number_of(r, best[i]),
                   human_pct(stats_pct((double)r->path_own_ns[best[i]], (double)all)).s);
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
