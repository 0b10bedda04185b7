/* finding.c: collecting findings and ranking them by what they gain once the better ones are fixed.
 */
#include "analyze/findings/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/recorded/recorded.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

/* Only the first this many findings are simulated one after another. */
#define MOST_RANKED 48

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[s];
}

const char *effort_name(enum effort e)
{
    static const char *const names[] = {"unknown", "one line", "local", "restructuring"};
    return names[e];
}

const char *effort_words(enum effort e)
{
    static const char *const words[] = {"", "one line", "some lines", "larger change"};
    return words[e];
}

struct finding *findings_add(struct findings *f, const struct rule *rule, struct arena *mem)
{
    if (VEC_RESERVE(f->items, f->n, f->cap, 1)) return NULL;
    struct finding *new = arena_zalloc(mem, 1, sizeof *new);
    if (!new) return NULL;
    new->rule = rule;
    new->effort = EFFORT_LOCAL;
    new->place = f->n;
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
    int64_t wall_ns; /* with those fixed */
    bool cold;       /* nothing but the kernels can be judged */
};

static bool finding_worth(const struct ranking *r, int64_t gain_ns)
{
    return stats_pct(gain_ns, r->u->plain_ns) >= r->th->value[TH_REPORT_GAIN_PCT];
}

/* Wall clock with what is fixed so far, plus the findings [from, to). */
static int finding_wall_with(struct ranking *r, uint32_t from, uint32_t to, int64_t *ret,
                             struct err *e)
{
    struct arena_mark mark = arena_mark(r->mem);
    uint32_t n = r->n_fixed;
    for (uint32_t i = from; i < to; i++)
        for (uint32_t k = 0; k < r->f->items[i]->n_edits; k++)
            r->fixed[n++] = r->f->items[i]->edits[k];
    struct sim_plan base = undistort_base(r->u), plan;
    int rc = sim_plan_build(r->m, (struct sim_edits){r->fixed, n, &base}, r->mem, &plan, e);
    if (rc == 0) rc = sim_wall(r->m, &plan, r->mem, ret, e);
    arena_reset_to(r->mem, mark);
    return rc;
}

static void move_to(struct findings *f, uint32_t from, uint32_t to)
{
    struct finding *x = f->items[from];
    memmove(&f->items[to + 1], &f->items[to], (from - to) * sizeof x);
    f->items[to] = x;
}

/* Shared gains have changed the order: what goes before another is brought back there. */
static void keep_cheaper_first(struct findings *f, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (f->items[i]->ahead_of == f->items[k]) {
                move_to(f, i, k);
                break;
            }
}

/* Of findings that gain together, the one goes first that gains something by itself: who does only
 * that has it. */
static void keep_sure_first(const struct ranking *r, struct findings *f, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct finding *x = f->items[i], *y = f->items[k];
            bool sure = finding_worth(r, x->first_guess_ns - 2 * y->first_guess_ns);
            if (!x->together || !y->together || !sure) continue;
            move_to(f, i, k);
            break;
        }
}

static int finding_by_exposed(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    if (x->gain_ns != y->gain_ns) return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Brings the finding that gains most on top of what is fixed to place `at`. Gains only shrink as
 * more is fixed, so a finding that still leads after being examined again is the best. */
static int find_best(struct ranking *r, uint32_t at, uint32_t n, struct err *e)
{
    for (uint32_t tries = at; tries < n; tries++) {
        struct finding *lead = r->f->items[at];
        int64_t after;
        TRY(finding_wall_with(r, at, at + 1, &after, e));
        lead->gain_ns = r->wall_ns > after ? r->wall_ns - after : 0;
        if (at + 1 == n || lead->gain_ns >= r->f->items[at + 1]->gain_ns) return 0;
        qsort(&r->f->items[at], n - at, sizeof *r->f->items, finding_by_exposed);
    }
    return 0;
}

/* Wall clock with what is fixed so far, plus findings `a` and `b`. */
static int wall_with_two(struct ranking *r, uint32_t a, uint32_t b, int64_t *ret, struct err *e)
{
    struct ranking with_a = *r;
    const struct finding *x = r->f->items[a];
    for (uint32_t k = 0; k < x->n_edits; k++) with_a.fixed[with_a.n_fixed++] = x->edits[k];
    return finding_wall_with(&with_a, b, b + 1, ret, e);
}

/* Whether finding `i` should come before the leader at `at`: it takes less, gains a good part of
 * what that one gains, and most of it is the same time. */
static int is_cheaper_way(struct ranking *r, uint32_t at, uint32_t i, bool *ret, struct err *e)
{
    const struct finding *lead = r->f->items[at];
    struct finding *x = r->f->items[i];
    int64_t after, both;
    *ret = false;
    if (x->effort >= lead->effort || x->gain_ns < lead->gain_ns / finding_cheaper_part) return 0;
    TRY(finding_wall_with(r, i, i + 1, &after, e));
    TRY(wall_with_two(r, at, i, &both, e));
    int64_t gain = r->wall_ns - after, left = r->wall_ns - lead->gain_ns - both;
    *ret = gain >= lead->gain_ns / finding_cheaper_part && 2 * left < gain &&
           stats_pct((double)gain, (double)r->u->plain_ns) >= r->th->value[TH_MEDIUM_GAIN_PCT];
    if (*ret) x->gain_ns = gain;
    return 0;
}

/* The leader is known; a cheaper way to the same time goes before it. */
static int prefer_cheaper(struct ranking *r, uint32_t at, uint32_t n, struct err *e)
{
    for (uint32_t i = at + 1; i < n; i++) {
        bool cheaper;
        TRY(is_cheaper_way(r, at, i, &cheaper, e));
        if (!cheaper) continue;
        r->f->items[i]->ahead_of = r->f->items[at];
        move_to(r->f, i, at);
        return 0;
    }
    return 0;
}

static void finding_take(struct ranking *r, uint32_t at)
{
    struct finding *x = r->f->items[at];
    for (uint32_t k = 0; k < x->n_edits; k++) r->fixed[r->n_fixed++] = x->edits[k];
    r->wall_ns -= x->gain_ns;
}

/* A finding that gains far more once others are fixed than it does alone was hidden by them: two
 * syncs in a row, of which either one is enough to drain the queue. Neither can claim the gain, so
 * it is shared by what each of them exposed. */
static bool was_hidden(const struct ranking *r, const struct finding *x)
{
    return finding_worth(r, x->gain_ns - x->first_guess_ns - x->first_guess_ns / 2);
}

static void share_gain(struct finding **items, uint32_t n, int64_t gain_ns)
{
    int64_t exposed = 0;
    for (uint32_t i = 0; i < n; i++)
        if (items[i]->together) exposed += items[i]->exposed_ns;
    for (uint32_t i = 0; i < n; i++)
        if (items[i]->together && exposed > 0)
            items[i]->gain_ns =
                (int64_t)((double)gain_ns * (double)items[i]->exposed_ns / (double)exposed);
}

/* Wall clock with the first `n` findings fixed but these two. */
static int wall_but(struct ranking *r, uint32_t n, const struct finding *x, const struct finding *y,
                    int64_t *ret, struct err *e)
{
    struct ranking some = *r;
    struct arena_mark mark = arena_mark(r->mem);
    some.n_fixed = 0;
    some.fixed = arena_zalloc(r->mem, ((size_t)n + 1) * FINDING_EDITS, sizeof *some.fixed);
    if (!some.fixed) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = r->f->items[i];
        for (uint32_t k = 0; f != x && f != y && k < f->n_edits; k++)
            some.fixed[some.n_fixed++] = f->edits[k];
    }
    int rc = finding_wall_with(&some, 0, 0, ret, e);
    arena_reset_to(r->mem, mark);
    return rc;
}

/* Whether finding `at` owes a good part of its gain to fixing the earlier finding `i`. */
static int finding_owes(struct ranking *r, uint32_t at, uint32_t i, bool *ret, struct err *e)
{
    const struct finding *x = r->f->items[at], *y = r->f->items[i];
    int64_t before, after;
    TRY(wall_but(r, at + 1, x, y, &before, e));
    TRY(wall_but(r, at + 1, y, NULL, &after, e));
    *ret = 2 * (before - after) < x->gain_ns && finding_worth(r, x->gain_ns - (before - after));
    return 0;
}

/* Finding `at` has been ranked: was it one of those, then so were the ones before it of its kind,
 * and any other without which it gains little. One that gains more by itself than this one adds
 * simply comes first. */
static int join_hidden(struct ranking *r, uint32_t at, struct err *e)
{
    struct finding **items = r->f->items;
    if (!was_hidden(r, items[at])) return 0;
    int64_t gain = 0;
    for (uint32_t i = 0; i <= at; i++) {
        bool joins = i == at || items[i]->rule == items[at]->rule;
        bool leads = items[i]->first_guess_ns >= items[at]->gain_ns;
        if (!joins && !leads) TRY(finding_owes(r, at, i, &joins, e));
        items[i]->together |= joins;
    }
    for (uint32_t i = 0; i <= at; i++)
        if (items[i]->together) gain += items[i]->gain_ns;
    share_gain(items, at + 1, gain);
    return 0;
}

/* The remaining findings gain little one by one, but may gain together. */
static int share_the_rest(struct ranking *r, uint32_t at, uint32_t n, struct err *e)
{
    int64_t after, exposed = 0;
    for (uint32_t i = at; i < n; i++) r->f->items[i]->gain_ns = 0;
    TRY(finding_wall_with(r, at, n, &after, e));
    for (uint32_t i = at; i < n; i++) exposed += r->f->items[i]->exposed_ns;
    if (!finding_worth(r, r->wall_ns - after) || exposed <= 0) return 0;
    for (uint32_t i = at; i < n; i++) r->f->items[i]->together = true;
    share_gain(&r->f->items[at], n - at, r->wall_ns - after);
    r->wall_ns = after;
    return 0;
}

static int rank_gains(struct ranking *r, uint32_t n, struct err *e)
{
    for (uint32_t at = 0; at < n; at++) {
        TRY(find_best(r, at, n, e));
        if (!finding_worth(r, r->f->items[at]->gain_ns)) return share_the_rest(r, at, n, e);
        TRY(prefer_cheaper(r, at, n, e));
        finding_take(r, at);
        TRY(join_hidden(r, at, e));
    }
    return 0;
}

/* First guess of what each finding gains, which sets the order to look at them. */
static int guess_gains(struct ranking *r, uint32_t n, struct err *e)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t after = 0;
        TRY(finding_wall_with(r, i, i + 1, &after, e));
        struct finding *x = r->f->items[i];
        x->first_guess_ns = x->gain_ns = r->wall_ns > after ? r->wall_ns - after : 0;
    }
    if (n) qsort(r->f->items, n, sizeof *r->f->items, finding_by_exposed);
    return 0;
}

/* Marks which of the findings that gain together are essential: without one of these at least half
 * of the common gain is lost, however little idle time it exposes itself. */
static int mark_needed(struct ranking *r, uint32_t n, struct err *e)
{
    int64_t all, without, gain = 0;
    for (uint32_t i = 0; i < n; i++)
        if (r->f->items[i]->together) gain += r->f->items[i]->gain_ns;
    if (!gain) return 0;
    TRY(wall_but(r, n, NULL, NULL, &all, e));
    for (uint32_t i = 0; i < n; i++) {
        struct finding *x = r->f->items[i];
        if (!x->together) continue;
        TRY(wall_but(r, n, x, NULL, &without, e));
        x->needed = 2 * (without - all) >= gain;
    }
    return 0;
}

/* Findings with edits to the front, the costliest ones first; advice to the end. */
static uint32_t split_advice(struct findings *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->items[i]->n_edits && !f->items[i]->advice) move_to(f, i, n++);
    if (n) qsort(f->items, n, sizeof *f->items, finding_by_exposed);
    return n;
}

/* What is left of the gain if recording cost more than assumed: a gain that is only there while the
 * program is recorded raises no alarm. */
static double sure_gain_pct(const struct finding *f)
{
    const struct forecast *a = &f->alone;
    if (f->together || a->gain_pct <= 0) return f->gain_pct;
    return a->low_pct > 0 ? f->gain_pct * a->low_pct / a->gain_pct : 0;
}

static void set_severity(struct ranking *r, struct finding *f)
{
    f->gain_pct = stats_pct(f->gain_ns, r->u->plain_ns);
    double below = f->alone.gain_pct - f->alone.low_pct,
           above = f->alone.high_pct - f->alone.gain_pct;
    f->low_pct = f->gain_pct > below ? f->gain_pct - below : 0;
    f->high_pct = f->gain_pct + above;
    if (f->advice) return;
    double sure = sure_gain_pct(f);
    f->severity = sure >= r->th->value[TH_HIGH_GAIN_PCT]     ? SEVERITY_HIGH
                  : sure >= r->th->value[TH_MEDIUM_GAIN_PCT] ? SEVERITY_MEDIUM
                                                             : SEVERITY_LOW;
}

/* If only one finding is left of those that gain together, the gain is its own. */
static void part_the_last(struct findings *f)
{
    struct finding *last = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->items[i]->together) continue;
        last = f->items[i];
        n++;
    }
    if (n == 1) last->together = false;
}

/* A way of its own to a good part of the time: an alternative to the fix above. */
static bool gains_alone(const struct ranking *r, const struct finding *x)
{
    return stats_pct(x->first_guess_ns, r->u->plain_ns) >= r->th->value[TH_HIGH_GAIN_PCT];
}

/* A finding costs or gains something. */
static bool finding_matters(const struct finding *x)
{
    return x->advice || x->blocked_ns > 0 || x->exposed_ns > 0 || x->device_ns > 0 ||
           x->gain_ns > 0;
}

/* Keeps advice and what gains enough, alone or after the others; the rest is only counted. */
static void drop_minor(struct ranking *r)
{
    struct findings *f = r->f;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct finding *x = f->items[i];
        if (x->advice || (x->notable && finding_matters(x)) || x->needed ||
            finding_worth(r, x->gain_ns) || gains_alone(r, x)) {
            f->items[kept++] = x;
            continue;
        }
        if (!finding_matters(x)) continue;
        f->n_minor++;
        f->minor_blocked_ns += x->blocked_ns;
        f->minor_gain_ns += x->gain_ns;
    }
    f->n = kept;
    part_the_last(f);
}

int64_t finding_alone_ns(const struct finding *f)
{
    int64_t gain = f->alone.before_ns - f->alone.after_ns;
    return gain > 0 ? gain : 0;
}

/* Points: one decimal of a percentage is shown, and replay errs by about a point. */
#define FINDING_ALONE_DIFFERS 0.5

bool finding_differs_alone(const struct finding *f)
{
    return fabs(f->alone.gain_pct - f->gain_pct) >= FINDING_ALONE_DIFFERS;
}

/* What each of the ways to fix it gains by itself, per unit of work. */
static int price_options(struct ranking *r, struct finding *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n_options; i++) {
        struct finding_option *o = &x->options[i];
        struct ranking alone = *r;
        int64_t after = 0;
        struct sim_edit both[] = {o->edit, o->also};
        alone.fixed = both;
        alone.n_fixed = o->also.n_rows ? 2 : 1;
        TRY(finding_wall_with(&alone, 0, 0, &after, e));
        double before = (double)r->u->plain_ns * (o->times ? o->times : 1);
        o->gain_pct = stats_pct(before - (double)after, before);
        if (o->gain_pct < 0) o->gain_pct = 0;
    }
    return 0;
}

/* The most that a fix of kernels gains in a recording that is not warm: what they take less. A
 * replay of the CPU's side says nothing there. */
static int64_t finding_most(const struct ranking *r, const struct finding *x)
{
    return (int64_t)((double)x->exposed_ns * (r->u->time_scale > 0 ? r->u->time_scale : 1));
}

static void finding_cap(struct ranking *r, struct finding *x)
{
    int64_t most = finding_most(r, x);
    if (x->first_guess_ns > most) x->first_guess_ns = most;
    if (x->gain_ns <= most) return;
    r->f->all_fixed_ns += x->gain_ns - most;
    x->gain_ns = most;
}

static void finding_cap_alone(const struct ranking *r, struct finding *x)
{
    struct forecast *a = &x->alone;
    double most = stats_pct((double)finding_most(r, x), (double)r->u->plain_ns);
    if (a->gain_pct > most) a->gain_pct = most;
    if (a->low_pct > a->gain_pct) a->low_pct = a->gain_pct;
    if (a->high_pct > most) a->high_pct = most;
}

static int predict_alone(struct ranking *r, struct err *e)
{
    for (uint32_t i = 0; i < r->f->n; i++) {
        struct finding *x = r->f->items[i];
        TRY(price_options(r, x, e));
        if (x->n_edits)
            TRY(forecast_run(r->u, (struct sim_edits){.list = x->edits, .n = x->n_edits}, r->mem,
                             &x->alone, e));
        double sure_pct = (1 - x->doubt) * x->alone.gain_pct;
        if (x->alone.low_pct > sure_pct) x->alone.low_pct = sure_pct;
        if (r->cold) finding_cap_alone(r, x);
        set_severity(r, x);
    }
    return 0;
}

int findings_rank(struct findings *f, const struct context *cx, struct err *e)
{
    const struct undistort *u = undistort_of(cx);
    if (fabs(undistort_error_pct(u)) > cx->th.value[TH_REPLAY_ERROR_PCT]) {
        findings_rank_unpriced(f, cx);
        return 0;
    }
    struct ranking r = {
        f, model_of(cx), u, &cx->th, cx->mem, NULL, 0, u->plain_ns, !recorded_of(cx)->idle_judged};
    uint32_t n = split_advice(f);
    if (n > MOST_RANKED) n = MOST_RANKED;
    r.fixed = arena_zalloc(cx->mem, (n + 1) * FINDING_EDITS, sizeof *r.fixed);
    if (!r.fixed) return err_nomem(e);
    TRY(guess_gains(&r, n, e));
    TRY(rank_gains(&r, n, e));
    if (n) qsort(f->items, n, sizeof *f->items, finding_by_exposed);
    keep_cheaper_first(f, n);
    keep_sure_first(&r, f, n);
    TRY(mark_needed(&r, n, e));
    f->all_fixed_ns = r.wall_ns;
    for (uint32_t i = 0; r.cold && i < n; i++) finding_cap(&r, f->items[i]);
    drop_minor(&r);
    return predict_alone(&r, e);
}
