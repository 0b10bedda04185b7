/* view_stages.c: see views_time.h. The table keeps the order of the tree and shows nesting by
 * indentation; CPU and GPU columns are separate and never added. */
#include "report/lists/views_time.h"

#include "base/stats.h"
#include "report/lists/stage_pick.h"
#include "report/lists/views_file.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

static struct rows document_list(const struct rows *r, uint32_t i)
{
    return rows_stages(r->cx, rows_at(r, i), r->text);
}

/* clang-format off */
static const struct field document_fields[] = {
    FIELD(NS, "steps_cpu_us", "", struct stages, steps_cpu_ns, "CPU time of all steps together"),
    FIELD(NS, "steps_gpu_us", "", struct stages, steps_gpu_ns, "GPU time of all steps together"),
    FIELD_IN(LIST, "stages", "", &result_stages, document_list, "outer stages first"),
    FIELD_SUB("between", &result_between, struct stages, between, "what lies between them"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_stages =
    RESULT("stages", "what each stage costs", document_fields, struct stages);

void view_stages_json(struct jout *j, const char *key, const struct context *cx)
{
    document_json(j, key, cx, &document_stages, stages_of(cx), NULL);
}

/* What the stages without a label were made of, once for all of them. */
static void say_derived(const struct screen *s, const struct stages *stages)
{
    static const char *const words[ORIGIN_COUNT] = {
        [ORIGIN_PROFILER_STEPS] = "ProfilerStep#", [ORIGIN_LABELS] = "labels that repeat",
        [ORIGIN_MODULES] = "module calls",         [ORIGIN_FUNCTIONS] = "function calls",
        [ORIGIN_COMPILED] = "compiled regions",    [ORIGIN_AUTOGRAD] = "autograd",
        [ORIGIN_OPS] = "operators that repeat",    [ORIGIN_KERNELS] = "kernels that repeat",
    };
    bool seen[ORIGIN_COUNT] = {0}, any = false;
    struct buf text;
    buf_init(&text);
    for (uint32_t i = 0; i < stages->n; i++)
        if (stages->list[i].derived) seen[stages->list[i].from] = true;
    for (int i = 0; i < ORIGIN_COUNT; i++) {
        if (!seen[i] || !words[i]) continue;
        buf_printf(&text, "%s%s", any ? ", " : "  derived, since no label covers them, from ",
                   words[i]);
        any = true;
    }
    if (any && buf_ok(&text)) text_styled(s->out, TEXT_DIM, s->color, buf_str(&text).p);
    if (any) buf_adds(s->out, "\n\n");
    buf_done(&text);
}

/* A trace in which nothing was ever put on a device. */
static bool view_stages_has_device(const struct context *cx)
{
    return integrity_of(cx)->coverage.work || integrity_of(cx)->coverage.all.expected;
}

struct stages_shown {
    const struct screen *s;
    const struct context *cx;
    struct rows stages, between;
    const struct stage_pick *pick;
};

/* One table of the chosen stages; what lies between them is its last row. */
static void show_table(const struct stages_shown *v, const char *first, const char *const *keys,
                       bool between)
{
    struct result_text t;
    result_text_begin(&t, &result_stages, first, keys);
    result_text_fit(&t, &v->stages);
    if (between) result_text_fit(&t, &v->between);
    for (uint32_t i = 0; i < v->pick->n; i++) {
        char label[256];
        stage_label(rows_at(&v->stages, v->pick->list[i]), label, sizeof label);
        result_text_add(&t, &v->stages, v->pick->list[i], label, TEXT_PLAIN);
    }
    if (between) result_text_add(&t, &v->between, 0, "(between stages)", TEXT_DIM);
    result_text_print(&t, v->s);
    result_text_done(&t);
    buf_addc(v->s->out, '\n');
}

static void show_totals(const struct stages_shown *v)
{
    static const char *const all[] = {
        "path",         "count",   "cpu_us",  "step_cpu_pct", "gpu_us",
        "step_gpu_pct", "idle_us", "kernels", "syncs",        NULL};
    static const char *const on_cpu[] = {"path", "count", "cpu_us", "step_cpu_pct", NULL};
    const struct between *b = &stages_of(v->cx)->between;
    show_table(v, NULL, view_stages_has_device(v->cx) ? all : on_cpu,
               b->cpu_ns || work_sum_count(&b->gpu));
    say_derived(v->s, stages_of(v->cx));
}

static void show_per_call(const struct stages_shown *v)
{
    static const char *const all[] = {"path",         "first_us",      "median_us",  "p95_us",
                                      "gpu_first_us", "gpu_median_us", "gpu_p95_us", NULL};
    static const char *const on_cpu[] = {"path", "first_us", "median_us", "p95_us", NULL};
    show_table(v, "time per call", view_stages_has_device(v->cx) ? all : on_cpu, false);
}

static void view_stages_show_device(const struct stages_shown *v)
{
    static const char *const keys[] = {"path",       "gpu_span_us", "span_idle_us", "launches",
                                       "copies",     "copy_bytes",  "allocations",  "device_allocs",
                                       "peak_bytes", NULL};
    const struct stages *stages = stages_of(v->cx);
    bool any = false;
    for (uint32_t i = 0; i < stages->n; i++) {
        const struct stage *st = &stages->list[i];
        any |= work_sum_count(&st->gpu) || st->launches || st->allocations || st->device_allocs;
    }
    if (any) show_table(v, "device and memory", keys, false);
}

static void show_between(const struct stages_shown *v)
{
    static const char *const keys[] = {"name", "self_us", "calls", NULL};
    const struct between *b = &stages_of(v->cx)->between;
    struct rows top = rows_between_top(&v->between);
    struct result_text t;
    if (!b->cpu_ns || (!b->n_top && !b->untraced_ns)) return;
    result_text_begin(&t, top.of, NULL, keys);
    result_text_fit(&t, &top);
    if (!b->n_top) t.units[1] = screen_unit(b->untraced_ns);
    for (uint32_t i = 0; i < b->n_top && i < 5; i++) result_text_add(&t, &top, i, NULL, TEXT_PLAIN);
    if (b->untraced_ns) {
        text_table_row(&t.table, TEXT_DIM);
        text_table_cell(&t.table, 0, "(not recorded: Python without stacks)");
        screen_time(&t.table, 1, b->untraced_ns, t.units[1]);
        text_table_cell(&t.table, 2, "-");
    }
    result_text_print(&t, v->s);
    result_text_done(&t);
    buf_addc(v->s->out, '\n');
}

/* What the columns mean, and what to look at next. */
static void say_columns(const struct screen *s, const struct context *cx, bool wide)
{
    static const struct screen_next device[] = {
        {"stages %s --wide", "times of single calls, device and memory"},
        {"gaps %s", "why the GPU was idle"},
        {"syncs %s", "where the CPU waits, and what it costs"},
    };
    static const struct screen_next on_cpu[] = {{"stages %s --wide", "times of single calls"},
                                                {"report %s", "what is slow, and why"}};
    if (!view_stages_has_device(cx)) buf_adds(s->out, "  CPU: how long its calls took.\n\n");
    else
        buf_printf(
            s->out,
            "  CPU: how long its calls took. GPU: work launched inside it, whenever it ran.\n"
            "  GPU idle: while the CPU was in the stage.%s\n\n",
            wide ? " Span idle: between its first and last GPU work." : "");
    if (view_stages_has_device(cx)) screen_next(s, device + wide, 3 - wide);
    else screen_next(s, on_cpu + wide, 2 - wide);
}

static int64_t view_stages_cost(const struct context *cx, const struct stage *s)
{
    return view_stages_has_device(cx) ? (int64_t)s->gpu.sum_ns : s->cpu_ns;
}

/* The largest stage, or the one inside it that has most of its time, and so on. */
static const struct stage *view_stages_largest(const struct context *cx)
{
    const struct stages *all = stages_of(cx);
    const struct stage *at = NULL;
    for (bool found = true; found;) {
        uint32_t inside = at ? (uint32_t)(at - all->list) : STAGE_NONE;
        const struct stage *most = NULL;
        for (uint32_t i = 0; i < all->n; i++) {
            const struct stage *s = &all->list[i];
            if (s->parent != inside) continue;
            if (!most || view_stages_cost(cx, s) > view_stages_cost(cx, most)) most = s;
        }
        found = most && (!at || 2 * view_stages_cost(cx, most) > view_stages_cost(cx, at));
        if (found) at = most;
    }
    return at;
}

/* "transformer_forward takes most: 18.4 ms of GPU time (92.8 % of a step), 21.7 ms of CPU time" */
static void view_stages_say_largest(const struct screen *s, const struct context *cx)
{
    const struct stage *st = view_stages_largest(cx);
    const struct stages *all = stages_of(cx);
    char name[96];
    if (!st || view_stages_cost(cx, st) <= 0) return;
    buf_printf(s->out, "%s takes most: ", human_cut(st->name, 44, name, sizeof name));
    if (view_stages_has_device(cx)) {
        buf_printf(s->out, "%s of GPU time", human_time((int64_t)st->gpu.sum_ns).s);
        if (st->step_gpu_ns && all->steps_gpu_ns)
            buf_printf(s->out, " (%s of a step)",
                       human_pct(stats_pct((double)st->step_gpu_ns, (double)all->steps_gpu_ns)).s);
        buf_adds(s->out, ", ");
    }
    buf_printf(s->out, "%s of CPU time", human_time(st->cpu_ns).s);
    if (st->step_cpu_ns && all->steps_cpu_ns)
        buf_printf(s->out, " (%s%s)",
                   human_pct(stats_pct((double)st->step_cpu_ns, (double)all->steps_cpu_ns)).s,
                   view_stages_has_device(cx) ? "" : " of a step");
    buf_adds(s->out, "\n\n");
}

static void show_all(const struct screen *s, const struct context *cx, bool wide)
{
    const struct stages *stages = stages_of(cx);
    struct stage_pick pick;
    struct buf text;
    buf_init(&text);
    if (!stage_pick_run(stages, UINT32_MAX, false, s->limit, &pick)) s->out->failed = true;
    struct stages_shown v = {s, cx, rows_stages(cx, stages, &text), rows_between(cx, stages, &text),
                             &pick};
    view_stages_say_largest(s, cx);
    show_totals(&v);
    if (wide) show_per_call(&v);
    if (wide) view_stages_show_device(&v);
    screen_more(s, stages->n);
    stage_pick_done(&pick);
    show_between(&v);
    buf_done(&text);
    if (stages->tree.n_overflowing)
        buf_printf(s->out,
                   "  %s more labels, beyond the limits on number or depth, count for the stage "
                   "around them\n",
                   human_count(stages->tree.n_overflowing).s);
    say_columns(s, cx, wide);
}

void view_stages_text(const struct screen *s, const struct context *cx, bool wide)
{
    view_quality_warn(s, integrity_of(cx));
    if (stages_of(cx)->n) {
        show_all(s, cx, wide);
        return;
    }
    buf_adds(s->out,
             "no stages: the trace has no labels, and nothing in it repeats. Label the parts of\n"
             "the pipeline:\n"
             "  with torch.profiler.record_function(\"transformer_forward\"): ...\n\n");
    static const struct screen_next next[] = {
        {"kernels %s", "where the GPU time goes, without labels"},
        {"steps %s", "the loop, if there is one"},
    };
    screen_next(s, next, 2);
}
