/* pm_sampler.h: counters of a whole GPU over time, while any program runs on it: how much of the
 * time the SMs, the tensor cores and the memory work. Samples are taken by the GPU itself at a
 * fixed interval; nothing is replayed and nothing is slowed down.
 *
 *     pm_open ─> pm_start ─> pm_poll, pm_poll ... ─> pm_stop ─> pm_close
 *
 * The GPU keeps samples in a buffer of its own: pm_poll fetches them, several times per second. */
#ifndef STRATA_DIVE_PM_SAMPLER_H
#define STRATA_DIVE_PM_SAMPLER_H

#include <stdbool.h>

#include "dive/pm_api.h"

enum pm_counter {
    PM_GPU,    /* anything at all */
    PM_SM,     /* an SM has work */
    PM_ISSUE,  /* instructions of what SMs could */
    PM_TENSOR, /* tensor pipes */
    PM_DRAM_READ,
    PM_DRAM_WRITE,
    PM_PCIE_READ, /* bytes */
    PM_PCIE_WRITE,
    PM_COUNTERS
};

const char *pm_counter_key(enum pm_counter c);   /* "sm_pct" ... */
const char *pm_counter_about(enum pm_counter c); /* for people */

/* Shares of the peak, over the samples in which the GPU worked; bytes are added up. */
struct pm_stat {
    bool known;
    double mean, p95, most;
    double sum;
};

struct pm_result {
    uint64_t n_samples, n_active; /* active: the GPU did something */
    uint64_t n_overflows;         /* times the GPU's buffer was full before it was fetched */
    double interval_ns, seconds, active_seconds;
    struct pm_stat counters[PM_COUNTERS];
};

enum { PM_BINS = 101, PM_MOST_METRICS = PM_COUNTERS };

struct pm_sampler {
    const struct pm_api *api;
    struct arena *mem;
    char chip[64];
    const char *names[PM_MOST_METRICS]; /* of the counters that this GPU has */
    enum pm_counter counter[PM_MOST_METRICS];
    size_t n;
    void *host, *sampler;
    uint8_t *availability, *config, *data;
    size_t config_size, data_size;
    uint64_t interval_ns;
    bool running;
    /* added up so far */
    struct pm_result result;
    uint64_t bins[PM_COUNTERS][PM_BINS]; /* active samples by whole per cent */
    double sums[PM_COUNTERS];
};

/* `device` counts as nvidia-smi does. Memory from `mem`. Fails with what to do about it when the
 * counters may not be read. */
int pm_open(struct pm_sampler *s, const struct pm_api *api, size_t device, struct arena *mem,
            struct err *e) MUST_USE;
int pm_start(struct pm_sampler *s, struct err *e) MUST_USE;
int pm_poll(struct pm_sampler *s, struct err *e) MUST_USE;
int pm_stop(struct pm_sampler *s, struct pm_result *ret, struct err *e) MUST_USE;
void pm_close(struct pm_sampler *s);

#endif
