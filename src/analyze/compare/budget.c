/* budget.c: the metrics in two tables (of the run, of a stage), and lines that compare with them.
 */
#include "analyze/compare/budget.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/copy.h"
#include "base/opt.h"

#define MOST_LINES 1000

/* ---- metrics ---- */

static double per_step(const struct context *cx, double total)
{
    return steps_of(cx)->n_steps ? total / steps_of(cx)->n_steps : NAN;
}

static double wall_ms(const struct context *cx)
{
    return (double)wall_of(cx)->wall_ns / 1e6;
}
static double plain_ms(const struct context *cx)
{
    return (double)undistort_of(cx)->plain_ns / 1e6;
}
static double busy_pct(const struct context *cx)
{
    return wall_of(cx)->bound == BOUND_UNKNOWN ? NAN : wall_of(cx)->busy_pct;
}
static double idle_pct(const struct context *cx)
{
    return 100 - busy_pct(cx);
}
static double n_steps(const struct context *cx)
{
    return steps_of(cx)->n_steps;
}

static double step_ms(const struct context *cx)
{
    return steps_of(cx)->n_steps ? (double)steps_of(cx)->median_ns / 1e6 : NAN;
}

static double waits_per_step(const struct context *cx)
{
    double n = 0;
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++) n += syncs_of(cx)->sites[i].in_loop;
    return per_step(cx, n);
}

static double exposed_pct(const struct context *cx)
{
    double ns = 0;
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++)
        ns += (double)syncs_of(cx)->sites[i].exposed_ns;
    return wall_of(cx)->wall_ns > 0 ? 100 * ns / (double)wall_of(cx)->wall_ns : NAN;
}

static double kernels_per_step(const struct context *cx)
{
    double n = 0;
    for (uint32_t i = 0; i < steps_of(cx)->n_steps; i++) n += steps_of(cx)->steps[i].gpu.kernels;
    return per_step(cx, n);
}

static double launches_per_step(const struct context *cx)
{
    double n = 0;
    for (uint32_t i = 0; i < steps_of(cx)->n_steps; i++) n += steps_of(cx)->steps[i].launches;
    return per_step(cx, n);
}

static double pageable_mb(const struct context *cx)
{
    double bytes = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        const struct gpu_info *g = cx->t->kind[r] == KIND_MEMCPY ? trace_gpu(cx->t, r) : NULL;
        if (!g || g->bytes <= 0 || copy_of(cx->t, r).memory != MEMORY_PAGEABLE) continue;
        bytes += (double)g->bytes;
    }
    return bytes / 1e6;
}

static double count_severe(const struct context *cx, enum severity least)
{
    double n = 0;
    for (uint32_t i = 0; i < findings_of(cx)->n; i++)
        n += findings_of(cx)->items[i]->severity >= least;
    return n;
}

static double high_findings(const struct context *cx)
{
    return count_severe(cx, SEVERITY_HIGH);
}
static double medium_findings(const struct context *cx)
{
    return count_severe(cx, SEVERITY_MEDIUM);
}

const struct budget_metric budget_metrics[] = {
    {"wall_ms", "wall clock of the trace"},
    {"plain_wall_ms", "wall clock with the profiler's cost taken out"},
    {"gpu_busy_pct", "time the busiest device works, of the wall clock"},
    {"gpu_idle_pct", "the rest of it"},
    {"steps", "steps found"},
    {"step_ms", "median step"},
    {"syncs_per_step", "waits of the CPU inside the loop"},
    {"sync_exposed_pct", "device idle time caused by waits, of the wall clock"},
    {"kernels_per_step", "kernels a step"},
    {"launches_per_step", "calls that put work on the device, a step"},
    {"pageable_copies_mb", "megabytes copied from or to ordinary memory"},
    {"high_findings", "findings of high severity"},
    {"medium_findings", "findings of medium or high severity"},
    {NULL, NULL},
};

static double (*const values[])(const struct context *) = {
    wall_ms,     plain_ms,       busy_pct,        idle_pct,         n_steps,
    step_ms,     waits_per_step, exposed_pct,     kernels_per_step, launches_per_step,
    pageable_mb, high_findings,  medium_findings,
};

const struct budget_metric budget_stage_metrics[] = {
    {"calls", "calls"},
    {"cpu_ms", "CPU time of all calls"},
    {"median_ms", "CPU time of the median call"},
    {"gpu_ms", "device time of the work launched in it"},
    {"idle_ms", "device idle time while the CPU is in it"},
    {"kernels", "kernels launched in it"},
    {"syncs", "waits inside it"},
    {"peak_mb", "device memory in use, the most at any time"},
    {NULL, NULL},
};

static double stage_value(const struct stage *s, int metric)
{
    switch (metric) {
    case 0: return s->calls;
    case 1: return (double)s->cpu_ns / 1e6;
    case 2: return (double)s->median_ns / 1e6;
    case 3: return (double)s->gpu.sum_ns / 1e6;
    case 4: return (double)s->idle_meanwhile_ns / 1e6;
    case 5: return s->gpu.kernels;
    case 6: return s->syncs;
    case 7: return s->peak_bytes < 0 ? NAN : (double)s->peak_bytes / 1e6;
    default: return NAN;
    }
}

static int find_metric(const struct budget_metric *table, const char *name)
{
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

/* ---- parsing ---- */

static int unknown(const struct budget_metric *table, const char *name, int line, struct err *e)
{
    const char *names[32];
    int n = 0;
    for (; n < 32 && table[n].name; n++) names[n] = table[n].name;
    const char *near = opt_nearest(name, names, n);
    return FAIL(e, ERR_USAGE, "line %d: unknown metric '%s'%s%s%s", line, name,
                near ? ". Did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Splits at blanks, in place; at most `most` words. */
static int split(char *text, char **words, int most)
{
    int n = 0;
    for (text += strspn(text, " \t\r"); *text && n < most; text += strspn(text, " \t\r")) {
        words[n++] = text;
        text += strcspn(text, " \t\r");
        if (*text) *text++ = '\0';
    }
    return n;
}

static int parse_line(struct budget_line *l, struct str raw, int number, struct arena *mem,
                      struct err *e)
{
    char *words[8];
    char *copy = arena_strdup(mem, raw);
    l->text = arena_strdup(mem, raw);
    l->number = number;
    if (!copy || !l->text) return err_nomem(e);
    int n = split(copy, words, 8);
    bool stage = n >= 2 && strcmp(words[0], "stage") == 0;
    int at = stage ? 2 : 0;
    if (n != at + 3 || (strcmp(words[at + 1], "<=") != 0 && strcmp(words[at + 1], ">=") != 0))
        return FAIL(e, ERR_USAGE, "line %d: expected '%s <= NUMBER', found '%s'", number,
                    stage ? "stage NAME METRIC" : "METRIC", l->text);
    char *end;
    l->stage = stage ? words[1] : NULL;
    l->metric = words[at];
    l->at_least = words[at + 1][0] == '>';
    l->limit = strtod(words[at + 2], &end);
    if (*end || !isfinite(l->limit))
        return FAIL(e, ERR_USAGE, "line %d: '%s' is not a number", number, words[at + 2]);
    const struct budget_metric *table = stage ? budget_stage_metrics : budget_metrics;
    return find_metric(table, l->metric) < 0 ? unknown(table, l->metric, number, e) : 0;
}

int budget_parse(struct budget *b, struct str text, struct arena *mem, struct err *e)
{
    *b = (struct budget){.lines = arena_zalloc(mem, MOST_LINES, sizeof *b->lines)};
    if (!b->lines) return err_nomem(e);
    int number = 0;
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        const char *hash = memchr(text.p, '#', n);
        struct str line = str_trim(str_from(text.p, hash ? (size_t)(hash - text.p) : n));
        number++;
        text = str_from(text.p + n + (end != NULL), text.n - n - (end != NULL));
        if (!line.n) continue;
        if (b->n == MOST_LINES)
            return FAIL(e, ERR_LIMIT, "line %d: more than %d limits", number, MOST_LINES);
        TRY(parse_line(&b->lines[b->n], line, number, mem, e));
        b->n++;
    }
    return b->n ? 0
                : FAIL(e, ERR_USAGE,
                       "the file has no limits; a line looks like 'syncs_per_step <= 0'");
}

/* ---- checking ---- */

/* A stage is named by its last part or by its whole path; several of one name are added up. */
static double value_of(const struct budget_line *l, const struct context *cx)
{
    int m = find_metric(l->stage ? budget_stage_metrics : budget_metrics, l->metric);
    assert(m >= 0); /* parse_line has seen to it */
    if (!l->stage) return values[m](cx);
    double sum = 0;
    bool seen = false;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        if (strcmp(s->path, l->stage) != 0 && !str_is(trace_str(cx->t, s->name), l->stage))
            continue;
        sum += stage_value(s, m);
        seen = true;
    }
    return seen ? sum : NAN;
}

void budget_check(struct budget *b, const struct context *cx)
{
    b->n_broken = b->n_unknown = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        struct budget_line *l = &b->lines[i];
        l->value = value_of(l, cx);
        l->known = isfinite(l->value);
        l->broken = l->known && (l->at_least ? l->value < l->limit : l->value > l->limit);
        b->n_broken += l->broken;
        b->n_unknown += !l->known;
    }
}
