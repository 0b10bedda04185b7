/* checklist.c: the questions. A deep queue is healthy, a wait that exposes no idle time costs
 * nothing, and an answer that needs data which was not recorded says what to record. What does not
 * apply to the program is not asked. */
#include "analyze/answer/checklist.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyze/answer/answer.h"
#include "analyze/device/queue.h"
#include "analyze/kernels/top_kernels.h"
#include "analyze/launches/launches.h"
#include "analyze/names/program.h"
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules.h"
#include "base/human.h"
#include "base/stats.h"

static struct checklist_answer *checklist_add(struct checklist *c, const char *id,
                                              const char *question, const char *unit)
{
    struct checklist_answer *i = &c->items[c->n++];
    *i = (struct checklist_answer){
        .id = id, .question = question, .unit = unit, .known = true, .healthy = true};
    return i;
}

static const char *checklist_text(const struct context *cx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *checklist_text(const struct context *cx, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(cx->mem, str_c(line));
    return copy ? copy : "";
}

/* ---- findings about a row ---- */

#define CHECKLIST_ON(l) (1u << (l))

/* What a row asks about: findings of these limits, and of these rules. */
struct checklist_scope {
    unsigned limits;
    const struct rule *const *rules; /* NULL-terminated; NULL: none */
};

static bool checklist_is_about(struct checklist_scope s, const struct finding *f)
{
    if (s.limits & CHECKLIST_ON(f->rule->limit)) return true;
    for (const struct rule *const *r = s.rules; r && *r; r++)
        if (*r == f->rule) return true;
    return false;
}

/* A finding that is worth fixing makes its row unhealthy, and so do small ones that gain as much
 * together. */
static const char *checklist_fix(const struct context *cx, struct checklist_answer *i,
                                 struct checklist_scope scope)
{
    const struct findings *f = findings_of(cx);
    double sum = 0;
    if (answer_of(cx)->cold) return "";
    for (uint32_t k = 0; k < f->n; k++) {
        const struct finding *x = f->items[k];
        if (!checklist_is_about(scope, x) || x->advice) continue;
        sum += x->gain_pct;
        if (!answer_is_worth(answer_of(cx), x)) continue;
        i->healthy = false;
        return checklist_text(cx, "; fixing finding %u (%s) gains %s", k + 1, x->title,
                              human_pct(x->gain_pct).s);
    }
    if (sum >= answer_worth_pct) i->healthy = false;
    return sum < answer_nothing_pct ? ""
                                    : checklist_text(cx, "; small fixes gain %s", human_pct(sum).s);
}

/* Of a recording in which nothing is warm only kernels can be judged. */
static bool checklist_is_cold(const struct context *cx, struct checklist_answer *i)
{
    if (!answer_of(cx)->cold) return false;
    i->known = false;
    i->verdict = "the recording contains only start-up, so what the CPU does afterwards is unknown";
    return true;
}

/* "cache_context (label), 11.0 ms": what the device waits for most. */
static const char *largest_idle(const struct context *cx)
{
    const struct gap_cause *top = &gaps_of(cx)->causes[0];
    char name[64];
    if (wall_of(cx)->parts.outside_ns > top->idle_ns)
        return checklist_text(cx, "%s before the first and after the last GPU work",
                              human_time(wall_of(cx)->parts.outside_ns).s);
    human_cut(top->name, 40, name, sizeof name);
    if (gap_cause_is_missing(top->kind))
        return checklist_text(cx, "%s, %s", name, human_time(top->idle_ns).s);
    return checklist_text(cx, "%s (%s), %s", name, gap_cause_kind_words(top->kind),
                          human_time(top->idle_ns).s);
}

static void gpu_busy(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i = checklist_add(c, "gpu_busy", "Is the GPU busy all the time?", "%");
    i->value = wall_of(cx)->plain.busy_pct;
    if (wall_of(cx)->abstains) {
        i->known = false;
        i->verdict = integrity_of(cx)->shared
                         ? "another process shared the GPU, so how busy this one kept it is unknown"
                         : "device records are incomplete, so how busy the GPU was is unknown";
        return;
    }
    if (wall_of(cx)->bound == BOUND_UNKNOWN && timeline_of(cx)->n_devices) {
        i->known = false;
        i->verdict =
            "the recording contains only start-up, so how busy the GPU is afterwards is unknown";
        return;
    }
    if (wall_of(cx)->bound == BOUND_UNKNOWN) {
        i->known = false;
        i->verdict =
            "the trace has no device work; record with ProfilerActivity.CUDA (or XPU, PrivateUse1)";
        return;
    }
    double comm = comm_exposed_pct(comm_of(cx)), busy = wall_of(cx)->plain.busy_pct;
    i->value = busy;
    i->healthy = 100 - busy <= cx->th.value[TH_IDLE_PCT];
    const char *fix = checklist_fix(
        cx, i,
        (struct checklist_scope){CHECKLIST_ON(LIMIT_CPU) | CHECKLIST_ON(LIMIT_DATA) |
                                     CHECKLIST_ON(LIMIT_TRANSFER) | CHECKLIST_ON(LIMIT_COMM),
                                 NULL});
    if (comm >= cx->th.value[TH_COMM_SHARE_PCT]) {
        i->healthy = false;
        i->verdict = checklist_text(
            cx, "the GPU is busy %s of the time, %s of the trace with communication alone%s",
            human_pct(busy).s, human_pct(comm).s, fix);
    } else if (i->healthy || !gaps_of(cx)->n_causes || *fix) {
        i->verdict = checklist_text(cx, "the GPU is busy %s of the time%s", human_pct(busy).s, fix);
    } else {
        i->verdict = checklist_text(
            cx, "the GPU is busy only %s of the time; most idle time in the trace: %s",
            human_pct(busy).s, largest_idle(cx));
    }
}

static void checklist_sum_waits(const struct syncs *s, int64_t *blocked, int64_t *exposed)
{
    *blocked = *exposed = 0;
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct sync_site *site = &s->sites[i];
        if (site->kind == WAIT_ALLOCATION || (s->n_steps && !site->in_loop)) continue;
        *blocked += site->blocked_ns;
        *exposed += site->exposed_ns;
    }
}

/* "2.5 syncs per step", "4 syncs in 6 steps", "3 syncs" */
static const char *checklist_syncs(const struct context *cx, uint64_t n, uint32_t steps)
{
    double each = steps ? (double)n / steps : 0;
    if (!steps) return checklist_text(cx, "%s sync%s", human_count(n).s, n == 1 ? "" : "s");
    if (n < steps)
        return checklist_text(cx, "%s sync%s in %s steps", human_count(n).s, n == 1 ? "" : "s",
                              human_count(steps).s);
    return checklist_text(cx, "%.3g sync%s per step", each, n == steps ? "" : "s");
}

static void cpu_waits(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i = checklist_add(
        c, "cpu_waits", "Does the CPU wait for the GPU inside the loop?", "waits per step");
    const struct syncs *s = syncs_of(cx);
    uint64_t n = syncs_in_loop(s);
    int64_t blocked, exposed;
    checklist_sum_waits(s, &blocked, &exposed);
    i->value = s->n_steps ? (double)n / s->n_steps : (double)n;
    if (!s->n_steps) i->unit = "waits";
    double cost = stats_pct(exposed, wall_of(cx)->wall_ns);
    if (checklist_is_cold(cx, i)) return;
    i->healthy = n == 0 || cost < answer_of(cx)->worth_pct;
    i->known = timeline_of(cx)->n_devices && cx->t->n_calls && (n == 0 || !wall_of(cx)->abstains);
    const char *fix =
        checklist_fix(cx, i, (struct checklist_scope){CHECKLIST_ON(LIMIT_SYNC), NULL});
    if (!timeline_of(cx)->n_devices) {
        i->verdict = "waits for a GPU are unknown: the trace has no device work";
    } else if (!cx->t->n_calls) {
        i->verdict = "waits for the GPU are unknown: the trace has no calls of the CPU";
    } else if (!i->known) {
        i->verdict = checklist_text(
            cx, "%s: in total the CPU is blocked for %s; the cost is unknown because %s",
            checklist_syncs(cx, n, s->n_steps), human_time(blocked).s,
            integrity_of(cx)->shared ? "another process shared the GPU"
                                     : "device records are missing");
    } else if (n == 0) {
        i->verdict = *fix ? checklist_text(cx, "no sync was seen inside the loop%s", fix)
                          : "the CPU never waits for the GPU inside the loop";
    } else {
        i->verdict = checklist_text(
            cx, "%s: in total the CPU is blocked for %s and the GPU idle for %s (%s)%s",
            checklist_syncs(cx, n, s->n_steps), human_time(blocked).s, human_time(exposed).s,
            human_pct(cost).s,
            *fix         ? fix
            : i->healthy ? "; removing them gains nothing"
                         : "");
    }
}

static const struct stage *checklist_bookkeeping(const struct context *cx)
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

/* Only pipelines that denoise have a scheduler to ask about. */
static void stage_share(const struct context *cx, struct checklist *c)
{
    if (!checklist_bookkeeping(cx) && !program_is_diffusion(cx->t)) return;
    struct checklist_answer *i = checklist_add(
        c, "scheduler_share", "Is the scheduler a small part of a step?", "% of a step's GPU time");
    const struct stage *s = checklist_bookkeeping(cx);
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
    i->verdict = checklist_text(cx, "scheduler: %s of a step's GPU time, %s of its CPU time%s",
                                human_pct(gpu).s, human_pct(cpu).s,
                                i->healthy && cpu > limit
                                    ? " (mostly waiting, which is harmless while the GPU is busy)"
                                    : "");
}

static const char *checklist_kernels_per_step(const struct context *cx, double n)
{
    uint64_t whole = (uint64_t)(n + 0.5);
    return checklist_text(cx, "%s kernel%s%s", human_count(whole).s, whole == 1 ? "" : "s",
                          steps_of(cx)->n_steps ? " per step" : "");
}

/* Graphs alone do not show a compiler: programs capture them by hand, too. */
static void checklist_compiled(const struct context *cx, struct checklist *c)
{
    static const struct rule *const fusing[] = {&rule_unfused_chain, &rule_unfused_attention,
                                                &rule_unfused_optimizer, &rule_tensor_loop, NULL};
    struct checklist_answer *i =
        checklist_add(c, "compile", "Are kernels few and fused?", "kernels per step");
    struct kernel_modes m = answer_modes(cx);
    uint64_t kernels = m.kernels, fused = m.fused, replayed = m.replayed;
    i->value = steps_of(cx)->n_steps ? steps_kernels(steps_of(cx)) : (double)kernels;
    i->known = kernels > 0;
    i->healthy = !m.regions || fused || replayed;
    const char *fix =
        checklist_fix(cx, i, (struct checklist_scope){CHECKLIST_ON(LIMIT_LAUNCH), fusing});
    if (!kernels) i->verdict = "the trace has no kernels";
    else if (answer_is_compiled(&m))
        i->verdict =
            checklist_text(cx, "compiled: %s, %.0f %% fused by Inductor, %s%s",
                           checklist_kernels_per_step(cx, i->value), stats_pct(fused, kernels),
                           replayed ? checklist_text(cx, "%.0f %% of them in CUDA graphs",
                                                     stats_pct(replayed, kernels))
                                    : "no CUDA graphs",
                           fix);
    else if (replayed)
        i->verdict = checklist_text(cx, "CUDA graphs: %s, %.0f %% of them replayed%s",
                                    checklist_kernels_per_step(cx, i->value),
                                    stats_pct(replayed, kernels), fix);
    else
        i->verdict =
            checklist_text(cx, "%s%s, no CUDA graphs%s", program_is_torch(cx->t) ? "eager: " : "",
                           checklist_kernels_per_step(cx, i->value), fix);
}

/* A compiler that leaves less than the GPU's work of today does without some of it: kernels may be
 * fast, each of them, and too many. */
static const char *checklist_compiler(const struct context *cx, struct checklist_answer *i)
{
    const struct findings *f = findings_of(cx);
    double busy = wall_of(cx)->plain.busy_pct;
    for (uint32_t k = 0; k < f->n; k++) {
        const struct finding *x = f->items[k];
        for (uint32_t o = 0; o < x->n_options && answer_is_worth(answer_of(cx), x); o++) {
            const struct finding_option *way = &x->options[o];
            if (way->edit.kind != EDIT_COMPILE || 100 - way->gain_pct > busy - answer_worth_pct)
                continue;
            i->healthy = false;
            return checklist_text(cx, ", each by itself; %s (finding %u) fuses them and gains %s",
                                  way->what, k + 1, human_pct(way->gain_pct).s);
        }
    }
    return "";
}

static void checklist_kernels(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i = checklist_add(
        c, "kernels", "Do the kernels run as fast as this GPU can?", "% of what the GPU can do");
    double roof = top_kernels_of(cx)->roof_pct;
    i->value = isfinite(roof) ? roof : 0;
    i->healthy = isfinite(roof) && roof >= answer_at_roof_pct;
    const char *fix = checklist_fix(cx, i, (struct checklist_scope){CHECKLIST_ON(LIMIT_GPU), NULL});
    if (*fix) { /* kernels may be the best of their kind, and of the wrong kind */
        i->verdict =
            checklist_text(cx, "other or fewer kernels do the same work in less time%s", fix);
        return;
    }
    if (isfinite(roof)) {
        i->verdict = checklist_text(cx, "the kernels reach %.0f %% of what this GPU can do%s", roof,
                                    checklist_compiler(cx, i));
        return;
    }
    i->known = false;
    i->verdict = program_has_torch_profiler(cx->t)
                     ? "how fast the kernels could be is unknown: record with record_shapes=True"
                 : program_is_torch(cx->t) && trace_meta(cx->t, TRACE_META_RECORDED).p
                     ? "how fast the kernels could be is unknown: the operators' shapes were not "
                       "recorded (strata run --depth 2)"
                     : "how fast the kernels could be is unknown";
}

/* The longest pause of the busiest device, where most of its idle time is that one: it says nothing
 * about launches. */
static const struct gap *checklist_one_gap(const struct context *cx, double *ret_pct)
{
    const struct gaps *g = gaps_of(cx);
    for (uint32_t k = 0; k < g->n_all; k++) {
        const struct gaps_device *d = &g->devices[g->all[k].device];
        if (d->device != wall_of(cx)->parts.device) continue;
        *ret_pct = stats_pct((double)idle_gap_ns(g->all[k].at), (double)d->idle_ns);
        return *ret_pct > checklist_one_gap_pct ? &g->all[k] : NULL;
    }
    return NULL;
}

/* Who waits for whom, in words that fit the idle time. */
static const char *checklist_ahead(const struct context *cx, enum ahead ahead)
{
    double pct = 0;
    const struct gap *gap = ahead == AHEAD_DEVICE ? checklist_one_gap(cx, &pct) : NULL;
    if (!gap) return ahead_words(ahead);
    return checklist_text(cx, "one pause of %s is %.0f %% of the GPU's idle time",
                          human_time(idle_gap_ns(gap->at)).s, pct);
}

static void launch_latency(const struct context *cx, struct checklist *c)
{
    double pct;
    struct checklist_answer *i =
        checklist_add(c, "launch_latency", "Do kernels start soon after their launch?", "us");
    const struct launches *l = launches_of(cx);
    const struct spread *idle = &l->all.from_start;
    enum ahead ahead =
        l->n_devices && integrity_of(cx)->idle_trusted ? l->devices[0].ahead : AHEAD_UNKNOWN;
    for (uint32_t d = 0; d < l->n_devices; d++)
        if (l->devices[d].device == wall_of(cx)->parts.device && integrity_of(cx)->idle_trusted)
            ahead = l->devices[d].ahead;
    if (!l->all.launches || ahead == AHEAD_UNKNOWN) {
        i->known = false;
        i->verdict = l->all.launches ? "device records are missing, so what launches wait for is "
                                       "unknown"
                                     : "the trace has no launches";
        return;
    }
    if (checklist_is_cold(cx, i)) return;
    bool starved = ahead == AHEAD_DEVICE && !checklist_one_gap(cx, &pct);
    i->value = (double)idle->median_ns / 1e3;
    i->healthy = ahead == AHEAD_CPU ||
                 (!starved &&
                  (idle->n < checklist_launches || i->value <= cx->th.value[TH_LAUNCH_LATENCY_US]));
    const char *fix =
        checklist_fix(cx, i, (struct checklist_scope){CHECKLIST_ON(LIMIT_LAUNCH), NULL});
    if (idle->n >= checklist_launches)
        i->verdict = checklist_text(cx, "launch latency is %s (idle stream); %s%s",
                                    human_time(idle->median_ns).s, checklist_ahead(cx, ahead), fix);
    else i->verdict = checklist_text(cx, "%s%s", checklist_ahead(cx, ahead), fix);
}

static void memory_flat(const struct context *cx, struct checklist *c)
{
    struct checklist_answer *i =
        checklist_add(c, "memory", "Is memory flat over the steps?", "bytes per step");
    const struct memory_line *line = memory_of(cx)->n_lines ? &memory_of(cx)->lines[0] : NULL;
    if (!memory_of(cx)->recorded || !line) {
        i->known = false;
        i->verdict = trace_timeline_is_ours(cx->t)
                         ? "memory over the steps was not recorded; torch.profiler with "
                           "profile_memory=True records it"
                     : program_has_torch_profiler(cx->t)
                         ? "memory was not recorded; record with profile_memory=True to see it "
                           "over the steps"
                         : "memory was not recorded";
        return;
    }
    if (!line->growth.judged) {
        i->known = false;
        i->verdict = "too few steps to judge whether memory grows";
        return;
    }
    if (line->peak_bytes < checklist_peak_bytes) {
        i->known = false;
        i->verdict = "memory was hardly recorded";
        return;
    }
    i->value = (double)line->growth.per_step;
    i->healthy = !line->growth.grows;
    i->verdict = line->growth.grows ? checklist_text(cx, "memory grows by %s per step",
                                                     human_bytes(line->growth.per_step).s)
                                    : checklist_text(cx, "memory is flat; its peak is %s",
                                                     human_bytes(line->peak_bytes).s);
}

static int checklist_run_pass(struct context *cx, void *ret, struct err *e)
{
    (void)e;
    gpu_busy(cx, ret);
    cpu_waits(cx, ret);
    stage_share(cx, ret);
    checklist_kernels(cx, ret);
    checklist_compiled(cx, ret);
    memory_flat(cx, ret);
    launch_latency(cx, ret);
    return 0;
}

static const struct pass *const needs[] = {&answer_pass, &launches_pass, NULL};

const struct pass checklist_pass = {
    .id = PASS_CHECKLIST,
    .size = sizeof(struct checklist),
    .needs = needs,
    .run = checklist_run_pass,
};
