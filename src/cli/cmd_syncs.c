/* cmd_syncs.c: `strata syncs`: where the CPU waits for the device, and what that costs. */
#include "cli/show.h"
#include "report/view_syncs.h"

static const struct opt opts[] = {
    {"site", 0, "N", "how we know: one site, moment by moment", NULL},
    {"limit", 0, "N", "sites to show, 0 for all (default 12)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata syncs trace.json.gz",
    "every place where the CPU waits, the costly ones first",
    "strata syncs trace.json.gz --site 1",
    "what happened before, during and after the worst of them",
    "strata syncs trace.json.gz --json | jq '.sites[] | select(.drains)'",
    "the ones that empty the queue",
    NULL,
};

struct predictions {
    struct forecast alone, all;
};

/* What the wall clock would be without the waits of the site, and without all of them: one that
 * is removed alone may only move the wait to the next. */
static int predict(const struct view_syncs *v, const struct sync_site *site, struct arena *mem,
                   struct predictions *ret, struct err *e)
{
    struct sim_model model;
    struct undistort u;
    uint32_t n = v->syncs->n_sites;
    struct sim_edit one = {.kind = EDIT_DROP_SYNC, .rows = site->rows, .n_rows = site->n_rows};
    struct sim_edit *all = arena_zalloc(mem, n + 1, sizeof *all);
    if (!all) return FAIL(e, ERR_NOMEM, "out of memory");
    n = 0;
    for (uint32_t i = 0; i < v->syncs->n_sites; i++) {
        const struct sync_site *s = &v->syncs->sites[i];
        if (!s->exposed_ns) continue; /* the last one of the program stays */
        all[n++] = (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = s->rows, .n_rows = s->n_rows};
    }
    TRY(sim_model_run(v->t, &v->basics->calls, mem, &model, e));
    TRY(undistort_run(&model, 0, mem, &u, e));
    TRY(forecast_run(&u, (struct sim_edits){.list = &one, .n = 1}, mem, &ret->alone, e));
    return forecast_run(&u, (struct sim_edits){.list = all, .n = n}, mem, &ret->all, e);
}

static int print(struct cli *cli, const struct screen *s, struct view_syncs v, struct err *e)
{
    struct source_places w;
    TRY(source_places_init(&w, v.t, e));
    v.where = &w;
    if (cli->json) view_syncs_json(&cli->out, &v);
    else view_syncs_text(s, &v);
    source_places_done(&w);
    return 0;
}

static int show(struct cli *cli, const struct opts *o, const struct trace *t, struct arena *mem,
                struct err *e)
{
    struct basics b;
    struct syncs syncs;
    struct screen s;
    struct sync_story story;
    struct predictions p;
    long number = 0;
    TRY(show_screen(cli, o, 12, &s, e));
    TRY(opt_long(o, "site", 1, UINT32_MAX, &number, e));
    TRY(basics_run(t, mem, &b, e));
    TRY(syncs_run(t, &b, mem, &syncs, e));
    struct view_syncs v = {.t = t, .basics = &b, .syncs = &syncs};
    if (number) {
        const struct sync_site *site = syncs_site(&syncs, number);
        if (!site)
            return FAIL(e, ERR_USAGE, "there is no site %ld: this trace has %u", number,
                        syncs.n_sites);
        TRY(sync_story_run(t, &b, &syncs, site, &story));
        TRY(predict(&v, site, mem, &p, e));
        v.story = &story;
        v.alone = &p.alone;
        v.all = syncs.n_sites > 1 ? &p.all : NULL;
    }
    return print(cli, &s, v, e);
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_part(cli, o, show, e);
}

const struct cmd cmd_syncs = {
    .name = "syncs",
    .summary = "where the CPU waits for the GPU, and what that costs",
    .args = "TRACE",
    .about =
        "Lists every place where the CPU waits for the device: values read back (.item(), "
        "nonzero,\n"
        "masks), constants uploaded (torch.tensor(..., device)), explicit synchronize calls, slow\n"
        "allocations and copies. Each with two costs: blocked, the CPU time inside the calls, and\n"
        "exposed, the idle time of the GPU that follows from it. A wait of half a second on a "
        "full\n"
        "queue may expose nothing. Launches that wait for a full queue are no syncs and are told\n"
        "apart.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
