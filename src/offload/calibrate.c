/* calibrate.c: see calibrate.h. Each copy is timed from the call to the end of the wait for it, as
 * a program sees it. */
#include "offload/calibrate.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/stats.h"

enum { COPY_BYTES = 64000000, SMALL_BYTES = 4096, WARM = 2, ROUNDS = 12, SMALL_ROUNDS = 50 };

struct bench {
    const struct driver *d;
    struct err *e;
    int device;
    driver_ptr target;
    char *host[HOST_KINDS];
    size_t pool_bytes[HOST_KINDS];
    double touch_bytes_per_ns;
};

static int calibrate_said(const struct bench *b, int code, const char *what)
{
    return code == 0 ? 0 : FAIL(b->e, ERR_UNSUPPORTED, "CUDA driver: %s failed (%d)", what, code);
}

static int copy_once(const struct bench *b, char *host, size_t n, bool back, int64_t *ret_ns)
{
    uint64_t begin = clock_mono_ns();
    if (back)
        TRY(calibrate_said(b, b->d->copy_back(host, b->target, n, NULL), "a copy to the host"));
    else TRY(calibrate_said(b, b->d->copy(b->target, host, n, NULL), "a copy"));
    TRY(calibrate_said(b, b->d->wait(NULL), "waiting for a copy"));
    *ret_ns = (int64_t)(clock_mono_ns() - begin);
    return 0;
}

/* Rates in millionths of a byte per nanosecond, so that the statistics of all views can be used.
 * Each copy takes the next part of the pool. */
static int measure_rate(const struct bench *b, enum offload_host h, bool back,
                        struct facts_rate *ret)
{
    int64_t rates[ROUNDS];
    size_t parts = b->pool_bytes[h] / COPY_BYTES;
    for (int i = -WARM; i < ROUNDS; i++) {
        int64_t ns;
        char *part = b->host[h] + (size_t)(i + WARM) % parts * COPY_BYTES;
        TRY(copy_once(b, part, COPY_BYTES, back, &ns));
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
        TRY(copy_once(b, b->host[HOST_PAGEABLE], SMALL_BYTES, false, &ns[i]));
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
        TRY(calibrate_said(b, b->d->device_alloc(&p, COPY_BYTES), "an allocation"));
        TRY(calibrate_said(b, b->d->device_free(p), "freeing memory"));
        ns[i] = (int64_t)(clock_mono_ns() - begin);
    }
    stats_sort(ns, ROUNDS);
    *ret_ns = stats_median(ns, ROUNDS);
    return 0;
}

/* The pool, touched so that no page is missing when copies are timed. Allocated twice: memory that
 * a program frees and gets again is what returning tensors get. */
static int take_pool(struct bench *b)
{
    size_t n = b->pool_bytes[HOST_PAGEABLE];
    for (int i = 0; i < 2; i++) {
        mem_free(b->host[HOST_PAGEABLE]);
        b->host[HOST_PAGEABLE] = mem_alloc(n);
        if (!b->host[HOST_PAGEABLE]) return err_nomem(b->e);
        uint64_t begin = clock_mono_ns();
        memset(b->host[HOST_PAGEABLE], 1, n);
        double ns = (double)(clock_mono_ns() - begin);
        b->touch_bytes_per_ns = ns > 0 ? (double)n / ns : 0;
    }
    return 0;
}

static int calibrate_prepare(struct bench *b)
{
    void *pinned = NULL;
    TRY(calibrate_said(b, b->d->device_alloc(&b->target, COPY_BYTES), "an allocation"));
    TRY(calibrate_said(b, b->d->host_alloc(&pinned, COPY_BYTES, 0), "pinning memory"));
    b->host[HOST_PINNED] = pinned;
    memset(pinned, 1, COPY_BYTES);
    return take_pool(b);
}

static int calibrate_measure(const struct bench *b, struct calibration *ret)
{
    ret->touch_bytes_per_ns = b->touch_bytes_per_ns;
    for (int h = 0; h < HOST_KINDS; h++)
        TRY(measure_rate(b, (enum offload_host)h, false, &ret->rate[h]));
    TRY(measure_rate(b, HOST_PAGEABLE, true, &ret->back));
    TRY(measure_call(b, &ret->call_ns));
    return measure_alloc(b, &ret->alloc_ns);
}

static int in_context(struct bench *b, struct calibration *ret)
{
    int rc = calibrate_prepare(b);
    if (rc == 0) rc = calibrate_measure(b, ret);
    mem_free(b->host[HOST_PAGEABLE]);
    if (b->host[HOST_PINNED]) b->d->host_free(b->host[HOST_PINNED]);
    if (b->target) b->d->device_free(b->target);
    return rc;
}

int calibrate_run(const struct driver *d, size_t pool_bytes, struct calibration *ret, struct err *e)
{
    size_t pool = pool_bytes < COPY_BYTES ? COPY_BYTES : pool_bytes;
    struct bench b = {.d = d, .e = e, .pool_bytes = {pool, COPY_BYTES}};
    struct calibration c = {.bytes = COPY_BYTES, .rounds = ROUNDS};
    void *context;
    TRY(calibrate_said(&b, d->init(0), "starting it"));
    TRY(calibrate_said(&b, d->device_get(&b.device, 0), "finding a device"));
    TRY(calibrate_said(&b, d->device_name(c.device, sizeof c.device, b.device),
                       "naming the device"));
    TRY(calibrate_said(&b, d->context_retain(&context, b.device), "opening the device"));
    int rc = calibrate_said(&b, d->context_set(context), "using the device");
    if (rc == 0) rc = in_context(&b, &c);
    d->context_release(b.device);
    if (rc == 0) *ret = c;
    return rc;
}
