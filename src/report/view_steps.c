/* view_steps.c: see view_steps.h. Times are relative to the first event, as Perfetto shows them. */
#include "report/view_steps.h"

#include "analyze/comm/comm.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/text.h"
#include "report/view_quality.h"

static void json_flags(struct jout *j, uint8_t flags)
{
    jout_arr(j, "flags");
    if (flags & STEP_SLOW_FIRST) jout_cstr(j, NULL, "slow_first");
    if (flags & STEP_OUTLIER) jout_cstr(j, NULL, "outlier");
    if (flags & STEP_NO_WORK) jout_cstr(j, NULL, "no_gpu_work");
    jout_end_arr(j);
}

static void json_step(struct jout *j, const struct context *cx, uint32_t i, bool idle_trusted)
{
    const struct trace *t = cx->t;
    const struct step *s = &steps_of(cx)->steps[i];
    jout_obj(j, NULL);
    jout_uint(j, "index", i);
    if (s->name != STR_NONE) jout_str(j, "name", trace_str(t, s->name));
    if (s->number >= 0) jout_int(j, "number", s->number);
    jout_us(j, "start_us", trace_since_ns(t, s->cpu.begin_ns));
    jout_us(j, "dur_us", s->cpu.end_ns - s->cpu.begin_ns);
    jout_us(j, "cpu_us", s->cpu_ns);
    jout_us(j, "blocked_us", s->blocked_ns);
    jout_us(j, "profiler_us", s->profiler_ns);
    jout_us(j, "gpu_us", s->gpu.sum_ns);
    jout_us(j, "gpu_busy_us", s->gpu.union_ns);
    if (work_sum_count(&s->gpu))
        jout_us(j, "gpu_start_us", trace_since_ns(t, s->gpu.extent.begin_ns));
    jout_us(j, "gpu_span_us", s->gpu.span_ns);
    if (idle_trusted) jout_us(j, "gpu_idle_us", s->gpu.idle_ns);
    else jout_null(j, "gpu_idle_us");
    jout_us(j, "comm_us", comm_of(cx)->steps[i].comm_ns);
    jout_us(j, "exposed_comm_us", comm_of(cx)->steps[i].exposed_ns);
    jout_uint(j, "kernels", s->gpu.kernels);
    jout_uint(j, "copies", s->gpu.copies);
    jout_uint(j, "memsets", s->gpu.sets);
    jout_int(j, "copy_bytes", s->gpu.copy_bytes);
    jout_uint(j, "launches", s->launches);
    jout_uint(j, "syncs", s->syncs);
    json_flags(j, s->flags);
    jout_end_obj(j);
}

static void json_dead(struct jout *j, const struct trace *t, const struct dead_window *d)
{
    jout_obj(j, NULL);
    jout_str(j, "label", trace_name(t, d->label));
    jout_str(j, "first_op", trace_name(t, d->first_op));
    jout_us(j, "start_us", trace_since_ns(t, t->ts_ns[d->label]));
    jout_us(j, "dead_us", d->dead_ns);
    jout_us(j, "usual_us", d->usual_ns);
    if (d->step != UINT32_MAX) jout_uint(j, "step", d->step);
    jout_end_obj(j);
}

static const char *role_of(const struct steps *s, uint32_t i)
{
    if (i == s->level) return "step";
    if (i < s->level) return "call";
    return s->levels[i].layers ? "layer" : "part";
}

static void json_levels(struct jout *j, const struct steps *s)
{
    jout_arr(j, "levels");
    for (uint32_t i = 0; i < s->n_levels; i++) {
        const struct loop_level *l = &s->levels[i];
        jout_obj(j, NULL);
        jout_cstr(j, "role", role_of(s, i));
        if (l->name.n) jout_str(j, "name", l->name);
        else jout_null(j, "name");
        jout_uint(j, "count", l->count);
        jout_uint(j, "per_outer", l->per_outer);
        jout_us(j, "median_us", l->median_ns);
        jout_cstr(j, "found_by", origin_name(l->from));
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void view_steps_json(struct buf *out, const struct context *cx, uint32_t most)
{
    const struct integrity *i = integrity_of(cx);
    const struct trace *t = cx->t;
    const struct steps *steps = steps_of(cx);
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "found_by", origin_name(steps->found_by));
    jout_uint(&j, "items_per_step", steps->period);
    jout_us(&j, "median_us", steps->median_ns);
    jout_uint(&j, "median_launches", steps->median_launches);
    json_levels(&j, steps);
    jout_arr(&j, "steps");
    for (uint32_t k = 0; k < steps->n_steps && k < most; k++) json_step(&j, cx, k, i->idle_trusted);
    jout_end_arr(&j);
    jout_arr(&j, "dead_windows");
    for (uint32_t k = 0; k < steps->n_dead; k++) json_dead(&j, t, &steps->dead[k]);
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", t, i);
    jout_end_obj(&j);
}

/* "3 calls of generate > 24 tokens of LlamaForCausalLM each > 16 layers of LlamaDecoderLayer each"
 */
static void say_levels(const struct screen *s, const struct steps *steps)
{
    bool tokens = false;
    if (steps->n_levels < 2) return;
    struct buf line;
    buf_init(&line);
    for (uint32_t i = 0; i < steps->n_levels; i++) {
        const struct loop_level *l = &steps->levels[i];
        uint32_t n = i ? l->per_outer : l->count;
        const char *role = role_of(steps, i);
        char name[64];
        if (i == steps->level && tokens) role = "token";
        if (i > steps->level && !l->layers) role = l->name.n ? "call" : "round";
        buf_printf(&line, "%s%s %s%s", i ? " > " : "", human_count(n).s, role, n == 1 ? "" : "s");
        if (l->name.n) buf_printf(&line, " of %s", human_cut(l->name, 44, name, sizeof name));
        if (i && steps->levels[i - 1].count > 1) buf_adds(&line, " each");
        tokens |= str_has(l->name, "generate");
    }
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    buf_done(&line);
}

static void say_sequence(const struct screen *s, const struct steps *steps, const char *of)
{
    buf_printf(s->out, "found without labels: a sequence of %s %s repeats",
               human_count(steps->period).s, of);
    if (steps_may_be_layers(steps))
        buf_adds(s->out,
                 ". These might be the\n"
                 "layers of one forward pass; wrap a step in torch.profiler.record_function to be "
                 "sure");
    buf_addc(s->out, '\n');
}

static bool has_kernels(const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->n_steps; i++)
        if (steps->steps[i].gpu.kernels) return true;
    return false;
}

static void say_found(const struct screen *s, const struct trace *t, const struct steps *steps)
{
    char name[64];
    struct str first = {"", 0};
    if (steps->n_steps && steps->steps[0].name != STR_NONE)
        first = trace_str(t, steps->steps[0].name);
    else if (steps->level < steps->n_levels) first = steps->levels[steps->level].name;
    human_cut(first, 40, name, sizeof name);
    buf_printf(s->out, "%s step%s, ", human_count(steps->n_steps).s,
               steps->n_steps == 1 ? "" : "s");
    switch (steps->found_by) {
    case ORIGIN_PROFILER_STEPS: buf_adds(s->out, "marked by the profiler (ProfilerStep#)\n"); break;
    case ORIGIN_LABELS:
        buf_printf(s->out, "found from labels: %u label%s per step, the first is %s\n",
                   steps->period, steps->period == 1 ? "" : "s", name);
        break;
    case ORIGIN_MODULES:
    case ORIGIN_FUNCTIONS: buf_printf(s->out, "found without labels: calls of %s\n", name); break;
    case ORIGIN_COMPILED: say_sequence(s, steps, "compiled regions, graphs and kernels"); break;
    case ORIGIN_OPS: say_sequence(s, steps, "operators"); break;
    default: say_sequence(s, steps, has_kernels(steps) ? "kernels" : "copies and fills");
    }
    say_levels(s, steps);
}

struct units {
    int start, wall, blocked, gpu;
    bool idle_trusted;
    bool device; /* false in traces of the CPU alone: columns of the GPU are left out */
    bool comm;   /* the trace has communication: how much of it is exposed is a column */
};

static struct units pick_units(const struct trace *t, const struct steps *steps)
{
    int64_t wall = 0, blocked = 0, gpu = 0, start = 0;
    for (uint32_t i = 0; i < steps->n_steps; i++) {
        const struct step *s = &steps->steps[i];
        if (s->cpu.end_ns - s->cpu.begin_ns > wall) wall = s->cpu.end_ns - s->cpu.begin_ns;
        if (s->blocked_ns > blocked) blocked = s->blocked_ns;
        if (s->gpu.span_ns > gpu) gpu = s->gpu.span_ns;
        start = trace_since_ns(t, s->cpu.begin_ns);
    }
    return (struct units){
        .start = screen_unit(start),
        .wall = screen_unit(wall),
        .blocked = screen_unit(blocked),
        .gpu = screen_unit(gpu),
        .device = gpu > 0 || blocked > 0,
    };
}

static const char *note(uint8_t flags)
{
    if (flags & STEP_NO_WORK) return "no GPU work";
    if (flags & STEP_SLOW_FIRST) return "slow start";
    return flags & STEP_OUTLIER ? "outlier" : "";
}

enum { CPU_COLUMNS = 3, GPU_COLUMNS = 7 };

static void gpu_cells(struct text_table *tt, const struct context *cx, uint32_t i, struct units u)
{
    const struct step *s = &steps_of(cx)->steps[i];
    screen_time(tt, 3, s->blocked_ns, u.blocked);
    screen_time(tt, 4, s->gpu.union_ns, u.gpu);
    screen_time(tt, 5, s->gpu.span_ns, u.gpu);
    screen_time_if(tt, 6, s->gpu.idle_ns, u.gpu, u.idle_trusted);
    screen_count(tt, 7, s->gpu.kernels);
    screen_count(tt, 8, s->gpu.copies + s->gpu.sets);
    screen_count(tt, 9, s->syncs);
    if (u.comm) screen_time(tt, 10, comm_of(cx)->steps[i].exposed_ns, u.gpu);
}

static void add_row(struct text_table *tt, const struct context *cx, uint32_t i, struct units u)
{
    const struct step *s = &steps_of(cx)->steps[i];
    text_table_row(tt, s->flags ? TEXT_YELLOW : TEXT_PLAIN);
    if (s->number >= 0) text_table_cellf(tt, 0, "#%lld", (long long)s->number);
    else text_table_cellf(tt, 0, "%u", i);
    screen_time(tt, 1, trace_since_ns(cx->t, s->cpu.begin_ns), u.start);
    screen_time(tt, 2, s->cpu.end_ns - s->cpu.begin_ns, u.wall);
    if (u.device) gpu_cells(tt, cx, i, u);
    text_table_cell(tt, CPU_COLUMNS + (u.device ? GPU_COLUMNS + u.comm : 0), note(s->flags));
}

static void show_table(const struct screen *s, const struct context *cx, const struct integrity *q)
{
    const struct steps *steps = steps_of(cx);
    static const char *const heads[CPU_COLUMNS + GPU_COLUMNS] = {
        "step",     "start", "wall",    "blocked", "GPU busy",
        "GPU span", "idle",  "kernels", "copies",  "syncs"};
    struct text_table tt;
    struct units u = pick_units(cx->t, steps);
    u.idle_trusted = q->idle_trusted;
    u.comm = comm_of(cx)->n_works > 0;
    text_table_init(&tt);
    for (int i = 0; i < CPU_COLUMNS + (u.device ? GPU_COLUMNS : 0); i++)
        text_table_col(&tt, heads[i], TEXT_RIGHT);
    if (u.device && u.comm) text_table_col(&tt, "exposed comm", TEXT_RIGHT);
    text_table_col(&tt, "", TEXT_LEFT);
    for (uint32_t i = 0; i < steps->n_steps && i < s->limit; i++) add_row(&tt, cx, i, u);
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
    screen_more(s, steps->n_steps);
}

static void say_median(const struct screen *s, const struct steps *steps)
{
    uint32_t n = steps->median_launches;
    buf_printf(s->out, "  median  %s CPU wall", human_time(steps->median_ns).s);
    if (n) buf_printf(s->out, ", %s launch%s", human_count(n).s, n == 1 ? "" : "es");
    buf_addc(s->out, '\n');
}

static void say_slow_first(const struct screen *s, const struct steps *steps)
{
    const struct step *first = &steps->steps[0];
    int64_t dur = first->cpu.end_ns - first->cpu.begin_ns;
    buf_printf(s->out, "  the first step takes %.1f times the median: ",
               (double)dur / (double)steps->median_ns);
    if (first->profiler_ns * 2 > dur - steps->median_ns)
        buf_printf(s->out, "the profiler spends %s of it on its own buffers\n",
                   human_time(first->profiler_ns).s);
    else buf_adds(s->out, "the warm-up is inside the recorded window\n");
}

static void say_odd(const struct screen *s, const struct trace *t, const struct steps *steps)
{
    uint32_t no_work = 0;
    for (uint32_t i = 0; i < steps->n_steps; i++)
        no_work += (steps->steps[i].flags & STEP_NO_WORK) != 0;
    if (no_work)
        buf_printf(s->out, "  %s step%s without GPU records: leave them out of averages\n",
                   human_count(no_work).s, no_work == 1 ? "" : "s");
    if (steps->n_steps && steps->steps[0].flags & STEP_SLOW_FIRST) say_slow_first(s, steps);
    for (uint32_t i = 0; i < steps->n_dead && i < 3; i++) {
        const struct dead_window *d = &steps->dead[i];
        char label[64], op[64];
        buf_printf(s->out,
                   "  nothing is recorded in %s for %s (later %s)\n"
                   "  before its first operator, %s: a cold start; warm up before recording\n",
                   human_cut(trace_name(t, d->label), 44, label, sizeof label),
                   human_time(d->dead_ns).s, human_time(d->usual_ns).s,
                   human_cut(trace_name(t, d->first_op), 30, op, sizeof op));
    }
}

void view_steps_text(const struct screen *s, const struct context *cx)
{
    const struct integrity *i = integrity_of(cx);
    const struct trace *t = cx->t;
    const struct steps *steps = steps_of(cx);
    view_quality_warn(s, i);
    if (!steps->n_steps) {
        buf_adds(s->out,
                 "no loop found: there is no ProfilerStep#, and no sequence of labels or kernels\n"
                 "repeats. To mark the steps, wrap the body of the loop:\n"
                 "  with torch.profiler.record_function(\"step\"): ...\n\n");
    } else {
        say_found(s, t, steps);
        show_table(s, cx, i);
        say_median(s, steps);
    }
    say_odd(s, t, steps);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"stages %s", "what a step consists of"},
        {"report %s", "what is slow and why"},
    };
    screen_next(s, next, 2);
}
