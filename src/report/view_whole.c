/* view_whole.c: see view_whole.h. */
#include "report/view_whole.h"

#include <stdlib.h>

#include "base/jout.h"
#include "base/stats.h"
#include "report/cells.h"

enum { PARTS_SHOWN = 3, KERNELS_SHOWN = 8 };

static double busy_pct(int64_t busy_ns, int64_t wall_ns)
{
    return stats_pct((double)busy_ns, (double)wall_ns);
}

static void put_head(const struct screen *s, const struct whole *w)
{
    buf_printf(s->out, "%s%s%s  %s records\n", s->path, *w->device ? "  " : "", w->device,
               human_count(w->n_records).s);
    buf_printf(s->out, "the whole recording, added up from %s parts analysed one by one\n\n",
               human_count(w->n_parts).s);
    buf_printf(s->out, "  %s recorded: the GPU is busy %.1f %% of the time",
               human_time(w->wall_ns).s, busy_pct(w->busy_ns, w->wall_ns));
    if (w->n_steps)
        buf_printf(s->out, "; %s steps of %s to %s", human_count(w->n_steps).s,
                   human_time(w->step_min_ns).s, human_time(w->step_max_ns).s);
    buf_adds(s->out, "\n");
}

static int by_busy(const void *a, const void *b)
{
    const struct whole_part *x = *(const struct whole_part *const *)a;
    const struct whole_part *y = *(const struct whole_part *const *)b;
    double p = busy_pct(x->busy_ns, x->end_ns - x->begin_ns);
    double q = busy_pct(y->busy_ns, y->end_ns - y->begin_ns);
    if (p < q || p > q) return p < q ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The parts in which the device idles most: where to look next. */
static void put_parts(const struct screen *s, const struct whole *w)
{
    const struct whole_part **list = arena_alloc(w->mem, (w->n_parts + 1) * sizeof *list);
    if (!list || w->n_parts < 2) return;
    for (uint32_t i = 0; i < w->n_parts; i++) list[i] = &w->parts[i];
    qsort(list, w->n_parts, sizeof *list, by_busy);
    buf_adds(s->out, "\n  parts in which the GPU idles most (strata report --at shows one)\n");
    struct text_table t;
    text_table_init(&t);
    static const char *const heads[] = {"from", "length", "GPU busy", "steps", "median step"};
    for (int i = 0; i < 5; i++) text_table_col(&t, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < w->n_parts && i < PARTS_SHOWN; i++) {
        int64_t ns = list[i]->end_ns - list[i]->begin_ns;
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, human_time(list[i]->begin_ns).s);
        text_table_cell(&t, 1, human_time(ns).s);
        text_table_cellf(&t, 2, "%.1f %%", busy_pct(list[i]->busy_ns, ns));
        screen_count(&t, 3, list[i]->n_steps);
        screen_time(&t, 4, list[i]->step_ns, screen_unit(list[i]->step_ns));
    }
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
}

static void put_finding(struct text_table *t, const struct whole *w, const struct whole_finding *f,
                        int unit)
{
    char subject[64];
    human_cut(str_c(f->subject), 40, subject, sizeof subject);
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, 0, f->title);
    if (f->file && f->line) text_table_cellf(t, 1, "%s:%d", f->file, f->line);
    else text_table_cell(t, 1, subject);
    screen_count(t, 2, f->n_parts);
    screen_time(t, 3, f->blocked_ns, unit);
    screen_time(t, 4, f->exposed_ns, unit);
    screen_time(t, 5, f->gain_ns, unit);
    text_table_cellf(t, 6, "%.1f %%", stats_pct((double)f->gain_ns, (double)w->wall_ns));
}

static void put_findings(const struct screen *s, const struct whole *w)
{
    if (!w->n_findings) {
        buf_adds(s->out, "\n  no findings in any part\n");
        return;
    }
    buf_adds(s->out, "\n  findings, added up over the parts\n");
    static const char *const heads[] = {"finding", "where", "parts", "blocked",
                                        "exposed", "gain",  "of all"};
    struct text_table t;
    int64_t largest = 0;
    text_table_init(&t);
    for (int i = 0; i < 7; i++) text_table_col(&t, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    for (size_t i = 0; i < w->n_findings; i++)
        if (w->findings[i].blocked_ns > largest) largest = w->findings[i].blocked_ns;
    for (size_t i = 0; i < w->n_findings && i < s->limit; i++)
        put_finding(&t, w, &w->findings[i], screen_unit(largest));
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, (uint32_t)w->n_findings);
}

static void put_kernels(const struct screen *s, const struct whole *w)
{
    if (!w->n_kernels) return;
    buf_adds(s->out, "\n  kernels, copies and fills by time\n");
    struct text_table t;
    int unit = screen_unit(w->kernels[0].total_ns);
    text_table_init(&t);
    text_table_col(&t, "name", TEXT_LEFT);
    text_table_col(&t, "calls", TEXT_RIGHT);
    text_table_col(&t, "time", TEXT_RIGHT);
    for (size_t i = 0; i < w->n_kernels && i < KERNELS_SHOWN; i++) {
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, w->kernels[i].name);
        screen_count(&t, 1, w->kernels[i].calls);
        screen_time(&t, 2, w->kernels[i].total_ns, unit);
    }
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
}

/* All steps would be millions of rows: each part has one. */
static void put_steps(const struct screen *s, const struct whole *w)
{
    static const char *const heads[] = {"from", "length", "steps", "median step", "GPU busy"};
    struct text_table t;
    int64_t longest = 0;
    text_table_init(&t);
    for (int i = 0; i < 5; i++) text_table_col(&t, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < w->n_parts; i++)
        if (w->parts[i].step_ns > longest) longest = w->parts[i].step_ns;
    for (uint32_t i = 0; i < w->n_parts && i < s->limit; i++) {
        const struct whole_part *p = &w->parts[i];
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, human_time(p->begin_ns).s);
        text_table_cell(&t, 1, human_time(p->end_ns - p->begin_ns).s);
        screen_count(&t, 2, p->n_steps);
        screen_time(&t, 3, p->step_ns, screen_unit(longest));
        text_table_cellf(&t, 4, "%.1f %%", busy_pct(p->busy_ns, p->end_ns - p->begin_ns));
    }
    buf_addc(s->out, '\n');
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, w->n_parts);
}

static int64_t time_of(const struct whole *w, bool on_device)
{
    int64_t sum = 0;
    for (size_t i = 0; i < w->n_kernels; i++)
        sum += on_device ? w->kernels[i].total_ns : w->kernels[i].self_cpu_ns;
    return sum;
}

/* Medians cannot be added up: the mean and the ends are shown instead. */
static void put_kernel_rows(const struct screen *s, const struct whole *w)
{
    static const char *const heads[] = {"kernel", "calls", "total", "%", "mean", "min", "max"};
    double all = (double)time_of(w, true);
    struct text_table t;
    text_table_init(&t);
    for (int i = 0; i < 7; i++) text_table_col(&t, heads[i], i ? TEXT_RIGHT : TEXT_LEFT);
    for (size_t i = 0; i < w->n_kernels && i < s->limit; i++) {
        const struct whole_kernel *k = &w->kernels[i];
        int64_t mean = k->calls ? k->total_ns / (int64_t)k->calls : 0;
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, cell_text(str_c(k->name), 60).s);
        screen_count(&t, 1, k->calls);
        text_table_cell(&t, 2, human_time(k->total_ns).s);
        text_table_cellf(&t, 3, "%.1f", stats_pct((double)k->total_ns, all));
        text_table_cell(&t, 4, human_time(mean).s);
        text_table_cell(&t, 5, human_time(k->min_ns).s);
        text_table_cell(&t, 6, human_time(k->max_ns).s);
    }
    buf_addc(s->out, '\n');
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, (uint32_t)w->n_kernels);
}

static void put_table_rows(const struct screen *s, const struct whole *w)
{
    static const char *const heads[] = {"name",     "calls", "self CPU", "CPU total",
                                        "self GPU", "%",     "GPU total"};
    double all = (double)time_of(w, true);
    struct text_table t;
    text_table_init(&t);
    for (int i = 0; i < 7; i++) text_table_col(&t, heads[i], i ? TEXT_RIGHT : TEXT_LEFT);
    for (size_t i = 0; i < w->n_kernels && i < s->limit; i++) {
        const struct whole_kernel *k = &w->kernels[i];
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, cell_text(str_c(k->name), 60).s);
        screen_count(&t, 1, k->calls);
        text_table_cell(&t, 2, k->cpu_ns ? human_time(k->self_cpu_ns).s : "-");
        text_table_cell(&t, 3, k->cpu_ns ? human_time(k->cpu_ns).s : "-");
        text_table_cell(&t, 4, k->total_ns ? human_time(k->total_ns).s : "-");
        if (k->total_ns) text_table_cellf(&t, 5, "%.1f", stats_pct((double)k->total_ns, all));
        else text_table_cell(&t, 5, "-");
        text_table_cell(&t, 6, k->with_inside_ns ? human_time(k->with_inside_ns).s : "-");
    }
    buf_addc(s->out, '\n');
    text_table_print(&t, s->out, 2, s->width, s->color);
    text_table_done(&t);
    screen_more(s, (uint32_t)w->n_kernels);
}

/* The commands that follow say themselves whether they are about all of it. */
static void put_next(const struct screen *s, struct screen_next first)
{
    struct screen_next next[] = {first,
                                 {"report %s --at 10min", "the part around a time in detail"}};
    struct screen part = *s;
    part.whole = false;
    screen_next(&part, next, 2);
}

/* One view of it: steps, kernels or the table. */
static void put_view(const struct screen *s, const struct whole *w)
{
    if (w->what == WHOLE_STEPS) put_steps(s, w);
    else if (w->what == WHOLE_KERNELS) put_kernel_rows(s, w);
    else put_table_rows(s, w);
    if (w->more_kernels)
        buf_printf(s->out, "  only the first %s names were added up\n",
                   human_count(w->n_kernels).s);
    buf_addc(s->out, '\n');
    put_next(s, (struct screen_next){"report %s --whole", "findings of the whole recording"});
}

void view_whole_text(const struct screen *s, const struct whole *w)
{
    put_head(s, w);
    if (w->what != WHOLE_REPORT) {
        put_view(s, w);
        return;
    }
    put_parts(s, w);
    put_findings(s, w);
    put_kernels(s, w);
    put_next(s, (struct screen_next){"report %s", "the usual part of it in detail"});
}

static void put_finding_json(struct jout *j, const struct whole_finding *f)
{
    jout_obj(j, NULL);
    jout_str(j, "rule", str_c(f->rule));
    jout_str(j, "title", str_c(f->title));
    jout_str(j, "subject", str_c(f->subject));
    if (f->file) jout_str(j, "file", str_c(f->file));
    else jout_null(j, "file");
    if (f->line) jout_int(j, "line", f->line);
    else jout_null(j, "line");
    jout_uint(j, "parts", f->n_parts);
    jout_str(j, "severity", str_c(severity_name(f->severity)));
    jout_us(j, "blocked_us", f->blocked_ns);
    jout_us(j, "exposed_us", f->exposed_ns);
    jout_us(j, "gain_us", f->gain_ns);
    jout_end_obj(j);
}

static void put_part_json(struct jout *j, const struct whole_part *p)
{
    jout_obj(j, NULL);
    jout_us(j, "begin_us", p->begin_ns);
    jout_us(j, "wall_us", p->end_ns - p->begin_ns);
    jout_us(j, "gpu_busy_us", p->busy_ns);
    jout_uint(j, "steps", p->n_steps);
    jout_us(j, "median_step_us", p->step_ns);
    jout_end_obj(j);
}

static void put_kernel_json(struct jout *j, const struct whole *w, const struct whole_kernel *k)
{
    jout_obj(j, NULL);
    jout_str(j, "name", str_c(k->name));
    jout_uint(j, "calls", k->calls);
    jout_us(j, "time_us", k->total_ns);
    if (w->what == WHOLE_KERNELS) {
        jout_us(j, "min_us", k->min_ns);
        jout_us(j, "max_us", k->max_ns);
    } else if (w->what == WHOLE_TABLE) {
        jout_us(j, "gpu_total_us", k->with_inside_ns);
        jout_us(j, "self_cpu_us", k->self_cpu_ns);
        jout_us(j, "cpu_total_us", k->cpu_ns);
    }
    jout_end_obj(j);
}

void view_whole_json(struct buf *out, const struct whole *w)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_uint(&j, "records", w->n_records);
    jout_us(&j, "wall_us", w->wall_ns);
    jout_us(&j, "gpu_busy_us", w->busy_ns);
    jout_uint(&j, "steps", w->n_steps);
    jout_arr(&j, "parts");
    for (uint32_t i = 0; i < w->n_parts; i++) put_part_json(&j, &w->parts[i]);
    jout_end_arr(&j);
    jout_arr(&j, "findings");
    for (size_t i = 0; i < w->n_findings; i++) put_finding_json(&j, &w->findings[i]);
    jout_end_arr(&j);
    jout_arr(&j, "kernels");
    for (size_t i = 0; i < w->n_kernels; i++) put_kernel_json(&j, w, &w->kernels[i]);
    jout_end_arr(&j);
    jout_end_obj(&j);
}
