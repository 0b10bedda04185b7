/* sync_in_loop.c: the CPU waits for the device: it reads a value back, uploads a constant,
 * synchronizes or allocates memory. Blocked time is reported; only exposed time counts as cost. */
#include "analyze/rules/small_copies.h"
#include "base/human.h"
#include "base/search.h"
#include "base/stats.h"

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
                       "Remove it from the loop. To time the work without stopping it, use events, "
                       "or synchronize once at the end."},
};

/* More bytes than a constant would have: this is input data. */
#define LEAST_DATA_BYTES 4096

static const struct words data_upload = {
    "upload of pageable memory", "upload of pageable memory drains the queue",
    "Data is copied to the GPU from pageable memory (HtoD); the CPU waits for everything "
    "queued before the copy.",
    "Keep the data in pinned memory (DataLoader(pin_memory=True), pin_memory()) and copy it with "
    "non_blocking=True."};

static const struct words *words_for(const struct context *cx, const struct sync_site *site)
{
    bool data = syncs_of(cx)->waits->all[site->longest].bytes >= LEAST_DATA_BYTES;
    return site->kind == WAIT_UPLOAD && data ? &data_upload : &words[site->kind];
}

static void explain(const struct context *cx, struct finding *f, const struct sync_site *site)
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
                     rule_name(cx, trace_name(cx->t, w->copy), 60), human_bytes(w->bytes).s);
    finding_note(f, cx->mem, w->begin_ns, w->call,
                 "the CPU is blocked for %s, while the GPU works through its queue for %s",
                 human_time(w->blocked_ns).s, human_time(w->waited_ns).s);
    finding_note(f, cx->mem, w->end_ns, ROW_NONE,
                 "then the GPU is idle for %s until the CPU has launched new work",
                 human_time(exposed_of(cx)->ns[site->longest]).s);
}

/* What goes with a constant that is uploaded once: the operator that copies it, and what the user's
 * line calls around it, which makes a tensor of a Python list. */
static struct span with_its_maker(const struct context *cx, row_t call)
{
    const struct trace *t = cx->t;
    struct place p;
    source_places_find(places_of(cx), call, &p);
    row_t top = p.op != ROW_NONE ? p.op : call;
    if (p.called != ROW_NONE && t->ts_ns[p.called] <= t->ts_ns[top]) top = p.called;
    return (struct span){t->ts_ns[top], trace_end_ns(t, top)};
}

/* Without stacks the making of the tensor is a silence of the thread before the operator. */
struct silence {
    int64_t *before_ns; /* by outermost operator of the thread, in time order */
    row_t *ops;
    uint32_t n;
    int64_t usual_ns;
};

enum { MOST_SILENCE_NS = 1000000 }; /* longer ones have other reasons */

static int listen(const struct context *cx, lane_id lane, struct silence *ret)
{
    const struct trace *t = cx->t;
    const struct lane *l = &t->lanes[lane];
    size_t n = (size_t)(l->end - l->begin) + 1;
    *ret = (struct silence){.before_ns = arena_alloc(cx->mem, n * sizeof *ret->before_ns),
                            .ops = arena_alloc(cx->mem, n * sizeof *ret->ops)};
    int64_t *sorted = arena_alloc(cx->mem, n * sizeof *sorted);
    if (!ret->before_ns || !ret->ops || !sorted) return ERR_NOMEM;
    int64_t end = t->lanes[lane].begin < l->end ? t->ts_ns[l->begin] : 0;
    for (row_t r = l->begin; r < l->end; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < end) continue;
        ret->before_ns[ret->n] = sorted[ret->n] = t->ts_ns[r] - end;
        ret->ops[ret->n++] = r;
        end = trace_end_ns(t, r);
    }
    stats_sort(sorted, ret->n);
    ret->usual_ns = stats_median(sorted, ret->n);
    return 0;
}

/* What the operator that begins at `begin_ns` has more of than operators usually have. */
static int64_t silence_before(const struct silence *s, const struct trace *t, int64_t begin_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, s->n, t->ts_ns[s->ops[i]] < begin_ns);
    if (i == s->n || t->ts_ns[s->ops[i]] != begin_ns) return 0;
    int64_t more = s->before_ns[i] - s->usual_ns;
    return more > s->usual_ns && more < MOST_SILENCE_NS ? more : 0;
}

static int drop_makers(const struct context *cx, const struct sync_site *site, struct finding *f)
{
    const struct sim_model *m = model_of(cx);
    struct sim_cut *spans = arena_alloc(cx->mem, (site->n_rows + (size_t)1) * sizeof *spans);
    struct silence quiet;
    if (!spans || listen(cx, cx->t->lane[site->rows[0]], &quiet) < 0) return ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < site->n_rows; i++) {
        uint32_t c = sim_find_call(m, site->rows[i]);
        if (c == SIM_NONE) continue;
        struct span s = with_its_maker(cx, site->rows[i]);
        if (!cx->t->n_py) s.begin_ns -= silence_before(&quiet, cx->t, s.begin_ns);
        spans[n++] = (struct sim_cut){m->calls[c].thread, s.begin_ns, s.end_ns, 0};
    }
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = n};
    return 0;
}

static int report_site(const struct context *cx, uint32_t i, struct findings *out, struct err *e);

/* Copies and allocations have rules of their own; a wait outside the loop that leaves nothing idle
 * is the end of the run. */
static bool matters(const struct sync_site *site)
{
    return site->kind != WAIT_COPY && site->kind != WAIT_ALLOCATION &&
           (site->in_loop > 0 || site->exposed_ns > 0);
}

/* Whether most of it is reported as copies that should be one. */
static bool is_reported(const struct context *cx, const struct findings *out,
                        const struct sync_site *site)
{
    uint32_t n = 0;
    for (uint32_t i = 0; site->kind == WAIT_UPLOAD && i < site->n_rows; i++)
        n += small_copies_hold(cx, out, site->rows[i]);
    return 2 * n > site->n_rows;
}

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++) {
        const struct sync_site *site = &syncs_of(cx)->sites[i];
        if (matters(site) && !is_reported(cx, out, site)) TRY(report_site(cx, i, out, e));
    }
    return 0;
}

const struct rule rule_sync_in_loop = {
    .id = "sync_in_loop",
    .summary = "the CPU waits for the device inside the loop",
    .run = run,
};

/* A drain that blocks the CPU for a good part of the run catches the eye in any viewer. It is
 * reported with its small gain, so that nobody spends a week on it. With no idle time behind it, it
 * is what a healthy run looks like. */
static bool is_notable(const struct context *cx, const struct sync_site *site)
{
    double wall = (double)wall_of(cx)->wall_ns;
    return site->n_drains && (double)site->blocked_ns > 0.02 * wall &&
           (double)site->exposed_ns > 0.0005 * wall;
}

static int report_site(const struct context *cx, uint32_t i, struct findings *out, struct err *e)
{
    const struct sync_site *site = &syncs_of(cx)->sites[i];
    const struct words *text = words_for(cx, site);
    struct finding *f = rule_finding(cx, out, &rule_sync_in_loop, e);
    if (!f) return ERR_NOMEM;
    f->title = site->n_drains ? text->drains : text->title;
    rule_place(cx, f, &site->place);
    f->why = text->why;
    f->fix = text->fix;
    f->effort = site->kind == WAIT_EXPLICIT ? EFFORT_ONE_LINE : EFFORT_LOCAL;
    f->not_fixed = rule_text(cx,
                             "The GPU is busy for most of the %s that the CPU is blocked; only its "
                             "idle time can be gained.",
                             human_time(site->blocked_ns).s);
    f->show = rule_text(cx, "syncs %s --site %u", "%s", i + 1);
    f->blocked_ns = site->blocked_ns;
    f->exposed_ns = site->exposed_ns;
    explain(cx, f, site);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = site->rows, .n_rows = site->n_rows};
    if (text == &words[WAIT_UPLOAD] && drop_makers(cx, site, f) < 0) return err_nomem(e);
    f->notable = is_notable(cx, site);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
