/* run_timeline.c: see run_folder.h. */
#include "cli/recording/run_folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shell.h"
#include "cli/install_dirs.h"
#include "cli/show.h"
#include "import/ring/rings.h"
#include "report/diagnosis/view_report.h"

#define LIBRARY    "libstrata_inject.so"
#define MOST_RINGS "8192" /* MB of recordings, unless the user says otherwise */
#define MOST_SHOWN 10     /* findings */

static const char *run_timeline_find_library(struct arena *mem)
{
    const char *package = install_dirs_package(mem);
    const char *path = package ? arena_printf(mem, "%s/strata/" LIBRARY, package) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

/* Such a variable names only one library; Nsight and others use the same variables. */
static void open_door(const char *variable, const char *library, const char *lost)
{
    const char *holder = getenv(variable);
    if (holder && *holder && strcmp(holder, library) != 0)
        cli_say("%s: %s is set to %s; unset it to record here", lost, variable, holder);
    else setenv(variable, library, 1);
}

/* So much of a timeline is written in a second at most, by a program that only launches; one
 * thread gets an eighth of the space. */
#define RING_MB_PER_S 32
#define LEAST_RING_MB 128

/* What is kept, and when it is written out, for the program's own recorder (backend/flight.h). */
static int prepare_keeping(const struct opts *o, struct err *e)
{
    int64_t ns = 0;
    char text[32], *end;
    TRY(opt_time_ns(o, "keep", 1000000, 86400 * 1000000000LL, &ns, e));
    long ms = (long)(ns / 1000000);
    snprintf(text, sizeof text, "%ld", ms);
    setenv("STRATA_KEEP", text, 1);
    long mb = ms * RING_MB_PER_S / 1000;
    snprintf(text, sizeof text, "%ld", mb > LEAST_RING_MB ? mb : LEAST_RING_MB);
    setenv("STRATA_RING_MB", text, 0);
    const char *slow = opt_get(o, "slow", NULL);
    double factor = slow ? strtod(slow, &end) : 0;
    if (slow && (!(factor > 1 && factor < 1000) || (*end && strcmp(end, "x") != 0)))
        return FAIL(e, ERR_USAGE, "--slow %s: a factor such as 1.5x", slow);
    if (slow) setenv("STRATA_SLOW", slow, 1);
    return 0;
}

int run_timeline_prepare(const struct opts *o, struct arena *mem, struct err *e)
{
    bool keeps = opt_has(o, "keep");
    const char *level = keeps ? "timeline" : opt_get(o, "level", "timeline");
    bool whole = strcmp(level, "timeline") == 0 && !keeps;
    if (opt_has(o, "always") && !whole)
        return FAIL(e, ERR_USAGE, "--always goes with --level timeline");
    if (opt_has(o, "slow") && !keeps) return FAIL(e, ERR_USAGE, "--slow goes with --keep TIME");
    if (keeps) TRY(prepare_keeping(o, e));
    setenv("STRATA_LEVEL", level, 1);
    setenv("STRATA_REST", whole && !opt_has(o, "always") ? "on" : "off", 1);
    setenv("STRATA_RING_MB", MOST_RINGS, 0);
    if (opt_has(o, "ops")) setenv("STRATA_OPS", opt_get(o, "ops", "user"), 1);
    if (opt_has(o, "graphs")) setenv("STRATA_GRAPHS", opt_get(o, "graphs", "node"), 1);
    const char *library = run_timeline_find_library(mem);
    if (!library) {
        cli_say("no GPU timeline: " LIBRARY " is not next to the Python package; strata doctor "
                "shows where it is expected");
        return 0;
    }
    setenv("STRATA_INJECT", library, 1);
    setenv("STRATA_FIRST", "1", 1); /* the program itself, not what it starts */
    open_door("CUDA_INJECTION64_PATH", library, "no GPU timeline");
    open_door("NVTX_INJECTION64_PATH", library, "no NVTX ranges");
    setenv("NCCL_PROFILER_PLUGIN", library, 0);
    return 0;
}

static void run_timeline_show(struct cli *cli, const struct run_recording *r, const char *shown)
{
    struct buf text;
    buf_init(&text);
    struct screen s = {&text, shown, cli->width, cli->color, MOST_SHOWN};
    if (r->of_ranks && cli->json) view_ranks_json(SHOW_JSON(cli), &r->ranks.view);
    else if (r->of_ranks) view_ranks_text(&s, &r->ranks.view);
    else if (cli->json) view_report_json(SHOW_JSON(cli), NULL, &r->cx);
    else view_report_text(&s, &r->cx);
    if (!cli->json) cli_show_lines(cli, "", &text);
    buf_done(&text);
}

/* Reports every reason once; without any, the only one left. */
static void tell_notes(const struct run_recording *r, struct arena *mem)
{
    struct ring_notes notes = {0};
    if (rings_in(r->folder) && rings_notes(r->folder, mem, &notes, NULL) < 0) return;
    for (uint32_t i = 0; i < notes.n; i++) cli_say("%s", notes.list[i]);
    if (r->by_torch)
        cli_say("this timeline comes from torch.profiler because CUPTI records no device here; run "
                "strata doctor to see why");
    else if (!r->on_device && !notes.n)
        cli_say("no GPU work was recorded. If the program uses a GPU, run strata doctor");
}

/* Where the snapshots of a program that keeps its last seconds are. */
static void tell_snapshots(const char *folder, const char *shown)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/snapshots", folder);
    DIR *d = opendir(path);
    for (struct dirent *f; d && (f = readdir(d));) {
        char snapshot[PATH_MAX];
        if (f->d_name[0] == '.') continue;
        snprintf(snapshot, sizeof snapshot, "%s/snapshots/%s", shown, f->d_name);
        cli_say("snapshot: strata report %s", shell_word(snapshot).s);
    }
    if (d) closedir(d);
}

bool run_timeline_tell(struct cli *cli, struct run_recording *r, const char *shown)
{
    bool shown_with_stages = r->of_ranks && !cli->json && timing_run_in(r->folder);
    if ((r->analysed || r->of_ranks) && !shown_with_stages) run_timeline_show(cli, r, shown);
    tell_notes(r, &r->mem);
    tell_snapshots(r->folder, shown);
    return r->t && r->t->n_rows;
}
