/* finding.c: collecting findings and ranking them by what they gain once the better ones are fixed.
 */
#include "analyze/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* Findings beyond this many are not simulated one after another any more. */
#define MOST_RANKED 48

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[s];
}

struct finding *findings_add(struct findings *f, const struct rule *rule, struct arena *mem)
{
    if (VEC_RESERVE(f->items, f->n, f->cap, 1)) return NULL;
    struct finding *new = arena_zalloc(mem, 1, sizeof *new);
    if (!new) return NULL;
    new->rule = rule;
    f->items[f->n++] = new;
    return new;
}

void findings_done(struct findings *f)
{
    mem_free(f->items);
    *f = (struct findings){0};
}

void finding_note(struct finding *f, struct arena *mem, int64_t ts_ns, row_t row, const char *fmt,
                  ...)
{
    if (f->n_evidence == FINDING_EVIDENCE) return;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(mem, str_c(text));
    if (copy) f->evidence[f->n_evidence++] = (struct evidence){ts_ns, row, copy};
}

struct ranking {
    struct findings *f;
    const struct sim_model *m;
    const struct undistort *u;
    const struct thresholds *th;
    struct arena *mem;
    struct sim_edit *fixed; /* edits of the findings ranked so far */
    uint32_t n_fixed;
};

static int wall_after(struct ranking *r, const struct finding *next, int64_t *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(r->mem);
    uint32_t n = r->n_fixed;
    for (uint32_t i = 0; next && i < next->n_edits; i++) r->fixed[n++] = next->edits[i];
    struct sim_plan base = {.cost = r->u->cost, .cpu_scale = r->u->cpu_scale}, plan;
    int rc = sim_plan_build(r->m, r->fixed, n, &base, r->mem, &plan, e);
    if (rc == 0) rc = sim_wall(r->m, &plan, r->mem, ret, e);
    arena_reset_to(r->mem, mark);
    return rc;
}

/* Finds the finding in [from, n) that saves most on top of what is fixed, and moves it to `from`.
 */
static int rank_next(struct ranking *r, uint32_t from, uint32_t n, int64_t *wall, struct err *e)
{
    uint32_t best = from;
    int64_t best_wall = INT64_MAX;
    for (uint32_t i = from; i < n; i++) {
        int64_t after;
        TRY(wall_after(r, r->f->items[i], &after, e));
        if (after < best_wall) {
            best = i;
            best_wall = after;
        }
    }
    struct finding *chosen = r->f->items[best];
    memmove(&r->f->items[from + 1], &r->f->items[from], (best - from) * sizeof chosen);
    r->f->items[from] = chosen;
    chosen->gain_ns = *wall > best_wall ? *wall - best_wall : 0;
    for (uint32_t i = 0; i < chosen->n_edits; i++) r->fixed[r->n_fixed++] = chosen->edits[i];
    *wall = best_wall < *wall ? best_wall : *wall;
    return 0;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void set_severity(struct ranking *r, struct finding *f)
{
    f->gain_pct = share(f->gain_ns, r->u->plain_ns);
    double width_low = f->alone.gain_pct - f->alone.low_pct,
           width_high = f->alone.high_pct - f->alone.gain_pct;
    f->low_pct = f->gain_pct > width_low ? f->gain_pct - width_low : 0;
    f->high_pct = f->gain_pct + width_high;
    if (f->advice) return;
    f->severity = f->gain_pct >= r->th->value[TH_HIGH_GAIN_PCT]     ? SEVERITY_HIGH
                  : f->gain_pct >= r->th->value[TH_MEDIUM_GAIN_PCT] ? SEVERITY_MEDIUM
                                                                    : SEVERITY_LOW;
}

static int by_worth(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    if (x->advice != y->advice) return x->advice ? 1 : -1;
    if (x->advice && x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    int64_t gx = x->alone.before_ns - x->alone.after_ns,
            gy = y->alone.before_ns - y->alone.after_ns;
    return gx > gy ? -1 : gx < gy;
}

/* Keeps advice and what gains enough alone; the rest is only counted. Returns how many are ranked.
 */
static uint32_t split_minor(struct ranking *r)
{
    struct findings *f = r->f;
    uint32_t kept = 0, ranked = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct finding *x = f->items[i];
        bool worth = x->advice || x->alone.gain_pct >= r->th->value[TH_REPORT_GAIN_PCT];
        if (worth && kept < MOST_RANKED) {
            f->items[kept++] = x;
            ranked += !x->advice;
            continue;
        }
        f->n_minor++;
        f->minor_blocked_ns += x->blocked_ns;
        f->minor_gain_ns += x->alone.before_ns - x->alone.after_ns;
    }
    f->n = kept;
    return ranked;
}

static int predict_alone(struct ranking *r, struct err *e)
{
    for (uint32_t i = 0; i < r->f->n; i++) {
        struct finding *x = r->f->items[i];
        if (!x->n_edits) continue;
        TRY(forecast_run(r->m, r->u, x->edits, x->n_edits, r->mem, &x->alone, e));
    }
    return 0;
}

int findings_rank(struct findings *f, const struct sim_model *m, const struct undistort *u,
                  const struct thresholds *th, struct arena *mem, struct err *e)
{
    struct ranking r = {f, m, u, th, mem, NULL, 0};
    TRY(predict_alone(&r, e));
    if (f->n) qsort(f->items, f->n, sizeof *f->items, by_worth);
    uint32_t ranked = split_minor(&r);
    r.fixed = arena_zalloc(mem, (MOST_RANKED + 1) * FINDING_EDITS, sizeof *r.fixed);
    if (!r.fixed) return FAIL(e, ERR_NOMEM, "out of memory");
    int64_t wall = u->plain_ns;
    for (uint32_t i = 0; i < ranked; i++) TRY(rank_next(&r, i, ranked, &wall, e));
    for (uint32_t i = 0; i < f->n; i++) set_severity(&r, f->items[i]);
    f->all_fixed_ns = wall;
    return 0;
}
