/* held_clock.c: the GPU runs below its highest clock because of power, heat or a setting, as its
 * driver says. No gain is predicted: what a higher clock would bring depends on what the kernels
 * are bound by, and the power cap of a well-used GPU is normal. */
#include "analyze/device/gpu_clocks.h"
#include "analyze/findings/rule.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/stats.h"

static int held_clock_report(const struct context *cx, const struct gpu_clock *c,
                             struct findings *out, struct err *e);

static int held_clock_run(const struct context *cx, struct findings *out, struct err *e)
{
    for (uint32_t i = 0; i < gpu_clocks_of(cx)->n; i++) {
        const struct gpu_clock *c = &gpu_clocks_of(cx)->list[i];
        if (c->n_held >= held_clock_samples && stats_pct(c->n_held, c->n) >= held_clock_pct)
            TRY(held_clock_report(cx, c, out, e));
    }
    return 0;
}

const struct rule rule_held_clock = {
    .id = "held_clock",
    .summary = "power, heat or a setting holds the GPU's clock down",
    .limit = LIMIT_GPU,
    .run = held_clock_run,
};

static const char *held_clock_fix(enum gpu_limit why)
{
    switch (why) {
    case GPU_LIMIT_HEAT:
        return "Cool it: look at fans, airflow and neighbours (nvidia-smi -q -d TEMPERATURE).";
    case GPU_LIMIT_SUPPLY:
        return "A hardware slowdown: look at power cables and supplies, and at the driver's log "
               "(nvidia-smi -q -d PERFORMANCE).";
    case GPU_LIMIT_SETTING:
        return "If these clocks are not set on purpose, reset them: nvidia-smi -rgc and -rac.";
    default:
        return "Normal for kernels that use the whole GPU. If the limit was lowered, raise it "
               "(nvidia-smi -pl); less work, lower precision or fewer bytes moved cost less power.";
    }
}

static int held_clock_report(const struct context *cx, const struct gpu_clock *c,
                             struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_held_clock, e);
    if (!f) return ERR_NOMEM;
    enum gpu_limit why = gpu_clock_reason(c);
    f->advice = true;
    f->severity = why == GPU_LIMIT_HEAT || why == GPU_LIMIT_SUPPLY ? SEVERITY_MEDIUM : SEVERITY_LOW;
    f->title = "the GPU's clock is held down";
    f->subject = rule_text(cx, "GPU %d", c->device);
    f->why = rule_text(cx,
                       "GPU %d ran at %.0f of %.0f MHz for %.0f %% of the time it worked, because "
                       "of %s.",
                       c->device, c->held_mhz, c->highest_mhz, stats_pct(c->n_held, c->n),
                       gpu_limit_words(why));
    f->fix = held_clock_fix(why);
    f->effort = EFFORT_UNKNOWN;
    f->show = "kernels %s";
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "%s of %s samples while it worked",
                 human_count(c->n_held).s, human_count(c->n).s);
    if (c->power_limit_w > 0)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "%.0f W of a limit of %.0f W meanwhile",
                     c->power_w, c->power_limit_w);
    if (c->hottest_c > 0)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE, "%.0f degrees Celsius at most", c->hottest_c);
    return 0;
}
