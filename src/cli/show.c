/* show.c: see show.h. */
#include "cli/show.h"

#include <limits.h>

int show_trace(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    struct trace *t;
    struct arena mem;
    TRY(cli_open_trace(cli, o->args[0], &t, e));
    arena_init(&mem);
    int rc = fn(cli, o, t, &mem, e);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

int show_screen(struct cli *cli, const struct opts *o, uint32_t limit, struct screen *ret,
                struct err *e)
{
    long n = limit;
    TRY(opt_long(o, "limit", 0, INT_MAX, &n, e));
    *ret = (struct screen){&cli->out, o->args[0], cli->width, cli->color,
                           n ? (uint32_t)n : UINT32_MAX};
    return 0;
}
