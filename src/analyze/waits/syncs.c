/* syncs.c: a text that names the place of a wait, interned, is the identity of its site. */
#include "analyze/waits/syncs.h"

#include <stdlib.h>

#include "analyze/names/label.h"
#include "base/map.h"
#include "base/search.h"

struct grouping {
    const struct trace *t;
    struct syncs *s;
    struct source_places *where;
    const struct exposed *exposed;
    struct intern keys; /* id - 1 = index of the site before sorting */
    struct buf key;
};

static void syncs_add_name(struct buf *b, const struct trace *t, row_t r)
{
    if (r != ROW_NONE) buf_add_str(b, trace_name(t, r));
    buf_addc(b, '\n');
}

static void syncs_add_labels(struct buf *b, const struct syncs *s, const struct trace *t, row_t r)
{
    for (; r != ROW_NONE; r = t->parent[r]) {
        if (t->kind[r] != KIND_ANNOTATION || label_kind(trace_name(t, r)) != LABEL_USER) continue;
        buf_add_str(b, label_groups_name(&s->stems, t->name[r]));
        buf_addc(b, '\n');
    }
}

static void syncs_make_key(struct grouping *g, const struct wait *w, const struct place *p)
{
    buf_reset(&g->key);
    buf_printf(&g->key, "%d\n", (int)w->kind);
    syncs_add_name(&g->key, g->t, w->call);
    syncs_add_name(&g->key, g->t, w->copy_call);
    syncs_add_name(&g->key, g->t, p->op);
    if (p->frame != ROW_NONE) syncs_add_name(&g->key, g->t, p->frame);
    else syncs_add_labels(&g->key, g->s, g->t, w->call);
    if (p->called != ROW_NONE) source_places_print_call(g->t, p->called, &g->key);
}

static void add_to_site(struct sync_site *s, const struct trace *t, const struct wait *w,
                        bool looped)
{
    int64_t in_last = w->copy_call == w->call ? 0 : t->dur_ns[w->call];
    s->n_rows++;
    s->in_loop += looped;
    s->n_drains += w->drains;
    s->blocked_ns += w->blocked_ns;
    s->in_copy_ns += w->blocked_ns - in_last;
    if (w->bytes >= 0) s->bytes = (s->bytes < 0 ? 0 : s->bytes) + w->bytes;
    if (w->begin_ns < s->first_ns) s->first_ns = w->begin_ns;
    if (w->begin_ns > s->last_ns) s->last_ns = w->begin_ns;
    if (w->depth > s->deepest) s->deepest = w->depth;
    bool floor = !w->drains && (s->floor_ns < 0 || w->blocked_ns < s->floor_ns);
    if (floor) s->floor_ns = w->blocked_ns;
}

static bool syncs_group(struct grouping *g, const struct steps *steps)
{
    struct syncs *s = g->s;
    for (size_t i = 0; i < s->waits->n; i++) {
        const struct wait *w = &s->waits->all[i];
        s->site_of[i] = SYNCS_NO_SITE;
        if (w->profiler) continue;
        struct place p;
        source_places_find(g->where, w->call, &p);
        syncs_make_key(g, w, &p);
        str_id id = buf_ok(&g->key) ? intern_add(&g->keys, buf_str(&g->key)) : STR_NONE;
        if (id == STR_NONE) return false;
        struct sync_site *site = &s->sites[id - 1];
        if (id > s->n_sites) {
            s->n_sites = id;
            *site = (struct sync_site){.call = g->t->name[w->call],
                                       .kind = w->kind,
                                       .bytes = -1,
                                       .place = p,
                                       .longest = (uint32_t)i,
                                       .floor_ns = -1,
                                       .first_ns = w->begin_ns,
                                       .last_ns = w->begin_ns};
        }
        s->site_of[i] = id - 1;
        site->exposed_ns += g->exposed->ns[i];
        add_to_site(site, g->t, w, steps_at(steps, w->begin_ns) != UINT32_MAX);
        if (w->blocked_ns > s->waits->all[site->longest].blocked_ns) {
            site->longest = (uint32_t)i;
            site->place = p;
        }
    }
    return true;
}

static int by_cost(const void *a, const void *b, void *sites)
{
    const struct sync_site *all = sites, *x = &all[*(const uint32_t *)a],
                           *y = &all[*(const uint32_t *)b];
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->blocked_ns != y->blocked_ns) return x->blocked_ns > y->blocked_ns ? -1 : 1;
    if (x->first_ns != y->first_ns) return x->first_ns < y->first_ns ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Brings the sites into the order of their numbers. */
static bool sort_sites(struct syncs *s, struct arena *mem)
{
    uint32_t n = s->n_sites;
    uint32_t *order = arena_zalloc(mem, n + 1, sizeof *order);
    uint32_t *rank = arena_zalloc(mem, n + 1, sizeof *rank);
    struct sync_site *sorted = arena_zalloc(mem, n + 1, sizeof *sorted);
    if (!order || !rank || !sorted) return false;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, by_cost, s->sites);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = s->sites[order[i]];
        rank[order[i]] = i;
    }
    for (size_t i = 0; i < s->waits->n; i++)
        if (s->site_of[i] != SYNCS_NO_SITE) s->site_of[i] = rank[s->site_of[i]];
    s->sites = sorted;
    return true;
}

/* Most of the waiting may happen in the copy call before the synchronize: pageable memory. */
static void name_calls(const struct trace *t, struct syncs *s)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        struct sync_site *site = &s->sites[i];
        row_t copy_call = s->waits->all[site->longest].copy_call;
        if (2 * site->in_copy_ns > site->blocked_ns && copy_call != ROW_NONE)
            site->call = t->name[copy_call];
    }
}

/* Lists the calls of every site, in one array cut into pieces. */
static bool syncs_list_rows(const struct trace *t, struct syncs *s, struct arena *mem)
{
    row_t *rows = arena_zalloc(mem, s->waits->n + 1, sizeof *rows);
    row_t **ends = arena_zalloc(mem, s->n_sites + 1, sizeof *ends);
    if (!rows || !ends) return false;
    for (uint32_t i = 0; i < s->n_sites; i++) {
        s->sites[i].rows = ends[i] = rows;
        rows += s->sites[i].n_rows;
    }
    for (size_t i = 0; i < s->waits->n; i++)
        if (s->site_of[i] != SYNCS_NO_SITE) *ends[s->site_of[i]]++ = s->waits->all[i].call;
    return true;
}

static uint64_t site_class(const struct sync_site *s)
{
    return (uint64_t)s->call << 8 | s->kind;
}

/* Sites where the call never met an empty queue take the least seen of the same call and kind. */
static bool borrow_floors(struct syncs *s)
{
    struct map least; /* call and kind -> site with the lowest floor */
    bool ok = true;
    map_init(&least);
    for (uint32_t i = 0; ok && i < s->n_sites; i++) {
        uint32_t *at = map_at(&least, site_class(&s->sites[i]));
        ok = at != NULL;
        if (!ok || s->sites[i].floor_ns < 0) continue;
        if (*at == MAP_NONE || s->sites[i].floor_ns < s->sites[*at].floor_ns) *at = i;
    }
    for (uint32_t i = 0; ok && i < s->n_sites; i++) {
        uint32_t at = map_find(&least, site_class(&s->sites[i]));
        if (at != MAP_NONE && s->sites[i].floor_ns < 0)
            s->sites[i].floor_ns = s->sites[at].floor_ns;
    }
    map_done(&least);
    return ok;
}

static int make_sites(struct grouping *g, const struct steps *steps, struct arena *mem,
                      struct err *e)
{
    struct syncs *s = g->s;
    s->site_of = arena_zalloc(mem, s->waits->n + 1, sizeof *s->site_of);
    s->sites = arena_zalloc(mem, s->waits->n + 1, sizeof *s->sites);
    bool ok = s->site_of && s->sites && syncs_group(g, steps) && sort_sites(s, mem) &&
              borrow_floors(s) && syncs_list_rows(g->t, s, mem);
    if (!ok) return err_nomem(e);
    name_calls(g->t, s);
    return 0;
}

static void syncs_add_up(struct syncs *s)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        s->totals.n += s->sites[i].n_rows;
        s->totals.in_loop += s->sites[i].in_loop;
        s->totals.blocked_ns += s->sites[i].blocked_ns;
        s->totals.exposed_ns += s->sites[i].exposed_ns;
    }
    for (size_t i = 0; i < s->waits->n; i++) {
        if (!s->waits->all[i].profiler) continue;
        s->profiler.n++;
        s->profiler.blocked_ns += s->waits->all[i].blocked_ns;
    }
}

static int group_waits(const struct context *cx, struct syncs *s, struct err *e)
{
    struct grouping g = {.t = cx->t, .s = s, .where = places_of(cx), .exposed = exposed_of(cx)};
    buf_init(&g.key);
    if (intern_init(&g.keys)) return err_nomem(e);
    int rc = make_sites(&g, steps_of(cx), cx->mem, e);
    intern_done(&g.keys);
    buf_done(&g.key);
    return rc;
}

static int syncs_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct trace *t = cx->t;
    struct syncs *s = ret;
    *s = (struct syncs){.waits = waits_of(cx),
                        .has_stacks = t->n_py > 0,
                        .has_lines = trace_meta(t, TRACE_META_SAMPLED).p != NULL,
                        .n_steps = steps_of(cx)->n_steps};
    TRY(label_groups_init(&s->stems, t, cx->mem, e));
    TRY(group_waits(cx, s, e));
    syncs_add_up(s);
    return 0;
}

static const struct pass *const needs[] = {&places_pass, &steps_pass, &waits_pass, &exposed_pass,
                                           NULL};

const struct pass syncs_pass = {
    .id = PASS_SYNCS,
    .size = sizeof(struct syncs),
    .needs = needs,
    .run = syncs_run_pass,
};

uint64_t syncs_in_loop(const struct syncs *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (s->sites[i].kind != WAIT_ALLOCATION)
            n += s->n_steps ? s->sites[i].in_loop : s->sites[i].n_rows;
    return n;
}

double syncs_per_step(const struct syncs *s, const struct sync_site *site)
{
    return s->n_steps ? (double)site->in_loop / s->n_steps : -1;
}

/* Whether a wait is of an earlier thread than row `r`, or of the same and begins no later. */
static bool not_after(const struct trace *t, const struct wait *w, row_t r)
{
    lane_id lane = t->lane[w->call];
    return lane != t->lane[r] ? lane < t->lane[r] : w->begin_ns <= t->ts_ns[r];
}

size_t syncs_wait_of(const struct syncs *s, const struct trace *t, row_t r)
{
    size_t i = 0;
    SEARCH_PAST(i, s->waits->n, not_after(t, &s->waits->all[i], r));
    if (i == 0) return SIZE_MAX;
    const struct wait *w = &s->waits->all[i - 1];
    return w->call == r || w->copy_call == r ? i - 1 : SIZE_MAX;
}

const struct sync_site *syncs_site(const struct syncs *s, long number)
{
    return number >= 1 && (unsigned long)number <= s->n_sites ? &s->sites[number - 1] : NULL;
}
