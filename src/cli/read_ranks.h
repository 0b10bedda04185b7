/* read_ranks.h: the traces of all ranks, one at a time on each of a few threads. */
#ifndef STRATA_CLI_READ_RANKS_H
#define STRATA_CLI_READ_RANKS_H

#include "cli/cli.h"
#include "cli/pick_trace.h"
#include "report/view_ranks.h"

#define READ_RANKS_THREADS 8

struct read_ranks {
    struct rank_store stores[READ_RANKS_THREADS]; /* one per thread */
    int n_stores;
    struct rank_set set;
    struct view_ranks view;
};

/* A file that is not a trace is reported and left out; ERR_FORMAT when none is. read_ranks_done in
 * any case. */
int read_ranks(struct cli *cli, const struct picked_list *from, struct read_ranks *ret,
               struct err *e) MUST_USE;
void read_ranks_done(struct read_ranks *r);

/* Reads and prints them. */
int read_ranks_show(struct cli *cli, const struct opts *o, const struct picked_list *from,
                    struct err *e) MUST_USE;

/* Whether the traces are ranks of one program, by their names or by what the first one says. */
bool read_ranks_is(struct cli *cli, const struct picked_list *from);

#endif
