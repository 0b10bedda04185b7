/* view_run.c: see view_run.h. */
#include "report/view_run.h"

#include <stdio.h>
#include <string.h>

#include "base/jout.h"
#include "base/stats.h"

#define SLOW_FIRST    3       /* times the median, */
#define SLOW_FIRST_NS 1000000 /* and this much longer: worth reporting */

static void json_us_or_null(struct jout *j, const char *key, int64_t ns)
{
    if (ns >= 0) jout_us(j, key, ns);
    else jout_null(j, key);
}

static void json_stage(struct jout *j, const struct rank_stage *s)
{
    jout_obj(j, NULL);
    jout_cstr(j, "name", s->name);
    jout_cstr(j, "path", s->path);
    jout_uint(j, "count", s->count);
    jout_uint(j, "errors", s->errors);
    jout_us(j, "cpu_us", s->mean_ns);
    jout_us(j, "min_us", s->min_ns);
    jout_us(j, "max_us", s->max_ns);
    jout_int(j, "min_rank", s->min_rank);
    jout_int(j, "max_rank", s->max_rank);
    jout_num(j, "imbalance_pct", s->imbalance_pct, 2);
    json_us_or_null(j, "gpu_us", s->slowest->gpu_ns);
    json_us_or_null(j, "first_us", s->slowest->first_ns);
    json_us_or_null(j, "median_us", s->slowest->median_ns);
    json_us_or_null(j, "p95_us", s->slowest->p95_ns);
    if (s->peak_bytes >= 0) jout_int(j, "peak_bytes", s->peak_bytes);
    else jout_null(j, "peak_bytes");
    jout_end_obj(j);
}

static void json_straggler(struct jout *j, const struct ranks *r)
{
    if (r->straggler < 0) {
        jout_null(j, "straggler");
        return;
    }
    jout_obj(j, "straggler");
    jout_int(j, "rank", r->straggler);
    bool known = r->straggler_in != UINT32_MAX;
    jout_cstr(j, "stage", known ? r->stages[r->straggler_in].path : NULL);
    json_us_or_null(j, "time_us", known ? r->straggler_ns : -1);
    json_us_or_null(j, "others_us", known ? r->others_ns : -1);
    jout_us(j, "excess_us", r->excess_ns);
    bool waits = r->waiting_in != UINT32_MAX;
    jout_cstr(j, "waiting_in", waits ? r->stages[r->waiting_in].path : NULL);
    jout_us(j, "wait_us", waits ? r->others_wait_ns : 0);
    jout_end_obj(j);
}

static void json_rank(struct jout *j, const struct timing *t)
{
    jout_obj(j, NULL);
    jout_int(j, "rank", t->rank);
    jout_cstr(j, "host", t->host);
    jout_int(j, "pid", t->pid);
    json_us_or_null(j, "wall_us", t->wall_ns);
    jout_uint(j, "lost_records", t->lost_records);
    jout_bool(j, "recovered", t->recovered);
    jout_bool(j, "running", t->running);
    jout_end_obj(j);
}

void view_run_json(struct buf *out, const struct ranks *r)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "pipeline", r->n ? r->list[0].pipeline : "");
    jout_int(&j, "world_size", r->world);
    jout_us(&j, "wall_us", r->wall_max_ns);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < r->n_stages; i++) json_stage(&j, &r->stages[i]);
    jout_end_arr(&j);
    json_straggler(&j, r);
    jout_uint(&j, "workers", r->n_workers);
    jout_arr(&j, "ranks");
    for (uint32_t i = 0; i < r->n; i++) json_rank(&j, &r->list[i]);
    jout_end_arr(&j);
    jout_end_obj(&j);
}

static void head(const struct screen *s, const struct ranks *r)
{
    uint64_t lost = 0;
    uint32_t recovered = 0, running = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        lost += r->list[i].lost_records;
        recovered += r->list[i].recovered;
        running += r->list[i].running;
    }
    char name[100];
    buf_printf(s->out, "%s   %s wall", human_cut(str_c(r->list[0].pipeline), 40, name, sizeof name),
               human_time(r->wall_max_ns).s);
    if (r->n > 1) buf_printf(s->out, "   %u ranks", r->n);
    else if (r->list[0].rank >= 0) buf_printf(s->out, "   rank %d", r->list[0].rank);
    if (r->world > (int)r->n) buf_printf(s->out, " of %d", r->world);
    if (r->n_workers)
        buf_printf(s->out, "   with %u worker process%s", r->n_workers,
                   r->n_workers == 1 ? "" : "es");
    if (lost) buf_printf(s->out, "   %s records lost", human_count(lost).s);
    if (running && r->n == 1) buf_adds(s->out, "   still running");
    else if (running) buf_printf(s->out, "   %u still running", running);
    if (recovered) buf_printf(s->out, "   %u recovered after a kill or crash", recovered);
    buf_adds(s->out, "\n\n");
}

static int depth_of(const struct rank_stage *s)
{
    int depth = 0;
    size_t own = strlen(s->name), all = strlen(s->path);
    for (size_t i = 0; i + own < all; i++) depth += s->path[i] == '/';
    return depth;
}

static void name_cell(struct text_table *t, const struct rank_stage *s)
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

static void remark(char *out, size_t cap, const struct ranks *r, const struct rank_stage *s)
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
static int64_t largest(const struct ranks *r, int64_t (*get)(const struct rank_stage *s))
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
    int total = screen_unit(largest(r, get_max)), each = screen_unit(largest(r, get_p95));
    int first = screen_unit(largest(r, get_first)), gpu = screen_unit(largest(r, get_gpu));
    bool on_device = largest(r, get_gpu) > 0;
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
        remark(word, sizeof word, r, st);
        text_table_row(&t, TEXT_PLAIN);
        name_cell(&t, st);
        screen_count(&t, 1, st->count);
        time_cell(&t, 2, one->total_ns, total);
        time_cell(&t, 3, one->median_ns, each);
        time_cell(&t, 4, one->count > 1 ? one->p95_ns : 0, each);
        time_cell(&t, 5, one->first_ns, first);
        screen_bytes(&t, 6, st->peak_bytes > 0 ? st->peak_bytes : 0);
        if (on_device) time_cell(&t, 7, one->gpu_median_ns, gpu);
        text_table_cell(&t, on_device ? 8 : 7, word);
    }
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
}

static void show_ranks(const struct screen *s, const struct ranks *r)
{
    static const char *const heads[] = {"calls", "mean", "min",      "rank", "max",
                                        "rank",  "over", "peak mem", NULL};
    int unit = screen_unit(largest(r, get_max));
    struct text_table t;
    text_table_init(&t);
    text_table_col(&t, "stage", TEXT_LEFT);
    for (int i = 0; heads[i]; i++) text_table_col(&t, heads[i], TEXT_RIGHT);
    text_table_col(&t, "", TEXT_LEFT);
    for (uint32_t i = 0; i < r->n_stages && i < s->limit; i++) {
        const struct rank_stage *st = &r->stages[i];
        char word[64];
        remark(word, sizeof word, r, st);
        bool named = r->straggler >= 0 && i == r->straggler_in;
        text_table_row(&t, named ? TEXT_RED : TEXT_PLAIN);
        name_cell(&t, st);
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
    text_table_print(&t, s->out, 2, s->width, s->color);
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

void view_run_text(const struct screen *s, const struct ranks *r, const struct view_ranks *traced)
{
    head(s, r);
    if (r->n == 1) show_single(s, r);
    else show_ranks(s, r);
    screen_more(s, r->n_stages);
    if (traced) view_ranks_verdict(s, traced);
    else if (r->n > 1) show_verdict(s, r);
    if (r->world > (int)r->n)
        buf_printf(s->out, "  %d of %d ranks have written nothing yet\n", r->world - (int)r->n,
                   r->world);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"report %s", "what is slow and why, with a timeline"},
        {"compare %s OTHER", "what changed against another run"},
        {"ranks %s", "who waits for whom, collective by collective"},
    };
    screen_next(s, next, traced ? 3 : 2);
}
