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
static double budget_busy_pct(const struct context *cx)
{
    return wall_of(cx)->bound == BOUND_UNKNOWN ? NAN : wall_of(cx)->plain.busy_pct;
}
static double idle_pct(const struct context *cx)
{
    return 100 - budget_busy_pct(cx);
}
static double n_steps(const struct context *cx)
{
    return steps_of(cx)->n_steps;
}

static double step_ms(const struct context *cx)
{
    return steps_of(cx)->n_steps ? (double)steps_of(cx)->each_ns / 1e6 : NAN;
}

static double waits_per_step(const struct context *cx)
{
    return per_step(cx, syncs_of(cx)->totals.in_loop);
}

static double exposed_pct(const struct context *cx)
{
    double ns = (double)syncs_of(cx)->totals.exposed_ns;
    return wall_of(cx)->wall_ns > 0 ? 100 * ns / (double)wall_of(cx)->wall_ns : NAN;
}

static double budget_kernels_per_step(const struct context *cx)
{
    return steps_of(cx)->n_steps ? steps_kernels(steps_of(cx)) : per_step(cx, 0);
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
    {"wall_ms", "wall clock of the trace", BUDGET_NEEDS_NOTHING, wall_ms, NULL},
    {"plain_wall_ms", "wall clock with the profiler's cost taken out", BUDGET_NEEDS_NOTHING,
     plain_ms, NULL},
    {"gpu_busy_pct", "time the busiest device works, of the wall clock without the profiler",
     BUDGET_NEEDS_IDLE, budget_busy_pct, NULL},
    {"gpu_idle_pct", "the rest of it", BUDGET_NEEDS_IDLE, idle_pct, NULL},
    {"steps", "steps found", BUDGET_NEEDS_NOTHING, n_steps, NULL},
    {"step_ms", "median step, on the CPU or the device, whichever takes longer",
     BUDGET_NEEDS_NOTHING, step_ms, NULL},
    {"syncs_per_step", "waits of the CPU inside the loop", BUDGET_NEEDS_CALLS, waits_per_step,
     NULL},
    {"sync_exposed_pct", "device idle time caused by waits, of the wall clock", BUDGET_NEEDS_IDLE,
     exposed_pct, NULL},
    {"kernels_per_step", "kernels per step", BUDGET_NEEDS_DEVICE, budget_kernels_per_step, NULL},
    {"launches_per_step", "calls per step that put work on the device", BUDGET_NEEDS_CALLS,
     launches_per_step, NULL},
    {"pageable_copies_mb", "megabytes copied from or to pageable memory", BUDGET_NEEDS_DEVICE,
     pageable_mb, NULL},
    {"high_findings", "findings of high severity", BUDGET_NEEDS_IDLE, high_findings, NULL},
    {"medium_findings", "findings of medium or high severity", BUDGET_NEEDS_IDLE, medium_findings,
     NULL},
    {0},
};

static double budget_calls(const struct stage *s)
{
    return s->calls;
}
static double cpu_ms(const struct stage *s)
{
    return (double)s->cpu_ns / 1e6;
}
static double median_ms(const struct stage *s)
{
    return (double)s->median_ns / 1e6;
}
static double gpu_ms(const struct stage *s)
{
    return (double)s->gpu.sum_ns / 1e6;
}
static double idle_ms(const struct stage *s)
{
    return (double)s->idle_meanwhile_ns / 1e6;
}
static double budget_kernels(const struct stage *s)
{
    return s->gpu.kernels;
}
static double budget_waits(const struct stage *s)
{
    return s->syncs;
}
static double peak_mb(const struct stage *s)
{
    return s->peak_bytes < 0 ? NAN : (double)s->peak_bytes / 1e6;
}

const struct budget_metric budget_stage_metrics[] = {
    {"calls", "calls", BUDGET_NEEDS_NOTHING, NULL, budget_calls},
    {"cpu_ms", "CPU time of all calls", BUDGET_NEEDS_NOTHING, NULL, cpu_ms},
    {"median_ms", "CPU time of the median call", BUDGET_NEEDS_NOTHING, NULL, median_ms},
    {"gpu_ms", "device time of the work launched in it", BUDGET_NEEDS_DEVICE, NULL, gpu_ms},
    {"idle_ms", "device idle time while the CPU is in it", BUDGET_NEEDS_IDLE, NULL, idle_ms},
    {"kernels", "kernels launched in it", BUDGET_NEEDS_DEVICE, NULL, budget_kernels},
    {"syncs", "waits inside it", BUDGET_NEEDS_CALLS, NULL, budget_waits},
    {"peak_mb", "most device memory in use at any time", BUDGET_NEEDS_NOTHING, NULL, peak_mb},
    {0},
};

static const struct budget_metric *find_metric(const struct budget_metric *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* ---- parsing ---- */

static int budget_unknown(const struct budget_metric *table, const char *name, int line,
                          struct err *e)
{
    const char *names[32];
    int n = 0;
    for (; n < 32 && table[n].name; n++) names[n] = table[n].name;
    const char *near = opt_nearest(name, names, n);
    return FAIL(e, ERR_USAGE, "line %d: unknown metric '%s'%s%s%s", line, name,
                near ? ". Did you mean '" : "; strata check --help lists them", near ? near : "",
                near ? "'?" : "");
}

/* Takes the last word off the line; an empty one when there is none. */
static struct str take_last(struct str *line)
{
    *line = str_trim(*line);
    size_t n = line->n;
    while (n && line->p[n - 1] != ' ' && line->p[n - 1] != '\t') n--;
    struct str word = str_from(line->p + n, line->n - n);
    *line = str_trim(str_from(line->p, n));
    return word;
}

/* "stage vae decode" or "stage \"vae decode\"": the name; empty for a limit of the whole trace. */
static bool take_stage(struct str line, struct str *ret)
{
    *ret = str_c("");
    if (!str_starts(line, "stage ") && !str_starts(line, "stage\t")) return line.n == 0;
    *ret = str_trim(str_from(line.p + 6, line.n - 6));
    if (ret->n > 1 && ret->p[0] == '"' && ret->p[ret->n - 1] == '"')
        *ret = str_from(ret->p + 1, ret->n - 2);
    return ret->n > 0;
}

/* "1.5", or "105%" and "105 %" of the baseline. */
static struct str take_value(struct str *line, bool *ret_relative)
{
    struct str value = take_last(line);
    *ret_relative = value.n && value.p[value.n - 1] == '%';
    if (!*ret_relative) return value;
    return value.n > 1 ? str_from(value.p, value.n - 1) : take_last(line);
}

/* From its end: a number, <= or >=, a metric; what is left is the stage. */
static int parse_line(struct budget_line *l, struct str raw, int number, struct arena *mem,
                      struct err *e)
{
    bool relative;
    struct str line = raw, stage, value = take_value(&line, &relative), op = take_last(&line),
               metric = take_last(&line);
    bool ours = (str_is(op, "<=") || str_is(op, ">=")) && metric.n && take_stage(line, &stage);
    l->text = arena_strdup(mem, raw);
    l->number = number;
    if (!l->text) return err_nomem(e);
    if (!ours)
        return FAIL(e, ERR_USAGE, "line %d: expected '%s <= NUMBER', found '%s'", number,
                    str_starts(raw, "stage ") ? "stage NAME METRIC" : "METRIC", l->text);
    char *end, *digits = arena_strdup(mem, value);
    l->stage = stage.n ? arena_strdup(mem, stage) : NULL;
    l->metric = arena_strdup(mem, metric);
    if (!digits || !l->metric || (stage.n && !l->stage)) return err_nomem(e);
    l->at_least = op.p[0] == '>';
    l->limit = strtod(digits, &end);
    if (!*digits || *end || !isfinite(l->limit))
        return FAIL(e, ERR_USAGE, "line %d: '%s' is not a number", number, digits);
    if (relative && l->limit <= 0)
        return FAIL(e, ERR_USAGE, "line %d: a share of the baseline is more than 0 %%", number);
    l->share = relative ? l->limit / 100 : 0;
    l->base = NAN;
    const struct budget_metric *table = l->stage ? budget_stage_metrics : budget_metrics;
    return find_metric(table, l->metric) ? 0 : budget_unknown(table, l->metric, number, e);
}

/* The line up to a '#' that is not inside quotes. */
static struct str without_comment(struct str line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"') quoted = !quoted;
        if (line.p[i] == '#' && !quoted) return str_trim(str_from(line.p, i));
    }
    return str_trim(line);
}

int budget_parse(struct budget *b, struct str text, struct arena *mem, struct err *e)
{
    *b = (struct budget){.lines = arena_zalloc(mem, MOST_LINES, sizeof *b->lines)};
    if (!b->lines) return err_nomem(e);
    int number = 0;
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        struct str line = without_comment(str_from(text.p, n));
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

/* ---- measuring ---- */

static bool budget_has(const struct context *cx, enum budget_needs needs)
{
    bool device = timeline_of(cx)->n_devices > 0;
    switch (needs) {
    case BUDGET_NEEDS_CALLS: return cx->t->n_calls > 0;
    case BUDGET_NEEDS_DEVICE: return device;
    case BUDGET_NEEDS_IDLE: return device && !wall_of(cx)->abstains;
    case BUDGET_NEEDS_NOTHING: break;
    }
    return true;
}

/* A stage is named by its last part or by its whole path; several of one name are added up. */
static double budget_value_of(const struct budget_line *l, const struct context *cx)
{
    const struct budget_metric *m =
        find_metric(l->stage ? budget_stage_metrics : budget_metrics, l->metric);
    assert(m); /* parse_line has seen to it */
    if (!budget_has(cx, m->needs)) return NAN;
    if (!l->stage) return m->value(cx);
    double sum = 0;
    bool seen = false;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        if (strcmp(s->path, l->stage) != 0 && !str_is(s->name, l->stage)) continue;
        sum += m->stage_value(s);
        seen = true;
    }
    return seen ? sum : NAN;
}

const struct budget_line *budget_relative(const struct budget *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->lines[i].share > 0) return &b->lines[i];
    return NULL;
}

void budget_measure_baseline(struct budget *b, const struct context *cx)
{
    for (uint32_t i = 0; i < b->n; i++) b->lines[i].base = budget_value_of(&b->lines[i], cx);
}

void budget_measure(struct budget *b, const struct context *cx, bool anyhow)
{
    b->n_broken = b->n_unknown = 0;
    b->untrusted = !anyhow && integrity_of(cx)->quality >= QUALITY_DOUBTFUL;
    for (uint32_t i = 0; i < b->n; i++) {
        struct budget_line *l = &b->lines[i];
        l->value = b->untrusted ? NAN : budget_value_of(l, cx);
        if (l->share > 0) l->limit = l->share * l->base;
        l->known = isfinite(l->value) && isfinite(l->limit);
        l->broken = l->known && (l->at_least ? l->value < l->limit : l->value > l->limit);
        b->n_broken += l->broken;
        b->n_unknown += !l->known;
    }
}
