/* view_stages.c: see view_stages.h. The table keeps the order of the tree and shows nesting by
 * indentation; CPU and GPU columns are separate and never added. */
#include "report/view_stages.h"

#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/stage_pick.h"
#include "report/view_quality.h"

static void us_if(struct jout *j, const char *key, int64_t ns, bool trusted)
{
    if (trusted) jout_us(j, key, ns);
    else jout_null(j, key);
}

static void json_gpu(struct jout *j, const struct work_sum *w, bool idle_trusted)
{
    jout_us(j, "gpu_us", w->sum_ns);
    jout_us(j, "gpu_busy_us", w->union_ns);
    jout_us(j, "gpu_span_us", w->span_ns);
    us_if(j, "idle_us", w->idle_ns, idle_trusted);
    jout_uint(j, "kernels", w->kernels);
    jout_uint(j, "copies", w->copies);
    jout_uint(j, "memsets", w->sets);
    jout_int(j, "copy_bytes", w->copy_bytes);
}

static void json_shares(struct jout *j, const struct stages *all, const struct stage *s)
{
    if (all->steps_cpu_ns <= 0) {
        jout_null(j, "step_cpu_pct");
        jout_null(j, "step_gpu_pct");
        return;
    }
    jout_num(j, "step_cpu_pct", stats_pct(s->step_cpu_ns, all->steps_cpu_ns), 2);
    jout_num(j, "step_gpu_pct", stats_pct(s->step_gpu_ns, all->steps_gpu_ns), 2);
}

static const char *kind_of(const struct stage *s)
{
    if (s->backward) return "backward";
    return s->user ? "user" : s->derived ? "derived" : "compiled";
}

static void json_stage(struct jout *j, const struct view_stages *v, const struct stage *s)
{
    const struct stages *all = v->stages;
    bool idle_trusted = v->integrity->idle_trusted;
    jout_obj(j, NULL);
    jout_str(j, "name", s->name);
    jout_cstr(j, "path", s->path);
    jout_cstr(j, "kind", kind_of(s));
    jout_bool(j, "derived", s->derived);
    jout_cstr(j, "from", origin_name(s->from));
    jout_bool(j, "container", s->container);
    jout_uint(j, "count", s->calls);
    jout_us(j, "cpu_us", s->cpu_ns);
    jout_us(j, "self_cpu_us", s->self_cpu_ns);
    jout_us(j, "blocked_us", s->blocked_ns);
    json_gpu(j, &s->gpu, idle_trusted);
    jout_us(j, "self_gpu_us", s->self_gpu_ns);
    us_if(j, "idle_meanwhile_us", s->idle_meanwhile_ns, idle_trusted);
    jout_uint(j, "launches", s->launches);
    jout_uint(j, "graph_launches", s->graph_launches);
    jout_uint(j, "syncs", s->syncs);
    jout_uint(j, "allocations", s->allocations);
    jout_int(j, "alloc_bytes", s->alloc_bytes);
    jout_uint(j, "device_allocs", s->device_allocs);
    jout_us(j, "first_us", s->first_ns);
    jout_us(j, "median_us", s->median_ns);
    jout_us(j, "p95_us", s->p95_ns);
    jout_us(j, "gpu_first_us", s->gpu_first_ns);
    jout_us(j, "gpu_median_us", s->gpu_median_ns);
    jout_us(j, "gpu_p95_us", s->gpu_p95_ns);
    json_shares(j, all, s);
    if (s->peak_bytes >= 0) jout_int(j, "peak_bytes", s->peak_bytes);
    else jout_null(j, "peak_bytes");
    jout_end_obj(j);
}

static void json_between(struct jout *j, const struct view_stages *v)
{
    const struct trace *t = v->t;
    const struct between *b = &v->stages->between;
    bool idle_trusted = v->integrity->idle_trusted;
    jout_obj(j, "between");
    jout_us(j, "cpu_us", b->cpu_ns);
    jout_us(j, "blocked_us", b->blocked_ns);
    jout_us(j, "untraced_us", b->untraced_ns);
    json_gpu(j, &b->gpu, idle_trusted);
    us_if(j, "idle_meanwhile_us", b->idle_meanwhile_ns, idle_trusted);
    jout_uint(j, "launches", b->launches);
    jout_uint(j, "syncs", b->syncs);
    jout_arr(j, "top");
    for (uint32_t i = 0; i < b->n_top; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", trace_str(t, b->top[i].name));
        jout_us(j, "self_us", b->top[i].self_ns);
        jout_uint(j, "calls", b->top[i].calls);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_stages_json(struct buf *out, const struct view_stages *v)
{
    const struct trace *t = v->t;
    const struct stages *stages = v->stages;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_us(&j, "steps_cpu_us", stages->steps_cpu_ns);
    jout_us(&j, "steps_gpu_us", stages->steps_gpu_ns);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < stages->n; i++) json_stage(&j, v, &stages->list[i]);
    jout_end_arr(&j);
    json_between(&j, v);
    view_quality_json(&j, "trace_quality", t, v->integrity);
    jout_end_obj(&j);
}

static void widen(int64_t *most, int64_t v)
{
    if (v > *most) *most = v;
}

static void name_cell(struct text_table *tt, const struct stage *s)
{
    char name[160];
    text_table_cellf(tt, 0, "%*s%s%s", 2 * (int)s->depth, "",
                     human_cut(s->name, 60, name, sizeof name), s->backward ? " (backward)" : "");
}

static void share_cell(struct text_table *tt, int col, int64_t part, int64_t whole)
{
    if (whole > 0 && part > 0) text_table_cell(tt, col, human_pct(stats_pct(part, whole)).s);
    else text_table_cell(tt, col, "-");
}

static void begin_table(struct text_table *tt, const char *first, const char *const *heads)
{
    text_table_init(tt);
    text_table_col(tt, first, TEXT_LEFT);
    for (; *heads; heads++) text_table_col(tt, *heads, TEXT_RIGHT);
}

static void end_table(const struct screen *s, struct text_table *tt)
{
    text_table_print(tt, s->out, 2, s->width, s->color);
    text_table_done(tt);
    buf_addc(s->out, '\n');
}

struct totals_units {
    int cpu, gpu, idle;
    bool idle_trusted;
    bool device; /* without one there are no columns for it */
};

/* A trace in which nothing was ever put on a device. */
static bool has_device(const struct view_stages *v)
{
    return v->integrity->coverage.work || v->integrity->coverage.all.expected;
}

static void add_between(struct text_table *tt, const struct between *b, struct totals_units u)
{
    text_table_row(tt, TEXT_DIM);
    text_table_cell(tt, 0, "(between stages)");
    text_table_cell(tt, 1, "-");
    screen_time(tt, 2, b->cpu_ns, u.cpu);
    if (!u.device) return;
    screen_time(tt, 4, b->gpu.sum_ns, u.gpu);
    screen_time_if(tt, 6, b->idle_meanwhile_ns, u.idle, u.idle_trusted);
    screen_count(tt, 7, b->gpu.kernels);
    screen_count(tt, 8, b->syncs);
}

/* What the stages were made of that nobody labelled, once for all of them. */
static void say_derived(const struct screen *s, const struct stages *stages)
{
    static const char *const words[ORIGIN_COUNT] = {
        [ORIGIN_PROFILER_STEPS] = "ProfilerStep#", [ORIGIN_LABELS] = "labels that repeat",
        [ORIGIN_MODULES] = "calls of modules",     [ORIGIN_FUNCTIONS] = "calls of functions",
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

static void show_totals(const struct screen *s, const struct view_stages *v,
                        const struct stage_pick *pick)
{
    const struct stages *stages = v->stages;
    static const char *const all[] = {"calls",    "CPU",     "of step", "GPU", "of step",
                                      "GPU idle", "kernels", "syncs",   NULL};
    static const char *const on_cpu[] = {"calls", "CPU", "of step", NULL};
    const struct between *b = &stages->between;
    int64_t cpu = b->cpu_ns, gpu = b->gpu.sum_ns, idle = b->idle_meanwhile_ns;
    for (uint32_t i = 0; i < stages->n; i++) {
        widen(&cpu, stages->list[i].cpu_ns);
        widen(&gpu, stages->list[i].gpu.sum_ns);
        widen(&idle, stages->list[i].idle_meanwhile_ns);
    }
    struct totals_units u = {screen_unit(cpu), screen_unit(gpu), screen_unit(idle),
                             v->integrity->idle_trusted, has_device(v)};
    struct text_table tt;
    begin_table(&tt, "stage", u.device ? all : on_cpu);
    for (uint32_t i = 0; i < pick->n; i++) {
        const struct stage *st = &stages->list[pick->list[i]];
        text_table_row(&tt, TEXT_PLAIN);
        name_cell(&tt, st);
        screen_count(&tt, 1, st->calls);
        screen_time(&tt, 2, st->cpu_ns, u.cpu);
        share_cell(&tt, 3, st->step_cpu_ns, stages->steps_cpu_ns);
        if (!u.device) continue;
        screen_time(&tt, 4, st->gpu.sum_ns, u.gpu);
        share_cell(&tt, 5, st->step_gpu_ns, stages->steps_gpu_ns);
        screen_time_if(&tt, 6, st->idle_meanwhile_ns, u.idle, u.idle_trusted);
        screen_count(&tt, 7, st->gpu.kernels);
        screen_count(&tt, 8, st->syncs);
    }
    if (b->cpu_ns || work_sum_count(&b->gpu)) add_between(&tt, b, u);
    end_table(s, &tt);
    say_derived(s, stages);
}

static void show_per_call(const struct screen *s, const struct view_stages *v,
                          const struct stage_pick *pick)
{
    static const char *const all[] = {"CPU first", "median", "p95", "GPU first",
                                      "median",    "p95",    NULL};
    static const char *const on_cpu[] = {"CPU first", "median", "p95", NULL};
    const struct stages *stages = v->stages;
    int64_t cpu = 0, gpu = 0;
    for (uint32_t i = 0; i < stages->n; i++) {
        widen(&cpu, stages->list[i].p95_ns);
        widen(&gpu, stages->list[i].gpu_p95_ns);
    }
    int cpu_unit = screen_unit(cpu), gpu_unit = screen_unit(gpu);
    struct text_table tt;
    begin_table(&tt, "time per call", has_device(v) ? all : on_cpu);
    for (uint32_t i = 0; i < pick->n; i++) {
        const struct stage *st = &stages->list[pick->list[i]];
        text_table_row(&tt, TEXT_PLAIN);
        name_cell(&tt, st);
        screen_time(&tt, 1, st->first_ns, cpu_unit);
        screen_time(&tt, 2, st->median_ns, cpu_unit);
        screen_time(&tt, 3, st->p95_ns, cpu_unit);
        if (!has_device(v)) continue;
        screen_time(&tt, 4, st->gpu_first_ns, gpu_unit);
        screen_time(&tt, 5, st->gpu_median_ns, gpu_unit);
        screen_time(&tt, 6, st->gpu_p95_ns, gpu_unit);
    }
    end_table(s, &tt);
}

static void show_device(const struct screen *s, const struct view_stages *v,
                        const struct stage_pick *pick)
{
    const struct stages *stages = v->stages;
    static const char *const heads[] = {"GPU span", "span idle", "launches", "copies", "copied",
                                        "allocs",   "mallocs",   "peak mem", NULL};
    int64_t span = 0, idle = 0, any = 0;
    for (uint32_t i = 0; i < stages->n; i++) {
        const struct stage *st = &stages->list[i];
        any |= work_sum_count(&st->gpu) || st->launches || st->allocations || st->device_allocs;
        widen(&span, stages->list[i].gpu.span_ns);
        widen(&idle, stages->list[i].gpu.idle_ns);
    }
    if (!any) return;
    int span_unit = screen_unit(span), idle_unit = screen_unit(idle);
    struct text_table tt;
    begin_table(&tt, "device and memory", heads);
    for (uint32_t i = 0; i < pick->n; i++) {
        const struct stage *st = &stages->list[pick->list[i]];
        text_table_row(&tt, TEXT_PLAIN);
        name_cell(&tt, st);
        screen_time(&tt, 1, st->gpu.span_ns, span_unit);
        screen_time_if(&tt, 2, st->gpu.idle_ns, idle_unit, v->integrity->idle_trusted);
        screen_count(&tt, 3, st->launches);
        screen_count(&tt, 4, st->gpu.copies + st->gpu.sets);
        screen_bytes(&tt, 5, st->gpu.copy_bytes);
        screen_count(&tt, 6, st->allocations);
        screen_count(&tt, 7, st->device_allocs);
        screen_bytes(&tt, 8, st->peak_bytes > 0 ? st->peak_bytes : 0);
    }
    end_table(s, &tt);
}

static void show_between(const struct screen *s, const struct trace *t, const struct between *b)
{
    if (!b->cpu_ns || (!b->n_top && !b->untraced_ns)) return;
    int unit = screen_unit(b->n_top ? b->top[0].self_ns : b->untraced_ns);
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "between stages, by function", TEXT_LEFT);
    text_table_col(&tt, "self", TEXT_RIGHT);
    text_table_col(&tt, "calls", TEXT_RIGHT);
    for (uint32_t i = 0; i < b->n_top && i < 5; i++) {
        char name[512];
        text_table_row(&tt, TEXT_PLAIN);
        text_table_cell(&tt, 0, human_cut(trace_str(t, b->top[i].name), 120, name, sizeof name));
        screen_time(&tt, 1, b->top[i].self_ns, unit);
        screen_count(&tt, 2, b->top[i].calls);
    }
    if (b->untraced_ns) {
        text_table_row(&tt, TEXT_DIM);
        text_table_cell(&tt, 0, "(not recorded: Python without stacks)");
        screen_time(&tt, 1, b->untraced_ns, unit);
        text_table_cell(&tt, 2, "-");
    }
    end_table(s, &tt);
}

/* What the columns mean, and what to look at next. */
static void say_columns(const struct screen *s, const struct view_stages *v)
{
    static const struct screen_next device[] = {
        {"gaps %s", "why the GPU was idle"},
        {"syncs %s", "where the CPU waits, and what it costs"},
    };
    static const struct screen_next on_cpu[] = {{"report %s", "what is slow, and why"}};
    buf_adds(s->out, has_device(v)
                         ? "  CPU: how long its calls took. GPU: work launched inside it, "
                           "whenever it ran.\n"
                           "  GPU idle: while the CPU was in the stage. Span idle: between "
                           "its first and last GPU work.\n\n"
                         : "  CPU: how long its calls took.\n\n");
    if (has_device(v)) screen_next(s, device, 2);
    else screen_next(s, on_cpu, 1);
}

void view_stages_text(const struct screen *s, const struct view_stages *v)
{
    const struct trace *t = v->t;
    const struct stages *stages = v->stages;
    view_quality_warn(s, v->integrity);
    if (!stages->n) {
        buf_adds(
            s->out,
            "no stages: the trace has no labels, and nothing in it repeats. Label the parts of\n"
            "the pipeline:\n"
            "  with torch.profiler.record_function(\"transformer_forward\"): ...\n\n");
        static const struct screen_next next[] = {
            {"kernels %s", "where the GPU time goes, without labels"},
            {"steps %s", "the loop, if there is one"},
        };
        screen_next(s, next, 2);
        return;
    }
    struct stage_pick pick;
    if (!stage_pick_run(stages, UINT32_MAX, false, s->limit, &pick)) s->out->failed = true;
    show_totals(s, v, &pick);
    show_per_call(s, v, &pick);
    show_device(s, v, &pick);
    screen_more(s, stages->n);
    stage_pick_done(&pick);
    show_between(s, t, &stages->between);
    if (stages->tree.n_overflowing)
        buf_printf(s->out,
                   "  %s more labels, beyond the limits on number or depth, count for the stage "
                   "around them\n",
                   human_count(stages->tree.n_overflowing).s);
    say_columns(s, v);
}
