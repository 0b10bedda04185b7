/* mcp_worker.h: a process that answers calls about one trace (or one pair, or one folder of ranks)
 * and keeps it open. It is forked by the server, shut in (mcp_jail.h) and ended by it: so a call
 * can be cancelled at any moment, and a trace that breaks the analysis breaks nothing else.
 *
 * Frames both ways: a 4-byte length, then that many bytes. A question is the message of the client;
 * the answer is the `result` of the reply. While a trace is read, frames come before it that say
 * how far: "P", bytes done, bytes in total. */
#ifndef STRATA_CLI_MCP_WORKER_H
#define STRATA_CLI_MCP_WORKER_H

#include "cli/mcp_folder.h"

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

#endif
