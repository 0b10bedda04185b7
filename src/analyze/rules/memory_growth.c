/* memory_growth.c: device memory is higher at the end of nearly every step than at the end of
 * the one before. No time is predicted: growth ends in an out-of-memory error or in allocator
 * retries. */
#include "analyze/findings/rule.h"
#include "base/human.h"

static int memory_growth_report(const struct context *cx, const struct memory_line *line,
                                struct findings *out, struct err *e);

static int memory_growth_run(const struct context *cx, struct findings *out, struct err *e)
{
    for (uint32_t i = 0; i < memory_of(cx)->n_lines; i++) {
        const struct memory_line *line = &memory_of(cx)->lines[i];
        if (line->device_type == 0 || !line->growth.grows) continue;
        double level = (double)(line->relative ? line->peak_bytes : line->begin_bytes);
        if ((double)line->growth.per_step * 100 < cx->th.value[TH_GROWTH_PCT] * level) continue;
        TRY(memory_growth_report(cx, line, out, e));
    }
    return 0;
}

const struct rule rule_memory_growth = {
    .id = "memory_growth",
    .summary = "device memory grows from step to step",
    .limit = LIMIT_NONE,
    .run = memory_growth_run,
};

/* The site that keeps most memory: allocated in one step, not freed in a later one. */
static const struct alloc_site *memory_growth_keeper(const struct memory *m)
{
    const struct alloc_site *best = NULL;
    for (uint32_t i = 0; i < m->n_sites; i++)
        if (m->sites[i].kept_bytes > 0 && (!best || m->sites[i].kept_bytes > best->kept_bytes))
            best = &m->sites[i];
    return best;
}

static int memory_growth_report(const struct context *cx, const struct memory_line *line,
                                struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_memory_growth, e);
    if (!f) return ERR_NOMEM;
    const struct alloc_site *site = memory_growth_keeper(memory_of(cx));
    f->advice = true;
    f->severity = SEVERITY_MEDIUM;
    f->title = "memory grows from step to step";
    f->subject = "";
    if (site) rule_place(cx, f, &site->place);
    f->why = rule_text(
        cx,
        "%s of %s steps end with more device memory in use than the step before, by %s per step.",
        human_count(line->growth.n_rises).s, human_count(line->growth.n_steps - 1).s,
        human_bytes(line->growth.per_step).s);
    f->fix =
        "Look for what stays alive: tensors appended to a list (detach them and move them to the "
        "CPU after the loop), a cache that grows, autograd graphs kept alive by a stored loss.";
    f->show = "memory %s";
    finding_note(f, cx->mem, ID_NONE, line->peak, "the peak is %s",
                 human_bytes(line->peak_bytes).s);
    if (site)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                     "%s allocated here inside the loop is not freed in later steps",
                     human_bytes(site->kept_bytes).s);
    f->thresholds[f->n_thresholds++] = TH_GROWTH_PCT;
    return 0;
}
