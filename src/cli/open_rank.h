/* open_rank.h: the trace of one rank under analysis, while it is open. */
#ifndef STRATA_CLI_OPEN_RANK_H
#define STRATA_CLI_OPEN_RANK_H

#include "analyze/context.h"
#include "cli/cli.h"
#include "cli/pick_trace.h"

struct open_rank {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

/* close_rank in any case. */
int open_rank(struct cli *cli, struct picked p, struct open_rank *r, struct err *e) MUST_USE;
void close_rank(struct open_rank *r);

#endif
