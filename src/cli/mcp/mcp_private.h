/* mcp_private.h: the parts of the server of `strata mcp`. */
#ifndef STRATA_CLI_MCP_MCP_PRIVATE_H
#define STRATA_CLI_MCP_MCP_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/jout.h"
#include "cli/mcp/mcp_tools.h"

/* mcp_folder.c: the folders a server was given, and the only way from a name to a path in them.
 * Links are followed and have to stay inside. */

enum { MCP_MOST_FOLDERS = 32, MCP_MOST_PATHS = 2 };

struct mcp_folders {
    const char *real[MCP_MOST_FOLDERS]; /* without links, dots or a slash at the end */
    uint32_t n;
};

struct mcp_path {
    const char *real;
    const char *shown;  /* as it stands below its folder */
    uint64_t signature; /* changes when the file changes, or what lies in the folder */
};

/* Memory from `mem`. ERR_USAGE where one is not a folder. */
int mcp_folders_init(struct mcp_folders *f, char *const *paths, int n, struct arena *mem,
                     struct err *e) MUST_USE;

/* `name` is a path below one of the folders, or the whole path of something in one. Fails with what
 * to do instead: ERR_USAGE. */
int mcp_folder_find(const struct mcp_folders *f, const char *name, struct arena *mem,
                    struct mcp_path *ret, struct err *e) MUST_USE;

/* Every trace in the folders and two levels below as a JSON document: "traces": name, bytes. */
int mcp_folder_list(const struct mcp_folders *f, struct arena *mem, struct jout *j,
                    struct err *e) MUST_USE;

/* mcp_answers.c: answers about one trace, which stays open between calls, with what was computed
 * about it. A list is requested by its page: rows that no answer shows are not written. */

struct mcp_answers_state;

/* All are kept as they are given; `watch` may be NULL. NULL when out of memory. */
struct mcp_answers_state *mcp_answers_new(const struct mcp_folders *folders,
                                          const struct mcp_path *paths, int n_paths,
                                          struct import_progress *watch);
void mcp_answers_free(struct mcp_answers_state *s);

/* Adds the answer to `ret`; `mem` is for this call only. */
int mcp_answer(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
               struct buf *ret, struct err *e) MUST_USE;

/* mcp_jail.c: a process that reads some folders and nothing else, writes no file and starts no
 * program. The kernel sees to it (Landlock, Linux 5.13), where it can. */

/* For good. Whether the kernel does it all; files cannot be written in any case. */
bool mcp_jail_enter(const char *const *folders, uint32_t n);

/* mcp_limits.c: what a worker may take, held by the operating system: a regular expression or a
 * query can take all memory or never end, and none of our code runs meanwhile that could stop it.
 */

struct mcp_limits {
    uint64_t memory_bytes; /* beyond what the process has when it starts */
    int cpu_s;             /* of one call, all threads together */
};

/* Grows with the files that are read: reading and analysis take at most a few dozen bytes of memory
 * and a fraction of a microsecond per byte. */
struct mcp_limits mcp_limits_of(const struct mcp_path *paths, int n);

/* For the rest of the process: allocations beyond the limit fail. Before it is shut in. */
void mcp_limits_memory(const struct mcp_limits *l);

/* A call begins or ends; one that takes longer ends the process by SIGPROF, or by SIGALRM where it
 * only waits. */
void mcp_limits_call(const struct mcp_limits *l, bool begins);

/* Whether that is what ended it: the number of the signal. */
bool mcp_limits_ended(int number);

/* mcp_worker.c: a process that answers calls about one trace (or one pair, or one folder of ranks)
 * and keeps it open. It is forked by the server, shut in (mcp_jail.c) and ended by it: so a call
 * can be cancelled at any moment, and a trace that breaks the analysis breaks nothing else.
 *
 * Frames both ways: a 4-byte length, then that many bytes. A question is the message of the client;
 * the answer is the `result` of the reply. While a trace is read, frames come before it that say
 * how far: "P", bytes done, bytes in total. */

enum { MCP_MOST_ANSWER = 64 << 20 };

struct mcp_worker_in {
    const struct mcp_folders *folders;
    struct mcp_path paths[MCP_MOST_PATHS];
    int n_paths;
    int questions, answers; /* what frames are read from and written to */
    int notes;              /* the other end of standard error, not blocking */
};

/* Until `questions` ends. Returns the exit status. */
int mcp_worker_run(const struct mcp_worker_in *in);

/* Whole frames; false when the other side has gone. */
bool mcp_worker_send(int fd, struct str frame);
bool mcp_worker_receive(int fd, struct buf *ret);

/* mcp.c: the server of `strata mcp`: messages in from one file, replies out to another, calls
 * answered by worker processes, several at a time. */

struct mcp_options {
    const struct mcp_folders *folders;
    uint32_t most_open; /* traces that are kept open */
    int in, out;
};

/* Until `in` ends. */
int mcp_serve(const struct mcp_options *o, struct err *e) MUST_USE;

#endif
