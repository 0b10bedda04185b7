/* run_folder.h: what several commands do with a run's folder. */
#ifndef STRATA_CLI_RECORDING_RUN_FOLDER_H
#define STRATA_CLI_RECORDING_RUN_FOLDER_H

#include "analyze/compare/diff_stats.h"
#include "analyze/context.h"
#include "cli/cli.h"
#include "cli/ranks/ranks.h"
#include "format/timing.h"
#include "import/ring/rings.h"
#include "report/lists/views_file.h"
#include "report/screen.h"

/* Shows the timing files of a run: one process, or ranks side by side. `traced` is what the
 * timelines of its ranks say; where it is NULL, they are read. */
int run_folder_show(struct cli *cli, const char *path, const struct screen *s,
                    const struct view_ranks *traced, struct err *e) MUST_USE;

/* What is known of every process of the run by now: its timing file, with what it has recorded
 * since if that was not its last, and what it has recorded if it still runs and has written none.
 */
int run_folder_read(const char *path, struct arena *mem, struct timing_run *ret,
                    struct err *e) MUST_USE;

/* Whether `strata report` has something to read there besides sums of stages. */
bool run_folder_has_trace(const char *path, struct arena *mem);

/* Writes the timing file of every process of the run that left recordings but no timing file.
 * `ret` gets their names. A folder without recordings is left alone. `whole` is the trace of the
 * recordings where the caller has it, else NULL. */
struct run_folder_made {
    const char **paths;
    uint32_t n;
};
int run_folder_recover(const char *path, struct trace *whole, struct arena *mem,
                       struct run_folder_made *ret, struct err *e) MUST_USE;

/* Whether the process ended in the middle of something: it was killed, or crashed. One that ran no
 * exit handlers and had nothing open may as well have left by _exit, as children of fork do. `t` is
 * the trace of the folder's recordings. */
bool run_folder_was_cut(const struct trace *t, const struct ring_facts *f);

/* Appends the runs of a path to `runs`, which has room for `most`: a timing.json, that of a run
 * folder (with several ranks, that of the slowest), or those of the run folders inside a folder. */
int run_folder_timings(const char *path, struct arena *mem, struct timing *runs, uint32_t most,
                       uint32_t *n, struct err *e) MUST_USE;

/* run_processes.c: the processes of a run: who they are, how they ended, what was open then. */

/* `t` is the trace of the run's recordings. */
void run_processes_text(struct cli *cli, const struct ring_survey *v, const struct trace *t);

/* The same for `strata info --json`; memory from `mem`. */
int run_processes_list(const struct ring_survey *v, const struct trace *t, struct arena *mem,
                       struct view_info *ret, struct err *e) MUST_USE;

/* run_recording.c: the recordings of a run, read and analysed once for everything made of them: the
 * files of its folder and what the terminal shows. */

struct run_recording {
    const char *folder;
    struct trace *t; /* NULL when nothing was recorded; after run_recording_finish the part shown */
    bool by_torch;   /* torch.profiler's: the device is not one we record ourselves */
    bool on_device;  /* some work of a device was recorded */
    bool analysed;   /* `cx` holds what a report needs */
    bool of_ranks;   /* then `ranks` does: a report compares the ranks of the run */
    struct context cx;
    struct read_ranks ranks;
    struct cli *cli;
    struct arena mem;
};

/* run_recording_done is due also after a failure. `folder` must live as long. */
int run_recording_open(struct run_recording *r, struct cli *cli, const char *folder,
                       struct err *e) MUST_USE;
void run_recording_done(struct run_recording *r);

/* Writes trace.json.gz for ui.perfetto.dev, analyses the part that matters, or what the ranks of
 * the run say together, writes report.md and report.html. Files that are there already stay as they
 * are; what cannot be written is reported on standard error. */
int run_recording_finish(struct run_recording *r, struct err *e) MUST_USE;

/* run_timeline.c: what `strata run --level timeline` adds to stages: it injects the recording
 * library before the program starts, and reports when it has ended. */

/* Sets the environment of the program. A variable that another tool already uses is left alone, and
 * that is reported. */
int run_timeline_prepare(const struct opts *o, struct arena *mem, struct err *e) MUST_USE;

/* Prints the report of the recording to standard error, or as JSON to standard output, then why
 * anything is missing. `shown` is the folder as the user named it. False if nothing was recorded.
 */
bool run_timeline_tell(struct cli *cli, struct run_recording *r, const char *shown);

/* compare_runs.c: runs stage by stage, from their timing.json. */

/* Whether the operands are compared by their stages: with --stages, or where one of them is a
 * timing.json, a run without a timeline or a folder of such runs. */
bool compare_runs_are(const struct opts *o);

int compare_runs(struct cli *cli, const struct opts *o, struct err *e) MUST_USE;

/* EXIT_OVER_BUDGET if --fail-if-slower asks for it and the wall clock got longer, else 0. */
int compare_runs_gate(const struct opts *o, const struct diff_stats *wall, struct err *e);

/* follow.c: the stages of a run while it goes on: shown again and again until its processes have
 * ended, and as a file for Prometheus. */

struct follow {
    const char *folder;
    const char *metrics; /* file for Prometheus, or NULL */
    double every_s;      /* time between two looks; 0 for one look only */
};

/* `s` says how to show it. Returns when no process of the run goes on. */
int follow_run(struct cli *cli, const struct follow *f, struct screen *s, struct err *e) MUST_USE;

#endif
