/* compare_runs.c: see run_folder.h. */
#include "cli/recording/run_folder.h"

#include <math.h>
#include <string.h>

#include "analyze/compare/timings.h"
#include "base/folder.h"
#include "cli/input/input.h"
#include "cli/show.h"
#include "import/import.h"
#include "report/compare/views_compare.h"

/* All runs of one side: files, run folders, or folders of runs. */
static int compare_runs_read(char **paths, uint32_t n, struct arena *mem, struct timing_side *ret,
                             struct err *e)
{
    struct timing *runs = arena_zalloc(mem, TIMING_MOST_RUNS, sizeof *runs);
    if (!runs) return err_nomem(e);
    *ret = (struct timing_side){runs, 0};
    for (uint32_t i = 0; i < n; i++)
        TRY(run_folder_timings(paths[i], mem, runs, TIMING_MOST_RUNS, &ret->n, e));
    return 0;
}

int compare_runs_gate(const struct opts *o, const struct diff_stats *wall, struct err *e)
{
    double pct = NAN;
    TRY(opt_double(o, "fail-if-slower", 0, 1e6, &pct, e));
    return !isnan(pct) && diff_stats_slower(wall, pct) ? EXIT_OVER_BUDGET : 0;
}

static int compare_runs_with(struct cli *cli, const struct opts *o, struct arena *mem,
                             struct err *e)
{
    struct operands sides;
    struct timing_side before, after;
    struct timing_diff d;
    struct screen s;
    TRY(show_screen(cli, o, 40, &s, e));
    TRY(operands_split(o, &sides, e));
    TRY(compare_runs_read(sides.paths[0], sides.n[0], mem, &before, e));
    TRY(compare_runs_read(sides.paths[1], sides.n[1], mem, &after, e));
    TRY(timing_diff_run(before, after, mem, &d, e));
    if (cli->json) view_compare_json(SHOW_JSON(cli), &d);
    else view_compare_text(&s, &d);
    return compare_runs_gate(o, &d.wall, e);
}

int compare_runs(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = compare_runs_with(cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}

/* A timing.json, a run without a timeline, or a folder of such runs. */
static bool compare_runs_is_timing(const char *path, struct arena *mem)
{
    struct folder_list inside;
    if (!folder_is(path)) return import_recognize(path) == IMPORT_TIMING;
    if (timing_run_in(path) || pick_trace_is_run(path)) return !pick_trace_has_timeline(path, mem);
    if (folder_list_run(path, mem, &inside, NULL) < 0) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < inside.n; i++) {
        bool folder = folder_is(inside.paths[i]);
        if (folder ? pick_trace_has_timeline(inside.paths[i], mem) : pick_trace_is(inside.paths[i]))
            return false;
        n += folder && (timing_run_in(inside.paths[i]) || rings_in(inside.paths[i]));
    }
    return n > 0;
}

bool compare_runs_are(const struct opts *o)
{
    struct arena mem;
    arena_init(&mem);
    bool any = opt_has(o, "stages");
    for (int i = 0; i < o->n_args && !any; i++)
        any = strcmp(o->args[i], "vs") != 0 && compare_runs_is_timing(o->args[i], &mem);
    arena_done(&mem);
    return any;
}
