/* launch_delay.c: looks at the time before the launch that ended each long gap, charges it to what
 * the thread was in for most of it, groups by name. */
#include "analyze/gaps/launch_delay.h"

#include <stdlib.h>

#include "analyze/device/driving_calls.h"
#include "analyze/device/thread_slices.h"
#include "analyze/quality/integrity.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

/* Idle time below which nobody looks for the reason of a single launch. */
#define LEAST_NS 500000
/* ... and how many times the usual distance of launches it has to be. */
#define FAR 10
/* Where functions are samples, one sample alone does not say whose time it was. */
#define LEAST_SAMPLES 2

struct stretch {
    uint32_t group, step;
};

struct finder {
    const struct context *cx;
    const struct trace *t;
    const struct driving_calls *driving;
    struct source_places *where;
    int64_t sample_ns;   /* between two samples of the Python functions; 0: they are exact */
    struct map group_of; /* name -> index in groups */
    struct launch_delay_group *groups;
    size_t n_groups, cap_groups;
    struct stretch *all;
    size_t n_all, cap_all;
    struct launch_delay_piece *pieces;
    size_t n_pieces, cap_pieces;
    int64_t usual_ns;
};

/* Before one launch. */
struct lead {
    const struct gap *gap;
    lane_id thread;
    struct span time; /* since the thread last launched or waited */
    row_t owner;      /* what most of it is charged to */
};

static int find_usual(struct finder *f, struct arena *mem)
{
    const struct trace *t = f->t;
    struct arena_mark mark = arena_mark(mem);
    int64_t *apart = arena_alloc(mem, (f->driving->n + (size_t)1) * sizeof *apart);
    uint32_t n = 0;
    if (!apart) return ERR_NOMEM;
    for (uint32_t i = 1; i < f->driving->n; i++) {
        row_t before = f->driving->calls[i - 1], call = f->driving->calls[i];
        if (t->lane[before] == t->lane[call]) apart[n++] = t->ts_ns[call] - t->ts_ns[before];
    }
    stats_sort(apart, n);
    f->usual_ns = stats_median(apart, n);
    arena_reset_to(mem, mark);
    return 0;
}

/* Idle time of the gap in which the CPU was in code: neither in a call, nor held up by the
 * recorder or by loading, for which there are other words. 0 when another kind has more of it. */
static int64_t in_code_ns(const struct finder *f, const struct gap *g)
{
    int64_t ns = 0, most_other = 0;
    for (uint32_t i = 0; i < g->n_parts; i++) {
        enum gap_cause_kind k = gaps_of(f->cx)->causes[g->parts[i].cause].kind;
        if (k == CAUSE_PYTHON || k == CAUSE_OP) ns += g->parts[i].ns;
        else if (g->parts[i].ns > most_other) most_other = g->parts[i].ns;
    }
    return ns > most_other ? ns : 0;
}

/* What a moment is charged to: the operator, else the line of the user's function; ROW_NONE when it
 * launches nothing (analyze/quiet), is a call, a mere label, or of the recorder. */
static row_t owner_of(struct finder *f, row_t r)
{
    const struct trace *t = f->t;
    if (r == ROW_NONE || !driving_calls_has(f->driving, r) ||
        source_places_is_recorder(f->where, r))
        return ROW_NONE;
    if (t->kind[r] == KIND_OP) return r;
    if (t->kind[r] != KIND_PYTHON) return ROW_NONE;
    row_t user = source_places_frame(f->where, r, true);
    return user != ROW_NONE ? user : r;
}

static bool owns(struct finder *f, const struct lead *l, row_t r)
{
    row_t owner = owner_of(f, r);
    return owner != ROW_NONE && f->t->name[owner] == f->t->name[l->owner];
}

static void find_owner(struct finder *f, struct lead *l)
{
    struct thread_slices d;
    struct thread_slice p;
    int64_t longest = 0;
    l->owner = ROW_NONE;
    thread_slices_init(&d, f->t, l->thread, l->time.begin_ns, l->time.end_ns);
    while (thread_slices_next(&d, &p)) {
        if (p.end_ns - p.begin_ns <= longest) continue;
        row_t owner = owner_of(f, p.row);
        if (owner == ROW_NONE) continue;
        longest = p.end_ns - p.begin_ns;
        l->owner = owner;
    }
}

static int add_piece(struct finder *f, lane_id thread, struct span time)
{
    if (VEC_RESERVE(f->pieces, f->n_pieces, f->cap_pieces, 1)) return ERR_NOMEM;
    struct launch_delay_piece *next = &f->pieces[f->n_pieces];
    if (f->n_pieces && next[-1].thread == thread && next[-1].time.end_ns == time.begin_ns) {
        next[-1].time.end_ns = time.end_ns;
        return 0;
    }
    *next = (struct launch_delay_piece){UINT32_MAX, thread, time};
    f->n_pieces++;
    return 0;
}

/* Appends the owner's pieces; returns the idle time in them, or a negative error. */
static int64_t take_pieces(struct finder *f, const struct lead *l)
{
    struct thread_slices d;
    struct thread_slice p;
    int64_t idle = 0, idle_from = l->gap->at->begin_ns;
    thread_slices_init(&d, f->t, l->thread, l->time.begin_ns, l->time.end_ns);
    while (thread_slices_next(&d, &p)) {
        if (!owns(f, l, p.row)) continue;
        TRY(add_piece(f, l->thread, (struct span){p.begin_ns, p.end_ns}));
        if (p.end_ns > idle_from)
            idle += p.end_ns - (p.begin_ns > idle_from ? p.begin_ns : idle_from);
    }
    return idle;
}

static int64_t least_ns(const struct finder *f, row_t owner)
{
    int64_t least = FAR * f->usual_ns > LEAST_NS ? FAR * f->usual_ns : LEAST_NS;
    int64_t samples = LEAST_SAMPLES * f->sample_ns;
    return f->t->kind[owner] == KIND_PYTHON && samples > least ? samples : least;
}

/* The group of the name, which takes the pieces from `from` on. NULL when out of memory. */
static struct launch_delay_group *join_group(struct finder *f, const struct lead *l, size_t from)
{
    str_id name = f->t->name[l->owner];
    uint32_t *slot = map_at(&f->group_of, name);
    if (!slot || VEC_RESERVE(f->groups, f->n_groups, f->cap_groups, 1)) return NULL;
    if (*slot == MAP_NONE) {
        *slot = (uint32_t)f->n_groups;
        f->groups[f->n_groups++] = (struct launch_delay_group){0};
    }
    if (VEC_RESERVE(f->all, f->n_all, f->cap_all, 1)) return NULL;
    f->all[f->n_all++] = (struct stretch){*slot, l->gap->step};
    for (size_t i = from; i < f->n_pieces; i++) f->pieces[i].group = *slot;
    return &f->groups[*slot];
}

static int look_at(struct finder *f, struct lead *l)
{
    size_t from = f->n_pieces;
    int64_t in_code = in_code_ns(f, l->gap), cpu = 0;
    find_owner(f, l);
    if (l->owner == ROW_NONE || in_code < least_ns(f, l->owner)) return 0;
    int64_t idle = take_pieces(f, l);
    if (idle < 0) return (int)idle;
    if (idle > in_code) idle = in_code;
    if (idle < least_ns(f, l->owner)) {
        f->n_pieces = from;
        return 0;
    }
    struct launch_delay_group *g = join_group(f, l, from);
    if (!g) return ERR_NOMEM;
    for (size_t i = from; i < f->n_pieces; i++)
        cpu += f->pieces[i].time.end_ns - f->pieces[i].time.begin_ns;
    g->n++;
    g->cpu_ns += cpu;
    g->idle_ns += idle;
    if (cpu <= g->longest_ns) return 0;
    g->longest_ns = cpu;
    g->row = l->owner;
    g->launch = l->gap->at->launch;
    g->work = l->gap->at->next;
    return 0;
}

/* Gaps come longest first. */
static int find_all(struct finder *f)
{
    const struct gaps *g = gaps_of(f->cx);
    const struct trace *t = f->t;
    for (uint32_t i = 0; i < g->n_all && idle_gap_ns(g->all[i].at) >= LEAST_NS; i++) {
        const struct idle_gap *at = g->all[i].at;
        lane_id thread = idle_gap_thread(t, at);
        if (thread == LANE_NONE || at->late_ns - at->begin_ns < LEAST_NS) continue;
        row_t before = driving_calls_before(f->driving, at->launch);
        int64_t since = before == ROW_NONE ? at->begin_ns : trace_end_ns(t, before);
        struct lead l = {&g->all[i], thread, {since, t->ts_ns[at->launch]}, ROW_NONE};
        if (since < l.time.end_ns) TRY(look_at(f, &l));
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct launch_delay_piece *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return (x->time.begin_ns > y->time.begin_ns) - (x->time.begin_ns < y->time.begin_ns);
}

static int by_step(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_idle(const void *a, const void *b)
{
    const struct launch_delay_group *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void count_steps(struct finder *f)
{
    if (f->n_all) qsort(f->all, f->n_all, sizeof *f->all, by_step);
    for (size_t i = 0; i < f->n_all; i++) {
        const struct stretch *s = &f->all[i];
        bool again = i && s[-1].group == s->group && s[-1].step == s->step;
        if (!again && s->step != 0 && s->step != UINT32_MAX) f->groups[s->group].n_steps++;
    }
}

static int sum_up(struct finder *f, struct arena *mem, struct launch_delays *ret)
{
    struct launch_delay_piece *pieces = arena_alloc(mem, (f->n_pieces + 1) * sizeof *pieces);
    struct launch_delay_group *groups = arena_alloc(mem, (f->n_groups + 1) * sizeof *groups);
    if (!pieces || !groups) return ERR_NOMEM;
    if (f->n_pieces) qsort(f->pieces, f->n_pieces, sizeof *f->pieces, by_place);
    for (size_t i = 0; i < f->n_pieces; i++) {
        struct launch_delay_group *g = &f->groups[f->pieces[i].group];
        pieces[i] = f->pieces[i];
        if (!g->n_pieces++) g->pieces = &pieces[i];
    }
    count_steps(f);
    for (size_t i = 0; i < f->n_groups; i++) groups[i] = f->groups[i];
    if (f->n_groups) qsort(groups, f->n_groups, sizeof *groups, by_idle);
    *ret = (struct launch_delays){groups, (uint32_t)f->n_groups, f->usual_ns};
    return 0;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct finder f = {.cx = cx,
                       .t = cx->t,
                       .driving = driving_of(cx),
                       .where = places_of(cx),
                       .sample_ns = integrity_of(cx)->recording.sample_ns};
    map_init(&f.group_of);
    int rc = find_usual(&f, cx->mem);
    if (rc == 0) rc = find_all(&f);
    if (rc == 0) rc = sum_up(&f, cx->mem, ret);
    map_done(&f.group_of);
    mem_free(f.groups);
    mem_free(f.all);
    mem_free(f.pieces);
    return err_grow(e, rc);
}

static const struct pass *const needs[] = {&driving_pass, &places_pass, &gaps_pass, &integrity_pass,
                                           NULL};

const struct pass launch_delays_pass = {
    .id = PASS_LAUNCH_DELAYS,
    .size = sizeof(struct launch_delays),
    .needs = needs,
    .run = run_pass,
};

bool launch_delay_comes_back(const struct launch_delay_group *g, const struct steps *s)
{
    enum { OFTEN = 3 };
    return s->n_steps > 2 ? g->n_steps >= 2 : g->n >= OFTEN;
}

int64_t launch_delays_in(const struct launch_delays *s, const struct context *cx, struct str label)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < s->n_groups; i++) {
        const struct launch_delay_group *g = &s->groups[i];
        row_t r = launch_delay_comes_back(g, steps_of(cx)) ? g->row : ROW_NONE;
        while (r != ROW_NONE &&
               (cx->t->kind[r] != KIND_ANNOTATION || !str_eq(trace_name(cx->t, r), label)))
            r = cx->t->parent[r];
        if (r != ROW_NONE) ns += g->cpu_ns;
    }
    return ns;
}
