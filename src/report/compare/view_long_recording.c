/* view_long_recording.c: see views_compare.h. */
#include "report/compare/views_compare.h"

#include "base/stats.h"
#include "report/result_text.h"
#include "results/result_json.h"

enum { KERNELS_SHOWN = 8, WHERE_CUT = 40, NAME_CUT = 60 };

static const struct whole *whole_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct long_excerpt *part_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct whole_finding *finding_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct whole_kernel *kernel_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct whole *whole_of(const struct rows *r)
{
    return r->with;
}

/* A figure that only one of the commands adds up. */
static struct value kernel_ns(const struct rows *r, enum whole_what what, int64_t ns)
{
    return whole_of(r)->what == what ? value_int(ns) : value_none();
}

static int64_t kernel_mean_ns(const struct whole_kernel *k)
{
    return k->calls ? k->total_ns / (int64_t)k->calls : 0;
}

static struct value kernel_share(const struct rows *r, uint32_t i)
{
    double all = (double)whole_of(r)->kernels_ns;
    return value_num(stats_pct((double)kernel_at(r, i)->total_ns, all));
}

VALUE_OF(part_wall, value_int(part_at(r, i)->end_ns - part_at(r, i)->begin_ns))
VALUE_OF(part_busy, value_num(whole_part_busy_pct(part_at(r, i))))
VALUE_OF(finding_severity, value_cstr(severity_name(finding_at(r, i)->severity)))
VALUE_OF(finding_share,
         value_num(stats_pct((double)finding_at(r, i)->gain_ns, (double)whole_of(r)->wall_ns)))
VALUE_OF(kernel_mean, kernel_ns(r, WHOLE_KERNELS, kernel_mean_ns(kernel_at(r, i))))
VALUE_OF(kernel_min, kernel_ns(r, WHOLE_KERNELS, kernel_at(r, i)->min_ns))
VALUE_OF(kernel_max, kernel_ns(r, WHOLE_KERNELS, kernel_at(r, i)->max_ns))
VALUE_OF(kernel_gpu, kernel_ns(r, WHOLE_TABLE, kernel_at(r, i)->with_inside_ns))
VALUE_OF(kernel_self_cpu, kernel_ns(r, WHOLE_TABLE, kernel_at(r, i)->self_cpu_ns))
VALUE_OF(kernel_cpu, kernel_ns(r, WHOLE_TABLE, kernel_at(r, i)->cpu_ns))
VALUE_OF(whole_busy,
         value_num(stats_pct((double)whole_at(r, i)->busy_ns, (double)whole_at(r, i)->wall_ns)))
ROWS_OF(whole_parts, .list = whole_at(r, i)->parts, .n = whole_at(r, i)->n_parts)
ROWS_OF(whole_findings, .list = whole_at(r, i)->findings, .n = (uint32_t)whole_at(r, i)->n_findings,
        .with = whole_at(r, i))
ROWS_OF(whole_kernels, .list = whole_at(r, i)->kernels, .n = (uint32_t)whole_at(r, i)->n_kernels,
        .with = whole_at(r, i))

/* clang-format off */
static const struct field part_fields[] = {
    FIELD(NS, "begin_us", "from", struct long_excerpt, begin_ns, "since the begin of the recording"),
    FIELD_GET(NS, "wall_us", "length", part_wall, "how long it is"),
    FIELD(NS, "gpu_busy_us", "", struct long_excerpt, busy_ns, "busy time of its busiest device"),
    FIELD_GET(PCT, "gpu_busy_pct", "GPU busy", part_busy, "the same as a share of the part", .decimals = 2),
    FIELD(COUNT, "steps", "steps", struct long_excerpt, n_steps, "its steps"),
    FIELD(NS, "median_step_us", "median step", struct long_excerpt, step_ns, "the median of them; 0 without steps"),
};
static const struct result result_whole_parts = RESULT("parts", "the parts, one after the other", part_fields, struct long_excerpt);
static const struct result result_whole_idlest = {.name = "parts", .of = "the parts in which the device idles most",
    .fields = part_fields, .n_fields = sizeof part_fields / sizeof *part_fields, .row_bytes = sizeof(void *), .by_pointer = true};

static const struct field finding_fields[] = {
    FIELD(TEXT, "rule", "", struct whole_finding, rule, "the rule"),
    FIELD(TEXT, "title", "finding", struct whole_finding, title, "what was found"),
    FIELD(TEXT, "subject", "", struct whole_finding, subject, "what it is about"),
    FIELD(TEXT, "file", "", struct whole_finding, file, "where, if that is known", .null = NULL_SOMETIMES),
    FIELD(INT, "line", "", struct whole_finding, line, "the line there", .null = NULL_ZERO),
    FIELD(COUNT, "parts", "parts", struct whole_finding, n_parts, "in how many parts"),
    FIELD_GET(WORD, "severity", "", finding_severity, "the highest of them"),
    FIELD(NS, "blocked_us", "blocked", struct whole_finding, blocked_ns, "added up"),
    FIELD(NS, "exposed_us", "exposed", struct whole_finding, exposed_ns, "added up"),
    FIELD(NS, "gain_us", "gain", struct whole_finding, gain_ns, "added up"),
    FIELD_GET(PCT, "gain_pct", "of all", finding_share, "of the wall clock of the recording", .decimals = 2),
};
static const struct result result_whole_findings = RESULT("findings", "what came up in at least one part, by gain", finding_fields, struct whole_finding);

static const struct field kernel_fields[] = {
    FIELD(TEXT, "name", "name", struct whole_kernel, name, "a kernel, copy or fill; with `table` any row of it"),
    FIELD(COUNT, "calls", "calls", struct whole_kernel, calls, "its calls"),
    FIELD(NS, "time_us", "time", struct whole_kernel, total_ns, "on the device, its own"),
    FIELD_GET(PCT, "time_pct", "%", kernel_share, "of all of them together", .decimals = 2),
    FIELD_GET(NS, "mean_us", "mean", kernel_mean, "of one call; with `kernels`", .sparse = true),
    FIELD_GET(NS, "min_us", "min", kernel_min, "of one call; with `kernels`", .sparse = true),
    FIELD_GET(NS, "max_us", "max", kernel_max, "of one call; with `kernels`", .sparse = true),
    FIELD_GET(NS, "gpu_total_us", "GPU total", kernel_gpu, "on the device with what is inside; with `table`", .sparse = true),
    FIELD_GET(NS, "self_cpu_us", "self CPU", kernel_self_cpu, "on the CPU, its own; with `table`", .sparse = true),
    FIELD_GET(NS, "cpu_total_us", "CPU total", kernel_cpu, "on the CPU with what is inside; with `table`", .sparse = true),
};
static const struct result result_whole_kernels = RESULT("kernels", "kernels, copies and fills, by time", kernel_fields, struct whole_kernel);

static const struct field whole_fields[] = {
    FIELD(COUNT, "records", "", struct whole, n_records, "records of all parts together"),
    FIELD(NS, "wall_us", "", struct whole, wall_ns, "how long was recorded"),
    FIELD(NS, "gpu_busy_us", "", struct whole, busy_ns, "busy time of the busiest device of each part, added up"),
    FIELD_GET(PCT, "gpu_busy_pct", "", whole_busy, "the same as a share of what was recorded", .decimals = 2),
    FIELD(COUNT, "steps", "", struct whole, n_steps, "steps of all parts together"),
    FIELD_IN(LIST, "parts", "", &result_whole_parts, whole_parts, "the parts, one after the other"),
    FIELD_IN(LIST, "findings", "", &result_whole_findings, whole_findings, "what came up in at least one part, by gain; with `report`"),
    FIELD_IN(LIST, "kernels", "", &result_whole_kernels, whole_kernels, "by time on the device; not with `steps`"),
};
/* clang-format on */

const struct result document_long_recording =
    RESULT("long_recording", "a recording of more than 4 million records, added up part by part",
           whole_fields, struct whole);

void view_long_recording_json(struct jout *j, const struct whole *w)
{
    document_json(j, NULL, NULL, &document_long_recording, w, NULL);
}

/* ---- for people */

static void view_long_recording_put_head(const struct screen *s, const struct whole *w)
{
    buf_printf(s->out, "%s%s%s  %s records\n", s->path, *w->device ? "  " : "", w->device,
               human_count(w->n_records).s);
    buf_printf(s->out, "the whole recording, added up from %s parts analysed one by one\n\n",
               human_count(w->n_parts).s);
    buf_printf(s->out, "  %s recorded: the GPU is busy %.1f %% of the time",
               human_time(w->wall_ns).s, stats_pct((double)w->busy_ns, (double)w->wall_ns));
    if (w->n_steps)
        buf_printf(s->out, "; %s steps of %s to %s", human_count(w->n_steps).s,
                   human_time(w->step_min_ns).s, human_time(w->step_max_ns).s);
    buf_adds(s->out, "\n");
}

/* The parts in which the device idles most: where to look next. */
static void view_long_recording_put_idlest(const struct screen *s, const struct whole *w)
{
    static const char *const keys[] = {"begin_us", "wall_us",        "gpu_busy_pct",
                                       "steps",    "median_step_us", NULL};
    struct rows r = {.of = &result_whole_idlest, .list = w->idlest, .n = w->n_idlest};
    if (!r.n) return;
    buf_adds(s->out, "\n  parts in which the GPU idles most (strata report --at shows one)\n");
    result_text_show(s, &r, keys, r.n);
}

static void view_long_recording_put_findings(const struct screen *s, const struct whole *w)
{
    static const char *const keys[] = {"title",   "parts",    "blocked_us", "exposed_us",
                                       "gain_us", "gain_pct", NULL};
    struct rows whole = {.of = &document_long_recording, .list = w, .n = 1};
    struct rows r = whole_findings(&whole, 0);
    struct result_text t;
    char subject[WHERE_CUT + 24];
    r.of = &result_whole_findings;
    if (!r.n) {
        buf_adds(s->out, "\n  no findings in any part\n");
        return;
    }
    buf_adds(s->out, "\n  findings, added up over the parts\n");
    result_text_begin(&t, r.of, NULL, keys);
    int where = t.table.n_cols;
    text_table_col(&t.table, "where", TEXT_LEFT);
    result_text_fit(&t, &r);
    for (uint32_t i = 0; i < r.n && i < s->limit; i++) {
        const struct whole_finding *f = &w->findings[i];
        result_text_add(&t, &r, i, NULL, TEXT_PLAIN);
        human_cut(str_c(f->subject), WHERE_CUT, subject, sizeof subject);
        if (f->file && f->line) text_table_cellf(&t.table, where, "%s:%d", f->file, f->line);
        else text_table_cell(&t.table, where, subject);
    }
    result_text_print(&t, s);
    result_text_done(&t);
    screen_more(s, r.n);
}

/* Medians cannot be added up: the mean and the ends are shown instead. */
static void view_long_recording_put_kernels(const struct screen *s, const struct whole *w)
{
    static const char *const of_report[] = {"name", "calls", "time_us", NULL};
    static const char *const of_kernels[] = {"name",    "calls",  "time_us", "time_pct",
                                             "mean_us", "min_us", "max_us",  NULL};
    static const char *const of_table[] = {"name",    "calls",    "self_cpu_us",  "cpu_total_us",
                                           "time_us", "time_pct", "gpu_total_us", NULL};
    const char *const *keys = w->what == WHOLE_KERNELS ? of_kernels
                              : w->what == WHOLE_TABLE ? of_table
                                                       : of_report;
    uint32_t most = w->what == WHOLE_REPORT ? KERNELS_SHOWN : s->limit;
    struct rows whole = {.of = &document_long_recording, .list = w, .n = 1};
    struct rows r = whole_kernels(&whole, 0);
    struct result_text t;
    char name[NAME_CUT + 24];
    r.of = &result_whole_kernels;
    result_text_begin(&t, r.of, NULL, keys);
    result_text_fit(&t, &r);
    for (uint32_t i = 0; i < r.n && i < most; i++)
        result_text_add(&t, &r, i,
                        human_cut(str_c(w->kernels[i].name), NAME_CUT, name, sizeof name),
                        TEXT_PLAIN);
    result_text_print(&t, s);
    result_text_done(&t);
    if (w->what != WHOLE_REPORT) screen_more(s, r.n);
}

/* All steps would be millions of rows: each part has one. */
static void view_long_recording_put_steps(const struct screen *s, const struct whole *w)
{
    static const char *const keys[] = {"begin_us",       "wall_us",      "steps",
                                       "median_step_us", "gpu_busy_pct", NULL};
    struct rows r = {.of = &result_whole_parts, .list = w->parts, .n = w->n_parts};
    result_text_show(s, &r, keys, s->limit);
    screen_more(s, r.n);
}

/* The commands that follow say themselves whether they are about all of it. */
static void view_long_recording_put_next(const struct screen *s, struct screen_next first)
{
    struct screen_next next[] = {first,
                                 {"report %s --at 10min", "the part around a time in detail"}};
    struct screen part = *s;
    part.whole = false;
    screen_next(&part, next, 2);
}

/* One view of it: steps, kernels or the table. */
static void view_long_recording_put_view(const struct screen *s, const struct whole *w)
{
    buf_addc(s->out, '\n');
    if (w->what == WHOLE_STEPS) view_long_recording_put_steps(s, w);
    else view_long_recording_put_kernels(s, w);
    if (w->more_kernels)
        buf_printf(s->out, "  only the first %s names were added up\n",
                   human_count(w->n_kernels).s);
    buf_addc(s->out, '\n');
    view_long_recording_put_next(
        s, (struct screen_next){"report %s --whole", "findings of the whole recording"});
}

void view_long_recording_text(const struct screen *s, const struct whole *w)
{
    view_long_recording_put_head(s, w);
    if (w->what != WHOLE_REPORT) {
        view_long_recording_put_view(s, w);
        return;
    }
    view_long_recording_put_idlest(s, w);
    view_long_recording_put_findings(s, w);
    if (w->n_kernels) {
        buf_adds(s->out, "\n  kernels, copies and fills by time\n");
        view_long_recording_put_kernels(s, w);
    }
    view_long_recording_put_next(
        s, (struct screen_next){"report %s", "the usual part of it in detail"});
}
