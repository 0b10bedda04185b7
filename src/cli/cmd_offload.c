/* cmd_offload.c: `strata offload`: what streaming or keeping weights would cost. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/offload_input.h"
#include "report/chart_offload.h"
#include "report/view_offload.h"

static const char *const examples[] = {
    "strata offload trace.json.gz --resident 8GB",
    "what keeping 8 GB of weights on the device would gain",
    "strata offload before.json.gz after.json.gz",
    "compare the prediction from one run with another run",
    "strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-ms 4s --first-ms 110s",
    "the same from a few numbers, without a trace",
    "strata offload calibrate --json > rates.json",
    "how fast this machine copies, for --calibration",
    NULL,
};

/* A trace and what it shows; lives in the command's memory. */
struct opened {
    struct trace *t;
    struct context cx;
    struct scene scene;
};

static int open_trace(struct cli *cli, const char *path, struct scene_hints hints,
                      struct arena *mem, struct opened *ret, struct err *e)
{
    TRY(cli_open_trace(cli, path, &ret->t, e));
    context_init(&ret->cx, ret->t, mem);
    ret->cx.measured_ns = hints.wall_ns;
    return scene_read(&ret->cx, hints, mem, &ret->scene, e);
}

static int nothing_streamed(const char *path, struct err *e)
{
    err_set(e, ERR_FORMAT,
            "the trace streams no weights: there are no copies from the host in the loop. Give "
            "--modules or "
            "--model-bytes to predict what streaming them would cost");
    err_at(e, path, ERR_NO_OFFSET);
    return ERR_FORMAT;
}

/* Facts of the first trace, overridden by what the user gave. */
static int plan_from_trace(const struct opts *o, struct scene *sc, struct arena *mem,
                           struct plan *p, struct err *e)
{
    p->trial = &sc->trial;
    p->observed = sc->observed;
    TRY(scene_facts(sc, mem, &p->facts, e));
    TRY(offload_read_facts(o, mem, &p->facts, e));
    return scene_complete(sc, &p->facts, mem, e);
}

/* A run that streams nothing shows how long a step computes. */
static int plan_from_resident(const struct opts *o, const struct opened *st, struct arena *mem,
                              struct plan *p, struct err *e)
{
    const struct steps *steps = steps_of(&st->cx);
    int64_t gpu = 0;
    for (uint32_t i = 0; i < steps->n_steps; i++)
        if (steps->steps[i].gpu.span_ns > gpu) gpu = steps->steps[i].gpu.span_ns;
    p->facts = (struct facts){.activation_bytes = -1,
                              .resident_now = true,
                              .steps = steps->n_steps,
                              .compute_ns = steps->median_ns > gpu ? steps->median_ns : gpu};
    if (!steps->n_steps) p->facts.compute_ns = st->t->end_ns - st->t->begin_ns;
    TRY(offload_read_facts(o, mem, &p->facts, e));
    return facts_complete(&p->facts, st->t->n_devices ? st->t->devices[0].major : 0, mem, e);
}

/* A later trace is a run that was measured. */
static int add_measured(struct cli *cli, const char *path, struct arena *mem, struct plan *p,
                        struct err *e)
{
    struct opened run = {0};
    struct scene_hints none = {0};
    const struct scene *sc = &run.scene;
    int rc = open_trace(cli, path, none, mem, &run, e);
    if (rc == 0 && !sc->streamed.n_loads) rc = nothing_streamed(path, e);
    if (rc == 0) {
        const struct streamed_step *last = &sc->streamed.steps[sc->streamed.n_steps - 1];
        int64_t kept = p->facts.model_bytes - last->bytes / sc->streamed.passes;
        int64_t later = (int64_t)(sc->streamed.n_steps - 1) * sc->observed.times.step_ns;
        p->runs[p->n_runs++] =
            (struct measured_run){.steps = sc->streamed.n_steps,
                                  .total_ns = sc->observed.times.first_ns + later,
                                  .resident_bytes = kept > 0 ? kept : 0,
                                  .host = sc->trial.traced_host,
                                  .host_given = true};
    }
    context_done(&run.cx);
    trace_free(run.t);
    return rc;
}

static int draw(const char *path, const struct plan *p, struct err *e)
{
    struct buf svg;
    buf_init(&svg);
    chart_offload_svg(&svg, p);
    int rc = buf_ok(&svg) ? file_write_whole(path, svg.p, svg.n, e) : err_nomem(e);
    buf_done(&svg);
    return rc;
}

static int show_plan(struct cli *cli, const struct opts *o, struct plan *p, struct arena *mem,
                     struct err *e)
{
    struct context *cx = p->trial ? p->trial->cx : NULL;
    TRY(plan_run(p, mem, e));
    const char *chart = opt_get(o, "chart", NULL);
    if (chart) TRY(draw(chart, p, e));
    if (cx) TRY(context_need(cx, &integrity_pass, e));
    struct screen s = {&cli->out, o->n_args ? o->args[0] : "", cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_offload_json(&cli->out, p, cx ? integrity_of(cx) : NULL);
    else view_offload_text(&s, p, cx ? integrity_of(cx) : NULL);
    return 0;
}

static int run_with_trace(struct cli *cli, const struct opts *o, struct opened *st,
                          struct arena *mem, struct err *e)
{
    struct plan p = {0};
    struct scene_hints hints;
    TRY(offload_read_hints(o, &hints, e));
    TRY(offload_read_wish(o, &p.wish, e));
    TRY(offload_read_runs(o, (uint32_t)o->n_args, mem, &p, e));
    TRY(open_trace(cli, o->args[0], hints, mem, st, e));
    bool described = opt_has(o, "modules") || opt_has(o, "model-bytes");
    if (st->scene.streamed.n_loads) {
        if (opt_has(o, "model-bytes"))
            return FAIL(e, ERR_USAGE, "the trace shows what is streamed; leave out --model-bytes");
        TRY(plan_from_trace(o, &st->scene, mem, &p, e));
    } else {
        if (!described) return nothing_streamed(o->args[0], e);
        TRY(plan_from_resident(o, st, mem, &p, e));
    }
    for (int i = 1; i < o->n_args; i++) TRY(add_measured(cli, o->args[i], mem, &p, e));
    return show_plan(cli, o, &p, mem, e);
}

static int run_without_trace(struct cli *cli, const struct opts *o, struct arena *mem,
                             struct err *e)
{
    struct plan p = {.facts = {.activation_bytes = -1}};
    TRY(offload_read_wish(o, &p.wish, e));
    TRY(offload_read_runs(o, 0, mem, &p, e));
    TRY(offload_read_facts(o, mem, &p.facts, e));
    TRY(facts_complete(&p.facts, 0, mem, e));
    return show_plan(cli, o, &p, mem, e);
}

static int calibrate(struct cli *cli, struct err *e)
{
    struct driver d;
    struct calibration c;
    TRY(driver_open(&d, getenv("STRATA_LIBCUDA"), e));
    int rc = calibrate_run(&d, CALIBRATE_POOL_BYTES, &c, e);
    driver_close(&d);
    if (rc < 0) return rc;
    struct screen s = {&cli->out, "", cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_calibration_json(&cli->out, &c);
    else view_calibration_text(&s, &c);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    if (o->n_args == 1 && strcmp(o->args[0], "calibrate") == 0) return calibrate(cli, e);
    struct arena mem;
    struct opened st = {0};
    arena_init(&mem);
    int rc = o->n_args ? run_with_trace(cli, o, &st, &mem, e) : run_without_trace(cli, o, &mem, e);
    context_done(&st.cx);
    arena_done(&mem);
    trace_free(st.t);
    return rc;
}

const struct cmd cmd_offload = {
    .name = "offload",
    .summary = "what streaming or keeping weights would cost, before trying it",
    .args = "[TRACE...|calibrate]",
    .about =
        "Predicts the time of a run whose weights do not fit on the device: everything streamed, "
        "a\n"
        "resident set of a given size, pinned host memory, prefetching, everything resident. With "
        "a\n"
        "trace of a streamed run the predictions are replays of it; without one they follow from\n"
        "the given numbers. Further traces and --measured runs are compared with their "
        "predictions.\n"
        "Every run is assumed to start with all weights in host memory. `strata offload "
        "calibrate`\n"
        "measures how fast this machine copies.",
    .examples = examples,
    .opts = offload_opts,
    .group = GROUP_DIAGNOSE,
    .max_args = -1,
    .run = run,
};
