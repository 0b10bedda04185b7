/* messages.c: reads the arguments of communication kernels in the order of the file, so that
 * compressed text is inflated once, then adds them up by group and collective. */
#include "analyze/comm/messages.h"

#include <stdlib.h>

#include "analyze/comm/message_args.h"
#include "analyze/comm/notes.h"
#include "analyze/names/number_type.h"
#include "analyze/names/shapes.h"
#include "base/stats.h"

#define OPERATOR "record_param_comms"
/* No message is larger; what is was not meant as a shape. */
#define MOST_ELEMENTS 1e15

struct reader {
    struct context *cx;
    struct messages *m;
    struct intern groups; /* name, description and members, a line each */
    int64_t *ranks;       /* by message: of its group, 0 when not recorded */
    uint32_t *order;      /* of messages, for reading and for adding up */
    row_t *from;          /* by message: whose arguments are to be read, or ROW_NONE */
    int64_t world;        /* size of the only group there is, or 0 */
    int64_t rank;         /* of the trace, or -1 */
};

static int set_group(struct reader *r, uint32_t i, const struct message_args *a)
{
    str_id id = message_args_group(&r->groups, a, r->rank);
    if (id == STR_NONE) return ERR_NOMEM;
    r->m->list[i].group = id;
    return 0;
}

/* What the arguments of one row say. True when they say how large the message is. */
static int take_args(struct reader *r, uint32_t i, struct message_args *a, bool *ret_sized)
{
    struct message *m = &r->m->list[i];
    *ret_sized = a->sized;
    if (a->what != COLLECTIVE_OTHER) m->what = a->what;
    a->what = m->what;
    if (a->bytes >= 0) m->bytes = a->bytes;
    if (a->seq >= 0) m->seq = a->seq;
    if (a->ranks > 0) r->ranks[i] = a->ranks;
    return a->grouped ? set_group(r, i, a) : 0;
}

static int messages_read_row(struct reader *r, uint32_t i, row_t row, bool *ret_sized)
{
    struct message_args a;
    struct arena_mark mark = arena_mark(r->cx->mem);
    int rc = message_args_read(r->cx, row, &a);
    if (rc == 0) rc = take_args(r, i, &a, ret_sized);
    arena_reset_to(r->cx->mem, mark);
    return rc;
}

static int messages_by_place(const void *a, const void *b, void *reader)
{
    const struct reader *r = reader;
    row_t x = r->from[*(const uint32_t *)a], y = r->from[*(const uint32_t *)b];
    if (x == ROW_NONE || y == ROW_NONE) return (x == ROW_NONE) - (y == ROW_NONE);
    uint64_t p = r->cx->t->src[x], q = r->cx->t->src[y];
    return p < q ? -1 : p > q;
}

/* The operator that hands a message over, above the call that launched the kernel; in recordings of
 * ours the annotation says the same. */
static row_t operator_of(const struct trace *t, row_t kernel)
{
    bool ours = trace_timeline_is_ours(t);
    for (row_t r = trace_launch_of(t, kernel); r != ROW_NONE; r = t->parent[r]) {
        if (t->kind[r] == KIND_OP && str_is(trace_name(t, r), OPERATOR)) return r;
        if (ours && t->kind[r] == KIND_ANNOTATION && collective_label(trace_name(t, r))) return r;
    }
    return ROW_NONE;
}

/* Reads every row in `from`; those that told the size become ROW_NONE, the others `next` of them.
 */
static int read_rows(struct reader *r)
{
    if (r->m->n) qsort_r(r->order, r->m->n, sizeof *r->order, messages_by_place, r);
    for (uint32_t k = 0; k < r->m->n; k++) {
        uint32_t i = r->order[k];
        bool sized = false;
        if (r->from[i] == ROW_NONE) break;
        TRY(messages_read_row(r, i, r->from[i], &sized));
        row_t kernel = comm_of(r->cx)->works[i].row;
        r->from[i] = sized || r->from[i] != kernel ? ROW_NONE : operator_of(r->cx->t, kernel);
    }
    return 0;
}

/* What was said of the kernel after its launch, where it is not known from elsewhere. One kernel
 * may carry out several collectives. */
static int read_note(struct reader *r, uint32_t i, row_t note, bool first)
{
    struct message *m = &r->m->list[i];
    struct message_args a = {.bytes = -1};
    bool sized;
    struct arena_mark mark = arena_mark(r->cx->mem);
    int64_t before = m->bytes;
    int rc = message_args_read(r->cx, note, &a);
    if (rc == 0 && first) rc = take_args(r, i, &a, &sized);
    if (!first && a.bytes >= 0 && before >= 0 && __builtin_add_overflow(before, a.bytes, &m->bytes))
        m->bytes = before;
    arena_reset_to(r->cx->mem, mark);
    return rc;
}

static int read_notes(struct reader *r)
{
    struct launch_notes notes;
    const struct comm *c = comm_of(r->cx);
    uint8_t *state = arena_zalloc(r->cx->mem, (size_t)r->m->n + 1, 1); /* 1: known, 2: by notes */
    row_t *kernels = arena_zalloc(r->cx->mem, (size_t)r->m->n + 1, sizeof *kernels);
    if (!state || !kernels) return ERR_NOMEM;
    for (uint32_t i = 0; i < r->m->n; i++) {
        kernels[i] = c->works[i].row;
        state[i] = r->m->list[i].bytes >= 0;
    }
    TRY(notes_of_kernels(r->cx, kernels, r->m->n, &notes));
    for (uint32_t i = 0; i < notes.n; i++) {
        uint32_t k = notes.list[i].kernel;
        if (state[k] == 1) continue;
        TRY(read_note(r, k, notes.list[i].note, !state[k]));
        state[k] = 2;
    }
    return 0;
}

/* "nccl:all_to_all" around the launch, with the shape of its input. */
static void read_label(const struct reader *r, uint32_t i)
{
    const struct trace *t = r->cx->t;
    struct message *m = &r->m->list[i];
    struct shape s;
    row_t at = trace_launch_of(t, comm_of(r->cx)->works[i].row);
    while (at != ROW_NONE &&
           !(t->kind[at] == KIND_ANNOTATION && collective_label(trace_name(t, at))))
        at = t->parent[at];
    if (at == ROW_NONE) return;
    enum collective c = collective_of(trace_name(t, at));
    if (c != COLLECTIVE_OTHER) m->what = c;
    const struct op_info *op = trace_op(t, at);
    if (m->bytes >= 0 || !op || op->dims == STR_NONE || op->types == STR_NONE) return;
    double each = number_bytes(number_type_of(shape_text(trace_str(t, op->types), 0)));
    if (each > 0 && shape_read(trace_str(t, op->dims), 0, &s) && shape_elements(&s) < MOST_ELEMENTS)
        m->bytes = (int64_t)(shape_elements(&s) * each);
}

static int messages_read_all(struct reader *r)
{
    const struct comm *c = comm_of(r->cx);
    struct message_args nothing = {
        .name = "", .description = "", .members = "", .from = -1, .to = -1};
    message_args_world(r->cx, &r->rank, &r->world);
    for (uint32_t i = 0; i < r->m->n; i++) {
        struct message *m = &r->m->list[i];
        *m = (struct message){.work = i, .bytes = -1, .seq = -1};
        m->what = collective_of(trace_name(r->cx->t, c->works[i].row));
        r->order[i] = i;
        r->from[i] = c->works[i].row;
        TRY(set_group(r, i, &nothing));
    }
    TRY(read_rows(r));
    TRY(read_rows(r));
    TRY(read_notes(r));
    for (uint32_t i = 0; i < r->m->n; i++) read_label(r, i);
    return 0;
}

static int messages_by_kind(const void *a, const void *b, void *reader)
{
    const struct reader *r = reader;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct message *x = &r->m->list[i], *y = &r->m->list[k];
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int name_group(struct reader *r, struct message_group *g, str_id id)
{
    struct str texts[3];
    TRY(message_args_split(intern_get(&r->groups, id), r->cx->mem, texts));
    g->name = texts[0];
    g->description = texts[1];
    g->members = texts[2];
    return 0;
}

/* Bytes per second of the sized messages of a kind: median and best. */
static int set_rates(struct reader *r, struct message_kind *k, const uint32_t *of)
{
    struct arena_mark mark = arena_mark(r->cx->mem);
    int64_t *rates = arena_zalloc(r->cx->mem, (size_t)k->calls + 1, sizeof *rates);
    uint32_t n = 0;
    if (!rates) return ERR_NOMEM;
    for (uint32_t i = 0; i < k->calls; i++) {
        const struct message *m = &r->m->list[of[i]];
        int64_t ns = r->cx->t->dur_ns[comm_of(r->cx)->works[m->work].row];
        double rate = ns > 0 ? (double)m->bytes / (double)ns * 1e9 : 0;
        if (m->bytes > 0 && ns > 0) rates[n++] = rate < 9e18 ? (int64_t)rate : INT64_MAX;
    }
    stats_sort(rates, n);
    k->algo_bytes_per_s = (double)stats_median(rates, n);
    k->best_algo_bytes_per_s = n ? (double)rates[n - 1] : 0;
    arena_reset_to(r->cx->mem, mark);
    return 0;
}

static int messages_set_times(struct reader *r, struct message_kind *k, const uint32_t *of)
{
    struct arena_mark mark = arena_mark(r->cx->mem);
    int64_t *ns = arena_zalloc(r->cx->mem, (size_t)k->calls + 1, sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < k->calls; i++) {
        const struct comm_work *w = &comm_of(r->cx)->works[of[i]];
        const struct message *m = &r->m->list[of[i]];
        ns[i] = r->cx->t->dur_ns[w->row];
        k->time_ns += ns[i];
        k->exposed_ns += w->exposed_ns;
        if (i == 0 || ns[i] > r->cx->t->dur_ns[k->example]) k->example = w->row;
        if (m->bytes < 0) continue;
        k->n_sized++;
        if (__builtin_add_overflow(k->bytes, m->bytes, &k->bytes)) k->bytes = INT64_MAX;
    }
    stats_sort(ns, k->calls);
    k->shortest_ns = ns[0];
    k->median_ns = stats_median(ns, k->calls);
    k->longest_ns = ns[k->calls - 1];
    arena_reset_to(r->cx->mem, mark);
    return set_rates(r, k, of);
}

/* One run of messages of a kind, order[at .. at + n). */
static int messages_add_kind(struct reader *r, uint32_t at, uint32_t n)
{
    struct messages *m = r->m;
    const uint32_t *of = r->order + at;
    struct message_kind *k = &m->kinds[m->n_kinds++];
    struct message_group *g = &m->groups[m->n_groups - 1];
    *k = (struct message_kind){
        .what = m->list[of[0]].what, .group = m->n_groups - 1, .example = ROW_NONE, .calls = n};
    TRY(messages_set_times(r, k, of));
    g->calls += n;
    g->time_ns += k->time_ns;
    g->exposed_ns += k->exposed_ns;
    for (uint32_t i = 0; i < n; i++)
        if (r->ranks[of[i]] > g->ranks) g->ranks = r->ranks[of[i]];
    return 0;
}

static int messages_add_up(struct reader *r)
{
    struct messages *m = r->m;
    str_id group = STR_NONE;
    if (m->n) qsort_r(r->order, m->n, sizeof *r->order, messages_by_kind, r);
    for (uint32_t i = 0, end; i < m->n; i = end) {
        struct message first = m->list[r->order[i]];
        if (first.group != group) {
            group = first.group;
            TRY(name_group(r, &m->groups[m->n_groups++], group));
        }
        for (end = i; end < m->n; end++) {
            const struct message *x = &m->list[r->order[end]];
            if (x->group != group || x->what != first.what) break;
        }
        TRY(messages_add_kind(r, i, end - i));
        for (uint32_t k = i; k < end; k++) m->list[r->order[k]].kind = m->n_kinds - 1;
    }
    return 0;
}

static int messages_by_exposed(const void *a, const void *b, void *kinds)
{
    const struct message_kind *k = kinds, *x = &k[*(const uint32_t *)a],
                              *y = &k[*(const uint32_t *)b];
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Puts the kinds into their order and makes messages and groups refer to it. */
static int sort_kinds(struct reader *r)
{
    struct messages *m = r->m;
    size_t n = (size_t)m->n_kinds + 1;
    struct message_kind *sorted = arena_zalloc(r->cx->mem, n, sizeof *sorted);
    uint32_t *order = arena_zalloc(r->cx->mem, n, sizeof *order);
    uint32_t *place = arena_zalloc(r->cx->mem, n, sizeof *place);
    if (!sorted || !order || !place) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n_kinds; i++) order[i] = i;
    if (m->n_kinds) qsort_r(order, m->n_kinds, sizeof *order, messages_by_exposed, m->kinds);
    for (uint32_t i = 0; i < m->n_kinds; i++) {
        place[order[i]] = i;
        sorted[i] = m->kinds[order[i]];
        struct message_group *g = &m->groups[sorted[i].group];
        if (!g->ranks) g->ranks = r->world;
        sorted[i].bus_factor = collective_bus_factor(sorted[i].what, g->ranks);
    }
    m->kinds = sorted;
    for (uint32_t i = 0; i < m->n; i++) {
        m->list[i].kind = place[m->list[i].kind];
        m->list[i].group = sorted[m->list[i].kind].group;
    }
    return 0;
}

static int run_reader(struct reader *r)
{
    size_t n = (size_t)r->m->n + 1;
    struct arena *mem = r->cx->mem;
    r->m->list = arena_zalloc(mem, n, sizeof *r->m->list);
    r->m->kinds = arena_zalloc(mem, n, sizeof *r->m->kinds);
    r->m->groups = arena_zalloc(mem, n, sizeof *r->m->groups);
    r->ranks = arena_zalloc(mem, n, sizeof *r->ranks);
    r->order = arena_zalloc(mem, n, sizeof *r->order);
    r->from = arena_zalloc(mem, n, sizeof *r->from);
    if (!r->m->list || !r->m->kinds || !r->m->groups || !r->ranks || !r->order || !r->from)
        return ERR_NOMEM;
    TRY(messages_read_all(r));
    TRY(messages_add_up(r));
    return sort_kinds(r);
}

static int messages_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct reader r = {.cx = cx, .m = ret};
    r.m->n = comm_of(cx)->n_works;
    if (intern_init(&r.groups)) return err_nomem(e);
    int rc = run_reader(&r);
    intern_done(&r.groups);
    return rc < 0 ? err_nomem(e) : 0;
}

static const struct pass *const needs[] = {&comm_pass, NULL};

const struct pass messages_pass = {
    .id = PASS_MESSAGES,
    .size = sizeof(struct messages),
    .needs = needs,
    .run = messages_run_pass,
};
