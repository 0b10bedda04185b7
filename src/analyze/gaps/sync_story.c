/* sync_story.c: the gaps that were charged to a wait, taken apart once more, on their own. */
#include "analyze/gaps/sync_story.h"

#include <stdlib.h>

#include "analyze/device/queue.h"
#include "analyze/gaps/gap_split.h"

static size_t telling_wait(const struct context *cx, const struct sync_site *site)
{
    const struct syncs *s = syncs_of(cx);
    const int64_t *exposed_ns = exposed_of(cx)->ns;
    size_t best = site->longest;
    for (size_t i = 0; i < s->waits->n; i++) {
        if (s->site_of[i] != (uint32_t)(site - s->sites)) continue;
        if (exposed_ns[i] > exposed_ns[best]) best = i;
    }
    return best;
}

static row_t sync_story_next_work(const struct context *cx, row_t call)
{
    const struct trace *t = cx->t;
    row_t end = t->lanes[t->lane[call]].end;
    for (row_t r = call + 1; r < end; r++) {
        uint32_t n;
        if (!call_launches(calls_kind(calls_of(cx), t, r))) continue;
        const row_t *work = trace_launched(t, r, &n);
        if (n) return work[0];
    }
    return ROW_NONE;
}

static uint32_t depth_at(const struct context *cx, int32_t device, int64_t ts_ns)
{
    const struct timeline *tl = timeline_of(cx);
    for (uint32_t i = 0; i < tl->n_devices; i++)
        if (tl->devices[i].device == device)
            return queue_depth_at(&queues_of(cx)->of[i], ts_ns - 1);
    return 0;
}

static int sync_story_most_first(const void *a, const void *b)
{
    const struct gap_cause *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void sync_story_take_causes(struct gap_causes *c, struct sync_story *story)
{
    if (c->n) qsort(c->all, c->n, sizeof *c->all, sync_story_most_first);
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
    const struct context *cx = split->cx;
    for (uint32_t d = 0; d < timeline_of(cx)->n_devices; d++) {
        const struct device_idle *idle = &idle_of(cx)->of[d];
        for (uint32_t i = 0; i < idle->n_gaps; i++) {
            const struct idle_gap *g = &idle->gaps[i];
            if (exposed_of(cx)->payers[d][i] != wait) continue;
            TRY(gap_split_run(split, d, g, false, NULL));
            story->n_gaps++;
            story->idle_ns += g->late_ns - g->begin_ns;
            if (g->end_ns > story->caught_up_ns) story->caught_up_ns = g->end_ns;
        }
    }
    sync_story_take_causes(&split->causes, story);
    return 0;
}

int sync_story_run(const struct context *cx, const struct sync_site *site, struct sync_story *ret)
{
    const struct trace *t = cx->t;
    size_t at = telling_wait(cx, site);
    const struct wait *w = &waits_of(cx)->all[at];
    *ret = (struct sync_story){.site = site,
                               .wait = w,
                               .exposed_ns = exposed_of(cx)->ns[at],
                               .label = trace_up(t, w->call, KIND_ANNOTATION),
                               .done_ns = w->begin_ns + w->waited_ns,
                               .next = sync_story_next_work(cx, w->call),
                               .caught_up_ns = w->end_ns};
    if (ret->label != ROW_NONE) ret->label_depth = depth_at(cx, w->device, t->ts_ns[ret->label]);
    struct gap_split split;
    TRY(gap_split_init(&split, cx, NULL));
    int rc = follow_gaps(&split, (uint32_t)at, ret);
    gap_split_done(&split);
    return rc;
}
