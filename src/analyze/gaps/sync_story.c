/* sync_story.c: the gaps that were charged to a wait, taken apart once more, on their own. */
#include "analyze/gaps/sync_story.h"

#include <stdlib.h>

#include "analyze/device/queue.h"
#include "analyze/gaps/gap_split.h"

static size_t telling_wait(const struct syncs *s, const struct sync_site *site)
{
    size_t best = site->longest;
    for (size_t i = 0; i < s->waits.n; i++) {
        if (s->site_of[i] != (uint32_t)(site - s->sites)) continue;
        if (s->waits.all[i].exposed_ns > s->waits.all[best].exposed_ns) best = i;
    }
    return best;
}

static row_t next_work(const struct trace *t, const struct basics *b, row_t call)
{
    row_t end = t->lanes[t->lane[call]].end;
    for (row_t r = call + 1; r < end; r++) {
        uint32_t n;
        if (!call_launches(calls_kind(&b->calls, t, r))) continue;
        const row_t *work = trace_launched(t, r, &n);
        if (n) return work[0];
    }
    return ROW_NONE;
}

static int depth_at(const struct trace *t, const struct device_line *d, int64_t ts_ns,
                    uint32_t *ret)
{
    struct arena mem;
    struct queue q;
    arena_init(&mem);
    int rc = queue_run(t, d, &mem, &q, NULL);
    if (rc == 0) *ret = queue_depth_at(&q, ts_ns - 1);
    arena_done(&mem);
    return rc;
}

static int most_first(const void *a, const void *b)
{
    const struct gap_cause *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void take_causes(struct gap_causes *c, struct sync_story *story)
{
    if (c->n) qsort(c->all, c->n, sizeof *c->all, most_first);
    for (size_t i = 0; i < c->n && i < STORY_CAUSES; i++) {
        story->causes[i].name = c->all[i].name;
        story->causes[i].row = c->all[i].row;
        story->causes[i].ns = c->all[i].idle_ns;
        story->n_causes++;
    }
}

/* The gaps of all devices whose idle time the wait paid for most. */
static int follow_gaps(struct gap_split *split, uint32_t wait, struct sync_story *story)
{
    for (uint32_t d = 0; d < split->basics->timeline.n_devices; d++) {
        const struct device_idle *idle = &split->syncs->idle[d];
        for (uint32_t i = 0; i < idle->n_gaps; i++) {
            const struct idle_gap *g = &idle->gaps[i];
            if (g->wait != wait) continue;
            TRY(gap_split_run(split, d, g, false, NULL));
            story->n_gaps++;
            story->idle_ns += g->late_ns - g->begin_ns;
            if (g->end_ns > story->caught_up_ns) story->caught_up_ns = g->end_ns;
        }
    }
    take_causes(&split->causes, story);
    return 0;
}

int sync_story_run(const struct trace *t, const struct basics *b, const struct syncs *s,
                   const struct sync_site *site, struct sync_story *ret)
{
    size_t at = telling_wait(s, site);
    const struct wait *w = &s->waits.all[at];
    *ret = (struct sync_story){.site = site,
                               .wait = w,
                               .label = trace_up(t, w->call, KIND_ANNOTATION),
                               .done_ns = w->begin_ns + w->waited_ns,
                               .next = next_work(t, b, w->call),
                               .caught_up_ns = w->end_ns};
    const struct device_line *d = timeline_device(&b->timeline, w->device);
    if (ret->label != ROW_NONE && d) TRY(depth_at(t, d, t->ts_ns[ret->label], &ret->label_depth));
    struct gap_split split;
    TRY(gap_split_init(&split, t, b, s, NULL));
    int rc = follow_gaps(&split, (uint32_t)at, ret);
    gap_split_done(&split);
    return rc;
}
