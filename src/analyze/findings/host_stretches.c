/* host_stretches.c: see host_stretches.h. */
#include "analyze/findings/host_stretches.h"

#include "analyze/device/driving_calls.h"
#include "analyze/device/thread_slices.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/names/host_cause.h"
#include "base/search.h"

static void host_stretches_add_part(struct stretch_parts *p, str_id name, row_t row, int64_t ns)
{
    uint32_t i = 0, least = 0;
    while (i < p->n && p->list[i].name != name) i++;
    for (uint32_t k = 1; k < p->n; k++)
        if (p->list[k].ns < p->list[least].ns) least = k;
    if (i == p->n && p->n < STRETCHES_PARTS) p->n++;
    else if (i == p->n) i = least;
    if (p->list[i].name != name || !p->list[i].ns) p->list[i] = (struct stretch_part){.name = name};
    p->list[i].row = row;
    p->list[i].ns += ns;
}

/* The deepest function that holds at least that much. */
static const struct stretch_part *host_stretches_deepest(const struct trace *t,
                                                         const struct stretch_parts *p,
                                                         double least_ns)
{
    const struct stretch_part *best = NULL;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct stretch_part *x = &p->list[i];
        if ((double)x->ns < least_ns) continue;
        if (!best || t->depth[x->row] > t->depth[best->row]) best = x;
    }
    return best;
}

/* Rows of single lines stand for their function, and what has no name of its own (<genexpr>,
 * <lambda>) for its caller. */
static bool is_named(struct str frame)
{
    struct frame f;
    return frame_parse(frame, &f) && f.function.n && f.function.p[0] != '<';
}

struct looking {
    const struct context *cx;
    struct host_stretches *all;
    bool waiting;
    row_t *users; /* by row: the user's function around it, or ROW_NONE */
};

/* What encloses a row comes before it; what a name says is found once. */
static int find_users(struct looking *k, struct err *e)
{
    const struct trace *t = k->cx->t;
    struct source_places *places = places_of(k->cx);
    enum { UNKNOWN, NAMED, NAMELESS };
    uint8_t *names = arena_zalloc(k->cx->mem, t->strings.n + (size_t)1, 1);
    k->users = arena_alloc(k->cx->mem, (t->n_rows + (size_t)1) * sizeof *k->users);
    if (!names || !k->users) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) {
        row_t up = t->parent[r];
        uint8_t *name = &names[t->name[r]];
        k->users[r] = up == ROW_NONE ? ROW_NONE : k->users[up];
        if (t->kind[r] != KIND_PYTHON || t->flags[r] & ROW_LINE) continue;
        if (source_places_class(places, r) != FRAME_USER) continue;
        if (*name == UNKNOWN) *name = is_named(trace_name(t, r)) ? NAMED : NAMELESS;
        if (*name == NAMED) k->users[r] = r;
    }
    return 0;
}

/* The user's function that called it. */
static row_t host_stretches_above(const struct looking *k, row_t frame)
{
    row_t up = k->cx->t->parent[frame];
    return up == ROW_NONE ? ROW_NONE : k->users[up];
}

/* What runs in a stretch: time by function of the user, with what it calls, and by what is deepest.
 */
struct stretch {
    struct stretch_parts users, inside;
    int64_t idle_ns, own_rule_ns;
};

/* Whether torch is at work there, and not the user's function that launches: it plans, checks,
 * prepares a launch. */
static bool host_stretches_is_torch(const struct context *cx, row_t r)
{
    static const char *const packages[] = {"torch/", "triton/", "functorch/"};
    struct frame f;
    row_t deepest = source_places_frame(places_of(cx), r, false);
    if (deepest == ROW_NONE || !frame_parse(trace_name(cx->t, deepest), &f)) return false;
    if (source_places_class(places_of(cx), deepest) == FRAME_GENERATED) return true;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (str_starts(frame_path(f.file), packages[i])) return true;
    return false;
}

static void host_stretches_take_apart(const struct looking *k, lane_id lane, struct span s,
                                      struct stretch *ret)
{
    const struct context *cx = k->cx;
    const struct trace *t = cx->t;
    struct thread_slices slices;
    struct thread_slice p;
    *ret = (struct stretch){0};
    thread_slices_init(&slices, t, lane, s.begin_ns, s.end_ns);
    while (thread_slices_next(&slices, &p)) {
        if (p.row == ROW_NONE) continue;
        int64_t ns = p.end_ns - p.begin_ns;
        row_t user = k->users[p.row];
        if (host_causes_around(host_causes_of(cx), p.row) != ROW_NONE) ret->own_rule_ns += ns;
        if (user == ROW_NONE) continue;
        if (driving_calls_has(driving_of(cx), user) && host_stretches_is_torch(cx, p.row)) continue;
        for (row_t f = user; f != ROW_NONE; f = host_stretches_above(k, f))
            host_stretches_add_part(&ret->users, t->name[f], f, ns);
        if (p.row != user && !(t->flags[p.row] & ROW_LINE))
            host_stretches_add_part(&ret->inside, t->name[p.row], p.row, ns);
    }
}

/* Whether another thread launches meanwhile, from code of the user. */
static bool others_launch(const struct context *cx, uint32_t thread, struct span s)
{
    const struct sim_model *m = model_of(cx);
    for (uint32_t c = sim_call_at(m, s.begin_ns); c < m->n_calls; c++) {
        if (m->calls[c].begin_ns >= s.end_ns) return false;
        if (m->calls[c].thread != thread && m->calls[c].n_work &&
            source_places_frame(places_of(cx), m->calls[c].row, true) != ROW_NONE)
            return true;
    }
    return false;
}

static struct stretched *host_stretches_function_of(struct host_stretches *all,
                                                    const struct stretch_part *p)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->list[i].name == p->name) return &all->list[i];
    if (all->n == STRETCHES_FUNCTIONS) return NULL;
    struct stretched *f = &all->list[all->n++];
    *f = (struct stretched){.name = p->name, .frame = p->row, .last_step = UINT32_MAX};
    return f;
}

static int host_stretches_add_span(struct stretched *f, struct sim_cut span, struct arena *mem)
{
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? 2 * f->cap : 16;
        struct sim_cut *more = arena_alloc(mem, cap * sizeof *more);
        if (!more) return ERR_NOMEM;
        if (f->n) memcpy(more, f->spans, f->n * sizeof *more);
        f->spans = more;
        f->cap = cap;
    }
    f->spans[f->n++] = span;
    return 0;
}

static int host_stretches_add(const struct context *cx, struct stretched *f, struct sim_cut span,
                              const struct stretch *s)
{
    uint32_t step = steps_at(steps_of(cx), span.begin_ns);
    TRY(host_stretches_add_span(f, span, cx->mem));
    f->n_steps += step != UINT32_MAX && step != f->last_step;
    f->last_step = step;
    f->cpu_ns += span.end_ns - span.begin_ns;
    f->idle_ns += s->idle_ns;
    if (span.end_ns - span.begin_ns > f->longest_ns) f->longest_ns = span.end_ns - span.begin_ns;
    for (uint32_t i = 0; i < s->inside.n; i++)
        host_stretches_add_part(&f->inside, s->inside.list[i].name, s->inside.list[i].row,
                                s->inside.list[i].ns);
    return 0;
}

/* The stretch between two calls of a thread, less what a launch takes anyway. */
static int host_stretches_look_between(struct looking *k, uint32_t thread, struct span s)
{
    const struct context *cx = k->cx;
    s.end_ns -= launch_delays_of(cx)->usual_ns;
    if (span_ns(s) < host_stretch_ns) return 0;
    double ns = (double)span_ns(s);
    int64_t idle = timeline_idle_in(timeline_of(cx),
                                    s); /* first, because it costs little and rules out most */
    if ((double)idle <
        (k->waiting ? host_stretch_idle_waiting_share : host_stretch_idle_share) * ns)
        return 0;
    if (others_launch(cx, thread, s) != k->waiting) return 0;
    struct stretch parts;
    host_stretches_take_apart(k, model_of(cx)->threads[thread].lane, s, &parts);
    parts.idle_ns = idle;
    double least = host_stretch_share * ns - (double)integrity_of(cx)->recording.sample_ns / 2;
    const struct stretch_part *most = host_stretches_deepest(cx->t, &parts.users, least);
    if (!most) return 0;
    if (2 * parts.own_rule_ns > span_ns(s)) return 0;
    struct stretched *f = host_stretches_function_of(k->all, most);
    struct sim_cut span = {.thread = thread, .begin_ns = s.begin_ns, .end_ns = s.end_ns};
    return f ? host_stretches_add(cx, f, span, &parts) : 0;
}

static int look_at_all(struct looking *k)
{
    const struct sim_model *m = model_of(k->cx);
    for (uint32_t i = 0; i < m->n_threads; i++) {
        uint32_t c = m->threads[i].first_call;
        for (; c != SIM_NONE && m->calls[c].next != SIM_NONE; c = m->calls[c].next) {
            struct span s = {m->calls[c].end_ns, m->calls[m->calls[c].next].begin_ns};
            if (span_ns(s) >= host_stretch_ns) TRY(host_stretches_look_between(k, i, s));
        }
    }
    return 0;
}

int host_stretches_find(const struct context *cx, bool waiting, struct host_stretches *ret,
                        struct err *e)
{
    struct looking k = {.cx = cx, .all = ret, .waiting = waiting};
    *ret = (struct host_stretches){0};
    if (!places_of(cx)->has_stacks) return 0;
    TRY(find_users(&k, e));
    return err_grow(e, look_at_all(&k));
}

bool host_stretches_matter(const struct context *cx, const struct stretched *f)
{
    double least = (double)wall_of(cx)->wall_ns * cx->th.value[TH_REPORT_GAIN_PCT] / 100;
    return f->n >= 2 && (steps_of(cx)->n_steps <= 2 || f->n_steps >= 2) &&
           (double)f->idle_ns >= least &&
           f->cpu_ns >= host_stretch_samples * integrity_of(cx)->recording.sample_ns;
}
