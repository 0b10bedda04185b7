/* odd_step.c: see stages.h. */
#include "analyze/stages/stages.h"

#include <stdlib.h>

#include "analyze/stages/stages_constants.h"
#include "analyze/stages/stages_private.h"
#include "base/stats.h"

/* The own time of a row, in the unit it lies in. */
struct own {
    str_id name;
    uint32_t unit;
    row_t row;
    int64_t ns;
};

struct look {
    const struct trace *t;
    struct odd_units u;
    struct odd_step *ret;
    int64_t *scratch; /* one per unit */
    struct own *list;
    uint32_t n;
};

static int64_t odd_step_wall(const struct odd_unit *u)
{
    return span_ns(u->at);
}

static int64_t odd_step_blocked(const struct odd_unit *u)
{
    return u->blocked_ns;
}

static int64_t odd_step_gpu(const struct odd_unit *u)
{
    return u->gpu_ns;
}

static int64_t odd_step_launches(const struct odd_unit *u)
{
    return u->launches;
}

static int64_t odd_step_syncs(const struct odd_unit *u)
{
    return u->syncs;
}

static struct odd_pair odd_step_compare(const struct look *k,
                                        int64_t (*of)(const struct odd_unit *))
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->u.n; i++)
        if (i != k->u.odd) k->scratch[n++] = of(&k->u.list[i]);
    stats_sort(k->scratch, n);
    return (struct odd_pair){of(&k->u.list[k->u.odd]), stats_median(k->scratch, n)};
}

static int odd_step_by_name(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows of the threads that have units; a parent comes before its children. */
static int odd_step_collect(struct look *k, struct arena *mem)
{
    const struct trace *t = k->t;
    int64_t *inner = arena_zalloc(mem, (size_t)t->n_rows + 1, sizeof *inner);
    k->list = arena_alloc(mem, ((size_t)t->n_rows + 1) * sizeof *k->list);
    if (!inner || !k->list) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->parent[r] != ROW_NONE && t->parent[r] < r) inner[t->parent[r]] += t->dur_ns[r];
    for (row_t r = 0; r < t->n_rows; r++) {
        int64_t own = t->dur_ns[r] - inner[r];
        if (own <= 0 || t->lanes[t->lane[r]].kind != LANE_THREAD) continue;
        uint32_t at = odd_units_at(&k->u, t->lane[r], t->ts_ns[r]);
        if (at != UINT32_MAX) k->list[k->n++] = (struct own){t->name[r], at, r, own};
    }
    if (k->n) qsort(k->list, k->n, sizeof *k->list, odd_step_by_name);
    return 0;
}

/* Keeps the largest differences, in order. */
static void odd_step_keep(struct odd_step *o, struct odd_part p)
{
    int64_t more = p.own_ns.here - p.own_ns.usual;
    if (more < odd_step_more_ns) return;
    uint32_t i = o->n_parts < ODD_PARTS ? o->n_parts++ : ODD_PARTS;
    for (; i > 0; i--) {
        const struct odd_pair *b = &o->parts[i - 1].own_ns;
        if (b->here - b->usual >= more) break;
        if (i < ODD_PARTS) o->parts[i] = o->parts[i - 1];
    }
    if (i < ODD_PARTS) o->parts[i] = p;
}

/* Entries [from, to) are of one name. Units in which it did not run count as 0. */
static void odd_step_weigh(struct look *k, uint32_t from, uint32_t to)
{
    struct odd_part p = {.row = ROW_NONE};
    uint32_t n = 0, others = k->u.n - 1;
    for (uint32_t i = from; i < to;) {
        int64_t sum = 0;
        uint32_t unit = k->list[i].unit;
        for (; i < to && k->list[i].unit == unit; i++) {
            row_t r = k->list[i].row;
            sum += k->list[i].ns;
            if (unit == k->u.odd && (p.row == ROW_NONE || k->t->dur_ns[r] > k->t->dur_ns[p.row]))
                p.row = r;
        }
        if (unit == k->u.odd) p.own_ns.here = sum;
        else k->scratch[n++] = sum;
    }
    if (p.own_ns.here < odd_step_more_ns) return;
    while (n < others) k->scratch[n++] = 0;
    stats_sort(k->scratch, n);
    p.own_ns.usual = stats_median(k->scratch, n);
    odd_step_keep(k->ret, p);
}

static void odd_step_place(struct look *k)
{
    struct odd_step *o = k->ret;
    const struct odd_unit *odd = &k->u.list[k->u.odd];
    o->unit = k->u.name;
    o->before = k->u.before;
    o->step = odd->number;
    o->begin_ns = odd->at.begin_ns;
    o->n_others = k->u.n - 1;
    for (uint32_t i = 0; i < k->u.n; i++) {
        int64_t ns = span_ns(k->u.list[i].at);
        if (i == k->u.odd) continue;
        o->n_longer += ns > span_ns(odd->at);
        if (ns > o->longest_ns) o->longest_ns = ns;
    }
}

static int odd_step_look(struct look *k, struct arena *mem)
{
    struct odd_step *o = k->ret;
    k->scratch = arena_zalloc(mem, (size_t)k->u.n + 1, sizeof *k->scratch);
    if (!k->scratch) return ERR_NOMEM;
    odd_step_place(k);
    o->wall_ns = odd_step_compare(k, odd_step_wall);
    o->blocked_ns = odd_step_compare(k, odd_step_blocked);
    o->gpu_ns = odd_step_compare(k, odd_step_gpu);
    o->launches = odd_step_compare(k, odd_step_launches);
    o->syncs = odd_step_compare(k, odd_step_syncs);
    TRY(odd_step_collect(k, mem));
    for (uint32_t i = 0, n; i < k->n; i += n) {
        for (n = 1; i + n < k->n && k->list[i + n].name == k->list[i].name;) n++;
        odd_step_weigh(k, i, i + n);
    }
    return 0;
}

static int odd_step_run(struct context *cx, void *result, struct err *e)
{
    struct odd_step *o = result;
    struct look k = {.t = cx->t, .ret = o};
    o->is_snapshot = snapshot_mark_find(cx->t, &o->shot);
    if (!o->is_snapshot || !o->shot.slow) return 0;
    int rc = odd_units_find(cx, &o->shot, &k.u);
    o->found = rc == 0 && k.u.n > 0;
    if (o->found) rc = odd_step_look(&k, cx->mem);
    return err_grow(e, rc);
}

static const struct pass *const needs[] = {&stages_pass, NULL};

const struct pass odd_step_pass = {
    .id = PASS_ODD_STEP,
    .size = sizeof(struct odd_step),
    .needs = needs,
    .run = odd_step_run,
};
