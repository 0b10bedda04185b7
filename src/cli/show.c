/* show.c: see show.h. */
#include "cli/show.h"

#include <limits.h>

#include "cli/consistent.h"
#include "cli/gpu_ceilings.h"
#include "format/timing.h"
#include "report/view_part.h"

int64_t show_program_wall(const char *path, struct arena *mem)
{
    struct timing_run run;
    int64_t most = 0;
    if (!timing_run_in(path) || timing_run_read(path, mem, &run, NULL) < 0) return 0;
    for (uint32_t i = 0; i < run.n; i++)
        if (run.list[i].wall_ns > most) most = run.list[i].wall_ns;
    return most;
}

/* Shows an open trace and frees it. */
static int show_open(struct cli *cli, const struct opts *o, struct trace *t, show_fn *fn,
                     struct err *e)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, t, &mem);
    struct ceilings measured;
    if (t->n_devices && gpu_ceilings_kept(trace_str(t, t->devices[0].name), &mem, &measured))
        cx.ceilings = &measured;
    cx.program_ns = show_program_wall(o->args[0], &mem);
    int rc = fn(cli, o, &cx, e);
    consistent_assert(&cx);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

int show_trace(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    struct trace *t;
    TRY(cli_open_trace(cli, o->args[0], &t, e));
    return show_open(cli, o, t, fn, e);
}

static int show_cut(struct cli *cli, const struct opts *o, show_fn *fn, bool tell, struct err *e)
{
    struct trace *t;
    TRY(cli_open_part(cli, o, o->args[0], &t, e));
    size_t before = cli->out.n;
    if (tell && !cli->json) view_part_text(&cli->out, t);
    if (cli->out.n > before) buf_addc(&cli->out, '\n');
    return show_open(cli, o, t, fn, e);
}

int show_part(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, true, e);
}

int show_part_untold(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, false, e);
}

int show_summary(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    struct trace *t;
    TRY(cli_open_summary(cli, o->args[0], &t, e));
    return show_open(cli, o, t, fn, e);
}

int show_screen(struct cli *cli, const struct opts *o, uint32_t limit, struct screen *ret,
                struct err *e)
{
    long n = limit;
    TRY(opt_long(o, "limit", 0, INT_MAX, &n, e));
    *ret = (struct screen){
        &cli->out,          o->args[0], cli->width, cli->color, n ? (uint32_t)n : UINT32_MAX,
        opt_has(o, "whole")};
    return 0;
}
