/* syncs.h: waits of the CPU grouped by the place in the program that asks for them.
 *
 * A site is a call (cudaStreamSynchronize), the operator and Python function around it, and a kind.
 * Where no stacks were recorded the labels around it take the function's place, the rounds of a
 * loop as one. Sites are numbered from 1 in the order they
 * stand in the list: what they expose first, then what they block. */
#ifndef STRATA_ANALYZE_WAITS_SYNCS_H
#define STRATA_ANALYZE_WAITS_SYNCS_H

#include "analyze/device/device_idle.h"
#include "analyze/names/label.h"
#include "analyze/names/source_place.h"
#include "analyze/steps/steps.h"
#include "analyze/waits/waits.h"

/* exposed.c: how much idle time of the devices each wait caused.
 *
 * A wait takes time from its thread: that is its debt. Idle time of a device in which nothing had
 * been launched yet, and whose end the same thread launched later, pays off the debt of the waits
 * before it, the latest first; what exceeds their debts has other causes. When a wait drains the
 * queue, the CPU had been ahead of the device until then: older debts are forgotten.
 *
 *     thread   launch launch [wait, 564 ms------------------]  python   launch  launch ...
 *     device   ############################################.............#####..####
 *                                                           exposed          exposed
 *
 * So no idle time counts twice, a wait never exposes more than it blocked, and a wait on a deep
 * queue exposes only what follows it. This is what was observed, not what a fix would gain: the
 * next wait may take the place of a removed one. */

#define EXPOSED_NO_WAIT UINT32_MAX

struct exposed {
    int64_t *ns;       /* by wait: idle time of devices it caused; 0 for the profiler's own */
    uint32_t **payers; /* by device and gap: the wait that caused most of it, or EXPOSED_NO_WAIT */
};

extern const struct pass exposed_pass;

static inline const struct exposed *exposed_of(const struct context *cx)
{
    return context_kept(cx, PASS_EXPOSED);
}

#define SYNCS_NO_SITE UINT32_MAX

struct sync_site {
    str_id call; /* the call most of the waiting happens in */
    enum wait_kind kind;
    struct place place; /* of the longest wait */
    uint32_t longest;   /* number of the longest wait in waits.all */
    const row_t *rows;  /* the waiting calls, by thread and time */
    uint32_t n_rows;
    uint32_t n_drains;
    uint32_t in_loop; /* waits inside the steps of the loop */
    int64_t blocked_ns, exposed_ns;
    int64_t in_copy_ns; /* of blocked_ns, in copy calls that wait themselves */
    int64_t floor_ns;   /* what the call costs when nothing is queued; -1 when never seen */
    int64_t bytes;      /* of all its copies; -1 when there are none */
    int64_t first_ns, last_ns;
    uint32_t deepest; /* most work queued at one of its waits */
};

/* Waits added up. */
struct sync_totals {
    uint32_t n;
    uint32_t in_loop; /* of them, inside the steps of the loop */
    int64_t blocked_ns, exposed_ns;
};

struct syncs {
    const struct waits *waits;
    uint32_t *site_of; /* by wait: index in sites, SYNCS_NO_SITE for the profiler's own */
    struct sync_site *sites;
    uint32_t n_sites;
    struct sync_totals totals;   /* of all sites */
    struct sync_totals profiler; /* the profiler's own, which belong to no site */
    struct label_groups stems;
    uint32_t n_steps; /* of the loop; 0 when none was found */
    bool has_stacks;
    bool has_lines; /* places name the line that was running, not where its function starts */
};

extern const struct pass syncs_pass;

static inline const struct syncs *syncs_of(const struct context *cx)
{
    return context_kept(cx, PASS_SYNCS);
}

/* Waits for the device inside the loop, of the whole trace without one. Calls that get or return
 * memory are not counted. */
uint64_t syncs_in_loop(const struct syncs *s);

/* Waits of the site in a step of the loop, on average; negative when there is no loop. */
double syncs_per_step(const struct syncs *s, const struct sync_site *site);

/* The wait that call `r` belongs to, or SIZE_MAX. */
size_t syncs_wait_of(const struct syncs *s, const struct trace *t, row_t r);

/* Number as users give it (1 ...) -> site, or NULL. */
const struct sync_site *syncs_site(const struct syncs *s, long number);

#endif
