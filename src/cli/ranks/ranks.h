/* ranks.h: traces of many ranks: opened, read together, written as tables or as a page. */
#ifndef STRATA_CLI_RANKS_RANKS_H
#define STRATA_CLI_RANKS_RANKS_H

#include "analyze/context.h"
#include "cli/browser/browser.h"
#include "cli/cli.h"
#include "cli/input/input.h"
#include "report/ranks/view_ranks.h"

/* The trace of one rank under analysis, while it is open. */

struct open_rank {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

/* close_rank in any case. */
int open_rank(struct cli *cli, struct picked p, struct open_rank *r, struct err *e) MUST_USE;
void close_rank(struct open_rank *r);

/* ranks_page.c: the page of a set of ranks. */

/* Opens the traces of the ranks that it draws again, one at a time on each of a few threads. */
int ranks_page_write(struct cli *cli, const struct view_ranks *v, const char *title,
                     const char *file, struct err *e) MUST_USE;

/* read_ranks.c: the traces of all ranks, one at a time on each of a few threads. */

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

/* The same for the operands of a command. */
int read_ranks_operands(struct cli *cli, const struct opts *o, struct err *e) MUST_USE;

/* Whether the traces are ranks of one program, by their names or by what the first one says. */
bool read_ranks_is(struct cli *cli, const struct picked_list *from);

/* summarize.c: traces as folders of Parquet tables (tables/tables.h), one trace at a time. */

struct summarize {
    const char *folder; /* where to */
    const char *run;    /* its name; NULL: that of the folder the trace lies in */
    bool replace;       /* tables of other traces too */
    int rank;           /* of the first trace that neither says its rank nor has it in its name */
};

/* Writes the tables of all traces among the operands. A trace that cannot be read is reported, and
 * fails at the end, after the others are written. */
int summarize_run(struct cli *cli, const struct opts *o, const struct summarize *in,
                  struct err *e) MUST_USE;

#endif
