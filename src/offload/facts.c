/* facts.c: see facts.h. */
#include "offload/facts.h"

#include "analyze/kernels/ceilings.h"
#include "analyze/simulate/pinned_speed.h"
#include "offload/blocks.h"
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

/* If only the size of a model is known, it is split into this many equal modules. */
#define PIECES 10000
/* Default cost of a copy call and an allocation. */
#define CALL_NS  20000
#define ALLOC_NS 200000
#define HOOKS_NS 100000
/* Default variation between runs, in percent. */
#define NOISE_PCT 5.0
/* From pageable memory a single CPU thread copies into a staging buffer first: about this fast on
 * any current machine. */
#define PAGEABLE_BYTES_PER_NS 8.0

const char *host_name(enum offload_host h)
{
    return h == HOST_PINNED ? "pinned" : "pageable";
}

const char *fact_from_name(enum fact_from f)
{
    static const char *const name[] = {"unknown", "assumed", "given", "measured"};
    return name[f];
}

static int cut_into_pieces(struct facts *f, struct arena *mem)
{
    f->modules = arena_zalloc(mem, PIECES, sizeof *f->modules);
    if (!f->modules) return ERR_NOMEM;
    f->n_modules = PIECES;
    f->modules_are_pieces = true;
    for (uint32_t i = 0; i < PIECES; i++) {
        f->modules[i].bytes = f->model_bytes * (i + 1) / PIECES - f->model_bytes * i / PIECES;
        f->modules[i].block = i;
    }
    return 0;
}

static int facts_number_blocks(struct facts *f, struct arena *mem)
{
    struct arena_mark mark = arena_mark(mem);
    size_t n = f->n_modules + (size_t)1;
    int64_t *bytes = arena_alloc(mem, n * sizeof *bytes);
    uint32_t *block = arena_alloc(mem, n * sizeof *block), n_blocks;
    if (!bytes || !block) return ERR_NOMEM;
    for (uint32_t i = 0; i < f->n_modules; i++) bytes[i] = f->modules[i].bytes;
    TRY(blocks_number(bytes, f->n_modules, mem, block, &n_blocks));
    for (uint32_t i = 0; i < f->n_modules; i++) {
        f->modules[i].block = block[i];
        f->modules[i].loose |= blocks_is_loose(bytes, block, f->n_modules, i);
    }
    arena_reset_to(mem, mark);
    return 0;
}

/* Compute time of the modules where only that of the step is known: in proportion to bytes, as for
 * layers that all see the same tokens. */
static void spread_compute(struct facts *f)
{
    int64_t known = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) known += f->modules[i].compute_ns;
    if (known || !f->compute_ns || !f->model_bytes) return;
    for (uint32_t i = 0; i < f->n_modules; i++)
        f->modules[i].compute_ns = (int64_t)((double)f->compute_ns / f->passes *
                                             (double)f->modules[i].bytes / (double)f->model_bytes);
}

/* A step that is known is compute, calls and bytes: what is left over gives the rate. */
static void rate_from_step(struct facts *f)
{
    struct facts_rate *now = &f->rate[f->host];
    double tensors = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) tensors += f->modules[i].n_tensors;
    double copying =
        (double)(f->step_ns - f->compute_ns) - tensors * (double)f->call_ns * f->passes;
    if (now->from != FACT_UNKNOWN || copying <= 0) return;
    *now = (struct facts_rate){.bytes_per_ns = (double)f->model_bytes * f->passes / copying,
                               .from = FACT_GIVEN};
}

static void complete_rates(struct facts *f, int major)
{
    rate_from_step(f);
    for (int h = 0; h < HOST_KINDS; h++) {
        if (f->rate[h].from != FACT_UNKNOWN) continue;
        double pinned = pinned_speed_guess(major);
        f->rate[h].bytes_per_ns = h == HOST_PINNED ? pinned : PAGEABLE_BYTES_PER_NS;
        f->rate[h].from = FACT_ASSUMED;
    }
    /* pinned memory is never slower than the same machine's pageable memory */
    struct facts_rate *pinned = &f->rate[HOST_PINNED], *pageable = &f->rate[HOST_PAGEABLE];
    if (pinned->from == FACT_ASSUMED && pinned->bytes_per_ns < pageable->bytes_per_ns)
        pinned->bytes_per_ns = pageable->bytes_per_ns;
    if (pageable->from == FACT_ASSUMED && pageable->bytes_per_ns > pinned->bytes_per_ns)
        pageable->bytes_per_ns = pinned->bytes_per_ns;
    if (f->back.from == FACT_UNKNOWN)
        f->back = (struct facts_rate){.bytes_per_ns = pageable->bytes_per_ns, .from = FACT_ASSUMED};
}

/* No machine holds more or runs for longer; sums of what a file says stay far from overflow. */
#define MOST_BYTES 0x1p50
#define MOST_NS    0x1p57

static int check_sums(const struct facts *f, struct err *e)
{
    double bytes = 0, ns = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        bytes += (double)f->modules[i].bytes + (double)f->modules[i].moved_bytes;
        ns += (double)f->modules[i].compute_ns;
    }
    if (bytes > MOST_BYTES || (double)f->model_bytes > MOST_BYTES)
        return FAIL(e, ERR_USAGE, "a model of more than a pebibyte fits no machine");
    ns = ns * f->passes + (double)f->step_ns + (double)f->compute_ns;
    if (ns * f->steps + (double)f->first_ns + (double)f->fixed_ns > MOST_NS)
        return FAIL(e, ERR_USAGE, "a run of more than four years cannot be predicted");
    return 0;
}

int facts_complete(struct facts *f, int major, struct arena *mem, struct err *e)
{
    if (f->passes == 0) f->passes = 1;
    if (f->steps == 0) f->steps = 1;
    TRY(check_sums(f, e));
    if (f->n_modules) f->model_bytes = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) f->model_bytes += f->modules[i].bytes;
    if (f->model_bytes <= 0)
        return FAIL(
            e, ERR_USAGE,
            "the size of the model is unknown: give a trace, --modules FILE or --model-bytes SIZE");
    int rc = f->n_modules ? facts_number_blocks(f, mem) : cut_into_pieces(f, mem);
    TRY(err_grow(e, rc));
    if (!f->call_ns) f->call_ns = CALL_NS;
    if (!f->alloc_ns) f->alloc_ns = ALLOC_NS;
    if (!f->hooks_ns && !f->modules_are_pieces) f->hooks_ns = HOOKS_NS;
    if (f->compute_ns && f->compute_from == FACT_UNKNOWN) f->compute_from = FACT_GIVEN;
    assumed_rates(f, major);
    assumed_compute(f);
    spread_compute(f);
    complete_rates(f, major);
    if (f->noise_from == FACT_UNKNOWN) {
        f->noise_pct = NOISE_PCT;
        f->noise_from = FACT_ASSUMED;
    }
    return 0;
}
