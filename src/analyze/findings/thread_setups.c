/* thread_setups.c: threads that come and go, one for each request, each of which makes its own
 * handles and plans of cuBLAS and cuDNN when it first needs them:
 *
 *     thread 1   norm gemm .......... attention   attention   attention
 *     thread 2                                        norm gemm .......... attention   attention
 *
 * A pause counts if it lies before the first launch of a kernel of these libraries in its thread,
 * after something else was launched there, and the next launch of that kernel has none. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/gaps/launch_delay.h"
#include "base/human.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct thread_pause {
    uint32_t thread;
    struct span time;
    bool once; /* the kernel came again without one */
};

struct thread_setups {
    const struct context *cx;
    const struct sim_model *m;
    struct map first; /* thread and kernel -> 0, or 1 + the pause before its first launch */
    struct thread_pause *pauses;
    uint32_t n_pauses;
    size_t cap_pauses;
    uint8_t *uses; /* by thread: 1 launches kernels of libraries, 2 after a pause */
};

static row_t thread_setups_work(const struct sim_model *m, const struct sim_call *c)
{
    return c->n_work ? m->works[m->works_by_call[c->first_work]].row : ROW_NONE;
}

/* Calls that launch no kernel or fill something prepare the launch after them. */
static bool thread_setups_prepares(const struct sim_model *m, const struct sim_call *c)
{
    row_t work = thread_setups_work(m, c);
    return work == ROW_NONE || m->t->kind[work] == KIND_MEMSET;
}

static bool thread_setups_is_library(const struct context *cx, row_t work)
{
    if (cx->t->kind[work] != KIND_KERNEL) return false;
    enum kernel_family f = roofline_kind(roofline_of(cx), cx->t, work)->family;
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

/* A launch of a library's kernel, with the longest pause since the launch before; `pause` is empty
 * for the first launch of its thread. */
static int thread_setups_note(struct thread_setups *s, uint32_t thread, row_t work,
                              struct span pause, struct err *e)
{
    bool paused = span_ns(pause) >= thread_setups_pause_ns;
    uint64_t key = (uint64_t)thread << 32 | s->cx->t->name[work];
    uint32_t *first = map_at(&s->first, key);
    if (!first) return err_nomem(e);
    s->uses[thread] |= 1;
    if (*first != MAP_NONE) {
        if (*first && !paused) s->pauses[*first - 1].once = true;
        *first = 0;
        return 0;
    }
    *first = 0;
    if (!paused) return 0;
    if (VEC_RESERVE(s->pauses, s->n_pauses, s->cap_pauses, 1)) return err_nomem(e);
    s->pauses[s->n_pauses++] = (struct thread_pause){thread, pause, false};
    *first = s->n_pauses;
    return 0;
}

static int thread_setups_read_thread(struct thread_setups *s, uint32_t thread, struct err *e)
{
    const struct sim_call *calls = s->m->calls;
    bool launched = false;
    struct span pause = {0, 0};
    int64_t done = INT64_MAX;
    for (uint32_t c = s->m->threads[thread].first_call; c != SIM_NONE; c = calls[c].next) {
        struct span lead = {done, calls[c].begin_ns};
        if (launched && span_ns(lead) > span_ns(pause)) pause = lead;
        done = calls[c].end_ns;
        if (thread_setups_prepares(s->m, &calls[c])) continue;
        row_t work = thread_setups_work(s->m, &calls[c]);
        if (thread_setups_is_library(s->cx, work))
            TRY(thread_setups_note(s, thread, work, pause, e));
        launched = true;
        pause = (struct span){0, 0};
    }
    return 0;
}

/* When the last call of a thread returns. */
static int64_t thread_setups_end(const struct sim_model *m, uint32_t thread)
{
    const struct sim_thread *t = &m->threads[thread];
    return m->calls[m->calls_by_thread[t->calls_at + t->n_calls - 1]].end_ns;
}

/* Of the threads that paused, how many come one after the other. Calls are in order, so threads are
 * met in that of their first ones. */
static uint32_t thread_setups_in_turn(const struct thread_setups *s)
{
    uint32_t n = 0;
    int64_t end = INT64_MIN;
    for (uint32_t c = 0; c < s->m->n_calls; c++) {
        uint32_t thread = s->m->calls[c].thread;
        if (s->m->threads[thread].first_call != c || !(s->uses[thread] & 2)) continue;
        if (s->m->calls[c].begin_ns < end) continue;
        end = thread_setups_end(s->m, thread);
        n++;
    }
    return n;
}

/* Whether nearly all threads that use libraries set them up again. */
static bool thread_setups_is_usual(const struct thread_setups *s, uint32_t *ret_threads)
{
    uint32_t all = 0, paused = 0;
    for (uint32_t i = 0; i < s->m->n_threads; i++) {
        all += s->uses[i] & 1;
        paused += s->uses[i] >> 1;
    }
    *ret_threads = paused;
    return (double)paused >= thread_setups_share * (double)all &&
           thread_setups_in_turn(s) >= (uint32_t)thread_setups_least;
}

static int thread_setups_search(struct thread_setups *s, struct spare_search *x, uint32_t *threads,
                                struct err *e)
{
    for (uint32_t i = 0; i < s->m->n_threads; i++) TRY(thread_setups_read_thread(s, i, e));
    for (uint32_t i = 0; i < s->n_pauses; i++)
        if (s->pauses[i].once) s->uses[s->pauses[i].thread] |= 2;
    if (!thread_setups_is_usual(s, threads)) return 0;
    for (uint32_t i = 0; i < s->n_pauses; i++) {
        struct thread_pause p = s->pauses[i];
        p.time.end_ns -= launch_delays_of(s->cx)->usual_ns;
        if (p.once) TRY(spare_cut(&x->spare, s->cx, s->m->threads[p.thread].lane, p.time, e));
    }
    return 0;
}

int thread_setups_find(struct spare_search *x, struct err *e)
{
    struct thread_setups s = {.cx = x->cx, .m = model_of(x->cx)};
    uint32_t threads = 0;
    s.uses = arena_zalloc(x->cx->mem, s.m->n_threads + (size_t)1, 1);
    if (!s.uses) return err_nomem(e);
    map_init(&s.first);
    int rc = thread_setups_search(&s, x, &threads, e);
    map_done(&s.first);
    mem_free(s.pauses);
    x->why = rule_text(x->cx,
                       "%s threads come one after the other, and each pauses before its first "
                       "product, convolution or attention (%s in total): libraries make their "
                       "handles and plans again in every new thread.",
                       human_count(threads).s, human_time(x->spare.cpu_ns).s);
    return rc;
}
