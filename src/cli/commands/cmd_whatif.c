/* cmd_whatif.c: `strata whatif`: replays the trace with something changed. */
#include <stdlib.h>
#include <string.h>

#include "analyze/quality/integrity.h"
#include "analyze/simulate/pinned_speed.h"
#include "analyze/simulate/undistort.h"
#include "analyze/stages/stages.h"
#include "analyze/steps/steps.h"
#include "analyze/waits/syncs.h"
#include "cli/show.h"
#include "report/compare/views_compare.h"

#define MOST_EDITS    OPT_MAX
#define MOST_GB_PER_S 10000

static const struct opt opts[] = {
    {"drop-sync", 0, "SITE", "remove a sync, by its number in `strata syncs`; repeatable", NULL},
    {"drop-cpu", 0, "REGEX",
     "remove the CPU time of matching labels, functions and operators; repeatable", NULL},
    {"scale-cpu", 0, "REGEX=F", "multiply that CPU time by F instead", NULL},
    {"scale-kernel", 0, "REGEX=F", "multiply the time of matching kernels and copies by F", NULL},
    {"drop-kernel", 0, "REGEX", "remove matching kernels and their launches", NULL},
    {"cuda-graph", 0, "STAGE", "capture each call of a stage (REGEX) as one CUDA graph", NULL},
    {"pin-copies", 0, "GB/s", "pin pageable copies, at this speed (0: speed seen in the trace)",
     NULL},
    {"overlap-copies", 0, NULL, "overlap copies between host and device with kernels", NULL},
    {"undistort", 0, NULL, "the default: predict the run without the profiler", NULL},
    {"wall", 0, "MS", "wall time measured without a profiler, to fit the profiler's cost", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata whatif trace.json.gz",
    "how well the replay reproduces the trace",
    "strata whatif trace.json.gz --drop-sync 1 --wall 36.35",
    "what removing the first sync would gain",
    "strata whatif trace.json.gz --scale-kernel 'flash|sdpa=0.5'",
    "what attention at twice the speed would gain",
    NULL,
};

/* Everything one run needs; edits point into argv and the arena of the context. */
struct whatif {
    struct context *cx;
    struct sim_edit edits[MOST_EDITS];
    const char *words[MOST_EDITS];
    uint32_t n;
};

static int drop_sync(const struct whatif *w, const char *value, struct sim_edit *ed, struct err *e)
{
    char *end;
    long id = strtol(value, &end, 10);
    const struct sync_site *site = end == value || *end ? NULL : syncs_site(syncs_of(w->cx), id);
    if (!site)
        return FAIL(e, ERR_USAGE,
                    "--drop-sync takes a site from 1 to %u (strata syncs lists them), not '%s'",
                    syncs_of(w->cx)->n_sites, value);
    *ed = (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = site->rows, .n_rows = site->n_rows};
    return 0;
}

/* Splits "REGEX=F" at the last '='. */
static int with_factor(struct whatif *w, const char *option, const char *value, struct sim_edit *ed,
                       struct err *e)
{
    const char *eq = strrchr(value, '=');
    char *end = NULL;
    double f = eq ? strtod(eq + 1, &end) : -1;
    if (!eq || end == eq + 1 || *end || !(f >= 0 && f <= 1000))
        return FAIL(e, ERR_USAGE, "--%s takes REGEX=FACTOR with a factor from 0 to 1000, not '%s'",
                    option, value);
    ed->pattern = arena_strdup(w->cx->mem, str_from(value, (size_t)(eq - value)));
    ed->factor = f;
    return ed->pattern ? 0 : err_nomem(e);
}

/* "0" is the speed that the trace shows. */
static int given_speed(const struct whatif *w, const char *value, struct sim_edit *ed,
                       struct err *e)
{
    char *end;
    double given = strtod(value, &end);
    if (end == value || *end || !(given >= 0 && given <= MOST_GB_PER_S))
        return FAIL(e, ERR_USAGE, "--pin-copies takes GB/s from 0 to %d, not '%s'", MOST_GB_PER_S,
                    value);
    ed->factor = given > 0 ? given : pinned_speed(w->cx->t).bytes_per_ns;
    return 0;
}

/* A stage without a label is captured where its calls are. */
static int capture_derived(struct whatif *w, const char *value, struct sim_edit *ed, struct err *e)
{
    struct stage_matches found;
    const struct sim_model *m = model_of(w->cx);
    TRY(context_need(w->cx, &stages_pass, e));
    TRY(stage_match_derived(w->cx, value, w->cx->mem, &found, e));
    struct sim_cut *spans = arena_zalloc(w->cx->mem, (size_t)found.n + 1, sizeof *spans);
    if (!spans) return err_nomem(e);
    for (uint32_t i = 0; i < found.n; i++) {
        uint32_t thread = 0;
        while (thread < m->n_threads && m->threads[thread].lane != found.calls[i]->lane) thread++;
        if (thread == m->n_threads) continue;
        spans[ed->n_spans++] = (struct sim_cut){.thread = thread,
                                                .begin_ns = found.calls[i]->begin_ns,
                                                .end_ns = found.calls[i]->end_ns};
    }
    if (!ed->n_spans) return 0;
    ed->pattern = NULL;
    ed->spans = spans;
    ed->whole = true;
    return 0;
}

static int parse_edit(struct whatif *w, const char *name, const char *value, struct sim_edit *ed,
                      struct err *e)
{
    *ed = (struct sim_edit){.pattern = value};
    if (strcmp(name, "drop-sync") == 0) return drop_sync(w, value, ed, e);
    if (strcmp(name, "drop-cpu") == 0) ed->kind = EDIT_DROP_CPU;
    else if (strcmp(name, "drop-kernel") == 0) ed->kind = EDIT_DROP_KERNEL;
    else if (strcmp(name, "cuda-graph") == 0) ed->kind = EDIT_CUDA_GRAPH;
    else if (strcmp(name, "overlap-copies") == 0) ed->kind = EDIT_OVERLAP_COPIES;
    else if (strcmp(name, "scale-cpu") == 0) ed->kind = EDIT_SCALE_CPU;
    else if (strcmp(name, "scale-kernel") == 0) ed->kind = EDIT_SCALE_KERNEL;
    else if (strcmp(name, "pin-copies") == 0) ed->kind = EDIT_PIN_COPIES;
    else return 1;
    if (ed->kind == EDIT_SCALE_CPU || ed->kind == EDIT_SCALE_KERNEL)
        return with_factor(w, name, value, ed, e);
    if (ed->kind == EDIT_CUDA_GRAPH) return capture_derived(w, value, ed, e);
    if (ed->kind == EDIT_PIN_COPIES) return given_speed(w, value, ed, e);
    if (ed->kind == EDIT_OVERLAP_COPIES) ed->factor = pinned_speed(w->cx->t).bytes_per_ns;
    return 0;
}

static int collect_edits(struct whatif *w, const struct opts *o, struct err *e)
{
    for (int i = 0; i < o->n; i++) {
        const char *name = o->opt[i]->name, *value = o->value[i] ? o->value[i] : "";
        int rc = parse_edit(w, name, value, &w->edits[w->n], e);
        if (rc < 0) return rc;
        if (rc > 0) continue;
        w->words[w->n] = arena_printf(w->cx->mem, "--%s%s%s", name, value[0] ? " " : "", value);
        if (!w->words[w->n++]) return err_nomem(e);
    }
    return 0;
}

static int check_matches(const struct whatif *w, struct err *e)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (!w->edits[i].n_matched)
            return FAIL(
                e, ERR_USAGE,
                "%s matches nothing in the trace; strata stages and strata kernels list names",
                w->words[i]);
    return 0;
}

static int cmd_whatif_predict(struct whatif *w, struct cli *cli, const struct opts *o,
                              struct err *e)
{
    double wall_ms = 0;
    TRY(opt_double(o, "wall", 1e-3, 1e9, &wall_ms, e));
    w->cx->measured_ns = (int64_t)(wall_ms * 1e6);
    TRY(context_need(w->cx, &syncs_pass, e));
    TRY(context_need(w->cx, &undistort_pass, e));
    TRY(context_need(w->cx, &integrity_pass, e));
    const struct undistort *u = undistort_of(w->cx);
    TRY(collect_edits(w, o, e));
    struct forecast f;
    if (w->n) {
        TRY(forecast_run(u, (struct sim_edits){.list = w->edits, .n = w->n}, w->cx->mem, &f, e));
        TRY(check_matches(w, e));
    }
    struct view_whatif v = {
        w->cx, u, w->n ? &f : NULL, w->edits, w->words, w->n, model_of(w->cx)->clock_drop_pct};
    if (cli->json) view_whatif_json(SHOW_JSON(cli), &v);
    else view_whatif_text(&cli->out, &v, cli->color);
    return 0;
}

static int cmd_whatif_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct whatif w = {.cx = cx};
    return cmd_whatif_predict(&w, cli, o, e);
}

static int cmd_whatif_run(struct cli *cli, const struct opts *o, struct err *e)
{
    return show_judged_quiet(cli, o, cmd_whatif_show, e);
}

const struct cmd cmd_whatif = {
    .name = "whatif",
    .summary = "what a change would gain, before you make it",
    .args = "TRACE",
    .about =
        "Replays the trace as a graph of CPU work, launches, device work and waits, with "
        "something changed, and predicts the wall time. There are two predictions: one with the "
        "profiler, as in the trace, and one without it. The profiler slows the CPU and so "
        "changes the critical path. Edits can be combined. Without an edit it only shows how "
        "well the replay reproduces the trace.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_whatif_run,
    .show = cmd_whatif_show,
};
