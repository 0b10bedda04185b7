/* planner.c: the table of policies, and what is said about each. */
#include "offload/planner.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "offload/offload_private.h"
#include "offload/scheme.h"

/* How sure a prediction is, by what the rate of its copies rests on. */
#define UNSURE_MEASURED 0.03
#define UNSURE_GIVEN    0.06
/* Rates of pageable copies drift from run to run; a device that no longer waits for copies may run
 * at a lower clock. */
#define UNSURE_PAGEABLE 0.06
#define UNSURE_RESIDENT 0.06
#define UNSURE_ASSUMED  0.25

enum hosts { BOTH_HOSTS, PAGEABLE_ONLY, PINNED_ONLY, AS_NOW };
enum stays { NOTHING_STAYS, SMALLEST_STAY, LARGEST_STAY, BEST_STAY, ALL_STAYS };

struct policy {
    const char *name, *about;
    enum stays stays;
    enum hosts hosts;
    bool preloaded, at_once, back, ahead, by_event, deep, by_block;
    uint32_t bits;
};

/* The order in which they are shown; `about` fits a narrow column. */
static const struct policy policies[] = {
    {"stream_all", "all streamed", NOTHING_STAYS, BOTH_HOSTS, .bits = 0},
    {"smallest", "keep smallest", SMALLEST_STAY, BOTH_HOSTS, .bits = 0},
    {"largest", "keep largest", LARGEST_STAY, BOTH_HOSTS, .bits = 0},
    {"best", "keep best", BEST_STAY, BOTH_HOSTS, .bits = 0},
    {"all_resident", "keep all", ALL_STAYS, BOTH_HOSTS, .bits = 0},
    {"preloaded", "all preloaded", ALL_STAYS, AS_NOW, .preloaded = true},
    {"model_offload", "model offload", ALL_STAYS, BOTH_HOSTS, .at_once = true},
    {"group_offload", "group offload", NOTHING_STAYS, PAGEABLE_ONLY, .back = true},
    {"prefetch", "prefetch modules", NOTHING_STAYS, PINNED_ONLY, .ahead = true},
    {"prefetch_best", "prefetch + best", BEST_STAY, PINNED_ONLY, .ahead = true},
    {"prefetch_block", "prefetch blocks", NOTHING_STAYS, PINNED_ONLY, .ahead = true,
     .by_block = true},
    {"prefetch_event", "prefetch, events", NOTHING_STAYS, PINNED_ONLY, .ahead = true,
     .by_event = true},
    {"prefetch_deep", "prefetch deeper", NOTHING_STAYS, PINNED_ONLY, .ahead = true,
     .by_event = true, .deep = true},
    {"int8", "8-bit weights", NOTHING_STAYS, AS_NOW, .bits = 8},
    {"int4", "4-bit weights", NOTHING_STAYS, AS_NOW, .bits = 4},
};
enum { N_POLICIES = sizeof policies / sizeof *policies };

struct planner {
    struct plan *p;
    struct arena *mem;
    bool *resident;              /* of the row being made */
    struct resident_item *items; /* the modules */
    double *worth;
};

/* ---- one row ---- */

static int run_scheme(const struct plan *p, const struct scheme *sc, struct arena *mem,
                      struct scheme_times *ret, struct err *e)
{
    if (p->trial) return trial_run(p->trial, sc, mem, ret, e);
    int rc = estimate_run(&p->facts, sc, mem, ret);
    return err_grow(e, rc);
}

static int planner_choose(struct planner *pl, const struct policy *po, const struct scheme *sc,
                          int64_t limit, int64_t *ret_bytes)
{
    const struct facts *f = &pl->p->facts;
    *ret_bytes = 0;
    if (po->stays == NOTHING_STAYS) return 0;
    enum resident_order order = po->stays == SMALLEST_STAY  ? RESIDENT_SMALLEST
                                : po->stays == LARGEST_STAY ? RESIDENT_LARGEST
                                                            : RESIDENT_BEST;
    estimate_worth(f, sc, pl->worth);
    for (uint32_t i = 0; i < f->n_modules; i++)
        pl->items[i] = (struct resident_item){f->modules[i].bytes, pl->worth[i]};
    struct resident_query q = {pl->items, f->n_modules, order,
                               po->stays == ALL_STAYS ? f->model_bytes : limit};
    return resident_choose(&q, pl->mem, pl->resident, ret_bytes);
}

/* The largest group that has to be on the device for a moment. */
static int64_t largest_streamed(const struct facts *f, const struct scheme *sc)
{
    int64_t most = 0, group = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        bool joins = i && sc->by_block && f->modules[i].block == f->modules[i - 1].block;
        if (!joins) group = 0;
        if (!sc->resident || !sc->resident[i]) group += f->modules[i].bytes;
        if (group > most) most = group;
    }
    return f->modules_are_pieces ? 0 : most;
}

static void set_memory(const struct facts *f, const struct scheme *sc, struct prediction *r)
{
    double streamed = (double)largest_streamed(f, sc) * (1 + sc->depth);
    r->peak_vram_bytes = (int64_t)(((double)r->resident_bytes + streamed) * sc->weight_scale);
    if (f->activation_bytes > 0) r->peak_vram_bytes += f->activation_bytes;
    /* groups are pinned beside the model's own copy */
    int copies = sc->depth && !sc->by_event ? 2 : 1;
    r->host_ram_bytes = (int64_t)((double)f->model_bytes * sc->weight_scale * copies);
}

int64_t plan_total(const struct facts *f, const struct scheme_times *t, uint32_t steps)
{
    return f->fixed_ns + t->first_ns + (int64_t)(steps - 1) * t->step_ns;
}

#define MOST_NS 4e18 /* centuries: what no file can mean */

/* The total with every step as slow, or as fast, as one was seen to be, and what is not known on
 * top of it. A first step that the user has timed is as sure as any run. */
static int64_t planner_bound(const struct plan *p, const struct prediction *r, int64_t step_ns,
                             double by)
{
    const struct facts *f = &p->facts;
    double ratio = r->times.step_ns > 0 ? (double)step_ns / (double)r->times.step_ns : 1;
    double once = p->trial || !f->first_ns ? by : copysign(f->noise_pct / 100, by);
    double first = (double)r->times.first_ns * ratio * (1 + once);
    double later = (double)(f->steps - 1) * (double)step_ns * (1 + by);
    return f->fixed_ns + (int64_t)fmin(fmax(first + later, 0), MOST_NS);
}

/* How far off the rate of its copies, and with it the total, may be: runs differ by about half of
 * what copies do. */
static double unsure_of(const struct facts *f, const struct prediction *r)
{
    const struct facts_rate *rate = &f->rate[r->host];
    double spread = (rate->high - rate->low) / 4 / rate->bytes_per_ns;
    double least = r->rate_from == FACT_MEASURED ? UNSURE_MEASURED
                   : r->rate_from == FACT_GIVEN  ? UNSURE_GIVEN
                                                 : UNSURE_ASSUMED;
    if (r->host == HOST_PAGEABLE && least < UNSURE_PAGEABLE) least = UNSURE_PAGEABLE;
    if (r->resident_bytes == f->model_bytes && least < UNSURE_RESIDENT) least = UNSURE_RESIDENT;
    return spread > least ? spread : least;
}

static void set_totals(const struct plan *p, struct prediction *r)
{
    const struct facts *f = &p->facts;
    double unsure = unsure_of(f, r);
    if (f->noise_from == FACT_GIVEN && f->noise_pct / 100 > unsure) unsure = f->noise_pct / 100;
    r->total_ns = plan_total(f, &r->times, f->steps);
    r->low_ns = planner_bound(p, r, r->times.fastest_ns, -unsure);
    r->high_ns = planner_bound(p, r, r->times.slowest_ns, unsure);
}

/* Whole-model offload moves the model in one go before the first step, at the rate of large copies,
 * and back after the last one. */
static void load_at_once(const struct plan *p, enum offload_host host, struct scheme_times *t)
{
    const struct facts *f = &p->facts;
    double load = (double)f->model_bytes / f->rate[host].bytes_per_ns;
    double back = (double)f->model_bytes / f->back.bytes_per_ns;
    if (p->trial) t->first_ns = t->step_ns + (int64_t)load;
    t->first_ns += (int64_t)back;
}

static void add_to_steps(struct scheme_times *t, double ns)
{
    t->first_ns += (int64_t)ns;
    t->step_ns += (int64_t)ns;
    t->fastest_ns += (int64_t)ns;
    t->slowest_ns += (int64_t)ns;
}

/* Weights of fewer bits are read and written again in full before they are used. */
static void planner_unpack(const struct facts *f, double weight_scale, struct scheme_times *t)
{
    double bytes = (double)f->model_bytes * (1 + weight_scale) * f->passes;
    add_to_steps(t, bytes / f->device_memory.bytes_per_ns);
}

/* Groups that are moved without a stream go back by copies, unless the traced run does that. */
static void bring_back(const struct plan *p, struct scheme_times *t)
{
    const struct facts *f = &p->facts;
    double all = (double)f->model_bytes * f->passes, traced = (double)p->observed.to_host.bytes;
    double missing = all - (p->trial ? traced / p->trial->s->n_steps : 0);
    if (missing > 0) add_to_steps(t, missing / f->back.bytes_per_ns);
}

static int planner_add_row(struct planner *pl, const struct policy *po, enum offload_host host,
                           struct err *e)
{
    struct plan *p = pl->p;
    struct scheme sc = {.host = host,
                        .preloaded = po->preloaded,
                        .depth = po->deep ? p->wish.depth : po->ahead,
                        .by_event = po->by_event,
                        .by_block = po->by_block,
                        .weight_scale = po->bits ? po->bits / 16.0 : 1};
    struct prediction *r = &p->rows[p->n_rows];
    *r = (struct prediction){.policy = po->name,
                             .about = po->about,
                             .host = host,
                             .depth = sc.depth,
                             .by_block = sc.by_block,
                             .weight_bits = po->bits,
                             .rate_from = p->facts.rate[host].from};
    if (planner_choose(pl, po, &sc, p->wish.resident_bytes, &r->resident_bytes) < 0)
        return err_nomem(e);
    if (po->stays != NOTHING_STAYS) sc.resident = pl->resident;
    TRY(run_scheme(p, &sc, pl->mem, &r->times, e));
    if (po->at_once) load_at_once(p, host, &r->times);
    if (po->back) bring_back(p, &r->times);
    if (po->bits) planner_unpack(&p->facts, sc.weight_scale, &r->times);
    set_memory(&p->facts, &sc, r);
    set_totals(p, r);
    bool streams = po->stays == NOTHING_STAYS && !po->ahead && !po->bits && !po->back;
    if (host == p->facts.host && (p->facts.resident_now ? po->preloaded : streams))
        p->base = p->n_rows;
    p->n_rows++;
    return 0;
}

/* A run that keeps modules already is compared with itself, not with one that streams them all. */
static int add_as_traced(struct planner *pl, struct err *e)
{
    struct plan *p = pl->p;
    const struct facts *f = &p->facts;
    int64_t kept = p->trial ? f->model_bytes - p->observed.step_bytes / f->passes : 0;
    if (kept * 100 < f->model_bytes) return 0;
    struct prediction *r = &p->rows[p->n_rows];
    *r = (struct prediction){.policy = "as_traced",
                             .about = "as in the trace",
                             .host = f->host,
                             .resident_bytes = kept,
                             .rate_from = FACT_MEASURED};
    TRY(trial_run(p->trial, NULL, pl->mem, &r->times, e));
    struct scheme sc = {.host = f->host, .weight_scale = 1};
    set_memory(f, &sc, r);
    set_totals(p, r);
    p->base = p->n_rows++;
    return 0;
}

static bool is_tried(const struct plan *p, const struct policy *po)
{
    if (po->ahead && p->wish.depth == 0) return false;
    if (po->deep) return p->wish.depth > 1;
    /* an estimate has no CPU that could wait */
    if (po->by_event) return p->trial != NULL;
    /* nothing is known about a run without copies */
    return !po->preloaded || p->trial || p->facts.compute_ns;
}

static int planner_add_rows(struct planner *pl, struct err *e)
{
    for (int i = 0; i < N_POLICIES; i++) {
        const struct policy *po = &policies[i];
        const struct plan *p = pl->p;
        if (!is_tried(p, po)) continue;
        for (int h = 0; h < HOST_KINDS; h++) {
            if (po->hosts == PINNED_ONLY && h != HOST_PINNED) continue;
            if (po->hosts == PAGEABLE_ONLY && h != HOST_PAGEABLE) continue;
            if (po->hosts == AS_NOW && h != (int)p->facts.host) continue;
            TRY(planner_add_row(pl, po, (enum offload_host)h, e));
        }
    }
    return 0;
}

/* ---- comparing ---- */

static uint32_t break_even(const struct plan *p, const struct prediction *r)
{
    const struct scheme_times *now = &p->rows[p->base].times, *then = &r->times;
    double g = p->wish.target_pct / 100;
    double once =
        g * (double)(p->facts.fixed_ns + now->first_ns) - (double)(now->first_ns - then->first_ns);
    double each = (double)(now->step_ns - then->step_ns) - g * (double)now->step_ns;
    if (once <= 0 && each >= 0) return 1;
    if (each <= 0) return 0;
    double steps = 1 + ceil(once / each - 1e-9);
    return steps < UINT32_MAX ? (uint32_t)steps : 0;
}

static const char *planner_verdict(const struct plan *p, const struct prediction *r)
{
    const struct facts *f = &p->facts;
    if (r == &p->rows[p->base]) return "as it is";
    if (f->vram_bytes && r->peak_vram_bytes > f->vram_bytes) return "does not fit";
    if (!r->fits) return "needs host RAM";
    if (r->gain_pct > p->facts.noise_pct) return "worth it";
    return r->gain_pct < -p->facts.noise_pct ? "worse" : "within noise";
}

static void planner_compare(struct plan *p)
{
    int64_t now = p->rows[p->base].total_ns;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        struct prediction *r = &p->rows[i];
        r->gain_pct = stats_pct(now - r->total_ns, now);
        r->break_even = i == p->base ? 0 : break_even(p, r);
        r->fits = (!p->facts.vram_bytes || r->peak_vram_bytes <= p->facts.vram_bytes) &&
                  (!p->facts.ram_bytes || r->host_ram_bytes <= p->facts.ram_bytes);
        r->verdict = planner_verdict(p, r);
    }
}

const struct prediction *plan_find(const struct plan *p, const char *policy, enum offload_host host)
{
    for (uint32_t i = 0; i < p->n_rows; i++)
        if (strcmp(p->rows[i].policy, policy) == 0 && p->rows[i].host == host) return &p->rows[i];
    return NULL;
}

static void set_ceiling(struct plan *p)
{
    const struct prediction *now = &p->rows[p->base];
    const struct prediction *all = plan_find(p, "all_resident", p->facts.host);
    p->ceiling_ns = all->total_ns;
    p->ceiling_pct = all->gain_pct;
    if (now->times.step_ns > 0)
        p->ceiling_many_pct = 100 * (1 - (double)all->times.step_ns / (double)now->times.step_ns);
}

int plan_predict(const struct plan *p, enum offload_host host, int64_t limit, struct arena *mem,
                 struct scheme_times *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    const struct facts *f = &p->facts;
    size_t n = f->n_modules + (size_t)1;
    struct resident_item *items = arena_zalloc(mem, n, sizeof *items);
    bool *resident = arena_zalloc(mem, n, sizeof *resident);
    if (!items || !resident) return err_nomem(e);
    for (uint32_t i = 0; i < f->n_modules; i++) items[i].bytes = f->modules[i].bytes;
    struct resident_query q = {items, f->n_modules, RESIDENT_LARGEST, limit};
    struct scheme sc = {.host = host, .resident = resident, .weight_scale = 1};
    int64_t bytes;
    if (resident_choose(&q, mem, resident, &bytes) < 0) return err_nomem(e);
    int rc = run_scheme(p, &sc, mem, ret, e);
    arena_reset_to(mem, mark);
    return rc;
}

static int draw_curve(struct plan *p, struct arena *mem, struct err *e)
{
    for (int i = 0; i < PLAN_CURVE; i++) {
        struct curve_point *c = &p->curve[i];
        c->resident_bytes = p->facts.model_bytes * i / (PLAN_CURVE - 1);
        for (int h = 0; h < HOST_KINDS; h++) {
            struct prediction r = {.host = (enum offload_host)h,
                                   .rate_from = p->facts.rate[h].from};
            TRY(plan_predict(p, r.host, c->resident_bytes, mem, &r.times, e));
            set_totals(p, &r);
            c->from[h].total_ns = r.total_ns;
            c->from[h].low_ns = r.low_ns;
            c->from[h].high_ns = r.high_ns;
        }
    }
    return 0;
}

/* How much stays when the user did not say: what the card has room for, or half of the model. */
static void set_wish(struct plan *p)
{
    const struct facts *f = &p->facts;
    struct wish *w = &p->wish;
    if (w->resident_bytes < 0) {
        int64_t free_bytes = f->vram_bytes - (f->activation_bytes > 0 ? f->activation_bytes : 0);
        struct scheme none = {.host = f->host};
        free_bytes -= 2 * largest_streamed(f, &none);
        w->resident_bytes = w->vram_given ? free_bytes : f->model_bytes / 2;
    }
    if (w->resident_bytes < 0) w->resident_bytes = 0;
    if (w->resident_bytes > f->model_bytes) w->resident_bytes = f->model_bytes;
}

int plan_run(struct plan *p, struct arena *mem, struct err *e)
{
    size_t n = p->facts.n_modules + (size_t)1;
    struct planner pl = {.p = p, .mem = mem};
    pl.resident = arena_zalloc(mem, n, sizeof *pl.resident);
    pl.items = arena_zalloc(mem, n, sizeof *pl.items);
    pl.worth = arena_zalloc(mem, n, sizeof *pl.worth);
    p->rows = arena_zalloc(mem, (size_t)N_POLICIES * HOST_KINDS + 1, sizeof *p->rows);
    if (!pl.resident || !pl.items || !pl.worth || !p->rows) return err_nomem(e);
    set_wish(p);
    TRY(planner_add_rows(&pl, e));
    TRY(add_as_traced(&pl, e));
    planner_compare(p);
    set_ceiling(p);
    TRY(draw_curve(p, mem, e));
    return advice_run(p, mem, e);
}
