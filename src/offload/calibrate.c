/* calibrate.c: see calibrate.h. Each copy is timed from the call to the end of the wait for it, as
 * a program sees it. */
#include "offload/calibrate.h"

#include <string.h>

#include "analyze/stats.h"
#include "base/clock.h"
#include "base/mem.h"

enum { COPY_BYTES = 64000000, SMALL_BYTES = 4096, WARM = 2, ROUNDS = 12, SMALL_ROUNDS = 50 };

struct bench {
    const struct driver *d;
    struct err *e;
    int device;
    driver_ptr target;
    void *host[HOST_KINDS];
};

static int said(const struct bench *b, int code, const char *what)
{
    return code == 0 ? 0
                     : FAIL(b->e, ERR_UNSUPPORTED, "the CUDA driver: %s failed (%d)", what, code);
}

static int copy_once(const struct bench *b, const void *from, size_t n, int64_t *ret_ns)
{
    uint64_t begin = clock_mono_ns();
    TRY(said(b, b->d->copy(b->target, from, n, NULL), "a copy"));
    TRY(said(b, b->d->wait(NULL), "waiting for a copy"));
    *ret_ns = (int64_t)(clock_mono_ns() - begin);
    return 0;
}

/* Rates in millionths of a byte a nanosecond, so that the statistics are those of every view. */
static int measure_rate(const struct bench *b, enum offload_host h, struct facts_rate *ret)
{
    int64_t rates[ROUNDS];
    for (int i = -WARM; i < ROUNDS; i++) {
        int64_t ns;
        TRY(copy_once(b, b->host[h], COPY_BYTES, &ns));
        if (i >= 0) rates[i] = (int64_t)(COPY_BYTES * 1e6 / (double)(ns > 0 ? ns : 1));
    }
    stats_sort(rates, ROUNDS);
    *ret = (struct facts_rate){.bytes_per_ns = (double)stats_median(rates, ROUNDS) / 1e6,
                               .low = (double)stats_percentile(rates, ROUNDS, 10) / 1e6,
                               .high = (double)stats_percentile(rates, ROUNDS, 90) / 1e6,
                               .from = FACT_MEASURED};
    return 0;
}

static int measure_call(const struct bench *b, int64_t *ret_ns)
{
    int64_t ns[SMALL_ROUNDS];
    for (int i = 0; i < SMALL_ROUNDS; i++)
        TRY(copy_once(b, b->host[HOST_PAGEABLE], SMALL_BYTES, &ns[i]));
    stats_sort(ns, SMALL_ROUNDS);
    *ret_ns = stats_median(ns, SMALL_ROUNDS);
    return 0;
}

static int measure_alloc(const struct bench *b, int64_t *ret_ns)
{
    int64_t ns[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        driver_ptr p;
        uint64_t begin = clock_mono_ns();
        TRY(said(b, b->d->device_alloc(&p, COPY_BYTES), "an allocation"));
        TRY(said(b, b->d->device_free(p), "giving memory back"));
        ns[i] = (int64_t)(clock_mono_ns() - begin);
    }
    stats_sort(ns, ROUNDS);
    *ret_ns = stats_median(ns, ROUNDS);
    return 0;
}

static int prepare(struct bench *b)
{
    TRY(said(b, b->d->device_alloc(&b->target, COPY_BYTES), "an allocation"));
    TRY(said(b, b->d->host_alloc(&b->host[HOST_PINNED], COPY_BYTES, 0), "pinning memory"));
    b->host[HOST_PAGEABLE] = mem_alloc(COPY_BYTES);
    if (!b->host[HOST_PAGEABLE]) return FAIL(b->e, ERR_NOMEM, "out of memory");
    /* touched, so that no page is missing when the clock runs */
    for (int h = 0; h < HOST_KINDS; h++) memset(b->host[h], 1, COPY_BYTES);
    return 0;
}

static int measure(const struct bench *b, struct calibration *ret)
{
    for (int h = 0; h < HOST_KINDS; h++) TRY(measure_rate(b, (enum offload_host)h, &ret->rate[h]));
    TRY(measure_call(b, &ret->call_ns));
    return measure_alloc(b, &ret->alloc_ns);
}

static int in_context(struct bench *b, struct calibration *ret)
{
    int rc = prepare(b);
    if (rc == 0) rc = measure(b, ret);
    mem_free(b->host[HOST_PAGEABLE]);
    if (b->host[HOST_PINNED]) b->d->host_free(b->host[HOST_PINNED]);
    if (b->target) b->d->device_free(b->target);
    return rc;
}

int calibrate_run(const struct driver *d, struct calibration *ret, struct err *e)
{
    struct bench b = {.d = d, .e = e};
    struct calibration c = {.bytes = COPY_BYTES, .rounds = ROUNDS};
    void *context;
    TRY(said(&b, d->init(0), "starting it"));
    TRY(said(&b, d->device_get(&b.device, 0), "finding a device"));
    TRY(said(&b, d->device_name(c.device, sizeof c.device, b.device), "naming the device"));
    TRY(said(&b, d->context_retain(&context, b.device), "opening the device"));
    int rc = said(&b, d->context_set(context), "using the device");
    if (rc == 0) rc = in_context(&b, &c);
    d->context_release(b.device);
    if (rc == 0) *ret = c;
    return rc;
}
