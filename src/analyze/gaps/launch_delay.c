/* launch_delay.c: looks at the time before the launch that ended each long gap, charges it to what
 * the thread was in for most of it, groups by name: what comes back at the same place of the step
 * apart from what does not. */
#include "analyze/gaps/launch_delay.h"

#include <stdlib.h>

#include "analyze/device/driving_calls.h"
#include "analyze/device/thread_slices.h"
#include "analyze/gaps/gaps_constants.h"
#include "analyze/quality/integrity.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/stats.h"
#include "base/vec.h"

struct stretch {
    row_t owner, launch, work;
    uint32_t step;
    uint32_t place; /* launches and waits of the thread since the step began */
    int64_t cpu_ns, idle_ns;
    uint32_t group;
    bool again; /* at the same place of another step, too */
};

struct finder {
    const struct context *cx;
    const struct trace *t;
    const struct driving_calls *driving;
    struct source_places *where;
    int64_t sample_ns;   /* between two samples of the Python functions; 0: they are exact */
    struct map group_of; /* name and whether it comes back -> index in groups */
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

static int launch_delay_find_usual(struct finder *f, struct arena *mem)
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
static row_t launch_delay_owner_of(struct finder *f, row_t r)
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

/* The same, where the launch that is late is made in it: what has made its last launch waits for
 * something else, most often for the GIL to return to Python. */
static row_t owner_in(struct finder *f, const struct lead *l, row_t r)
{
    if (r == ROW_NONE || trace_end_ns(f->t, r) + f->sample_ns < l->time.end_ns) return ROW_NONE;
    return launch_delay_owner_of(f, r);
}

static bool launch_delay_owns(struct finder *f, const struct lead *l, row_t r)
{
    row_t owner = owner_in(f, l, r);
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
        row_t owner = owner_in(f, l, p.row);
        if (owner == ROW_NONE) continue;
        longest = p.end_ns - p.begin_ns;
        l->owner = owner;
    }
}

static int launch_delay_add_piece(struct finder *f, lane_id thread, struct span time)
{
    if (VEC_RESERVE(f->pieces, f->n_pieces, f->cap_pieces, 1)) return ERR_NOMEM;
    struct launch_delay_piece *next = &f->pieces[f->n_pieces];
    if (f->n_pieces && next[-1].group == f->n_all && next[-1].thread == thread &&
        next[-1].time.end_ns == time.begin_ns) {
        next[-1].time.end_ns = time.end_ns;
        return 0;
    }
    *next = (struct launch_delay_piece){(uint32_t)f->n_all, thread, time};
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
        if (!launch_delay_owns(f, l, p.row)) continue;
        TRY(launch_delay_add_piece(f, l->thread, (struct span){p.begin_ns, p.end_ns}));
        if (p.end_ns > idle_from)
            idle += p.end_ns - (p.begin_ns > idle_from ? p.begin_ns : idle_from);
    }
    return idle;
}

static int64_t least_ns(const struct finder *f, row_t owner)
{
    int64_t least = launch_delay_far_intervals * f->usual_ns > launch_delay_least_ns
                        ? launch_delay_far_intervals * f->usual_ns
                        : launch_delay_least_ns;
    int64_t samples = launch_delay_samples * f->sample_ns;
    return f->t->kind[owner] == KIND_PYTHON && samples > least ? samples : least;
}

/* Where in its step the launch is. */
static uint32_t launch_delay_place_of(const struct finder *f, row_t launch, uint32_t step)
{
    const struct driving_calls *d = f->driving;
    const struct trace *t = f->t;
    if (step == UINT32_MAX) return 0;
    int64_t begin = steps_of(f->cx)->steps[step].cpu.begin_ns;
    uint32_t at = 0, first = 0;
    SEARCH_PAST(at, d->n, d->calls[at] < launch);
    SEARCH_PAST(first, at,
                t->lane[d->calls[first]] < t->lane[launch] || t->ts_ns[d->calls[first]] < begin);
    return at - first;
}

/* Its pieces, from `from` on, carry its index until there are groups. */
static int launch_delay_add_stretch(struct finder *f, const struct lead *l, size_t from,
                                    int64_t idle_ns)
{
    if (VEC_RESERVE(f->all, f->n_all, f->cap_all, 1)) return ERR_NOMEM;
    row_t launch = l->gap->at->launch;
    struct stretch s = {.owner = l->owner,
                        .launch = launch,
                        .work = l->gap->at->next,
                        .step = steps_at(steps_of(f->cx), f->t->ts_ns[launch]),
                        .idle_ns = idle_ns};
    s.place = launch_delay_place_of(f, launch, s.step);
    for (size_t i = from; i < f->n_pieces; i++) s.cpu_ns += span_ns(f->pieces[i].time);
    f->all[f->n_all++] = s;
    return 0;
}

static int launch_delay_look_at(struct finder *f, struct lead *l)
{
    size_t from = f->n_pieces;
    int64_t in_code = in_code_ns(f, l->gap);
    find_owner(f, l);
    if (l->owner == ROW_NONE || in_code < least_ns(f, l->owner)) return 0;
    int64_t idle = take_pieces(f, l);
    if (idle < 0) return (int)idle;
    if (idle > in_code) idle = in_code;
    if (idle >= least_ns(f, l->owner)) return launch_delay_add_stretch(f, l, from, idle);
    f->n_pieces = from;
    return 0;
}

/* Gaps come longest first. */
static int launch_delay_find_all(struct finder *f)
{
    const struct gaps *g = gaps_of(f->cx);
    const struct trace *t = f->t;
    for (uint32_t i = 0; i < g->n_all && idle_gap_ns(g->all[i].at) >= launch_delay_least_ns; i++) {
        const struct idle_gap *at = g->all[i].at;
        lane_id thread = idle_gap_thread(t, at);
        if (thread == LANE_NONE || at->late_ns - at->begin_ns < launch_delay_least_ns) continue;
        row_t before = driving_calls_before(f->driving, at->launch);
        int64_t since = before == ROW_NONE ? at->begin_ns : trace_end_ns(t, before);
        struct lead l = {&g->all[i], thread, {since, t->ts_ns[at->launch]}, ROW_NONE};
        if (since < l.time.end_ns) TRY(launch_delay_look_at(f, &l));
    }
    return 0;
}

/* ---- groups ---- */

static int launch_delay_by_place(const void *a, const void *b)
{
    const struct launch_delay_piece *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return (x->time.begin_ns > y->time.begin_ns) - (x->time.begin_ns < y->time.begin_ns);
}

static int by_group_and_step(const void *a, const void *b)
{
    const struct stretch *x = *(struct stretch *const *)a, *y = *(struct stretch *const *)b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_name_and_place(const void *a, const void *b, void *trace)
{
    const struct stretch *x = *(struct stretch *const *)a, *y = *(struct stretch *const *)b;
    const struct trace *t = trace;
    if (t->name[x->owner] != t->name[y->owner])
        return t->name[x->owner] < t->name[y->owner] ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static bool launch_delay_same_place(const struct finder *f, const struct stretch *a,
                                    const struct stretch *b)
{
    uint32_t off = steps_of(f->cx)->median_launches / launch_delay_place_part;
    return f->t->name[a->owner] == f->t->name[b->owner] && a->step != b->step &&
           b->place - a->place <= off;
}

/* With too few steps everything may come back. */
static void mark_again(struct finder *f, struct stretch **order)
{
    qsort_r(order, f->n_all, sizeof *order, by_name_and_place, (void *)(uintptr_t)f->t);
    bool few = steps_of(f->cx)->n_steps <= launch_delay_few_steps;
    for (size_t i = 0; i < f->n_all; i++) {
        bool before = i && launch_delay_same_place(f, order[i - 1], order[i]);
        bool after = i + 1 < f->n_all && launch_delay_same_place(f, order[i], order[i + 1]);
        order[i]->again = few || before || after;
    }
}

static int join_group(struct finder *f, struct stretch *s)
{
    uint32_t *slot = map_at(&f->group_of, (uint64_t)f->t->name[s->owner] << 1 | s->again);
    if (!slot || VEC_RESERVE(f->groups, f->n_groups, f->cap_groups, 1)) return ERR_NOMEM;
    if (*slot == MAP_NONE) {
        *slot = (uint32_t)f->n_groups;
        f->groups[f->n_groups++] = (struct launch_delay_group){.again = s->again};
    }
    struct launch_delay_group *g = &f->groups[*slot];
    s->group = *slot;
    g->n++;
    g->cpu_ns += s->cpu_ns;
    g->idle_ns += s->idle_ns;
    if (g->n > 1 && s->cpu_ns <= g->longest_ns) return 0;
    g->longest_ns = s->cpu_ns;
    g->row = s->owner;
    g->launch = s->launch;
    g->work = s->work;
    return 0;
}

static void launch_delay_count_steps(struct finder *f, struct stretch **order)
{
    qsort(order, f->n_all, sizeof *order, by_group_and_step);
    for (size_t i = 0; i < f->n_all; i++) {
        const struct stretch *s = order[i];
        bool seen = i && order[i - 1]->group == s->group && order[i - 1]->step == s->step;
        if (!seen && s->step != 0 && s->step != UINT32_MAX) f->groups[s->group].n_steps++;
    }
}

static int launch_delay_make_groups(struct finder *f, struct arena *mem)
{
    struct arena_mark mark = arena_mark(mem);
    struct stretch **order = arena_alloc(mem, (f->n_all + 1) * sizeof *order);
    if (!order) return ERR_NOMEM;
    for (size_t i = 0; i < f->n_all; i++) order[i] = &f->all[i];
    mark_again(f, order);
    for (size_t i = 0; i < f->n_all; i++) TRY(join_group(f, &f->all[i]));
    for (size_t i = 0; i < f->n_pieces; i++) f->pieces[i].group = f->all[f->pieces[i].group].group;
    launch_delay_count_steps(f, order);
    arena_reset_to(mem, mark);
    return 0;
}

static int launch_delay_by_idle(const void *a, const void *b)
{
    const struct launch_delay_group *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int launch_delay_sum_up(struct finder *f, struct arena *mem, struct launch_delays *ret)
{
    struct launch_delay_piece *pieces = arena_alloc(mem, (f->n_pieces + 1) * sizeof *pieces);
    struct launch_delay_group *groups = arena_alloc(mem, (f->n_groups + 1) * sizeof *groups);
    if (!pieces || !groups) return ERR_NOMEM;
    if (f->n_pieces) qsort(f->pieces, f->n_pieces, sizeof *f->pieces, launch_delay_by_place);
    for (size_t i = 0; i < f->n_pieces; i++) {
        struct launch_delay_group *g = &f->groups[f->pieces[i].group];
        pieces[i] = f->pieces[i];
        if (!g->n_pieces++) g->pieces = &pieces[i];
    }
    for (size_t i = 0; i < f->n_groups; i++) groups[i] = f->groups[i];
    if (f->n_groups) qsort(groups, f->n_groups, sizeof *groups, launch_delay_by_idle);
    *ret = (struct launch_delays){groups, (uint32_t)f->n_groups, f->usual_ns};
    return 0;
}

static int launch_delay_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct finder f = {.cx = cx,
                       .t = cx->t,
                       .driving = driving_of(cx),
                       .where = places_of(cx),
                       .sample_ns = integrity_of(cx)->recording.sample_ns};
    map_init(&f.group_of);
    int rc = launch_delay_find_usual(&f, cx->mem);
    if (rc == 0) rc = launch_delay_find_all(&f);
    if (rc == 0) rc = launch_delay_make_groups(&f, cx->mem);
    if (rc == 0) rc = launch_delay_sum_up(&f, cx->mem, ret);
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
    .run = launch_delay_run_pass,
};

bool launch_delay_comes_back(const struct launch_delay_group *g, const struct steps *s)
{
    return s->n_steps > launch_delay_few_steps ? g->again && g->n_steps >= 2
                                               : g->n >= launch_delay_often;
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
