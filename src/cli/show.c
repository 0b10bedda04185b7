/* show.c: see show.h. */
#include "cli/show.h"

#include <limits.h>

#include "cli/input/input.h"
#include "cli/kernels/gpu_tools.h"
#include "format/timing.h"
#include "report/diagnosis/view_excerpt.h"

int64_t show_program_wall(const char *path, struct arena *mem)
{
    struct timing_run run;
    int64_t most = 0;
    if (!timing_run_in(path) || timing_run_read(path, mem, &run, NULL) < 0) return 0;
    for (uint32_t i = 0; i < run.n; i++)
        if (run.list[i].wall_ns > most) most = run.list[i].wall_ns;
    return most;
}

enum showing { SHOW_PART, SHOW_PART_QUIET, SHOW_JUDGED, SHOW_JUDGED_QUIET };

/* Shows an open trace and frees it, with its context. */
static int show_open(struct cli *cli, const struct opts *o, struct trace *t, struct context *cx,
                     show_fn *fn, struct err *e)
{
    struct arena *mem = cx->mem;
    struct ceilings *measured = arena_alloc(mem, sizeof *measured);
    if (measured && t->n_devices &&
        gpu_ceilings_kept(trace_str(t, t->devices[0].name), mem, measured))
        cx->ceilings = measured;
    cx->program_ns = show_program_wall(o->args[0], mem);
    int rc = fn(cli, o, cx, e);
    consistent_assert(cx);
    context_done(cx);
    arena_done(mem);
    trace_free(t);
    return rc;
}

/* The same without a context so far. */
static int show_opened(struct cli *cli, const struct opts *o, struct trace *t, show_fn *fn,
                       struct err *e)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, t, &mem);
    return show_open(cli, o, t, &cx, fn, e);
}

int show_trace(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    struct trace *t;
    TRY(cli_open_recorded(cli, o->args[0], &t, e));
    return show_opened(cli, o, t, fn, e);
}

static int show_cut(struct cli *cli, const struct opts *o, show_fn *fn, enum showing how,
                    struct err *e)
{
    struct trace *t;
    struct arena mem;
    struct context cx;
    bool judged = how == SHOW_JUDGED || how == SHOW_JUDGED_QUIET;
    bool tell = how == SHOW_PART || how == SHOW_JUDGED;
    arena_init(&mem);
    context_init(&cx, NULL, &mem);
    int rc = judged ? cli_open_judged(cli, o, o->args[0], &t, &cx, e)
                    : cli_open_part(cli, o, o->args[0], &t, e);
    if (rc < 0) {
        arena_done(&mem);
        return rc;
    }
    if (!judged) context_init(&cx, t, &mem);
    size_t before = cli->out.n;
    if (tell && !cli->json) view_excerpt_text(&cli->out, t);
    if (cli->out.n > before) buf_addc(&cli->out, '\n');
    return show_open(cli, o, t, &cx, fn, e);
}

int show_part(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, SHOW_PART, e);
}

int show_part_quiet(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, SHOW_PART_QUIET, e);
}

int show_judged(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, SHOW_JUDGED, e);
}

int show_judged_quiet(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    return show_cut(cli, o, fn, SHOW_JUDGED_QUIET, e);
}

int show_summary(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e)
{
    struct trace *t;
    TRY(cli_open_summary(cli, o->args[0], &t, e));
    return show_opened(cli, o, t, fn, e);
}

int show_screen(struct cli *cli, const struct opts *o, uint32_t limit, struct screen *ret,
                struct err *e)
{
    long n = limit;
    TRY(opt_long(o, "limit", 0, INT_MAX, &n, e));
    *ret = (struct screen){
        .out = &cli->out,
        .path = o->args[0],
        .width = cli->width,
        .columns = cli->columns,
        .color = cli->color,
        .limit = n ? (uint32_t)n : UINT32_MAX,
        .limited = opt_has(o, "limit"),
        .whole = opt_has(o, "whole"),
    };
    return 0;
}

struct jout show_json(struct cli *cli)
{
    struct jout j;
    if (cli->page) jout_init_page(&j, &cli->out, cli->page);
    else jout_init(&j, &cli->out, true);
    return j;
}
