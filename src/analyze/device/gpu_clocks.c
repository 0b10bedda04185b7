/* gpu_clocks.c: see gpu_clocks.h. A sample is a row per reading, at nearly the same time. */
#include "analyze/device/gpu_clocks.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/device/device_constants.h"
#include "analyze/device/gpu_samples.h"

enum reading { SM_CLOCK, SM_CLOCK_MAX, POWER, POWER_LIMIT, TEMPERATURE, LIMITS, N_READINGS };

static const char *const titles[N_READINGS] = {
    [SM_CLOCK] = "SM clock (MHz)",
    [SM_CLOCK_MAX] = "highest SM clock (MHz)",
    [POWER] = "power (W)",
    [POWER_LIMIT] = "power limit (W)",
    [TEMPERATURE] = "temperature (C)",
    [LIMITS] = "clock limits",
};

/* Bits of nvmlClocksEventReasons. */
static const struct {
    unsigned bits;
    enum gpu_limit limit;
} reasons[] = {
    {0x4, GPU_LIMIT_POWER},
    {0x20 | 0x40, GPU_LIMIT_HEAT},
    {0x8 | 0x80, GPU_LIMIT_SUPPLY},
    {0x2, GPU_LIMIT_SETTING},
};

const char *gpu_limit_words(enum gpu_limit l)
{
    static const char *const words[GPU_LIMIT_COUNT] = {
        "the power cap", "heat", "the power supply (a hardware slowdown)",
        "clocks that were set (nvidia-smi -ac or -lgc)"};
    return words[l];
}

enum gpu_limit gpu_clock_reason(const struct gpu_clock *c)
{
    enum gpu_limit best = GPU_LIMIT_POWER;
    for (enum gpu_limit l = GPU_LIMIT_POWER; l < GPU_LIMIT_COUNT; l++)
        if (c->by[l] > c->by[best]) best = l;
    return best;
}

static bool gpu_clocks_parse(struct str name, int32_t *ret_device, enum reading *ret)
{
    struct str title;
    if (!gpu_sample_name(name, ret_device, &title)) return false;
    for (int k = 0; k < N_READINGS; k++)
        if (str_is(title, titles[k])) {
            *ret = (enum reading)k;
            return true;
        }
    return false;
}

/* One device's sample while its readings come in. */
struct sample {
    int64_t ts_ns;
    double value[N_READINGS];
    bool has[N_READINGS];
};

static bool gpu_clocks_worked(const struct context *cx, int32_t device, int64_t ts_ns)
{
    const struct device_line *d = timeline_device(timeline_of(cx), device);
    if (!d) return false;
    struct span before = span_both((struct span){ts_ns - gpu_clock_busy_ns, ts_ns}, d->extent);
    return before.begin_ns < before.end_ns &&
           (double)timeline_busy_ns(d, before.begin_ns, before.end_ns) >
               gpu_clock_busy_share * (double)span_ns(before);
}

/* A sample is complete. Sums become means at the end. */
static void gpu_clocks_count(const struct context *cx, struct gpu_clock *c, struct sample *s)
{
    bool whole = s->has[SM_CLOCK] && s->has[SM_CLOCK_MAX] && s->has[LIMITS];
    if (whole && gpu_clocks_worked(cx, c->device, s->ts_ns)) {
        unsigned bits =
            s->value[LIMITS] >= 0 && s->value[LIMITS] < 65536 ? (unsigned)s->value[LIMITS] : 0;
        bool held = false;
        c->n++;
        c->highest_mhz = s->value[SM_CLOCK_MAX];
        if (s->has[TEMPERATURE] && s->value[TEMPERATURE] > c->hottest_c)
            c->hottest_c = s->value[TEMPERATURE];
        bool slow = s->value[SM_CLOCK] < gpu_clock_nearly_share * s->value[SM_CLOCK_MAX];
        for (size_t i = 0; slow && i < sizeof reasons / sizeof *reasons; i++) {
            c->by[reasons[i].limit] += (bits & reasons[i].bits) != 0;
            held |= (bits & reasons[i].bits) != 0;
        }
        if (held) {
            c->n_held++;
            c->held_mhz += s->value[SM_CLOCK];
            c->power_w += s->has[POWER] ? s->value[POWER] : 0;
            c->power_limit_w = s->has[POWER_LIMIT] ? s->value[POWER_LIMIT] : 0;
        }
    }
    *s = (struct sample){.ts_ns = INT64_MIN};
}

static int32_t highest_device(const struct trace *t)
{
    int32_t device, highest = -1;
    enum reading which;
    for (str_id id = 0; id < t->strings.n; id++)
        if (gpu_clocks_parse(trace_str(t, id), &device, &which) && device > highest)
            highest = device;
    return highest;
}

static int gpu_clocks_add_row(const struct context *cx, struct gpu_clocks *c,
                              struct sample *samples, row_t r, struct err *e)
{
    int32_t device;
    enum reading which;
    if (!gpu_clocks_parse(trace_name(cx->t, r), &device, &which) || (uint32_t)device >= c->n)
        return 0;
    struct sample *s = &samples[device];
    bool next =
        s->ts_ns == INT64_MIN || cx->t->ts_ns[r] - s->ts_ns > gpu_clock_sample_ns || s->has[which];
    if (next) gpu_clocks_count(cx, &c->list[device], s);
    if (next) s->ts_ns = cx->t->ts_ns[r];
    TRY(gpu_sample_value(cx, r, &s->value[which], e));
    s->has[which] = s->value[which] >= 0;
    return 0;
}

static int gpu_clocks_by_time(const void *a, const void *b, void *t)
{
    const int64_t *ts = ((const struct trace *)t)->ts_ns;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    return ts[x] != ts[y] ? (ts[x] > ts[y] ? 1 : -1) : (x > y) - (x < y);
}

/* Counters stand on lanes of their own, one per name: by time they are samples again. */
static int gpu_clocks_add_rows(const struct context *cx, struct gpu_clocks *c,
                               struct sample *samples, struct err *e)
{
    const struct trace *t = cx->t;
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += t->kind[r] == KIND_COUNTER;
    row_t *rows = arena_alloc(cx->mem, (n + (size_t)1) * sizeof *rows);
    if (!rows) return err_nomem(e);
    n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->kind[r] == KIND_COUNTER) rows[n++] = r;
    qsort_r(rows, n, sizeof *rows, gpu_clocks_by_time, (void *)(uintptr_t)t);
    for (uint32_t i = 0; i < n; i++) TRY(gpu_clocks_add_row(cx, c, samples, rows[i], e));
    return 0;
}

static int gpu_clocks_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct gpu_clocks *c = ret;
    c->n = (uint32_t)(highest_device(cx->t) + 1);
    c->list = arena_zalloc(cx->mem, c->n + (size_t)1, sizeof *c->list);
    struct sample *samples = arena_zalloc(cx->mem, c->n + (size_t)1, sizeof *samples);
    if (!c->list || !samples) return err_nomem(e);
    for (uint32_t i = 0; i < c->n; i++) {
        c->list[i].device = (int32_t)i;
        samples[i].ts_ns = INT64_MIN;
    }
    if (c->n) TRY(gpu_clocks_add_rows(cx, c, samples, e));
    for (uint32_t i = 0; i < c->n; i++) {
        struct gpu_clock *k = &c->list[i];
        gpu_clocks_count(cx, k, &samples[i]);
        if (!k->n_held) continue;
        k->held_mhz /= k->n_held;
        k->power_w /= k->n_held;
    }
    return 0;
}

static const struct pass *const needs[] = {&timeline_pass, NULL};

const struct pass gpu_clocks_pass = {
    .id = PASS_GPU_CLOCKS,
    .size = sizeof(struct gpu_clocks),
    .needs = needs,
    .run = gpu_clocks_run_pass,
};
