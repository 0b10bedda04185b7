/* run_folder.h: what several commands do with a run's folder. */
#ifndef STRATA_CLI_RUN_FOLDER_H
#define STRATA_CLI_RUN_FOLDER_H

#include "cli/cli.h"
#include "format/timing.h"
#include "import/rings.h"
#include "report/screen.h"

/* Shows the timing files of a run: one process, or ranks side by side. */
int run_folder_show(struct cli *cli, const char *path, const struct screen *s,
                    struct err *e) MUST_USE;

/* What is known of every process of the run by now: its timing file, with what it has recorded
 * since if that was not its last, and what it has recorded if it still runs and has written none.
 */
int run_folder_read(const char *path, struct arena *mem, struct timing_run *ret,
                    struct err *e) MUST_USE;

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

#endif
