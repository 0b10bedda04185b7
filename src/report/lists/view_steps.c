/* view_steps.c: see views_time.h. Times are relative to the first event, as Perfetto shows them. */
#include "report/lists/views_time.h"

#include "analyze/comm/comm.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/text.h"
#include "report/cells.h"
#include "report/lists/views_file.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

static struct rows document_levels(const struct rows *r, uint32_t i)
{
    const struct steps *s = steps_of(r->cx);
    (void)i;
    return (struct rows){.list = s->levels, .n = s->n_levels};
}

/* The rows that are requested are counted in `with`. */
static struct rows document_steps(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_steps(r->cx, *(const uint32_t *)r->with, r->text);
}

static struct rows document_dead(const struct rows *r, uint32_t i)
{
    const struct steps *s = rows_at(r, i);
    return (struct rows){.list = s->dead, .n = s->n_dead};
}

static struct value document_found_by(const struct rows *r, uint32_t i)
{
    return value_cstr(origin_name(((const struct steps *)rows_at(r, i))->found_by));
}

/* clang-format off */
static const struct field document_fields[] = {
    FIELD_GET(WORD, "found_by", "", document_found_by, "what the steps were found from: `profiler_steps`, `annotations`, `modules`, `functions`, `compiled_regions`, `operator_sequence`, `kernel_sequence`, `none`"),
    FIELD(COUNT, "items_per_step", "", struct steps, period, "labels, calls or launches that make a step"),
    FIELD(NS, "median_us", "", struct steps, median_ns, "of the steps without flags"),
    FIELD(NS, "step_us", "", struct steps, each_ns, "what a step takes: the longer of the medians of CPU and GPU, of the steps without flags"),
    FIELD(COUNT, "median_launches", "", struct steps, median_launches, "of the steps without flags"),
    FIELD_IN(LIST, "levels", "", &result_levels, document_levels, "all that repeats, outer to inner"),
    FIELD_IN(LIST, "steps", "", &result_steps, document_steps, "one per step, in order"),
    FIELD_IN(LIST, "dead_windows", "", &result_dead, document_dead, "first calls of a label in which nothing is recorded for long"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_steps_view =
    RESULT("steps", "the rounds of the main loop", document_fields, struct steps);

void view_steps_json(struct jout *j, const char *key, const struct context *cx, uint32_t most)
{
    document_json(j, key, cx, &document_steps_view, steps_of(cx), &most);
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
        const char *role = level_role(steps, i);
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
    if (steps->n_steps == 1) {
        buf_adds(s->out, "one call: what repeats in it are its parts\n");
        return;
    }
    buf_printf(s->out, "found without labels: a sequence of %s %s repeats",
               human_count(steps->period).s, of);
    if (steps_may_be_layers(steps))
        buf_adds(s->out, ".\n  These might be the layers of one forward pass; wrap a step in\n"
                         "  torch.profiler.record_function to be sure");
    buf_addc(s->out, '\n');
}

static bool has_kernels(const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->n_steps; i++)
        if (steps->steps[i].gpu.kernels) return true;
    return false;
}

/* "16 steps of 2.57 ms (389 steps per second), ": with what the profiler takes. */
static void view_steps_say_pace(const struct screen *s, const struct steps *steps)
{
    double per_second = steps->each_ns > 0 ? 1e9 / (double)steps->each_ns : 0;
    buf_printf(s->out, "%s step%s of %s", human_count(steps->n_steps).s,
               steps->n_steps == 1 ? "" : "s", human_time(steps->each_ns).s);
    if (per_second >= 1000)
        buf_printf(s->out, " (%s steps per second)", human_count((uint64_t)per_second).s);
    else if (per_second > 0)
        buf_printf(s->out, " (%s steps per second)", cell_number(per_second).s);
    buf_adds(s->out, ", as recorded\n  ");
}

static void say_found(const struct screen *s, const struct trace *t, const struct steps *steps)
{
    char name[64];
    struct str first = {"", 0};
    if (steps->n_steps && steps->steps[0].name != STR_NONE)
        first = trace_str(t, steps->steps[0].name);
    else if (steps->level < steps->n_levels) first = steps->levels[steps->level].name;
    human_cut(first, 40, name, sizeof name);
    view_steps_say_pace(s, steps);
    switch (steps->found_by) {
    case ORIGIN_PROFILER_STEPS: buf_adds(s->out, "marked by the program (ProfilerStep#)\n"); break;
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

static const char *view_steps_note(uint8_t flags)
{
    if (flags & STEP_NO_WORK) return "no GPU work";
    if (flags & STEP_SLOW_FIRST) return "slow start";
    return flags & STEP_OUTLIER ? "outlier" : "";
}

/* Columns of the GPU are left out in traces of the CPU alone, exposed communication where there is
 * none. */
static void view_steps_show_table(const struct screen *s, const struct context *cx)
{
    static const char *const all[] = {"step",        "start_us",    "dur_us",          "blocked_us",
                                      "gpu_busy_us", "gpu_span_us", "gpu_idle_us",     "kernels",
                                      "copies",      "syncs",       "exposed_comm_us", NULL};
    static const char *const on_gpu[] = {"step",        "start_us",    "dur_us",      "blocked_us",
                                         "gpu_busy_us", "gpu_span_us", "gpu_idle_us", "kernels",
                                         "copies",      "syncs",       NULL};
    static const char *const on_cpu[] = {"step", "start_us", "dur_us", NULL};
    const struct steps *steps = steps_of(cx);
    bool device = false;
    for (uint32_t i = 0; i < steps->n_steps; i++)
        device |= steps->steps[i].gpu.span_ns > 0 || steps->steps[i].blocked_ns > 0;
    struct rows rows = rows_steps(cx, UINT32_MAX, NULL);
    struct result_text t;
    result_text_begin(&t, &result_steps, NULL,
                      !device                ? on_cpu
                      : comm_of(cx)->n_works ? all
                                             : on_gpu);
    result_text_fit(&t, &rows);
    int note = t.table.n_cols;
    text_table_col(&t.table, "", TEXT_LEFT);
    for (uint32_t i = 0; i < steps->n_steps && i < s->limit; i++) {
        uint8_t flags = steps->steps[i].flags;
        result_text_add(&t, &rows, i, NULL, flags ? TEXT_YELLOW : TEXT_PLAIN);
        text_table_cell(&t.table, note, view_steps_note(flags));
    }
    result_text_print(&t, s);
    result_text_done(&t);
    screen_more(s, steps->n_steps);
}

static void say_median(const struct screen *s, const struct steps *steps)
{
    uint32_t n = steps->median_launches;
    buf_printf(s->out, "  median: %s on the CPU", human_time(steps->median_ns).s);
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
    if (steps->n_no_work)
        buf_printf(s->out, "  %s step%s without GPU records: leave them out of averages\n",
                   human_count(steps->n_no_work).s, steps->n_no_work == 1 ? "" : "s");
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
        view_steps_show_table(s, cx);
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
