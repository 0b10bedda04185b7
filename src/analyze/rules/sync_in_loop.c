/* sync_in_loop.c: the CPU waits for the device: it reads a value back, uploads a constant,
 * synchronizes or allocates memory. Blocked time is reported; only exposed time counts as cost. */
#include "analyze/findings/claims.h"
#include "analyze/findings/host_side.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

struct words {
    const char *title, *drains, *why, *fix;
};

static const struct words words[WAIT_KINDS] = {
    [WAIT_READBACK] =
        {"readback", "readback drains the queue",
         "A value is copied to the CPU (DtoH), which waits for everything queued before the copy.",
         "Keep the value on the GPU (torch.where, masks, tensors as indices), or compute it on the "
         "CPU before the loop; read results back once, after the loop."},
    [WAIT_UPLOAD] = {"constant upload", "constant upload drains the queue",
                     "A few bytes of pageable memory are copied to the GPU (HtoD); the CPU "
                     "waits for everything queued before the copy.",
                     "Create the constant on the GPU (torch.full, torch.ones(1) * x, torch.stack "
                     "of GPU scalars), or upload it once before the loop."},
    [WAIT_EXPLICIT] = {"explicit synchronize", "explicit synchronize drains the queue",
                       "The program explicitly waits for the device.",
                       "Remove it unless the CPU needs the result here. To time the work without "
                       "stopping it, use events, or synchronize once at the end."},
};

static const struct words data_upload = {
    "upload of pageable memory", "upload of pageable memory drains the queue",
    "Data is copied to the GPU from pageable memory (HtoD); the CPU waits for everything "
    "queued before the copy.",
    "Keep the data in pinned memory (DataLoader(pin_memory=True), pin_memory()) and copy it with "
    "non_blocking=True."};

static const struct words *sync_in_loop_words_for(const struct context *cx,
                                                  const struct sync_site *site)
{
    bool data = syncs_of(cx)->waits->all[site->longest].bytes >= sync_data_bytes;
    return site->kind == WAIT_UPLOAD && data ? &data_upload : &words[site->kind];
}

static void sync_in_loop_explain(const struct context *cx, struct finding *f,
                                 const struct sync_site *site)
{
    const struct wait *w = &syncs_of(cx)->waits->all[site->longest];
    struct buf stack;
    buf_init(&stack);
    if (site->place.frame != ROW_NONE) source_places_print_frame(cx->t, site->place.frame, &stack);
    finding_note(f, cx->mem, w->begin_ns, w->call, "the CPU calls %.*s at queue depth %s%s%s",
                 STR_ARG(trace_str(cx->t, site->call)), human_count(w->depth).s,
                 stack.n ? ", from " : "", stack.n ? buf_c(&stack) : "");
    buf_done(&stack);
    if (w->copy != ROW_NONE)
        finding_note(f, cx->mem, cx->t->ts_ns[w->copy], w->copy, "%s: %s",
                     rule_row_name(cx, w->copy, 60), human_bytes(w->bytes).s);
    finding_note(f, cx->mem, w->begin_ns, w->call,
                 "the CPU is blocked for %s, while the GPU works through its queue for %s",
                 human_time(w->blocked_ns).s, human_time(w->waited_ns).s);
    finding_note(f, cx->mem, w->end_ns, ROW_NONE,
                 "then the GPU is idle for %s until the CPU has launched new work",
                 human_time(exposed_of(cx)->ns[site->longest]).s);
}

static int report_site(const struct context *cx, uint32_t i, struct findings *out, struct err *e);

/* When the first recorded work was launched. */
static int64_t sync_in_loop_first_launch(const struct context *cx)
{
    const struct sim_model *m = model_of(cx);
    for (uint32_t c = 0; c < m->n_calls; c++)
        if (m->calls[c].n_work) return m->calls[c].begin_ns;
    return INT64_MAX;
}

/* Copies and allocations have rules of their own; a wait outside the loop that leaves nothing idle
 * is the end of the run, and one before anything is launched is its begin: who measures waits for
 * what was launched before. */
static bool sync_in_loop_matters(const struct sync_site *site, int64_t first_launch_ns)
{
    return site->last_ns >= first_launch_ns && site->kind != WAIT_COPY &&
           site->kind != WAIT_ALLOCATION && (site->in_loop > 0 || site->exposed_ns > 0);
}

/* Whether most of it is reported already: as copies that should be one, or as values that another
 * thread reads. */
static bool is_reported(const struct context *cx, const struct findings *out,
                        const struct sync_site *site)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < site->n_rows; i++) n += claims_call(out, cx, site->rows[i]);
    return 2 * n > site->n_rows;
}

static int sync_in_loop_run(const struct context *cx, struct findings *out, struct err *e)
{
    int64_t first_launch_ns = sync_in_loop_first_launch(cx);
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++) {
        const struct sync_site *site = &syncs_of(cx)->sites[i];
        if (sync_in_loop_matters(site, first_launch_ns) && !is_reported(cx, out, site))
            TRY(report_site(cx, i, out, e));
    }
    return 0;
}

const struct rule rule_sync_in_loop = {
    .id = "sync_in_loop",
    .summary = "the CPU waits for the device inside the loop",
    .limit = LIMIT_SYNC,
    .cost = COST_WAIT,
    .yields_to = RULE_LIST(&rule_small_copies, &rule_thread_readback, &rule_cheaper_way),
    .run = sync_in_loop_run,
};

/* A drain that blocks the CPU for a good part of the run catches the eye in any viewer. It is
 * reported with its small gain, so that no week is spent on it. With no idle time behind it, it
 * is what a healthy run looks like. */
static bool is_notable(const struct context *cx, const struct sync_site *site)
{
    double wall = (double)wall_of(cx)->wall_ns;
    return site->n_drains && (double)site->blocked_ns > sync_notable_blocked_share * wall &&
           (double)site->exposed_ns > sync_notable_exposed_share * wall;
}

static int report_site(const struct context *cx, uint32_t i, struct findings *out, struct err *e)
{
    const struct sync_site *site = &syncs_of(cx)->sites[i];
    const struct words *text = sync_in_loop_words_for(cx, site);
    struct finding *f = rule_finding(cx, out, &rule_sync_in_loop, e);
    if (!f) return ERR_NOMEM;
    f->title = site->n_drains ? text->drains : text->title;
    if (site->kind == WAIT_EXPLICIT) f->tries = "no_explicit_sync";
    rule_place(cx, f, &site->place);
    if (!f->file && !f->subject[0]) f->subject = rule_name(cx, trace_str(cx->t, site->call), 80);
    f->why = text->why;
    const char *way = site->kind == WAIT_READBACK
                          ? readback_way(cx, &syncs_of(cx)->waits->all[site->longest])
                          : NULL;
    f->fix = way ? way : text->fix;
    f->effort = site->kind == WAIT_EXPLICIT ? EFFORT_ONE_LINE : EFFORT_LOCAL;
    if (2 * site->exposed_ns < site->blocked_ns)
        f->not_fixed =
            rule_text(cx,
                      "The GPU is busy for most of the %s that the CPU is blocked: that part of "
                      "the wait costs nothing.",
                      human_time(site->blocked_ns).s);
    f->show = rule_text(cx, "syncs %s --site %u", "%s", i + 1);
    f->blocked_ns = site->blocked_ns;
    f->exposed_ns = site->exposed_ns;
    sync_in_loop_explain(cx, f, site);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = site->rows, .n_rows = site->n_rows};
    if (text == &words[WAIT_UPLOAD] && upload_makers_drop(cx, site, f) < 0) return err_nomem(e);
    f->notable = is_notable(cx, site);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
