/* checklist.c: six questions. A deep queue is healthy, a wait that exposes no idle time costs
 * nothing, and an answer that needs data which was not recorded says what to record. */
#include "analyze/rules/checklist.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyze/device/queue.h"
#include "analyze/kernels/top_kernels.h"
#include "analyze/rules/rule.h"
#include "base/human.h"
#include "base/stats.h"

static struct checklist_answer *add(struct checklist *c, const char *id, const char *question,
                                    const char *unit)
{
    struct checklist_answer *i = &c->items[c->n++];
    *i = (struct checklist_answer){
        .id = id, .question = question, .unit = unit, .known = true, .healthy = true};
    return i;
}

static const char *text(const struct context *cx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *text(const struct context *cx, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(cx->mem, str_c(line));
    return copy ? copy : "";
}

/* "cache_context (label), 11.0 ms": what the device waits for most. */
static const char *largest_idle(const struct context *cx)
{
    const struct gap_cause *top = &gaps_of(cx)->causes[0];
    char name[64];
    if (wall_of(cx)->parts.outside_ns > top->idle_ns)
        return text(cx, "%s before the first and after the last GPU work",
                    human_time(wall_of(cx)->parts.outside_ns).s);
    return text(cx, "%s (%s), %s", human_cut(top->name, 40, name, sizeof name),
                gap_cause_kind_words(top->kind), human_time(top->idle_ns).s);
}

static void gpu_busy(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i = add(c, "gpu_busy", "Is the GPU busy all the time?", "%");
    i->value = wall_of(cx)->busy_pct;
    if (wall_of(cx)->abstains) {
        i->known = false;
        i->verdict = integrity_of(cx)->shared
                         ? "another process shared the GPU, so how busy this one kept it is unknown"
                         : "device records are incomplete, so how busy the GPU was is unknown";
        return;
    }
    if (wall_of(cx)->bound == BOUND_UNKNOWN) {
        i->known = false;
        i->verdict =
            "the trace has no device work; record with ProfilerActivity.CUDA (or XPU, PrivateUse1)";
        return;
    }
    double comm = comm_exposed_pct(comm_of(cx));
    i->healthy = 100 - wall_of(cx)->busy_pct <= cx->th.value[TH_IDLE_PCT];
    if (i->healthy && comm >= cx->th.value[TH_COMM_SHARE_PCT]) {
        i->healthy = false;
        i->verdict = text(cx, "the GPU is busy %s of the time, but %s with communication alone",
                          human_pct(wall_of(cx)->busy_pct).s, human_pct(comm).s);
        return;
    }
    bool unavoidable = gaps_of(cx)->n_devices && gaps_of(cx)->devices[0].small_shapes;
    if (i->healthy || !gaps_of(cx)->n_causes)
        i->verdict = text(cx, "the GPU is busy %s of the time", human_pct(wall_of(cx)->busy_pct).s);
    else
        i->verdict = text(
            cx, "the GPU is busy only %s of the time; largest part of its idle time: %s%s",
            human_pct(wall_of(cx)->busy_pct).s, largest_idle(cx),
            unavoidable ? "; kernels this small cannot keep it busy when launched one by one" : "");
}

static void cpu_waits(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i =
        add(c, "cpu_waits", "Does the CPU wait for the GPU inside the loop?", "waits per step");
    int64_t blocked = 0, exposed = 0;
    uint64_t n = 0;
    uint32_t steps = syncs_of(cx)->n_steps;
    for (uint32_t s = 0; s < syncs_of(cx)->n_sites; s++) {
        const struct sync_site *site = &syncs_of(cx)->sites[s];
        n += steps ? site->in_loop : site->n_rows;
        if (steps && !site->in_loop) continue;
        blocked += site->blocked_ns;
        exposed += site->exposed_ns;
    }
    i->value = steps ? (double)n / steps : (double)n;
    if (!steps) i->unit = "waits";
    double cost = stats_pct(exposed, wall_of(cx)->wall_ns);
    i->healthy = n == 0 || cost < 1;
    i->known = n == 0 || !wall_of(cx)->abstains;
    if (n == 0 && !timeline_of(cx)->n_devices) {
        i->known = false;
        i->verdict = "waits for a GPU are unknown: the trace has no device work";
        return;
    }
    if (!i->known)
        i->verdict = text(cx,
                          "%.3g sync%s%s: in total the CPU is blocked for %s; the cost is unknown "
                          "because %s",
                          i->value, i->value == 1 ? "" : "s", steps ? " per step" : "",
                          human_time(blocked).s,
                          integrity_of(cx)->shared ? "another process shared the GPU"
                                                   : "device records are missing");
    else if (n == 0) i->verdict = "the CPU never waits for the GPU inside the loop";
    else
        i->verdict = text(
            cx, "%.3g sync%s%s: in total the CPU is blocked for %s and the GPU idle for %s (%s)%s",
            i->value, i->value == 1 ? "" : "s", steps ? " per step" : "", human_time(blocked).s,
            human_time(exposed).s, human_pct(cost).s,
            i->healthy && blocked > 4 * exposed
                ? "; the GPU has work meanwhile, so there is little to gain"
                : "");
}

static const struct stage *bookkeeping(const struct context *cx)
{
    const struct stage *found = NULL;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        if (stage_is_part(s) && str_has(s->name, "scheduler") &&
            (!found || s->cpu_ns > found->cpu_ns))
            found = s;
    }
    return found;
}

static void stage_share(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i = add(
        c, "scheduler_share", "Is the scheduler a small part of a step?", "% of a step's GPU time");
    const struct stage *s = bookkeeping(cx);
    if (!s || stages_of(cx)->steps_gpu_ns <= 0) {
        i->known = false;
        i->verdict =
            s ? "the scheduler's share of GPU time is unknown: the trace has no device work"
              : "no stage is named scheduler; annotate the pipeline's stages to see their shares";
        return;
    }
    double gpu = stats_pct(s->step_gpu_ns, stages_of(cx)->steps_gpu_ns);
    double idle = stats_pct(s->idle_meanwhile_ns, wall_of(cx)->wall_ns);
    double cpu = stats_pct(s->step_cpu_ns, stages_of(cx)->steps_cpu_ns);
    double limit = cx->th.value[TH_STAGE_SHARE_PCT];
    i->value = gpu;
    i->healthy = gpu <= limit && idle <= limit;
    i->verdict = text(cx, "scheduler: %s of a step's GPU time, %s of its CPU time%s",
                      human_pct(gpu).s, human_pct(cpu).s,
                      i->healthy && cpu > limit
                          ? " (mostly waiting, which is harmless while the GPU is busy)"
                          : "");
}

static const char *kernels_per_step(const struct context *cx, double n)
{
    return text(cx, "%s kernel%s per step", human_count((uint64_t)n).s,
                (uint64_t)n == 1 ? "" : "s");
}

/* Graphs alone do not show a compiler: programs capture them by hand, too. */
static void compiled(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i =
        add(c, "compile", "Are kernels few and fused?", "kernels per step");
    uint64_t kernels = 0, fused = 0, replayed = 0, regions = 0;
    const struct trace *t = cx->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] == KIND_OP) regions += str_starts(trace_name(t, r), "Torch-Compiled Region");
        if (t->kind[r] != KIND_KERNEL) continue;
        kernels++;
        fused += str_starts(trace_name(t, r), "triton_");
        row_t launch = trace_launch_of(t, r);
        if (launch != ROW_NONE)
            replayed += calls_kind(calls_of(cx), t, launch) == CALL_GRAPH_LAUNCH;
    }
    uint32_t steps = steps_of(cx)->n_steps ? steps_of(cx)->n_steps : 1;
    i->value = (double)kernels / steps;
    i->known = kernels > 0;
    i->healthy = !regions || fused || replayed;
    if (!kernels) i->verdict = "the trace has no kernels";
    else if (regions || fused)
        i->verdict =
            text(cx, "compiled: %s, %.0f %% fused by Inductor, %s", kernels_per_step(cx, i->value),
                 stats_pct(fused, kernels),
                 replayed ? text(cx, "%.0f %% of them in CUDA graphs", stats_pct(replayed, kernels))
                          : "no CUDA graphs");
    else if (replayed)
        i->verdict = text(cx, "CUDA graphs: %s, %.0f %% of them replayed",
                          kernels_per_step(cx, i->value), stats_pct(replayed, kernels));
    else i->verdict = text(cx, "eager: %s, no CUDA graphs", kernels_per_step(cx, i->value));
}

static void launch_latency(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i =
        add(c, "launch_latency", "Do kernels start soon after their launch?", "us");
    if (!model_of(cx)->n_calls || !model_of(cx)->n_works) {
        i->known = false;
        i->verdict = "the trace has no launches";
        return;
    }
    i->value = (double)model_of(cx)->typical_latency_ns / 1e3;
    uint32_t deepest = queues_deepest(queues_of(cx));
    bool ahead = deepest > 64;
    i->healthy = ahead || i->value <= cx->th.value[TH_LAUNCH_LATENCY_US];
    i->verdict =
        text(cx, "launch latency is %s (idle stream); %s",
             human_time(model_of(cx)->typical_latency_ns).s,
             ahead ? text(cx, "queue depth up to %u: the CPU runs ahead, which is healthy", deepest)
                   : text(cx, "queue depth at most %u: the CPU barely keeps up", deepest));
}

static void memory_flat(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i =
        add(c, "memory", "Is memory flat over the steps?", "bytes per step");
    const struct memory_line *line = memory_of(cx)->n_lines ? &memory_of(cx)->lines[0] : NULL;
    if (!memory_of(cx)->recorded || !line) {
        i->known = false;
        i->verdict = trace_meta(cx->t, TRACE_META_RECORDED).p
                         ? "memory over the steps was not recorded; torch.profiler with "
                           "profile_memory=True records it"
                         : "memory was not recorded; record with profile_memory=True to see it "
                           "over the steps";
        return;
    }
    if (!line->growth.judged) {
        i->known = false;
        i->verdict = "too few steps to judge whether memory grows";
        return;
    }
    i->value = (double)line->growth.per_step;
    i->healthy = !line->growth.grows;
    i->verdict = line->growth.grows
                     ? text(cx, "memory grows by %s per step", human_bytes(line->growth.per_step).s)
                     : text(cx, "memory is flat; its peak is %s", human_bytes(line->peak_bytes).s);
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    (void)e;
    gpu_busy(cx, ret);
    cpu_waits(cx, ret);
    stage_share(cx, ret);
    compiled(cx, ret);
    memory_flat(cx, ret);
    launch_latency(cx, ret);
    return 0;
}

static const struct pass *const needs[] = {&findings_pass, &top_kernels_pass, NULL};

const struct pass checklist_pass = {
    .id = PASS_CHECKLIST,
    .size = sizeof(struct checklist),
    .needs = needs,
    .run = run_pass,
};
