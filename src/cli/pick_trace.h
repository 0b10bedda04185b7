/* pick_trace.h: which trace is meant by a folder that is not one run: the log folder of torch's
 * tensorboard_trace_handler, a folder of several runs, any folder with traces in it. */
#ifndef STRATA_CLI_PICK_TRACE_H
#define STRATA_CLI_PICK_TRACE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/folder.h"

/* Whether a file is a trace, by its first bytes; of compressed ones the name has to say JSON. */
bool pick_trace_is(const char *path);

/* What import_open makes a trace of by itself: a folder with a made trace, torch's, or recordings.
 */
bool pick_trace_is_run(const char *folder, struct arena *mem);

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

#endif
