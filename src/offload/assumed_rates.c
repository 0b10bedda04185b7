/* assumed_rates.c: see offload_private.h. */
#include "analyze/kernels/ceilings.h"
#include "offload/facts.h"
#include "offload/offload_private.h"

/* Weights are taken to have 16 bits, one multiplication and one addition each. */
#define BYTES_PER_WEIGHT 2.0
#define FLOPS_PER_WEIGHT 2.0

void assumed_rates(struct facts *f, int major)
{
    struct ceilings c;
    ceilings_init(&c, str_c(""));
    ceilings_from_generation(&c, major > 0 ? major : 8); /* 8: not known */
    if (f->flops_from == FACT_UNKNOWN) {
        f->flops_per_ns = c.compute[HALF].per_s / 1e9;
        f->flops_from = FACT_ASSUMED;
    }
    if (f->device_memory.from == FACT_UNKNOWN)
        f->device_memory =
            (struct facts_rate){.bytes_per_ns = c.memory.per_s / 1e9, .from = FACT_ASSUMED};
}

static double module_ns(const struct facts *f, const struct facts_module *m)
{
    double weights = (double)m->bytes / BYTES_PER_WEIGHT;
    double flops = m->flops > 0 ? m->flops : weights * FLOPS_PER_WEIGHT * f->tokens;
    double arithmetic = flops / f->flops_per_ns;
    double reading = (double)m->bytes / f->device_memory.bytes_per_ns;
    return flops > 0 && reading > arithmetic ? reading : arithmetic;
}

void assumed_compute(struct facts *f)
{
    double sum = 0;
    if (f->compute_ns) return;
    for (uint32_t i = 0; i < f->n_modules; i++)
        if (f->modules[i].compute_ns) return;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        double ns = module_ns(f, &f->modules[i]);
        f->modules[i].compute_ns = (int64_t)(ns + 0.5);
        sum += ns;
    }
    f->compute_ns = (int64_t)(sum * f->passes + 0.5);
    if (f->compute_ns) f->compute_from = FACT_ASSUMED;
}
