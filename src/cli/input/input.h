/* input.h: what commands are given: operands, traces, snapshots, long recordings. */
#ifndef STRATA_CLI_INPUT_INPUT_H
#define STRATA_CLI_INPUT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare/diff.h"
#include "analyze/compare/long_recording_sum.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/opt.h"
#include "cli/cli.h"
#include "trace/snapshot.h"

/* pick_trace.c: which trace is meant by a folder that is not one run: the log folder of torch's
 * tensorboard_trace_handler, a folder of several runs, any folder with traces in it. */

/* Whether a file is a trace (import_recognize). */
bool pick_trace_is(const char *path);

/* What import_open makes a trace of by itself: a folder with a made trace, torch's, or recordings.
 */
bool pick_trace_is_run(const char *folder);

/* Whether such a folder has more than the stages of a run: kernels, copies, calls. */
bool pick_trace_has_timeline(const char *folder, struct arena *mem);

/* `path` itself, unless it is a folder without a recording: then the newest trace in it or in the
 * folders in it, and standard error says which. Memory from `mem`. ERR_USAGE when there is none.
 */
int pick_trace(const char *path, struct arena *mem, const char **ret, struct err *e) MUST_USE;

/* All of them, by name; `path` alone when it is not such a folder. */
int pick_traces(const char *path, struct arena *mem, struct folder_list *ret,
                struct err *e) MUST_USE;

/* The same for the operands of a command, one after the other. */
int pick_traces_of(char *const *paths, int n, struct arena *mem, struct folder_list *ret,
                   struct err *e) MUST_USE;

/* The same, with each rank of a recording by itself: `rank` is -1 where the path is one trace. */
struct picked {
    const char *path;
    int rank;
};

struct picked_list {
    struct picked *list;
    uint32_t n;
};
int pick_ranks_of(char *const *paths, int n, struct arena *mem, struct picked_list *ret,
                  struct err *e) MUST_USE;

/* the operands of commands that compare: "BEFORE AFTER", or several per side with "vs"
 * between them. */

struct operands {
    char **paths[2];
    uint32_t n[2]; /* at least one each */
};

int operands_split(const struct opts *o, struct operands *ret, struct err *e) MUST_USE;

/* for commands that show memory snapshots as well as traces: which of them a file
 * is. It is read once, because a pipe cannot be read again. */

/* The snapshot in that file, or NULL: then it stays in cli->given for the trace's reader. */
int snapshot_open(struct cli *cli, const char *path, struct snapshot **ret, struct err *e) MUST_USE;
void snapshot_open_end(struct cli *cli, struct snapshot *p);

/* long_recording.c: recordings that are too long to be read at once, added up part by part. */

/* With --whole. *ret_done is false, and nothing is shown, where the trace is not such a recording.
 */
int whole_show(struct cli *cli, const struct opts *o, enum whole_what what, bool *ret_done,
               struct err *e) MUST_USE;

/* Refuses a recording that this view cannot show as a whole. */
int whole_refuse(const char *path, struct err *e) MUST_USE;

/* consistent.c: ends the program where an analysis contradicts itself
 * (analyze/compare/consistency.h): our own mistake, like a failed assert. With NDEBUG these do
 * nothing. */

void consistent_assert(const struct context *cx);
void consistent_assert_diff(const struct diff *d);

/* progress.c: one line on the terminal for anything that takes more than a second, removed at the
 * end. Nothing is shown if standard error is not a terminal. */

struct progress {
    const char *what, *name; /* "reading", "trace.json" */
    double next_s;           /* when to show the next line */
    bool shown;
};

void progress_begin(struct progress *p, const char *what, const char *name);
void progress_tell(struct progress *p, uint64_t done,
                   uint64_t all); /* at most ten lines per second */
void progress_end(struct progress *p);

#endif
