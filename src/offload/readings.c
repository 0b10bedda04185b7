/* readings.c: see facts.h. */
#include "offload/facts.h"

#include "base/file.h"
#include "base/jdoc.h"

/* No bus and no memory is faster or slower, in GB/s; no stage takes longer, in ms. */
#define LEAST_RATE 1e-3
#define MOST_RATE  1e5
#define MOST_MS    1e9

static int readings_refuse(const char *path, const char *what, struct err *e)
{
    err_set(e, ERR_FORMAT, "%s", what);
    err_at(e, path, ERR_NO_OFFSET);
    return ERR_FORMAT;
}

/* `what` is the error for a file that is not JSON. */
static int readings_read_document(const char *path, const char *what, struct arena *mem,
                                  struct jdoc *ret, struct err *e)
{
    struct file_map m;
    TRY(file_map(&m, path, e));
    int rc = jdoc_parse(str_from(m.p, m.n), mem, ret, NULL);
    file_unmap(&m);
    if (rc == ERR_NOMEM) return err_nomem(e);
    return rc < 0 ? readings_refuse(path, what, e) : 0;
}

/* ---- rates ---- */

static bool is_rate(double v)
{
    return v >= LEAST_RATE && v <= MOST_RATE;
}

/* Of the slowest and the fastest tenth: 0 where it is not known. */
static bool is_spread(double v)
{
    return v >= 0 && v <= MOST_RATE;
}

/* Whether the rate is present and valid; a missing rate is not an error. */
static bool take_rate(const struct jdoc *d, struct facts_rate *to, uint32_t *n)
{
    if (!d) return true;
    struct facts_rate r = {.bytes_per_ns = jdoc_number(d, "gb_per_s", 0),
                           .low = jdoc_number(d, "p10_gb_per_s", 0),
                           .high = jdoc_number(d, "p90_gb_per_s", 0),
                           .from = FACT_MEASURED};
    if (!is_rate(r.bytes_per_ns) || !is_spread(r.low) || !is_spread(r.high)) return false;
    if (to->from != FACT_MEASURED) *to = r;
    (*n)++;
    return true;
}

/* Tensors that come back get new memory: they are written no faster than that is. */
static void cap_back(struct facts_rate *back, double touch)
{
    if (is_rate(touch) && back->bytes_per_ns > touch)
        *back = (struct facts_rate){.bytes_per_ns = touch, .from = FACT_MEASURED};
}

int readings_rates(const char *path, struct arena *mem, struct facts *f, struct err *e)
{
    struct jdoc d;
    uint32_t n = 0;
    bool good = true, known = f->back.from == FACT_MEASURED;
    TRY(readings_read_document(path, "not a calibration: it has no rates", mem, &d, e));
    const struct jdoc *rates = jdoc_get(&d, "rates");
    for (int h = 0; h < HOST_KINDS; h++)
        good &= take_rate(jdoc_get(rates, host_name((enum offload_host)h)), &f->rate[h], &n);
    good &= take_rate(jdoc_get(rates, "to_host"), &f->back, &n);
    if (!good || !n) return readings_refuse(path, "not a calibration: it has no rates", e);
    if (!known) cap_back(&f->back, jdoc_number(&d, "first_touch_gb_per_s", 0));
    return 0;
}

/* ---- a stage alone ---- */

int readings_bench(const char *path, struct arena *mem, struct facts *f, struct err *e)
{
    struct jdoc d;
    TRY(readings_read_document(path, "not output of strata bench --json", mem, &d, e));
    const struct jdoc *times = jdoc_get(&d, "times");
    double ms = jdoc_number(jdoc_get(times, "wall"), "median_ms", 0);
    if (ms <= 0) ms = jdoc_number(jdoc_get(times, "gpu"), "median_ms", 0);
    if (!(ms > 0 && ms <= MOST_MS))
        return readings_refuse(path, "not output of strata bench --json: it has no times", e);
    f->compute_ns = (int64_t)(ms * 1e6);
    return 0;
}
