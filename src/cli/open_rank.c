/* open_rank.c: see open_rank.h. */
#include "cli/open_rank.h"

int open_rank(struct cli *cli, struct picked p, struct open_rank *r, struct err *e)
{
    *r = (struct open_rank){0};
    arena_init(&r->mem);
    TRY(cli_open_rank(cli, p.path, p.rank, &r->t, e));
    context_init(&r->cx, r->t, &r->mem);
    return 0;
}

void close_rank(struct open_rank *r)
{
    context_done(&r->cx);
    arena_done(&r->mem);
    trace_free(r->t);
}
