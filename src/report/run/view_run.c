/* view_run.c: see views_run.h. */
#include "report/run/views_run.h"

#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "results/result_json.h"

#define SLOW_FIRST    3       /* times the median, */
#define SLOW_FIRST_NS 1000000 /* and this much longer: worth reporting */

/* ---- JSON */

static const struct rank_stage *run_stage_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct ranks *run_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static bool run_in_stage(const struct ranks *r)
{
    return r->straggler_in != UINT32_MAX;
}

static struct value run_path(const struct ranks *r, uint32_t stage)
{
    return stage == UINT32_MAX ? value_none() : value_cstr(r->stages[stage].path);
}

VALUE_OF(run_gpu, value_int(run_stage_at(r, i)->slowest->gpu_ns))
VALUE_OF(run_first, value_int(run_stage_at(r, i)->slowest->first_ns))
VALUE_OF(run_median, value_int(run_stage_at(r, i)->slowest->median_ns))
VALUE_OF(run_p95, value_int(run_stage_at(r, i)->slowest->p95_ns))
VALUE_OF(straggler_stage, run_path(run_at(r, i), run_at(r, i)->straggler_in))
VALUE_OF(straggler_time, value_int(run_in_stage(run_at(r, i)) ? run_at(r, i)->straggler_ns : -1))
VALUE_OF(straggler_others, value_int(run_in_stage(run_at(r, i)) ? run_at(r, i)->others_ns : -1))
VALUE_OF(straggler_waiting, run_path(run_at(r, i), run_at(r, i)->waiting_in))
VALUE_OF(straggler_wait,
         value_int(run_at(r, i)->waiting_in != UINT32_MAX ? run_at(r, i)->others_wait_ns : 0))
VALUE_OF(run_pipeline, value_cstr(run_at(r, i)->n ? run_at(r, i)->list[0].pipeline : ""))
ROWS_OF(run_stages, .list = run_at(r, i)->stages, .n = run_at(r, i)->n_stages)
ROWS_OF(run_straggler, .list = run_at(r, i), .n = run_at(r, i)->straggler >= 0)
ROWS_OF(run_ranks, .list = run_at(r, i)->list, .n = run_at(r, i)->n)

/* clang-format off */
static const struct field stage_fields[] = {
    FIELD(TEXT, "name", "", struct rank_stage, name, "the stage"),
    FIELD(TEXT, "path", "", struct rank_stage, path, "with those around it"),
    FIELD(COUNT, "count", "", struct rank_stage, count, "its calls, the most on any rank"),
    FIELD(COUNT, "errors", "", struct rank_stage, errors, "calls that ended in an exception, on all ranks"),
    FIELD(NS, "cpu_us", "", struct rank_stage, mean_ns, "how long its calls took, mean of the ranks"),
    FIELD(NS, "min_us", "", struct rank_stage, min_ns, "on the fastest rank"),
    FIELD(NS, "max_us", "", struct rank_stage, max_ns, "on the slowest rank"),
    FIELD(INT, "min_rank", "", struct rank_stage, min_rank, "which is the fastest"),
    FIELD(INT, "max_rank", "", struct rank_stage, max_rank, "which is the slowest"),
    FIELD(PCT, "imbalance_pct", "", struct rank_stage, imbalance_pct, "how far the slowest is above the mean", .decimals = 2),
    FIELD_GET(NS, "gpu_us", "", run_gpu, "device time, on the slowest rank", .null = NULL_NEGATIVE),
    FIELD_GET(NS, "first_us", "", run_first, "its first call there", .null = NULL_NEGATIVE),
    FIELD_GET(NS, "median_us", "", run_median, "a call there, median", .null = NULL_NEGATIVE),
    FIELD_GET(NS, "p95_us", "", run_p95, "a call there, 95th percentile", .null = NULL_NEGATIVE),
    FIELD(BYTES, "peak_bytes", "", struct rank_stage, peak_bytes, "most memory in use", .null = NULL_NEGATIVE),
};
static const struct result result_run_stages = RESULT("stages", "stages of a run", stage_fields, struct rank_stage);

static const struct field straggler_fields[] = {
    FIELD(INT, "rank", "", struct ranks, straggler, "its number"),
    FIELD_GET(TEXT, "stage", "", straggler_stage, "where it loses its time; null if it is busy outside the stages", .null = NULL_SOMETIMES),
    FIELD_GET(NS, "time_us", "", straggler_time, "its time there", .null = NULL_NEGATIVE),
    FIELD_GET(NS, "others_us", "", straggler_others, "the mean of the others", .null = NULL_NEGATIVE),
    FIELD(NS, "excess_us", "", struct ranks, excess_ns, "how much slower than the next slowest it is, or they wait for it"),
    FIELD_GET(TEXT, "waiting_in", "", straggler_waiting, "the stage in which the others wait for it", .null = NULL_SOMETIMES),
    FIELD_GET(NS, "wait_us", "", straggler_wait, "how long, mean"),
};
static const struct result result_run_straggler = RESULT("straggler", "the rank that the others wait for", straggler_fields, struct ranks);

static const struct field rank_fields[] = {
    FIELD(INT, "rank", "", struct timing, rank, "its number; -1 alone"),
    FIELD(TEXT, "host", "", struct timing, host, "its machine", .null = NULL_SOMETIMES),
    FIELD(INT, "pid", "", struct timing, pid, "its process"),
    FIELD(NS, "wall_us", "", struct timing, wall_ns, "its wall clock", .null = NULL_NEGATIVE),
    FIELD(COUNT, "lost_records", "", struct timing, lost_records, "records that did not fit"),
    FIELD(FLAG, "recovered", "", struct timing, recovered, "made from its rings, after a kill"),
    FIELD(FLAG, "running", "", struct timing, running, "it has not ended"),
};
static const struct result result_run_ranks = RESULT("ranks", "ranks of a run", rank_fields, struct timing);

static const struct field run_fields[] = {
    FIELD_GET(TEXT, "pipeline", "", run_pipeline, "the program", .null = NULL_SOMETIMES),
    FIELD(INT, "world_size", "", struct ranks, world, "ranks there should be, or -1"),
    FIELD(NS, "wall_us", "", struct ranks, wall_max_ns, "the wall clock of the slowest rank"),
    FIELD_IN(LIST, "stages", "", &result_run_stages, run_stages, "outer stages first"),
    FIELD_IN(OBJECT, "straggler", "", &result_run_straggler, run_straggler, "the rank that the others wait for", .null = NULL_SOMETIMES),
    FIELD(COUNT, "workers", "", struct ranks, n_workers, "processes that are not ranks: their stages were added to those of the process they work for"),
    FIELD_IN(LIST, "ranks", "", &result_run_ranks, run_ranks, "one per rank"),
};
/* clang-format on */

const struct result document_run =
    RESULT("run", "the stages of a run, by rank", run_fields, struct ranks);

void view_run_json(struct jout *j, const struct ranks *r)
{
    document_json(j, NULL, NULL, &document_run, r, NULL);
}

/* ---- text */

static void view_run_head(const struct screen *s, const struct ranks *r)
{
    char name[100];
    buf_printf(s->out, "%s   %s wall", human_cut(str_c(r->list[0].pipeline), 40, name, sizeof name),
               human_time(r->wall_max_ns).s);
    if (r->n > 1) buf_printf(s->out, "   %u ranks", r->n);
    else if (r->list[0].rank >= 0) buf_printf(s->out, "   rank %d", r->list[0].rank);
    if (r->world > (int)r->n) buf_printf(s->out, " of %d", r->world);
    if (r->n_workers)
        buf_printf(s->out, "   with %u worker process%s", r->n_workers,
                   r->n_workers == 1 ? "" : "es");
    if (r->lost_records) buf_printf(s->out, "   %s records lost", human_count(r->lost_records).s);
    if (r->n_running && r->n == 1) buf_adds(s->out, "   still running");
    else if (r->n_running) buf_printf(s->out, "   %u still running", r->n_running);
    if (r->n_recovered) buf_printf(s->out, "   %u recovered after a kill or crash", r->n_recovered);
    buf_adds(s->out, "\n\n");
}

static int depth_of(const struct rank_stage *s)
{
    int depth = 0;
    size_t own = strlen(s->name), all = strlen(s->path);
    for (size_t i = 0; i + own < all; i++) depth += s->path[i] == '/';
    return depth;
}

static void view_run_name_cell(struct text_table *t, const struct rank_stage *s)
{
    char name[160];
    text_table_cellf(t, 0, "%*s%s", 2 * depth_of(s), "",
                     human_cut(str_c(s->name), 60, name, sizeof name));
}

static bool is_running(const struct ranks *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->list[i].running) return true;
    return false;
}

static void view_run_remark(char *out, size_t cap, const struct ranks *r,
                            const struct rank_stage *s)
{
    const struct timing_stage *one = s->slowest;
    out[0] = 0;
    if (s->errors)
        snprintf(out, cap, "%s exception%s", human_count(s->errors).s, s->errors == 1 ? "" : "s");
    else if (one->unfinished)
        snprintf(out, cap, "%s %s", human_count(one->unfinished).s,
                 is_running(r) ? "running" : "never ended");
    else if (one->count > 2 && one->median_ns > 0 && one->first_ns > SLOW_FIRST * one->median_ns &&
             one->first_ns - one->median_ns > SLOW_FIRST_NS)
        snprintf(out, cap, "first %.0fx slower", (double)one->first_ns / (double)one->median_ns);
}

/* Largest value of each time column, for its unit. */
static int64_t view_run_largest(const struct ranks *r, int64_t (*get)(const struct rank_stage *s))
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->n_stages; i++)
        if (get(&r->stages[i]) > most) most = get(&r->stages[i]);
    return most;
}

static int64_t get_max(const struct rank_stage *s)
{
    return s->max_ns;
}

static int64_t get_first(const struct rank_stage *s)
{
    return s->slowest->first_ns;
}

static int64_t get_p95(const struct rank_stage *s)
{
    const struct timing_stage *one = s->slowest;
    return one->p95_ns > one->median_ns ? one->p95_ns : one->median_ns;
}

static int64_t get_gpu(const struct rank_stage *s)
{
    return s->slowest->gpu_median_ns;
}

static void time_cell(struct text_table *t, int col, int64_t ns, int unit)
{
    screen_time(t, col, ns > 0 ? ns : 0, unit);
}

static void show_single(const struct screen *s, const struct ranks *r)
{
    int total = screen_unit(view_run_largest(r, get_max)),
        each = screen_unit(view_run_largest(r, get_p95));
    int first = screen_unit(view_run_largest(r, get_first)),
        gpu = screen_unit(view_run_largest(r, get_gpu));
    bool on_device = view_run_largest(r, get_gpu) > 0;
    static const char *const heads[] = {"calls", "total", "median", "p95", "first", "peak mem"};
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; i < 6; i++) text_table_col(&t, heads[i], TEXT_RIGHT);
    if (on_device) text_table_col(&t, "GPU median", TEXT_RIGHT);
    text_table_col(&t, "", TEXT_LEFT);
    for (uint32_t i = 0; i < r->n_stages && i < s->limit; i++) {
        const struct rank_stage *st = &r->stages[i];
        const struct timing_stage *one = st->slowest;
        char word[64];
        view_run_remark(word, sizeof word, r, st);
        text_table_row(&t, TEXT_PLAIN);
        view_run_name_cell(&t, st);
        screen_count(&t, 1, st->count);
        time_cell(&t, 2, one->total_ns, total);
        time_cell(&t, 3, one->median_ns, each);
        time_cell(&t, 4, one->count > 1 ? one->p95_ns : 0, each);
        time_cell(&t, 5, one->first_ns, first);
        screen_bytes(&t, 6, st->peak_bytes > 0 ? st->peak_bytes : 0);
        if (on_device) time_cell(&t, 7, one->gpu_median_ns, gpu);
        text_table_cell(&t, on_device ? 8 : 7, word);
    }
    screen_table(s, &t);
    text_table_done(&t);
}

static void view_run_show_ranks(const struct screen *s, const struct ranks *r)
{
    static const char *const heads[] = {"calls", "mean", "min",      "rank", "max",
                                        "rank",  "over", "peak mem", NULL};
    int unit = screen_unit(view_run_largest(r, get_max));
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; heads[i]; i++) text_table_col(&t, heads[i], TEXT_RIGHT);
    text_table_col(&t, "", TEXT_LEFT);
    for (uint32_t i = 0; i < r->n_stages && i < s->limit; i++) {
        const struct rank_stage *st = &r->stages[i];
        char word[64];
        view_run_remark(word, sizeof word, r, st);
        bool named = r->straggler >= 0 && i == r->straggler_in;
        text_table_row(&t, named ? TEXT_RED : TEXT_PLAIN);
        view_run_name_cell(&t, st);
        screen_count(&t, 1, st->count);
        time_cell(&t, 2, st->mean_ns, unit);
        time_cell(&t, 3, st->min_ns, unit);
        text_table_cellf(&t, 4, "%d", st->min_rank);
        time_cell(&t, 5, st->max_ns, unit);
        text_table_cellf(&t, 6, "%d", st->max_rank);
        text_table_cell(&t, 7, human_pct(st->imbalance_pct).s);
        screen_bytes(&t, 8, st->peak_bytes > 0 ? st->peak_bytes : 0);
        text_table_cell(&t, 9, word);
    }
    screen_table(s, &t);
    text_table_done(&t);
    buf_adds(s->out, "  over: how far the slowest rank is above the mean\n");
}

/* Where the straggler loses its time: in a stage, or in none. */
static void straggler_line(char *out, size_t cap, const struct ranks *r)
{
    char name[100];
    if (r->straggler_in == UINT32_MAX) {
        snprintf(out, cap, "  rank %d is the straggler: it comes last, busy outside the stages",
                 r->straggler);
        return;
    }
    double more = stats_pct(r->straggler_ns - r->others_ns, r->others_ns);
    snprintf(out, cap, "  rank %d is the straggler: %s takes %s there, %s on the others (%+.0f %%)",
             r->straggler, human_cut(str_c(r->stages[r->straggler_in].name), 40, name, sizeof name),
             human_time(r->straggler_ns).s, human_time(r->others_ns).s, more);
}

static void show_verdict(const struct screen *s, const struct ranks *r)
{
    buf_addc(s->out, '\n');
    if (r->straggler < 0) {
        buf_adds(s->out, "  no straggler: no single rank is slower than the others\n");
        return;
    }
    char name[100], line[400];
    straggler_line(line, sizeof line, r);
    text_styled(s->out, TEXT_RED, s->color, line);
    buf_addc(s->out, '\n');
    if (r->waiting_in != UINT32_MAX && r->others_wait_ns > 0)
        buf_printf(s->out, "  the others wait for it in %s: %s each\n",
                   human_cut(str_c(r->stages[r->waiting_in].name), 40, name, sizeof name),
                   human_time(r->others_wait_ns).s);
}

/* A run that kept its sums only has nothing to report on. */
static void view_run_put_next(const struct screen *s, const struct ranks *r, bool recorded,
                              bool traced)
{
    struct screen_next next[3];
    char one[40];
    snprintf(one, sizeof one, "report %%s --rank %d", r->list[0].rank);
    int n = 0;
    if (recorded)
        next[n++] =
            (struct screen_next){"report %s", traced ? "who waits for whom, and why"
                                                     : "what is slow and why, with a timeline"};
    if (traced) next[n++] = (struct screen_next){one, "one rank by itself"};
    next[n++] = (struct screen_next){"diff %s OTHER", "what changed against another run"};
    screen_next(s, next, n);
}

void view_run_text(const struct screen *s, const struct ranks *r, const struct view_ranks *traced,
                   bool recorded)
{
    view_run_head(s, r);
    if (r->n == 1) show_single(s, r);
    else view_run_show_ranks(s, r);
    screen_more(s, r->n_stages);
    if (traced) view_ranks_verdict(s, traced);
    else if (r->n > 1) show_verdict(s, r);
    if (r->world > (int)r->n)
        buf_printf(s->out, "  %d of %d ranks have written nothing yet\n", r->world - (int)r->n,
                   r->world);
    buf_addc(s->out, '\n');
    view_run_put_next(s, r, recorded, traced != NULL);
}
