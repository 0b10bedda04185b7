/* diff_changed.c: what changed in the program, in sentences: waits that are gone or new, kernels,
 * GPUs. The parts of a diff say where the time went; these say why. */
#include "analyze/compare/compare_constants.h"
#include "analyze/compare/diff.h"
#include "analyze/steps/steps.h"
#include "base/human.h"
#include "base/stats.h"

double diff_kernels_per_step(const struct diff *d, enum diff_side s)
{
    const struct steps *steps = steps_of(d->side[s]);
    return steps->n_steps ? steps_kernels(steps) : (double)d->kernels.kernels[s];
}

static int diff_changed_add(struct diff *d, struct arena *mem, const char *text)
{
    if (!text) return ERR_NOMEM;
    if (d->n_changed < DIFF_CHANGED) d->changed[d->n_changed++] = arena_strdup(mem, str_c(text));
    return d->n_changed && !d->changed[d->n_changed - 1] ? ERR_NOMEM : 0;
}

/* ---- waits ---- */

static const struct sync_site *diff_changed_only(const struct diff_sync *y, enum diff_side s)
{
    return y->side[!s] ? NULL : y->side[s];
}

/* The wait of one side alone that costs most and was not named yet. */
static const struct diff_sync *diff_changed_next(const struct diff *d, enum diff_side s,
                                                 const bool *named)
{
    const struct diff_sync *best = NULL;
    for (uint32_t i = 0; i < d->n_syncs; i++) {
        const struct sync_site *x = diff_changed_only(&d->syncs[i], s);
        if (!x || named[i]) continue;
        const struct sync_site *b = best ? best->side[s] : NULL;
        if (!b || x->exposed_ns > b->exposed_ns ||
            (x->exposed_ns == b->exposed_ns && x->blocked_ns > b->blocked_ns))
            best = &d->syncs[i];
    }
    return best;
}

/* "aten::item in sampler_step": the key without the call where there is an operator. */
static const char *diff_changed_place(const char *key)
{
    const char *under = strstr(key, " under ");
    return under ? under + strlen(" under ") : key;
}

static int diff_changed_syncs(struct diff *d, enum diff_side s, struct arena *mem)
{
    bool *named = arena_zalloc(mem, (size_t)d->n_syncs + 1, sizeof *named);
    uint32_t n = 0, more = 0;
    if (!named) return ERR_NOMEM;
    for (const struct diff_sync *y; (y = diff_changed_next(d, s, named));) {
        const struct sync_site *x = y->side[s];
        char cut[160];
        named[y - d->syncs] = true;
        if (n++ >= DIFF_CHANGED_SYNCS) {
            more++;
            continue;
        }
        TRY(diff_changed_add(
            d, mem,
            arena_printf(mem, "%s %s: %s, %s %s, blocked %s, exposed %s",
                         x->kind == WAIT_ALLOCATION ? "allocation" : "sync",
                         s == DIFF_BEFORE ? "gone" : "new",
                         human_cut(str_c(diff_changed_place(y->key)), 70, cut, sizeof cut),
                         human_count(x->n_rows).s, x->n_rows == 1 ? "call" : "calls",
                         human_time(x->blocked_ns).s, human_time(x->exposed_ns).s)));
    }
    if (!more) return 0;
    return diff_changed_add(d, mem,
                            arena_printf(mem, "%u more wait%s %s (--json has all)", more,
                                         more == 1 ? "" : "s", s == DIFF_BEFORE ? "gone" : "new"));
}

static int diff_changed_loop(struct diff *d, struct arena *mem)
{
    uint32_t before = syncs_of(d->side[0])->totals.in_loop,
             after = syncs_of(d->side[1])->totals.in_loop;
    if (!d->calls || before == after) return 0;
    bool proved = !after && steps_of(d->side[1])->n_steps;
    return diff_changed_add(
        d, mem,
        arena_printf(
            mem, "syncs in the loop %s -> %s%s", human_count(before).s, human_count(after).s,
            proved ? ", proved: no call blocks inside the steps of the second trace" : ""));
}

/* ---- kernels ---- */

static const char *diff_changed_mechanism(enum diff_mechanism m)
{
    switch (m) {
    case MECHANISM_FUSION: return ": fewer kernels by fusion, not by CUDA graphs";
    case MECHANISM_GRAPHS: return ": fewer launches by CUDA graphs, not by fusion";
    case MECHANISM_BOTH: return ": fewer kernels by fusion and fewer launches by CUDA graphs";
    case MECHANISM_OTHER: return ": less work, without fusion or CUDA graphs";
    case MECHANISM_NONE: break;
    }
    return "";
}

static int diff_changed_kernels(struct diff *d, struct arena *mem)
{
    const struct diff_kernels *k = &d->kernels;
    uint64_t n[2];
    if (!d->device) return 0;
    for (int s = 0; s < 2; s++)
        n[s] = (uint64_t)(diff_kernels_per_step(d, (enum diff_side)s) + 0.5);
    bool steps = steps_of(d->side[0])->n_steps && steps_of(d->side[1])->n_steps;
    if (n[0] != n[1] || d->mechanism)
        TRY(diff_changed_add(d, mem,
                             arena_printf(mem, "kernels%s %s -> %s%s", steps ? " per step" : "",
                                          human_count(n[0]).s, human_count(n[1]).s,
                                          diff_changed_mechanism(d->mechanism))));
    if (k->same_names) return 0;
    return diff_changed_add(
        d, mem, arena_printf(mem, "kernel names: %u new, %u gone", k->new_names, k->gone_names));
}

/* ---- what it ran on ---- */

static struct str diff_changed_gpu(const struct context *cx)
{
    return cx->t->n_devices ? trace_str(cx->t, cx->t->devices[0].name) : str_c("");
}

static int diff_changed_device(struct diff *d, struct arena *mem)
{
    struct str gpu[2] = {diff_changed_gpu(d->side[0]), diff_changed_gpu(d->side[1])};
    if (!gpu[0].n || !gpu[1].n || str_eq(gpu[0], gpu[1])) return 0;
    return diff_changed_add(d, mem,
                            arena_printf(mem, "another GPU: " STR_FMT " -> " STR_FMT,
                                         STR_ARG(gpu[0]), STR_ARG(gpu[1])));
}

static int diff_changed_program(struct diff *d, struct arena *mem)
{
    const struct diff_kernels *k = &d->kernels;
    if (!d->unlike) return 0;
    bool modules = d->n_modules[0] && d->n_modules[1] && !d->n_common_modules;
    double share[2];
    for (int s = 0; s < 2; s++) share[s] = stats_pct((double)k->common_ns[s], (double)k->ns[s]);
    return diff_changed_add(
        d, mem,
        arena_printf(mem,
                     "these look like two different programs: kernels that both have take %s and "
                     "%s of the kernel time, and %s",
                     human_pct(share[0]).s, human_pct(share[1]).s,
                     modules ? "no outermost module is the same" : "few stages are the same"));
}

int diff_changed_find(struct diff *d, struct arena *mem)
{
    TRY(diff_changed_program(d, mem));
    TRY(diff_changed_device(d, mem));
    if (d->calls) TRY(diff_changed_syncs(d, DIFF_BEFORE, mem));
    if (d->calls) TRY(diff_changed_syncs(d, DIFF_AFTER, mem));
    TRY(diff_changed_loop(d, mem));
    return diff_changed_kernels(d, mem);
}
