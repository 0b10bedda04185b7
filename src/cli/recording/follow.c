/* follow.c: see run_folder.h. Reading a long run again takes time: the looks are then further
 * apart, so that following costs a tenth of a CPU at most. */
#include "cli/recording/run_folder.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/compare/timings.h"
#include "analyze/compare/workers.h"
#include "base/file.h"
#include "cli/show.h"
#include "report/run/views_run.h"

#define CLEAR_SCREEN "\x1b[H\x1b[2J"

enum { REST = 9 }; /* times as long as a look took */

static double follow_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void follow_rest(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&t, NULL);
}

static int write_metrics(const char *path, const struct timing_run *run, struct err *e)
{
    struct buf out;
    buf_init(&out);
    view_metrics(&out, run->list, run->n);
    int rc = buf_ok(&out) ? file_write_whole(path, out.p, out.n, e) : err_nomem(e);
    buf_done(&out);
    return rc;
}

static int follow_show(struct cli *cli, const struct timing_run *run, struct screen *s,
                       struct arena *mem, struct err *e)
{
    struct ranks ranks;
    struct timing_run folded = *run;
    folded.list = arena_zalloc(mem, (size_t)run->n + 1, sizeof *folded.list);
    if (!folded.list) return err_nomem(e);
    if (run->n) memcpy(folded.list, run->list, run->n * sizeof *run->list);
    TRY(workers_fold(&folded, mem, e));
    TRY(ranks_run(folded.list, folded.n, mem, &ranks, e));
    ranks.n_workers = folded.n_workers;
    if (cli->json) view_run_json(SHOW_JSON(cli), &ranks);
    else view_run_text(s, &ranks, NULL, run_folder_has_trace(s->path, mem));
    return 0;
}

static void clear_screen(const struct cli *cli)
{
    bool terminal = !cli->json && isatty(STDOUT_FILENO);
    ssize_t n = terminal ? write(STDOUT_FILENO, CLEAR_SCREEN, sizeof CLEAR_SCREEN - 1) : 0;
    (void)n;
}

/* One look; *ret_goes_on says whether a process still runs, or none has come yet. */
static int follow_look(struct cli *cli, const struct follow *f, struct screen *s, bool *ret_goes_on,
                       struct err *e)
{
    struct arena mem;
    struct timing_run run;
    arena_init(&mem);
    int rc = run_folder_read(f->folder, &mem, &run, e);
    *ret_goes_on = rc == 0 && !run.n;
    for (uint32_t i = 0; rc == 0 && i < run.n; i++) *ret_goes_on |= run.list[i].running;
    if (rc == 0 && f->metrics) rc = write_metrics(f->metrics, &run, e);
    if (rc == 0 && f->every_s > 0) clear_screen(cli);
    bool shown = !f->metrics || strcmp(f->metrics, "-") != 0;
    if (rc == 0 && shown && run.n) rc = follow_show(cli, &run, s, &mem, e);
    else if (rc == 0 && shown && !cli->json) buf_adds(s->out, "no stages yet\n");
    arena_done(&mem);
    return rc;
}

int follow_run(struct cli *cli, const struct follow *f, struct screen *s, struct err *e)
{
    bool goes_on = true;
    while (goes_on) {
        double began = follow_now_s();
        TRY(follow_look(cli, f, s, &goes_on, e));
        if (f->every_s <= 0) return 0;
        if (!goes_on) return 0; /* the last is printed by the caller */
        if (!cli->json) buf_addc(&cli->out, '\n');
        TRY(cli_flush(cli, e));
        cli->out.n = 0;
        follow_rest(fmax(f->every_s, REST * (follow_now_s() - began)));
    }
    return 0;
}
