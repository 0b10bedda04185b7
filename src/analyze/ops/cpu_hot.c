/* cpu_hot.c: one pass for the time of each row itself, one to add up by name. */
#include "analyze/ops/cpu_hot.h"

#include "analyze/names/host_cause.h"
#include "analyze/names/source_place.h"

struct sum {
    row_t longest;
    uint32_t calls;
    int64_t self_ns, longest_ns;
    lane_id lane; /* of the last row */
    int64_t lane_ns, most_lane_ns;
};

struct work {
    struct context *cx;
    int64_t *self_ns; /* by row */
    struct sum *sums; /* by str_id */
};

static bool cpu_hot_counts(const struct trace *t, row_t r)
{
    return t->phase[r] == 'X' && !(t->flags[r] & (ROW_NO_TIME | ROW_LINE));
}

/* Rows come parents first: what a row takes is taken off the row around it. */
static void find_self(struct work *w)
{
    const struct trace *t = w->cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!cpu_hot_counts(t, r) || t->lanes[t->lane[r]].kind != LANE_THREAD) continue;
        w->self_ns[r] += t->dur_ns[r];
        row_t up = t->parent[r];
        while (up != ROW_NONE && !cpu_hot_counts(t, up)) up = t->parent[up];
        if (up != ROW_NONE) w->self_ns[up] -= t->dur_ns[r];
    }
}

/* Rows are ordered by lane. */
static void cpu_hot_add_row(const struct trace *t, struct sum *s, row_t r, int64_t self_ns)
{
    if (!s->calls++ || self_ns > s->longest_ns) {
        s->longest = r;
        s->longest_ns = self_ns;
    }
    if (s->lane != t->lane[r]) s->lane_ns = 0;
    s->lane = t->lane[r];
    s->lane_ns += self_ns;
    s->self_ns += self_ns;
    if (s->lane_ns > s->most_lane_ns) s->most_lane_ns = s->lane_ns;
}

static void cpu_hot_add_up(struct work *w, enum row_kind kind)
{
    const struct trace *t = w->cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != kind || !w->self_ns[r]) continue;
        if (kind == KIND_PYTHON && source_places_is_recorder(places_of(w->cx), r)) continue;
        cpu_hot_add_row(t, &w->sums[t->name[r]], r, w->self_ns[r]);
    }
}

/* Puts an item where it belongs in a list that is full of larger ones first. */
static void cpu_hot_insert(struct cpu_hot_list *l, struct cpu_hot_item item)
{
    uint32_t at = l->n < CPU_HOT_TOP ? l->n++ : CPU_HOT_TOP;
    if (at == CPU_HOT_TOP && item.self_ns <= l->top[CPU_HOT_TOP - 1].self_ns) return;
    if (at == CPU_HOT_TOP) at--;
    for (; at && l->top[at - 1].self_ns < item.self_ns; at--) l->top[at] = l->top[at - 1];
    l->top[at] = item;
}

/* Takes the sums into the list and leaves them empty. */
static void take_top(struct work *w, struct cpu_hot_list *ret)
{
    for (str_id id = 0; id < w->cx->t->strings.n; id++) {
        struct sum *s = &w->sums[id];
        if (s->calls && s->self_ns > 0) {
            ret->n_names++;
            ret->self_ns += s->self_ns;
            cpu_hot_insert(ret, (struct cpu_hot_item){id, s->longest, s->calls, s->self_ns,
                                                      s->longest_ns, s->most_lane_ns});
        }
        *s = (struct sum){0};
    }
}

/* A wait for data that lies in no other one. A sampled function of the DataLoader around it is not
 * one: it may span many of them. */
static bool cpu_hot_is_wait(const struct trace *t, const struct host_causes *causes, row_t r)
{
    if (!cpu_hot_counts(t, r) || !host_cause_is_data(host_causes_row(causes, r))) return false;
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (host_cause_is_data(host_causes_row(causes, up))) return false;
    return true;
}

/* Outermost rows that wait for data; batches of worker processes are beside the program. */
static void find_data(const struct context *cx, struct cpu_hot *ret)
{
    const struct trace *t = cx->t;
    const struct host_causes *causes = host_causes_of(cx);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!cpu_hot_is_wait(t, causes, r) || host_cause_is_worker(t, r)) continue;
        ret->data_ns += t->dur_ns[r];
        ret->data_waits++;
    }
}

static int cpu_hot_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct cpu_hot *h = ret;
    struct arena_mark mark = arena_mark(cx->mem);
    struct work w = {.cx = cx,
                     .self_ns = arena_zalloc(cx->mem, cx->t->n_rows + (size_t)1, sizeof(int64_t)),
                     .sums = arena_zalloc(cx->mem, cx->t->strings.n + (size_t)1, sizeof *w.sums)};
    if (!w.self_ns || !w.sums) return err_nomem(e);
    find_self(&w);
    cpu_hot_add_up(&w, KIND_OP);
    take_top(&w, &h->operators);
    cpu_hot_add_up(&w, KIND_PYTHON);
    take_top(&w, &h->functions);
    arena_reset_to(cx->mem, mark);
    find_data(cx, h);
    return 0;
}

static const struct pass *const needs[] = {&places_pass, &host_causes_pass, NULL};

const struct pass cpu_hot_pass = {
    .id = PASS_CPU_HOT,
    .size = sizeof(struct cpu_hot),
    .needs = needs,
    .run = cpu_hot_run_pass,
};
