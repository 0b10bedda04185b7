/* cmd_offload.c: `strata offload`: what streaming or keeping weights would cost. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/show.h"
#include "offload/facts.h"
#include "offload/scene.h"
#include "report/offload/views_offload.h"

/* The command line of `strata offload`, as facts and wishes. */

#define MOST_STEPS  1000000
#define MOST_PASSES 100
#define MOST_TOKENS 100000000

static const struct opt offload_opts[] = {
    {"resident", 0, "SIZE", "weights to keep on the device: 8GB (default: half of them)", NULL},
    {"steps", 0, "N", "number of steps to predict (default: those of the trace, otherwise 1)",
     NULL},
    {"model-bytes", 0, "SIZE", "size of the streamed weights, if there is no trace", NULL},
    {"modules", 0, "FILE", "the model's modules: a .safetensors file, or a list of them", NULL},
    {"first-time", 0, "TIME", "first step, including one-time work: 110s", NULL},
    {"step-time", 0, "TIME", "a later step with everything streamed: 4s", NULL},
    {"total-time", 0, "TIME", "the whole run with everything streamed; gives the first step", NULL},
    {"compute-time", 0, "TIME", "compute time per step on the device, without copies", NULL},
    {"bench", 0, "FILE", "compute time per step, as measured by strata bench --json", NULL},
    {"tokens", 0, "N", "tokens per step, to estimate the compute time", NULL},
    {"tflops", 0, "N", "16-bit TFLOPS the device reaches, for that estimate", NULL},
    {"device-gbps", 0, "N", "bandwidth of device memory, GB/s", NULL},
    {"fixed-time", 0, "TIME", "time before and after the loop: text encoder, VAE", NULL},
    {"host", 0, "KIND", "host memory that holds the weights now", "pageable|pinned"},
    {"pageable-gbps", 0, "N", "speed of copies from pageable memory, GB/s", NULL},
    {"pinned-gbps", 0, "N", "speed of copies from pinned memory, GB/s", NULL},
    {"calibration", 0, "FILE", "rates written by strata offload calibrate --json", NULL},
    {"cold-gbps", 0, "N", "speed of the first read from disk, GB/s", NULL},
    {"vram", 0, "SIZE", "size of device memory", NULL},
    {"ram", 0, "SIZE", "size of host memory", NULL},
    {"noise", 0, "N%|TIME", "variation between runs (default: from the trace, otherwise 5%)", NULL},
    {"prefetch", 0, "N", "also try prefetching N modules ahead; 0: no prefetching", NULL},
    {"target-gain", 0, "PCT", "gain to reach for break-even (default 10)", NULL},
    {"passes", 0, "N", "passes through the model per step (2 with guidance)", NULL},
    {"measured", 0, "RUN", "a run to compare: STEPS:TIME[:RESIDENT[:HOST]]; repeatable", NULL},
    {"traced-steps", 0, "N", "number of steps in the trace, if its labels do not show it", NULL},
    {"chart", 0, "FILE", "also draw a chart of time by resident bytes, as SVG", NULL},
    {"wall", 0, "TIME", "wall time of the traced run without a profiler", NULL},
    {0},
};

static int read_time(const struct opts *o, const char *name, int64_t *ret, struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    char what[32];
    snprintf(what, sizeof what, "--%s", name);
    return text ? units_time_ns(text, what, ret, e) : 0;
}

static int offload_input_read_size(const struct opts *o, const char *name, int64_t *ret,
                                   struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    char what[32];
    snprintf(what, sizeof what, "--%s", name);
    return text ? units_bytes(text, what, ret, e) : 0;
}

static int offload_input_read_rate(const struct opts *o, const char *name, struct facts_rate *ret,
                                   struct err *e)
{
    if (!opt_has(o, name)) return 0;
    *ret = (struct facts_rate){.from = FACT_GIVEN};
    return opt_double(o, name, 1e-3, 1e5, &ret->bytes_per_ns, e);
}

static int parse_host(const char *text, enum offload_host *ret, struct err *e)
{
    for (int h = 0; h < HOST_KINDS; h++)
        if (strcmp(text, host_name((enum offload_host)h)) == 0) {
            *ret = (enum offload_host)h;
            return 0;
        }
    return FAIL(e, ERR_USAGE, "host memory must be pageable or pinned, not '%s'", text);
}

/* What the estimate of compute time is based on. */
static int read_device(const struct opts *o, struct facts *f, struct err *e)
{
    long tokens = 0;
    TRY(opt_long(o, "tokens", 1, MOST_TOKENS, &tokens, e));
    f->tokens = (uint32_t)tokens;
    if (opt_has(o, "tflops")) {
        TRY(opt_double(o, "tflops", 1e-3, 1e6, &f->flops_per_ns, e));
        f->flops_per_ns *= 1e3;
        f->flops_from = FACT_GIVEN;
    }
    return offload_input_read_rate(o, "device-gbps", &f->device_memory, e);
}

static int read_rates(const struct opts *o, struct arena *mem, struct facts *f, struct err *e)
{
    const char *host = opt_get(o, "host", NULL), *file = opt_get(o, "calibration", NULL);
    if (host) TRY(parse_host(host, &f->host, e));
    if (file) TRY(readings_rates(file, mem, f, e));
    TRY(offload_input_read_rate(o, "pageable-gbps", &f->rate[HOST_PAGEABLE], e));
    TRY(offload_input_read_rate(o, "pinned-gbps", &f->rate[HOST_PINNED], e));
    return offload_input_read_rate(o, "cold-gbps", &f->cold, e);
}

/* The first step is the whole run minus its later steps. */
static int first_from_total(const struct opts *o, struct facts *f, struct err *e)
{
    int64_t total = 0;
    TRY(read_time(o, "total-time", &total, e));
    if (!total) return 0;
    if (!f->step_ns) return FAIL(e, ERR_USAGE, "--total-time needs --step-time, the time per step");
    double later = (f->steps - 1.0) * (double)f->step_ns;
    if (later + (double)f->fixed_ns < (double)total)
        f->first_ns = total - f->fixed_ns - (int64_t)(f->steps - 1) * f->step_ns;
    else
        return FAIL(e, ERR_USAGE, "%u steps of --step-time take longer than --total-time",
                    f->steps);
    return 0;
}

static int offload_input_read_times(const struct opts *o, struct facts *f, struct err *e)
{
    long steps = f->steps ? f->steps : 1, passes = f->passes ? f->passes : 1;
    TRY(opt_long(o, "steps", 1, MOST_STEPS, &steps, e));
    TRY(opt_long(o, "passes", 1, MOST_PASSES, &passes, e));
    f->steps = (uint32_t)steps;
    f->passes = (uint32_t)passes;
    TRY(read_time(o, "first-time", &f->first_ns, e));
    TRY(read_time(o, "step-time", &f->step_ns, e));
    TRY(read_time(o, "compute-time", &f->compute_ns, e));
    TRY(read_time(o, "fixed-time", &f->fixed_ns, e));
    TRY(first_from_total(o, f, e));
    if (f->step_ns && f->compute_ns > f->step_ns)
        return FAIL(e, ERR_USAGE, "--compute-time is part of --step-time and cannot be longer");
    return 0;
}

/* "5%", or a time, which is turned into a share of the run as it is. */
static int read_noise(const struct opts *o, struct facts *f, struct err *e)
{
    const char *text = opt_get(o, "noise", NULL);
    if (!text) return 0;
    char *end;
    double pct = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0) {
        int64_t ns = 0;
        TRY(units_time_ns(text, "--noise", &ns, e));
        double run = (double)(f->fixed_ns + f->first_ns) + (f->steps - 1.0) * (double)f->step_ns;
        if (run <= 0)
            return FAIL(
                e, ERR_USAGE,
                "--noise as a time needs --first-time and --step-time; or give a percentage "
                "such as 5%%");
        pct = 100 * (double)ns / run;
    }
    if (!(pct >= 0 && pct <= 100))
        return FAIL(e, ERR_USAGE, "--noise is longer than the run itself");
    f->noise_pct = pct;
    f->noise_from = FACT_GIVEN;
    return 0;
}

/* The trace knows its modules better than a list does, but not what lies outside them. */
static int offload_input_read_modules(const struct opts *o, struct arena *mem, struct facts *f,
                                      struct err *e)
{
    const char *file;
    struct facts listed = {0}, *to = f->n_modules ? &listed : f;
    for (int i = 0; (file = opt_nth(o, "modules", i)); i++) TRY(modules_read(file, mem, to, e));
    f->rest_bytes = to->rest_bytes;
    return 0;
}

/* Numbers that apply with and without a trace; they override what `f` has already. `f->modules` is
 * read from --modules. Memory from `mem`. */
static int offload_read_facts(const struct opts *o, struct arena *mem, struct facts *f,
                              struct err *e)
{
    TRY(offload_input_read_modules(o, mem, f, e));
    TRY(offload_input_read_size(o, "model-bytes", &f->model_bytes, e));
    TRY(offload_input_read_size(o, "vram", &f->vram_bytes, e));
    TRY(offload_input_read_size(o, "ram", &f->ram_bytes, e));
    const char *bench = opt_get(o, "bench", NULL);
    if (bench) TRY(readings_bench(bench, mem, f, e));
    TRY(read_rates(o, mem, f, e));
    TRY(read_device(o, f, e));
    TRY(offload_input_read_times(o, f, e));
    return read_noise(o, f, e);
}

static int offload_read_wish(const struct opts *o, struct wish *ret, struct err *e)
{
    *ret = (struct wish){.resident_bytes = -1, .target_pct = 10, .vram_given = opt_has(o, "vram")};
    long depth = 1;
    TRY(offload_input_read_size(o, "resident", &ret->resident_bytes, e));
    TRY(opt_long(o, "prefetch", 0, 1000, &depth, e));
    TRY(opt_double(o, "target-gain", 0.1, 99, &ret->target_pct, e));
    ret->depth = (uint32_t)depth;
    return 0;
}

/* STEPS:TIME[:RESIDENT[:HOST]] */
static int parse_run(const char *text, struct measured_run *ret, struct err *e)
{
    char copy[128], *part[4] = {copy, NULL, NULL, NULL}, *end;
    if (strlen(text) >= sizeof copy) return FAIL(e, ERR_USAGE, "--measured is too long");
    memcpy(copy, text, strlen(text) + 1);
    int n = 1;
    for (char *p = copy; *p; p++) {
        if (*p != ':') continue;
        if (n == 4)
            return FAIL(e, ERR_USAGE, "--measured takes at most four parts, not '%s'", text);
        *p = '\0';
        part[n++] = p + 1;
    }
    long steps = strtol(part[0], &end, 10);
    if (n < 2 || end == part[0] || *end || steps < 1 || steps > MOST_STEPS)
        return FAIL(e, ERR_USAGE, "--measured takes STEPS:TIME[:RESIDENT[:HOST]], not '%s'", text);
    *ret = (struct measured_run){.steps = (uint32_t)steps, .host_given = n > 3};
    TRY(units_time_ns(part[1], "--measured", &ret->total_ns, e));
    if (n > 2) TRY(units_bytes(part[2], "--measured", &ret->resident_bytes, e));
    return n > 3 ? parse_host(part[3], &ret->host, e) : 0;
}

/* The --measured runs, with room for `more` others. */
static int offload_read_runs(const struct opts *o, uint32_t more, struct arena *mem, struct plan *p,
                             struct err *e)
{
    p->runs = arena_zalloc(mem, OPT_MAX + (size_t)more, sizeof *p->runs);
    if (!p->runs) return err_nomem(e);
    const char *text;
    for (int i = 0; (text = opt_nth(o, "measured", i)); i++)
        TRY(parse_run(text, &p->runs[p->n_runs++], e));
    return 0;
}

static int offload_read_hints(const struct opts *o, struct scene_hints *ret, struct err *e)
{
    long steps = 0, passes = 0;
    *ret = (struct scene_hints){0};
    TRY(opt_long(o, "traced-steps", 1, MOST_STEPS, &steps, e));
    TRY(opt_long(o, "passes", 1, MOST_PASSES, &passes, e));
    ret->steps = (uint32_t)steps;
    ret->passes = (uint32_t)passes;
    return read_time(o, "wall", &ret->wall_ns, e);
}

static const char *const examples[] = {
    "strata offload trace.json.gz --resident 8GB",
    "what keeping 8 GB of weights on the device would gain",
    "strata offload before.json.gz after.json.gz",
    "compare the prediction from one run with another run",
    "strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-time 4s --first-time 110s",
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

static int cmd_offload_open_trace(struct cli *cli, const char *path, struct scene_hints hints,
                                  struct arena *mem, struct opened *ret, struct err *e)
{
    TRY(cli_open_recorded(cli, path, &ret->t, e));
    context_init(&ret->cx, ret->t, mem);
    ret->cx.measured_ns = hints.wall_ns;
    return scene_read(&ret->cx, hints, mem, &ret->scene, e);
}

static int nothing_streamed(const char *path, struct err *e)
{
    err_set(e, ERR_FORMAT,
            "the trace streams no weights: there are no copies from the host in the loop. Give "
            "--modules or --model-bytes to predict what streaming them would cost");
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
    int rc = cmd_offload_open_trace(cli, path, none, mem, &run, e);
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

static int cmd_offload_draw(const char *path, const struct plan *p, struct err *e)
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
    if (chart) TRY(cmd_offload_draw(chart, p, e));
    if (cx) TRY(context_need(cx, &integrity_pass, e));
    struct screen s = {&cli->out, o->n_args ? o->args[0] : "", cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_offload_json(SHOW_JSON(cli), p, cx ? integrity_of(cx) : NULL);
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
    TRY(cmd_offload_open_trace(cli, o->args[0], hints, mem, st, e));
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

static int cmd_offload_calibrate(struct cli *cli, struct err *e)
{
    struct driver d;
    struct calibration c;
    TRY(driver_open(&d, getenv("STRATA_TEST_LIBCUDA"), e));
    int rc = calibrate_run(&d, CALIBRATE_POOL_BYTES, &c, e);
    driver_close(&d);
    if (rc < 0) return rc;
    struct screen s = {&cli->out, "", cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_calibration_json(&cli->out, &c);
    else view_calibration_text(&s, &c);
    return 0;
}

static int cmd_offload_run(struct cli *cli, const struct opts *o, struct err *e)
{
    if (o->n_args == 1 && strcmp(o->args[0], "calibrate") == 0)
        return cmd_offload_calibrate(cli, e);
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
        "a resident set of a given size, pinned host memory, prefetching, everything resident. "
        "With a trace of a streamed run the predictions are replays of it; without one they "
        "follow from the given numbers. Further traces and --measured runs are compared with "
        "their predictions. Every run is assumed to start with all weights in host memory.\n"
        "`strata offload calibrate` measures how fast this machine copies.",
    .examples = examples,
    .opts = offload_opts,
    .group = GROUP_DIAGNOSE,
    .max_args = -1,
    .run = cmd_offload_run,
};
