/* energy.c: see energy.h. Each device has a curve of the joules it has taken, from whose two ends
 * the energy of any time between is read. */
#include "analyze/answer/energy.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/answer/answer_constants.h"
#include "analyze/device/gpu_samples.h"
#include "analyze/gaps/wall.h"
#include "analyze/recorded/recorded.h"
#include "base/search.h"

struct energy_line {
    struct energy_reading *counter, *power;
    uint32_t n_counter, n_power, cap_counter, cap_power;
    double *joules; /* taken since the first reading of power, by reading */
};

struct energy_builder {
    struct context *cx;
    struct energy_line *lines; /* by device */
    uint32_t n;
    struct energy *out;
};

const char *energy_by_name(enum energy_by by)
{
    static const char *const names[] = {"unknown", "counter", "power"};
    return names[by];
}

/* Which reading a counter of the trace is; 0 for others. */
static char energy_reads(struct str name, int32_t *ret_device)
{
    struct str title;
    if (!gpu_sample_name(name, ret_device, &title)) return 0;
    return str_is(title, "energy (J)") ? 'e' : str_is(title, "power (W)") ? 'p' : 0;
}

/* How many readings there are of each; then the readings. */
static int energy_read(struct energy_builder *b, bool fill, struct err *e)
{
    const struct trace *t = b->cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        int32_t device;
        double value;
        char what = t->kind[r] == KIND_COUNTER ? energy_reads(trace_name(t, r), &device) : 0;
        if (!what || (uint32_t)device >= b->n) continue;
        struct energy_line *l = &b->lines[device];
        if (!fill) {
            *(what == 'e' ? &l->cap_counter : &l->cap_power) += 1;
            continue;
        }
        TRY(gpu_sample_value(b->cx, r, &value, e));
        if (!(value >= 0) || !isfinite(value)) continue;
        struct energy_reading reading = {t->ts_ns[r], value};
        if (what == 'e') l->counter[l->n_counter++] = reading;
        else l->power[l->n_power++] = reading;
    }
    return 0;
}

static int energy_by_time(const void *a, const void *b)
{
    int64_t x = ((const struct energy_reading *)a)->ts_ns,
            y = ((const struct energy_reading *)b)->ts_ns;
    return (x > y) - (x < y);
}

/* How many readings lie at or before a time. */
static uint32_t energy_past(const struct energy_reading *list, uint32_t n, int64_t ts_ns)
{
    uint32_t low = 0;
    SEARCH_PAST(low, n, list[low].ts_ns <= ts_ns);
    return low;
}

/* Joules taken between the first reading of power and a time, by power alone. Before and after all
 * readings the nearest holds. */
static double energy_by_power(const struct energy_line *l, int64_t ts_ns)
{
    const struct energy_reading *p = l->power;
    uint32_t low = energy_past(p, l->n_power, ts_ns);
    if (low == 0) return -p[0].value * (double)(p[0].ts_ns - ts_ns) / 1e9;
    double s = (double)(ts_ns - p[low - 1].ts_ns) / 1e9, from = p[low - 1].value, to = from;
    if (low < l->n_power)
        to += (p[low].value - from) * s / ((double)(p[low].ts_ns - p[low - 1].ts_ns) / 1e9);
    return l->joules[low - 1] + (from + to) / 2 * s;
}

/* The same by the counter, where there is one: evenly between two readings, for power follows what
 * the device does by up to a second. Before and after them it goes on as in the nearest interval.
 */
static double energy_until(const struct energy_line *l, int64_t ts_ns)
{
    const struct energy_reading *c = l->counter;
    if (l->n_counter < 2) return energy_by_power(l, ts_ns);
    uint32_t past = energy_past(c, l->n_counter, ts_ns);
    if (past > l->n_counter - 1) past = l->n_counter - 1;
    if (past > 0) c += past - 1;
    if (c[1].ts_ns == c[0].ts_ns) return c[0].value;
    double part = (double)(ts_ns - c[0].ts_ns) / (double)(c[1].ts_ns - c[0].ts_ns);
    return c[0].value + part * (c[1].value - c[0].value);
}

static double energy_between(const struct energy_line *l, int64_t begin_ns, int64_t end_ns)
{
    double joules = energy_until(l, end_ns) - energy_until(l, begin_ns);
    return joules > 0 ? joules : 0;
}

/* Readings that lie around the wall clock, or nearly so. */
static bool energy_covers(const struct energy_line *l, int64_t begin_ns, int64_t end_ns)
{
    if (l->n_power < 2) return false;
    int64_t first = l->power[0].ts_ns, last = l->power[l->n_power - 1].ts_ns;
    struct span inside = span_both((struct span){first, last}, (struct span){begin_ns, end_ns});
    double all = (double)(end_ns - begin_ns);
    return all > 0 && (double)span_ns(inside) >= energy_covered_share * all;
}

static bool energy_make_line(struct energy_line *l, struct arena *mem)
{
    l->joules = arena_zalloc(mem, l->n_power + (size_t)1, sizeof *l->joules);
    if (!l->joules) return true;
    if (l->n_counter) qsort(l->counter, l->n_counter, sizeof *l->counter, energy_by_time);
    if (l->n_power) qsort(l->power, l->n_power, sizeof *l->power, energy_by_time);
    for (uint32_t i = 1; i < l->n_power; i++)
        l->joules[i] = l->joules[i - 1] + (l->power[i - 1].value + l->power[i].value) / 2 *
                                              (double)(l->power[i].ts_ns - l->power[i - 1].ts_ns) /
                                              1e9;
    return false;
}

static bool energy_reserve(struct energy_builder *b)
{
    bool failed = false;
    for (uint32_t i = 0; i < b->n && !failed; i++) {
        struct energy_line *l = &b->lines[i];
        l->counter = arena_zalloc(b->cx->mem, l->cap_counter + (size_t)1, sizeof *l->counter);
        l->power = arena_zalloc(b->cx->mem, l->cap_power + (size_t)1, sizeof *l->power);
        failed = !l->counter || !l->power;
    }
    return failed;
}

static bool energy_keep_power(struct energy_builder *b)
{
    struct energy *x = b->out;
    x->power = arena_zalloc(b->cx->mem, b->n, sizeof *x->power);
    for (uint32_t i = 0; x->power && i < b->n; i++)
        if (b->lines[i].n_power)
            x->power[x->n_power++] =
                (struct energy_power){(int32_t)i, b->lines[i].power, b->lines[i].n_power};
    return !x->power;
}

/* ---- what is known of it */

static void energy_sum_up(struct energy_builder *b)
{
    struct energy *x = b->out;
    const struct wall *w = wall_of(b->cx);
    int64_t begin = w->begin_ns, end = begin + w->wall_ns;
    for (uint32_t i = 0; i < b->n; i++) {
        struct energy_line *l = &b->lines[i];
        if (!energy_covers(l, begin, end)) {
            l->n_power = 0;
            continue;
        }
        bool counter = l->n_counter >= 2;
        const struct energy_reading *r = counter ? l->counter : l->power;
        uint32_t n = counter ? l->n_counter : l->n_power;
        x->devices++;
        x->joules += energy_between(l, begin, end);
        x->every_ns = (r[n - 1].ts_ns - r[0].ts_ns) / (n - 1);
        if (x->by != ENERGY_BY_POWER) x->by = counter ? ENERGY_BY_COUNTER : ENERGY_BY_POWER;
        for (uint32_t k = 0; k < l->n_power; k++)
            if (l->power[k].ts_ns >= begin && l->power[k].ts_ns < end)
                x->most_w = fmax(x->most_w, l->power[k].value);
    }
    if (x->devices) x->mean_w = x->joules / ((double)w->wall_ns / 1e9);
}

static void energy_share_steps(struct energy_builder *b)
{
    struct energy *x = b->out;
    const struct steps *s = steps_of(b->cx);
    const struct phases *p = &recorded_of(b->cx)->phases;
    double joules = 0;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->lines[i].n_power)
            joules += energy_between(&b->lines[i], s->loop.begin_ns, s->loop.end_ns);
    if (s->n_steps) x->per_step = joules / s->n_steps;
    if (p->n == 1 && p->list[0].tokens_per_s > 0)
        x->per_token = x->mean_w / p->list[0].tokens_per_s;
}

static void energy_share_work(struct energy_builder *b, double *by_stage)
{
    const struct trace *t = b->cx->t;
    const struct stage_tree *tree = &stages_of(b->cx)->tree;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_is_work(t, r) || t->dur_ns[r] <= 0) continue;
        row_t launch = trace_launch_of(t, r);
        int32_t device = t->lanes[t->lane[r]].device;
        bool known = device >= 0 && (uint32_t)device < b->n && b->lines[device].n_power;
        if (!known || launch == ROW_NONE) continue;
        double joules = energy_between(&b->lines[device], t->ts_ns[r], t->ts_ns[r] + t->dur_ns[r]);
        for (uint32_t c = tree->owner[launch]; c != STAGE_NONE; c = tree->calls[c].parent)
            by_stage[tree->calls[c].node] += joules;
    }
}

static bool energy_share_stages(struct energy_builder *b)
{
    const struct stages *s = stages_of(b->cx);
    struct energy *x = b->out;
    double *joules = arena_zalloc(b->cx->mem, s->n + (size_t)1, sizeof *joules);
    x->stages = arena_zalloc(b->cx->mem, s->n + (size_t)1, sizeof *x->stages);
    if (!joules || !x->stages) return true;
    energy_share_work(b, joules);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!(joules[i] > 0) || !stage_is_part(&s->list[i]) || !s->list[i].calls) continue;
        x->stages[x->n_stages++] =
            (struct energy_stage){&s->list[i], joules[i], joules[i] / s->list[i].calls};
    }
    return false;
}

static int energy_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct energy_builder b = {.cx = cx, .out = ret};
    *b.out = (struct energy){.per_step = NAN, .per_token = NAN};
    for (str_id id = 0; id < cx->t->strings.n; id++) {
        int32_t device;
        if (energy_reads(trace_str(cx->t, id), &device) && (uint32_t)device >= b.n)
            b.n = (uint32_t)device + 1;
    }
    if (!b.n) return 0;
    b.lines = arena_zalloc(cx->mem, b.n, sizeof *b.lines);
    if (!b.lines) return err_nomem(e);
    TRY(energy_read(&b, false, e));
    if (energy_reserve(&b)) return err_nomem(e);
    TRY(energy_read(&b, true, e));
    for (uint32_t i = 0; i < b.n; i++)
        if (energy_make_line(&b.lines[i], cx->mem)) return err_nomem(e);
    if (energy_keep_power(&b)) return err_nomem(e);
    energy_sum_up(&b);
    if (!b.out->devices) return 0;
    energy_share_steps(&b);
    return energy_share_stages(&b) ? err_nomem(e) : 0;
}

static const struct pass *const needs[] = {&wall_pass, &steps_pass, &stages_pass, &recorded_pass,
                                           NULL};

const struct pass energy_pass = {
    .id = PASS_ENERGY,
    .size = sizeof(struct energy),
    .needs = needs,
    .run = energy_run_pass,
};
