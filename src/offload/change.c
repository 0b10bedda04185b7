/* change.c: see offload_private.h. */
#include "offload/offload_private.h"
#include "offload/trial.h"

/* Time of a copy besides its bytes. */
#define COPY_START_NS 2000
/* Modules below this size share allocations. */
#define OWN_SEGMENT_BYTES 10000000

bool change_drops(const struct change *c, const struct streamed_load *l)
{
    const struct scheme *sc = c->sc;
    if (!sc->resident || l->module == STREAMED_NONE || !sc->resident[l->module]) return false;
    return c->later || sc->preloaded || l->again;
}

bool change_in_turn(const struct change *c, const struct streamed_load *l)
{
    if (!c->sc->depth || !c->sc->by_block || l->module == STREAMED_NONE) return false;
    return c->tr->s->modules[l->module].loose;
}

bool change_in_load(const struct change *c, const struct sim_call *call, uint32_t load)
{
    const struct streamed_load *l = &c->tr->s->loads[load];
    return call->thread == c->tr->thread_of_load[load] && call->begin_ns >= l->begin_ns &&
           call->begin_ns < l->end_ns;
}

/* ---- spans ---- */

static void add_scaled(struct change *c, struct sim_cut span)
{
    if (span.end_ns > span.begin_ns) c->scaled[c->n_scaled++] = span;
}

/* Time inside calls that wait is not the CPU's own: it keeps its length. */
static void add_pace(struct change *c, struct sim_cut span)
{
    const struct sim_model *m = c->tr->m;
    int64_t end = span.end_ns;
    for (uint32_t i = sim_call_at(m, span.begin_ns); i < m->n_calls && m->calls[i].begin_ns < end;
         i++) {
        const struct sim_call *call = &m->calls[i];
        if (call->thread != span.thread || call->wait == SIM_WAIT_NOTHING) continue;
        span.end_ns = call->begin_ns;
        add_scaled(c, span);
        span.begin_ns = call->end_ns;
    }
    span.end_ns = end;
    add_scaled(c, span);
}

/* Code around load `i`, with warm caches: the model's own, and the hooks' where they stay. */
static void warm_up(struct change *c, uint32_t i, bool was_cold)
{
    const struct trial *tr = c->tr;
    for (uint32_t k = tr->first_hook[i]; k < tr->first_hook[i + 1]; k++) {
        const struct hook *h = &tr->hooks.all[k];
        double keep = h->keep > 0 ? h->keep : was_cold ? 1 / HOOKS_COLD : 1;
        if (keep < 1)
            add_pace(c, (struct sim_cut){tr->thread_of_load[i], h->begin_ns, h->end_ns, keep});
    }
}

static void cool_down(struct change *c, uint32_t i)
{
    const struct streamed *s = c->tr->s;
    const struct streamed_load *l = &s->loads[i];
    bool last = i + 1 == s->n_loads || s->loads[i + 1].lane != l->lane;
    int64_t until = last ? s->steps[l->step].cpu.end_ns : s->loads[i + 1].begin_ns;
    int64_t from = c->sc->depth ? l->end_ns : l->begin_ns;
    add_pace(c, (struct sim_cut){c->tr->thread_of_load[i], from, until, HOOKS_COLD});
}

/* Code between two loads runs cold or warm, as the last big load before it left it. */
static void pace_code(struct change *c)
{
    const struct streamed *s = c->tr->s;
    bool was_cold = false, is_cold = false;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        const struct streamed_load *l = &s->loads[i];
        bool gone = change_drops(c, l);
        if (l->bytes >= HOOKS_BIG_BYTES) {
            was_cold = l->pageable;
            is_cold = !gone && c->sc->host == HOST_PAGEABLE;
        }
        if (!was_cold && is_cold) cool_down(c, i);
        else if (!is_cold && (was_cold || gone)) warm_up(c, i, was_cold);
    }
}

/* A module that stays takes its memory from the driver when it first comes. */
static void pay_allocations(struct change *c)
{
    const struct trial *tr = c->tr;
    for (uint32_t i = 0; i < tr->s->n_loads; i++) {
        const struct streamed_load *l = &tr->s->loads[i];
        int64_t first_call = tr->t->ts_ns[l->first_call];
        bool stays = c->sc->resident && l->module != STREAMED_NONE && c->sc->resident[l->module];
        if (!stays || change_drops(c, l) || first_call <= l->begin_ns) continue;
        double segments = (double)l->bytes / OWN_SEGMENT_BYTES;
        double extra = (double)tr->alloc_ns * (segments < 1 ? segments : 1);
        double keep = 1 + extra / (double)(first_call - l->begin_ns);
        add_scaled(c, (struct sim_cut){tr->thread_of_load[i], l->begin_ns, first_call, keep});
    }
}

/* What stays is neither loaded nor put away. */
static void drop_loads(struct change *c)
{
    const struct streamed *s = c->tr->s;
    const struct hooks *h = &c->tr->hooks;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        const struct streamed_load *l = &s->loads[i];
        uint32_t thread = c->tr->thread_of_load[i];
        if (!change_drops(c, l)) continue;
        c->dropped[c->n_dropped++] = (struct sim_cut){thread, l->begin_ns, l->end_ns, 0};
        for (uint32_t k = c->tr->first_hook[i]; k < c->tr->first_hook[i + 1]; k++)
            if (h->all[k].keep == 0)
                c->dropped[c->n_dropped++] =
                    (struct sim_cut){thread, h->all[k].begin_ns, h->all[k].end_ns, 0};
    }
}

int change_make(struct change *c, struct arena *mem, struct err *e)
{
    const struct trial *tr = c->tr;
    size_t loads = tr->s->n_loads + (size_t)1, hooks = tr->hooks.n, cleanups = tr->n_cleanups;
    c->m = tr->m;
    c->n_dropped = c->n_scaled = 0;
    c->dropped = arena_alloc(mem, (loads + hooks) * sizeof *c->dropped);
    /* paces, each cut in two by the waits in it; an allocation or the issue of copies a load */
    c->scaled = arena_alloc(mem, (2 * loads + hooks + tr->n_waits + cleanups) * sizeof *c->scaled);
    if (!c->dropped || !c->scaled) return err_nomem(e);
    pace_code(c);
    if (c->sc->depth) return prefetch_move(c, mem, e);
    pay_allocations(c);
    drop_loads(c);
    return 0;
}

/* ---- copies ---- */

/* The memory that the copies of the load come from under the scheme. */
static enum offload_host host_of(const struct change *c, const struct streamed_load *l)
{
    return change_in_turn(c, l) ? HOST_PAGEABLE : c->sc->host;
}

/* A run that mixes both kinds of memory goes on doing so where its main one stays. */
static bool other_memory(const struct change *c, uint32_t work, enum offload_host host)
{
    if (host == c->tr->traced_host) return false;
    bool pageable = streamed_is_pageable(c->tr->t, c->tr->m->works[work].row);
    return pageable != (host == HOST_PAGEABLE);
}

/* How long the copy takes from the scheme's host memory. */
static int64_t copy_time(const struct change *c, uint32_t work, enum offload_host host)
{
    const struct sim_work *k = &c->tr->m->works[work];
    double bytes = (double)trace_gpu(c->tr->t, k->row)->bytes;
    double ns = (double)(k->end_ns - k->begin_ns);
    if (other_memory(c, work, host)) ns = COPY_START_NS + bytes / c->tr->bytes_per_ns[host];
    return (int64_t)(ns * c->sc->weight_scale + 0.5);
}

/* Without pageable memory nothing waits for the copies of a load on the CPU. */
static void drop_waits(const struct change *c, struct sim_plan *plan)
{
    const struct streamed *s = c->tr->s;
    const struct sim_model *m = c->tr->m;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        if (!s->loads[i].pageable) continue;
        for (uint32_t k = sim_call_at(m, s->loads[i].begin_ns);
             k < m->n_calls && m->calls[k].begin_ns < s->loads[i].end_ns; k++)
            if (change_in_load(c, &m->calls[k], i) && !m->calls[k].n_work &&
                m->calls[k].wait != SIM_WAIT_NOTHING)
                plan->mode[k] = SIM_DROP;
    }
}

void change_copies(const struct change *c, struct sim_plan *plan)
{
    const struct trial *tr = c->tr;
    for (uint32_t w = 0; w < tr->m->n_works; w++) {
        uint32_t load = tr->load_of_work[w];
        if (load == STREAMED_NONE) continue;
        const struct streamed_load *l = &tr->s->loads[load];
        enum offload_host host = host_of(c, l);
        bool gone = change_drops(c, l), moved = c->sc->depth && !change_in_turn(c, l);
        plan->work_ns[w] = gone ? 0 : copy_time(c, w, host);
        /* no call: where spans cross, it went with a load around it that is copied ahead */
        uint32_t call = c->m->works[w].call;
        if (moved || gone || call == SIM_NONE || !other_memory(c, w, host)) continue;
        plan->mode[call] = host == HOST_PAGEABLE ? SIM_BLOCK : SIM_NO_WAIT;
    }
    if (!c->sc->depth && c->sc->host == HOST_PINNED) drop_waits(c, plan);
}
