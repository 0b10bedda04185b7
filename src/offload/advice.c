/* advice.c: see offload_private.h. Sentences are made here because they are conclusions; the report
 * lays them out. */
#include "offload/offload_private.h"
#include "offload/planner.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "base/stats.h"

/* Measured and predicted totals that differ by more than this, or by more than twice the noise, are
 * inconsistent. */
#define OFF_PCT 10.0
/* The time per step derived from two totals and the given time per step may differ by this factor.
 */
#define STEP_FACTOR 1.25
/* Smallest and largest first are the same when their totals differ by less than this. */
#define SAME_PCT 2.0

struct adviser {
    struct plan *p;
    struct arena *mem;
    bool failed;
};

__attribute__((format(printf, 4, 5))) static void say(struct adviser *a, const char **list,
                                                      uint32_t *n, const char *fmt, ...)
{
    if (*n == PLAN_TEXTS) return;
    va_list ap;
    va_start(ap, fmt);
    list[*n] = arena_vprintf(a->mem, fmt, ap);
    va_end(ap);
    if (list[*n]) (*n)++;
    else a->failed = true;
}

#define SAY_OFF(a, ...) say((a), (a)->p->inconsistent, &(a)->p->n_inconsistent, __VA_ARGS__)
#define SAY_DO(a, ...)  say((a), (a)->p->advice, &(a)->p->n_advice, __VA_ARGS__)

/* ---- inconsistent numbers ---- */

static const char *resident_words(struct adviser *a, int64_t bytes)
{
    if (bytes == 0) return "all streamed";
    const char *s = arena_printf(a->mem, "%s resident", human_bytes(bytes).s);
    if (!s) a->failed = true;
    return s ? s : "";
}

static int check_run(struct adviser *a, struct measured_run *run, struct err *e)
{
    const struct plan *p = a->p;
    struct scheme_times t;
    if (!run->host_given) run->host = p->facts.host;
    TRY(plan_predict(p, run->host, run->resident_bytes, a->mem, &t, e));
    run->predicted_ns = plan_total(&p->facts, &t, run->steps);
    if (run->predicted_ns <= 0) return 0;
    run->off_pct = 100 * ((double)run->total_ns / (double)run->predicted_ns - 1);
    double most = 2 * p->facts.noise_pct > OFF_PCT ? 2 * p->facts.noise_pct : OFF_PCT;
    if (fabs(run->off_pct) <= most) return 0;
    SAY_OFF(a, "%u steps, %s: measured %s, but the other numbers give %s (%+.0f %%).", run->steps,
            resident_words(a, run->resident_bytes), human_time(run->total_ns).s,
            human_time(run->predicted_ns).s, run->off_pct);
    return 0;
}

/* Two totals that differ only in their number of steps give the time per step. */
static int check_pair(struct adviser *a, const struct measured_run *x, const struct measured_run *y,
                      struct err *e)
{
    if (x->steps >= y->steps || x->resident_bytes != y->resident_bytes || x->host != y->host)
        return 0;
    struct scheme_times t;
    TRY(plan_predict(a->p, x->host, x->resident_bytes, a->mem, &t, e));
    double each = (double)(y->total_ns - x->total_ns) / (y->steps - x->steps);
    double said = (double)t.step_ns;
    if (said <= 0 || (each < said * STEP_FACTOR && each * STEP_FACTOR > said)) return 0;
    SAY_OFF(a,
            "%s: the totals of %u and %u steps give %s per step, not %s: later steps still read "
            "from disk, or the runs do not compare.",
            resident_words(a, x->resident_bytes), x->steps, y->steps, human_time((int64_t)each).s,
            human_time(t.step_ns).s);
    return 0;
}

static int check_runs(struct adviser *a, struct err *e)
{
    struct plan *p = a->p;
    for (uint32_t i = 0; i < p->n_runs; i++) TRY(check_run(a, &p->runs[i], e));
    for (uint32_t i = 0; i < p->n_runs; i++)
        for (uint32_t k = 0; k < p->n_runs; k++) TRY(check_pair(a, &p->runs[i], &p->runs[k], e));
    return 0;
}

static void check_rates(struct adviser *a)
{
    const struct facts *f = &a->p->facts;
    const struct facts_rate *pinned = &f->rate[HOST_PINNED], *pageable = &f->rate[HOST_PAGEABLE];
    if (pageable->bytes_per_ns > pinned->bytes_per_ns * 1.1)
        SAY_OFF(a, "pageable copies at %.1f GB/s are faster than pinned ones at %.1f GB/s.",
                pageable->bytes_per_ns, pinned->bytes_per_ns);
    double at_rate = (double)f->model_bytes * f->passes / f->rate[f->host].bytes_per_ns;
    if (!a->p->trial && f->step_ns && (double)f->step_ns < at_rate / STEP_FACTOR)
        SAY_OFF(a, "%s at %.1f GB/s take %s, more than the step of %s.",
                human_bytes(f->model_bytes * f->passes).s, f->rate[f->host].bytes_per_ns,
                human_time((int64_t)at_rate).s, human_time(f->step_ns).s);
}

/* ---- what to do ---- */

static bool advice_pays(const struct prediction *r)
{
    return r && strcmp(r->verdict, "worth it") == 0;
}

static void advise_first_step(struct adviser *a)
{
    const struct plan *p = a->p;
    const struct facts *f = &p->facts;
    const struct prediction *now = &p->rows[p->base];
    double rate =
        now->times.first_ns > 0 ? (double)f->model_bytes / (double)now->times.first_ns : 0;
    if (rate > 0 && rate < FACTS_DISK_BYTES_PER_NS && f->model_bytes > 100000000)
        SAY_DO(a,
               "the first step reads the model at %.2f GB/s, the speed of a disk or a page file, "
               "not of the bus. Enough host memory (at least %s free) or fewer bits per weight "
               "gains more than any resident set.",
               rate, human_bytes(f->model_bytes).s);
    double share = stats_pct(f->fixed_ns + now->times.first_ns, now->total_ns);
    if (share > 50 && f->steps > 1)
        SAY_DO(a,
               "%.0f %% of the time is in the first step and fixed stages, where no resident set "
               "helps: at most %.0f %% can be gained over %u steps.",
               share, p->ceiling_pct, f->steps);
}

static void advise_host_memory(struct adviser *a)
{
    const struct facts *f = &a->p->facts;
    const struct prediction *ahead = plan_find(a->p, "prefetch_block", HOST_PINNED);
    if (!f->ram_bytes) return;
    if (f->model_bytes > f->ram_bytes)
        SAY_DO(a,
               "the weights alone (%s) exceed the host memory of %s, so every step reads some of "
               "them from disk. Use fewer bits per weight, or offload_to_disk_path on a fast "
               "disk.",
               human_bytes(f->model_bytes).s, human_bytes(f->ram_bytes).s);
    else if (ahead && ahead->host_ram_bytes > f->ram_bytes)
        SAY_DO(a,
               "enable_group_offload(use_stream=True) pins a second copy of the weights, which "
               "needs %s of %s host memory. low_cpu_mem_usage=True pins on the fly, which is "
               "slower.",
               human_bytes(ahead->host_ram_bytes).s, human_bytes(f->ram_bytes).s);
}

static void advise_memory_kind(struct adviser *a)
{
    const struct plan *p = a->p;
    const struct prediction *pinned = plan_find(p, "stream_all", HOST_PINNED);
    const struct prediction *ahead = plan_find(p, "prefetch", HOST_PINNED);
    const struct prediction *blocks = plan_find(p, "prefetch_block", HOST_PINNED);
    if (p->facts.host == HOST_PAGEABLE && advice_pays(pinned))
        SAY_DO(a,
               "pin the host copies (tensor.pin_memory(), copies with non_blocking=True): %s "
               "instead of %s, without using device memory.%s",
               human_time(pinned->total_ns).s, human_time(p->rows[p->base].total_ns).s,
               pinned->rate_from == FACT_ASSUMED
                   ? " The rate is assumed; measure it with strata offload calibrate."
                   : "");
    if (blocks && (!ahead || blocks->total_ns < ahead->total_ns)) ahead = blocks;
    if (!advice_pays(ahead) || !pinned) return;
    double more = stats_pct(pinned->total_ns - ahead->total_ns, pinned->total_ns);
    if (more > p->facts.noise_pct)
        SAY_DO(a,
               "copy the next %s while this one computes (enable_group_offload(use_stream=True)): "
               "%s, %.0f %% less than with pinning alone.",
               ahead->by_block ? "block" : "module", human_time(ahead->total_ns).s, more);
}

static void advise_resident(struct adviser *a)
{
    const struct plan *p = a->p;
    const struct prediction *small = plan_find(p, "smallest", p->facts.host);
    const struct prediction *large = plan_find(p, "largest", p->facts.host);
    if (!small || !large || !large->resident_bytes) return;
    double apart = fabs(stats_pct(small->total_ns - large->total_ns, large->total_ns));
    if (apart < SAME_PCT && !p->facts.modules_are_pieces)
        SAY_DO(a,
               "which modules stay resident hardly matters (%.1f %% between smallest first and "
               "largest first): without overlap every byte costs the same.",
               apart);
    if (strcmp(large->verdict, "within noise") != 0) return;
    if (large->break_even)
        SAY_DO(a,
               "keeping %s resident gains %.1f %%, less than the noise of %.0f %%; %.0f %% needs "
               "%u steps.",
               human_bytes(large->resident_bytes).s, large->gain_pct, p->facts.noise_pct,
               p->wish.target_pct, large->break_even);
    else
        SAY_DO(a,
               "keeping %s resident gains %.1f %%, less than the noise of %.0f %%, for any number "
               "of steps.",
               human_bytes(large->resident_bytes).s, large->gain_pct, p->facts.noise_pct);
}

static void advise_churn(struct adviser *a)
{
    const struct observed *o = &a->p->observed;
    if (!a->p->trial || !o->empties_cache) return;
    SAY_DO(a,
           "device memory is returned to the driver again and again (%s frees, %s allocations, "
           "%s after the first step): something calls empty_cache() in the loop.",
           human_count(o->later.frees).s, human_count(o->later.allocs).s,
           human_time(o->later.ns).s);
}

static void advise_download(struct adviser *a)
{
    const struct observed *o = &a->p->observed;
    if (!a->p->trial || o->to_host.bytes * 10 < a->p->facts.model_bytes) return;
    SAY_DO(a,
           "%s of weights are copied back to the host (%s): keep the host copy and drop the "
           "device copy instead.",
           human_bytes(o->to_host.bytes).s, human_time(o->to_host.ns).s);
}

int advice_run(struct plan *p, struct arena *mem, struct err *e)
{
    struct adviser a = {.p = p, .mem = mem};
    TRY(check_runs(&a, e));
    check_rates(&a);
    advise_first_step(&a);
    advise_host_memory(&a);
    advise_memory_kind(&a);
    advise_churn(&a);
    advise_download(&a);
    advise_resident(&a);
    return a.failed ? err_nomem(e) : 0;
}
