/* cmd_syncs.c: `strata syncs`: where the CPU waits for the device, and what it costs. */
#include "analyze/gaps/gaps.h"
#include "analyze/quality/integrity.h"
#include "cli/show.h"
#include "report/lists/views_waits.h"

static const struct opt opts[] = {
    {"site", 0, "N", "the evidence for one site, moment by moment", NULL},
    {"limit", 0, "N", "number of sites to show, 0 for all (default 12)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata syncs trace.json.gz",
    "every place where the CPU waits, costliest first",
    "strata syncs trace.json.gz --site 1",
    "what happened before, during and after the costliest wait",
    "strata syncs trace.json.gz --json | jq '.sites[] | select(.drains)'",
    "only those that drain the queue",
    NULL,
};

struct predictions {
    struct forecast alone, all;
};

/* The wall time without the waits of this site, and without all waits: removing one alone may only
 * move the wait to the next one. */
static int cmd_syncs_predict(struct context *cx, const struct sync_site *site,
                             struct predictions *ret, struct err *e)
{
    const struct syncs *syncs = syncs_of(cx);
    struct sim_edit one = {.kind = EDIT_DROP_SYNC, .rows = site->rows, .n_rows = site->n_rows};
    struct sim_edit *all = arena_zalloc(cx->mem, syncs->n_sites + (size_t)1, sizeof *all);
    if (!all) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < syncs->n_sites; i++) {
        const struct sync_site *s = &syncs->sites[i];
        if (!s->exposed_ns) continue; /* the last one of the program stays */
        all[n++] = (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = s->rows, .n_rows = s->n_rows};
    }
    TRY(context_need(cx, &undistort_pass, e));
    const struct undistort *u = undistort_of(cx);
    TRY(forecast_run(u, (struct sim_edits){.list = &one, .n = 1}, cx->mem, &ret->alone, e));
    return forecast_run(u, (struct sim_edits){.list = all, .n = n}, cx->mem, &ret->all, e);
}

static int cmd_syncs_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct screen s;
    struct sync_story story;
    struct predictions p;
    long number = 0;
    TRY(show_screen(cli, o, 12, &s, e));
    TRY(opt_long(o, "site", 1, UINT32_MAX, &number, e));
    TRY(context_need(cx, &gaps_pass, e));
    TRY(context_need(cx, &integrity_pass, e));
    const struct syncs *syncs = syncs_of(cx);
    struct view_syncs v = {.t = cx->t, .cx = cx, .syncs = syncs, .where = places_of(cx)};
    if (number) {
        const struct sync_site *site = syncs_site(syncs, number);
        if (!site)
            return FAIL(e, ERR_USAGE, "there is no site %ld; the trace has %u", number,
                        syncs->n_sites);
        TRY(sync_story_run(cx, site, &story));
        TRY(cmd_syncs_predict(cx, site, &p, e));
        v.story = &story;
        v.alone = &p.alone;
        v.all = syncs->n_sites > 1 ? &p.all : NULL;
    }
    if (cli->json) view_syncs_json(SHOW_JSON(cli), NULL, &v);
    else view_syncs_text(&s, &v);
    return 0;
}

static int cmd_syncs_run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_judged(cli, o, cmd_syncs_show, e);
}

const struct cmd cmd_syncs = {
    .name = "syncs",
    .summary = "where the CPU waits for the GPU, and what it costs",
    .args = "TRACE",
    .about =
        "Lists every place where the CPU waits for the device: values read back (.item(), "
        "nonzero, masks), constants uploaded (torch.tensor(..., device)), explicit synchronize "
        "calls, slow allocations and copies. Each has two costs: blocked, the CPU time inside "
        "the calls, and exposed, the GPU idle time they cause. A wait of half a second on a deep "
        "queue may expose nothing. Launches that wait on a full queue are not syncs and are "
        "listed separately.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_syncs_run,
    .show = cmd_syncs_show,
};
