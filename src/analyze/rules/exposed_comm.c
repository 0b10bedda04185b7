/* exposed_comm.c: communication between devices during which the device does nothing else.
 *
 * There are two ways out, and both are priced: run it beside the compute there is, or, where calls
 * of the same size differ in length, have the other ranks come in time. */
#include <stdlib.h>

#include "analyze/comm/messages.h"
#include "analyze/findings/claims.h"
#include "analyze/findings/rule.h"
#include "analyze/rules/rules.h"
#include "base/human.h"
#include "base/stats.h"

struct exposure {
    const struct context *cx;
    struct comm_device d;
    const struct message_kind *most; /* the collective with most exposed time */
    row_t *rows;                     /* kernels on the device with exposed time */
    int64_t *hidden_ns;              /* how long each would take with compute beside it */
    int64_t *prompt_ns;              /* how long if every rank came in time */
    uint32_t n;
    int64_t hideable_ns, waits_ns; /* of the exposed time */
};

static int exposed_comm_by_size(const void *a, const void *b, void *context)
{
    const struct context *cx = context;
    const struct message *m = messages_of(cx)->list;
    const struct message *x = &m[*(const uint32_t *)a], *y = &m[*(const uint32_t *)b];
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->work < y->work ? -1 : x->work > y->work;
}

static int64_t dur_of(const struct context *cx, uint32_t message)
{
    return cx->t->dur_ns[comm_of(cx)->works[messages_of(cx)->list[message].work].row];
}

/* The shortest call with the same collective, group and size, for every message. */
static int64_t *find_shortest(const struct context *cx)
{
    const struct messages *m = messages_of(cx);
    uint32_t *order = arena_zalloc(cx->mem, (size_t)m->n + 1, sizeof *order);
    int64_t *shortest = arena_zalloc(cx->mem, (size_t)m->n + 1, sizeof *shortest);
    if (!order || !shortest) return NULL;
    for (uint32_t i = 0; i < m->n; i++) order[i] = i;
    if (m->n) qsort_r(order, m->n, sizeof *order, exposed_comm_by_size, (void *)(uintptr_t)cx);
    for (uint32_t i = 0, end; i < m->n; i = end) {
        const struct message *first = &m->list[order[i]];
        int64_t least = dur_of(cx, order[i]);
        for (end = i; end < m->n; end++) {
            const struct message *x = &m->list[order[end]];
            if (x->kind != first->kind || x->bytes != first->bytes) break;
            if (dur_of(cx, order[end]) < least) least = dur_of(cx, order[end]);
        }
        /* Calls of unknown size need not be of the same one: none of them is shown to wait. */
        for (uint32_t k = i; k < end; k++)
            shortest[order[k]] = first->bytes > 0 ? least : dur_of(cx, order[k]);
    }
    return shortest;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A work that takes no time never happens: something is left of it. */
static int64_t at_least_one(int64_t ns)
{
    return ns > 1 ? ns : 1;
}

static int exposed_comm_measure(const struct context *cx, const struct findings *others,
                                struct exposure *x)
{
    const struct comm *c = comm_of(cx);
    size_t n = (size_t)c->n_works + 1;
    int64_t *shortest = find_shortest(cx);
    x->rows = arena_zalloc(cx->mem, n, sizeof *x->rows);
    x->hidden_ns = arena_zalloc(cx->mem, n, sizeof *x->hidden_ns);
    x->prompt_ns = arena_zalloc(cx->mem, n, sizeof *x->prompt_ns);
    if (!shortest || !x->rows || !x->hidden_ns || !x->prompt_ns) return ERR_NOMEM;
    int64_t free_ns = x->d.compute_ns - (x->d.comm_ns - x->d.exposed_ns);
    x->hideable_ns = least_of(x->d.exposed_ns, free_ns > 0 ? free_ns : 0);
    double share = x->d.exposed_ns > 0 ? (double)x->hideable_ns / (double)x->d.exposed_ns : 0;
    for (uint32_t i = 0; i < c->n_works; i++) {
        const struct comm_work *w = &c->works[i];
        int64_t dur = cx->t->dur_ns[w->row], wait = least_of(dur - shortest[i], w->exposed_ns);
        if (w->device != c->busiest || !w->exposed_ns || claims_kernel(others, cx, w->row))
            continue;
        x->rows[x->n] = w->row;
        x->hidden_ns[x->n] = at_least_one(dur - (int64_t)((double)w->exposed_ns * share));
        x->prompt_ns[x->n++] = at_least_one(dur - wait);
        x->waits_ns += wait;
    }
    return 0;
}

static struct sim_edit edit_of(const struct exposure *x, const int64_t *ns)
{
    return (struct sim_edit){.kind = EDIT_SET_WORK, .rows = x->rows, .row_ns = ns, .n_rows = x->n};
}

/* What can be done: the way that saves more is the finding's own, both are listed. */
static void add_ways(const struct exposure *x, struct finding *f)
{
    bool wait = x->waits_ns > x->hideable_ns;
    f->edits[f->n_edits++] = edit_of(x, wait ? x->prompt_ns : x->hidden_ns);
    f->options[f->n_options++] = (struct finding_option){
        .name = "overlap",
        .what = "overlapped communication",
        .note = "runs beside compute that does not need the result, as far as there is any",
        .effort = EFFORT_LOCAL,
        .edit = edit_of(x, x->hidden_ns),
        .times = 1,
    };
    if (!x->waits_ns) return;
    f->options[f->n_options++] = (struct finding_option){
        .name = "ranks_in_time",
        .what = "no late rank",
        .note = "every call takes as long as the shortest one of its size",
        .effort = EFFORT_LOCAL,
        .edit = edit_of(x, x->prompt_ns),
        .times = 1,
    };
}

/* Overlap hides less than half of it, and no rank is shown to come late: the transfer is the limit.
 */
static bool exposed_comm_is_transfer(const struct exposure *x)
{
    return 2 * x->hideable_ns < x->d.exposed_ns && x->waits_ns <= x->hideable_ns;
}

static const char *exposed_comm_why(const struct exposure *x)
{
    const struct context *cx = x->cx;
    const char *first = rule_text(
        cx,
        "Communication takes %s, and for %s of it the GPU does nothing else: compute waits "
        "for the result.",
        human_time(x->d.comm_ns).s, human_time(x->d.exposed_ns).s);
    if (exposed_comm_is_transfer(x))
        return rule_text(cx, "%s Overlap can hide no more than %s of it.", first,
                         human_time(x->hideable_ns).s);
    if (2 * x->waits_ns < x->d.exposed_ns) return first;
    return rule_text(cx,
                     "%s Calls of the same size take very different times: at least %s of it is "
                     "waiting for a rank that comes late, not transfer.",
                     first, human_time(x->waits_ns).s);
}

static void exposed_comm_add_evidence(const struct exposure *x, struct finding *f)
{
    const struct context *cx = x->cx;
    const struct message_kind *k = x->most;
    finding_note(f, cx->mem, cx->t->ts_ns[k->example], k->example, "%s takes %s",
                 rule_row_name(cx, k->example, 60), human_time(k->longest_ns).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%s calls of %s: %s to %s, %s of them not "
                 "overlapped",
                 human_count(k->calls).s, collective_name(k->what), human_time(k->shortest_ns).s,
                 human_time(k->longest_ns).s, human_time(k->exposed_ns).s);
    if (k->best_algo_bytes_per_s > 0 && k->bus_factor > 0)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                     "bus bandwidth: %.2f GB/s in the median call, %.2f GB/s in the fastest",
                     k->algo_bytes_per_s * k->bus_factor / 1e9,
                     k->best_algo_bytes_per_s * k->bus_factor / 1e9);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%s of compute runs without communication beside it: no more can be hidden",
                 human_time(x->d.compute_ns - (x->d.comm_ns - x->d.exposed_ns)).s);
}

static void exposed_comm_set_place(const struct exposure *x, struct finding *f)
{
    row_t call = trace_launch_of(x->cx->t, x->most->example);
    if (call == ROW_NONE) return;
    struct place p;
    source_places_find(places_of(x->cx), call, &p);
    rule_place(x->cx, f, &p);
}

static int exposed_comm_report(const struct exposure *x, struct findings *out, struct err *e);

static int exposed_comm_run(const struct context *cx, struct findings *out, struct err *e)
{
    const struct comm *c = comm_of(cx);
    struct exposure x = {.cx = cx, .d = comm_main(c), .most = messages_of(cx)->kinds};
    if (!messages_of(cx)->n_kinds || comm_exposed_pct(c) < cx->th.value[TH_COMM_SHARE_PCT])
        return 0;
    if (exposed_comm_measure(cx, out, &x) < 0) return err_nomem(e);
    return x.n ? exposed_comm_report(&x, out, e) : 0;
}

const struct rule rule_exposed_comm = {
    .id = "exposed_comm",
    .summary = "communication between devices that no compute hides",
    .limit = LIMIT_COMM,
    .cost = COST_TRANSFER,
    .yields_to = RULE_LIST(&rule_repeated_work),
    .run = exposed_comm_run,
};

#define EXPOSED_COMM_OVERLAP                                                       \
    "Start it as soon as its input is ready, and wait for it as late as possible " \
    "(async_op=True, bucket_cap_mb of DDP, prefetching in FSDP). "
#define EXPOSED_COMM_FIND_RANK                                                                     \
    "Find out which rank comes late and why: strata report --ranks FOLDER compares the traces of " \
    "all ranks. "
#define EXPOSED_COMM_LESS                                                                           \
    "Where little compute is left to hide it, send fewer and larger messages, use a smaller type, " \
    "or another algorithm (NCCL_ALGO, NCCL_PROTO)."

static const char exposed_comm_overlap[] =
    EXPOSED_COMM_OVERLAP EXPOSED_COMM_LESS " Where a rank comes late, strata report --ranks FOLDER "
                                           "says which.";
static const char exposed_comm_send_less[] =
    "Send less: a smaller type, only what the next step needs, fewer and larger messages, or another "
    "algorithm (NCCL_ALGO, NCCL_PROTO). " EXPOSED_COMM_OVERLAP;
static const char exposed_comm_find_rank[] =
    EXPOSED_COMM_FIND_RANK EXPOSED_COMM_OVERLAP EXPOSED_COMM_LESS;

/* "all_to_all in ncclKernel_SendRecv" */
static const char *exposed_comm_subject(const struct exposure *x)
{
    const struct context *cx = x->cx;
    return rule_text(cx, "%s in %s", collective_name(x->most->what),
                     rule_row_name(cx, x->most->example, 50));
}

static int exposed_comm_report(const struct exposure *x, struct findings *out, struct err *e)
{
    const struct context *cx = x->cx;
    struct finding *f = rule_finding(cx, out, &rule_exposed_comm, e);
    if (!f) return ERR_NOMEM;
    exposed_comm_set_place(x, f);
    f->title = "communication is not overlapped";
    f->subject = exposed_comm_subject(x);
    f->why = exposed_comm_why(x);
    f->fix = exposed_comm_is_transfer(x)    ? exposed_comm_send_less
             : x->waits_ns > x->hideable_ns ? exposed_comm_find_rank
                                            : exposed_comm_overlap;
    f->not_fixed = "Communication takes memory bandwidth and multiprocessors from the compute "
                   "beside it, which then runs a little slower.";
    bool library = str_has(trace_name(cx->t, x->most->example), "ccl");
    f->show = library ? "kernels %s --filter ccl" : "kernels %s";
    f->device_ns = x->d.comm_ns;
    f->exposed_ns = x->d.exposed_ns;
    exposed_comm_add_evidence(x, f);
    add_ways(x, f);
    f->thresholds[f->n_thresholds++] = TH_COMM_SHARE_PCT;
    return 0;
}
