/* sync_story.h: how we know what a sync site costs: one of its waits, moment by moment.
 *
 * The wait told is the one that exposes most, or blocks longest where none exposes anything. */
#ifndef STRATA_ANALYZE_GAPS_SYNC_STORY_H
#define STRATA_ANALYZE_GAPS_SYNC_STORY_H

#include "analyze/gaps/gap_cause.h"
#include "analyze/waits/syncs.h"

#define STORY_CAUSES 4

struct sync_story {
    const struct sync_site *site;
    const struct wait *wait;
    int64_t exposed_ns;   /* by that wait */
    row_t label;          /* innermost label around it, or ROW_NONE */
    uint32_t label_depth; /* work queued when that label began */
    int64_t done_ns;      /* when the queued work it waited for was done */
    row_t next;           /* first work its thread launched afterwards, or ROW_NONE */
    uint32_t n_gaps;      /* gaps of the device that it caused */
    int64_t idle_ns;      /* their late part: what it exposes, give or take what others share */
    int64_t caught_up_ns; /* end of the last of them: from here on the device had work again */
    struct {
        struct str name;
        row_t row; /* one of it, or ROW_NONE */
        int64_t ns;
    } causes[STORY_CAUSES]; /* what the CPU did in those gaps, most first */
    uint32_t n_causes;
};

/* Needs gaps_pass. */
int sync_story_run(const struct context *cx, const struct sync_site *site,
                   struct sync_story *ret) MUST_USE;

#endif
