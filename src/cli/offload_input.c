/* offload_input.c: see offload_input.h. */
#include "cli/offload_input.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "offload/modules.h"
#include "offload/readings.h"

#define MOST_STEPS  1000000
#define MOST_PASSES 100
#define MOST_TOKENS 100000000

const struct opt offload_opts[] = {
    {"resident", 0, "SIZE", "weights to keep on the device: 8GB (default: half of them)", NULL},
    {"steps", 0, "N", "number of steps to predict (default: as traced, else 1)", NULL},
    {"model-bytes", 0, "SIZE", "size of the streamed weights, if there is no trace", NULL},
    {"modules", 0, "FILE", "the model's modules: a .safetensors file, or a list of them", NULL},
    {"first-ms", 0, "TIME", "first step, including one-time work: 110s, 1083", NULL},
    {"step-ms", 0, "TIME", "a later step with everything streamed: 4s, 1098", NULL},
    {"total-ms", 0, "TIME", "the whole run with everything streamed; gives the first step", NULL},
    {"compute-ms", 0, "TIME", "compute time per step on the device, without copies", NULL},
    {"bench", 0, "FILE", "compute time per step, as measured by strata bench --json", NULL},
    {"tokens", 0, "N", "tokens per step, to estimate the compute time", NULL},
    {"tflops", 0, "N", "16-bit TFLOPS the device reaches, for that estimate", NULL},
    {"device-gbps", 0, "N", "bandwidth of device memory, GB/s", NULL},
    {"fixed-ms", 0, "TIME", "time before and after the loop: text encoder, VAE", NULL},
    {"host", 0, "KIND", "host memory that holds the weights now", "pageable|pinned"},
    {"pageable-gbps", 0, "N", "speed of copies from pageable memory, GB/s", NULL},
    {"pinned-gbps", 0, "N", "speed of copies from pinned memory, GB/s", NULL},
    {"calibration", 0, "FILE", "rates written by strata offload calibrate --json", NULL},
    {"cold-gbps", 0, "N", "speed of the first read from disk, GB/s", NULL},
    {"vram", 0, "SIZE", "size of device memory", NULL},
    {"ram", 0, "SIZE", "size of host memory", NULL},
    {"noise", 0, "N%|TIME", "variation between runs (default: as traced, else 5%)", NULL},
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

static int read_size(const struct opts *o, const char *name, int64_t *ret, struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    char what[32];
    snprintf(what, sizeof what, "--%s", name);
    return text ? units_bytes(text, what, ret, e) : 0;
}

static int read_rate(const struct opts *o, const char *name, struct facts_rate *ret, struct err *e)
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
    return read_rate(o, "device-gbps", &f->device_memory, e);
}

static int read_rates(const struct opts *o, struct arena *mem, struct facts *f, struct err *e)
{
    const char *host = opt_get(o, "host", NULL), *file = opt_get(o, "calibration", NULL);
    if (host) TRY(parse_host(host, &f->host, e));
    if (file) TRY(readings_rates(file, mem, f, e));
    TRY(read_rate(o, "pageable-gbps", &f->rate[HOST_PAGEABLE], e));
    TRY(read_rate(o, "pinned-gbps", &f->rate[HOST_PINNED], e));
    return read_rate(o, "cold-gbps", &f->cold, e);
}

/* The first step is the whole run minus its later steps. */
static int first_from_total(const struct opts *o, struct facts *f, struct err *e)
{
    int64_t total = 0;
    TRY(read_time(o, "total-ms", &total, e));
    if (!total) return 0;
    if (!f->step_ns) return FAIL(e, ERR_USAGE, "--total-ms needs --step-ms, the time per step");
    double later = (f->steps - 1.0) * (double)f->step_ns;
    if (later + (double)f->fixed_ns < (double)total)
        f->first_ns = total - f->fixed_ns - (int64_t)(f->steps - 1) * f->step_ns;
    else return FAIL(e, ERR_USAGE, "%u steps of --step-ms take longer than --total-ms", f->steps);
    return 0;
}

static int read_times(const struct opts *o, struct facts *f, struct err *e)
{
    long steps = f->steps ? f->steps : 1, passes = f->passes ? f->passes : 1;
    TRY(opt_long(o, "steps", 1, MOST_STEPS, &steps, e));
    TRY(opt_long(o, "passes", 1, MOST_PASSES, &passes, e));
    f->steps = (uint32_t)steps;
    f->passes = (uint32_t)passes;
    TRY(read_time(o, "first-ms", &f->first_ns, e));
    TRY(read_time(o, "step-ms", &f->step_ns, e));
    TRY(read_time(o, "compute-ms", &f->compute_ns, e));
    TRY(read_time(o, "fixed-ms", &f->fixed_ns, e));
    TRY(first_from_total(o, f, e));
    if (f->step_ns && f->compute_ns > f->step_ns)
        return FAIL(e, ERR_USAGE, "--compute-ms is part of --step-ms and cannot be longer");
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
            return FAIL(e, ERR_USAGE,
                        "--noise as a time needs --first-ms and --step-ms; or give a percentage "
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
static int read_modules(const struct opts *o, struct arena *mem, struct facts *f, struct err *e)
{
    const char *file;
    struct facts listed = {0}, *to = f->n_modules ? &listed : f;
    for (int i = 0; (file = opt_nth(o, "modules", i)); i++) TRY(modules_read(file, mem, to, e));
    f->rest_bytes = to->rest_bytes;
    return 0;
}

int offload_read_facts(const struct opts *o, struct arena *mem, struct facts *f, struct err *e)
{
    TRY(read_modules(o, mem, f, e));
    TRY(read_size(o, "model-bytes", &f->model_bytes, e));
    TRY(read_size(o, "vram", &f->vram_bytes, e));
    TRY(read_size(o, "ram", &f->ram_bytes, e));
    const char *bench = opt_get(o, "bench", NULL);
    if (bench) TRY(readings_bench(bench, mem, f, e));
    TRY(read_rates(o, mem, f, e));
    TRY(read_device(o, f, e));
    TRY(read_times(o, f, e));
    return read_noise(o, f, e);
}

int offload_read_wish(const struct opts *o, struct wish *ret, struct err *e)
{
    *ret = (struct wish){.resident_bytes = -1, .target_pct = 10, .vram_given = opt_has(o, "vram")};
    long depth = 1;
    TRY(read_size(o, "resident", &ret->resident_bytes, e));
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

int offload_read_runs(const struct opts *o, uint32_t more, struct arena *mem, struct plan *p,
                      struct err *e)
{
    p->runs = arena_zalloc(mem, OPT_MAX + (size_t)more, sizeof *p->runs);
    if (!p->runs) return err_nomem(e);
    const char *text;
    for (int i = 0; (text = opt_nth(o, "measured", i)); i++)
        TRY(parse_run(text, &p->runs[p->n_runs++], e));
    return 0;
}

int offload_read_hints(const struct opts *o, struct scene_hints *ret, struct err *e)
{
    long steps = 0, passes = 0;
    *ret = (struct scene_hints){0};
    TRY(opt_long(o, "traced-steps", 1, MOST_STEPS, &steps, e));
    TRY(opt_long(o, "passes", 1, MOST_PASSES, &passes, e));
    ret->steps = (uint32_t)steps;
    ret->passes = (uint32_t)passes;
    return read_time(o, "wall", &ret->wall_ns, e);
}
