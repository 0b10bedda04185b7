/* data_loader.c: the loop waits for its next batch. Without workers the thread that launches loads
 * it itself; with too few it waits for them. What a batch takes in a worker is known where our
 * recorder ran in the workers too. */
#include "analyze/findings/host_side.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* What the workers did, as far as they were recorded. */
struct workers {
    uint32_t n; /* processes; 0 when nothing is known of them */
    uint32_t n_batches;
    int64_t ns; /* of all batches */
};

static struct workers find_workers(const struct trace *t)
{
    struct workers w = {0};
    str_id name = intern_find(&t->strings, str_c("DataLoader worker"));
    for (lane_id l = 0; name != STR_NONE && l < t->n_lanes; l++) {
        uint32_t before = w.n_batches;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (t->name[r] != name || !host_cause_is_worker(t, r)) continue;
            w.n_batches++;
            w.ns += t->dur_ns[r];
        }
        w.n += w.n_batches > before;
    }
    return w;
}

/* Who loads the batch: said by the row itself, or by one inside it. */
static enum host_cause loaded_by(const struct context *cx, row_t top)
{
    const struct trace *t = cx->t;
    row_t end = t->lanes[t->lane[top]].end;
    for (row_t r = top; r < end && t->ts_ns[r] < trace_end_ns(t, top); r++) {
        enum host_cause c = host_causes_row(host_causes_of(cx), r);
        if (c == HOST_DATA_HERE || c == HOST_DATA_WORKERS) return c;
    }
    return HOST_DATA;
}

/* The user's own function that takes most of the time: its longest call, or ROW_NONE. */
static int heaviest_frame(const struct context *cx, const struct host_rows *h, row_t *ret,
                          struct err *e)
{
    const struct trace *t = cx->t;
    int64_t *ns = arena_zalloc(cx->mem, t->strings.n + (size_t)1, sizeof *ns);
    if (!ns) return err_nomem(e);
    *ret = ROW_NONE;
    for (uint32_t i = 0; i < h->n; i++) {
        row_t top = h->rows[i], end = t->lanes[t->lane[top]].end;
        for (row_t r = top + 1; r < end && t->ts_ns[r] < trace_end_ns(t, top); r++) {
            if (t->kind[r] != KIND_PYTHON || source_places_class(places_of(cx), r) != FRAME_USER)
                continue;
            ns[t->name[r]] += t->dur_ns[r];
            bool same = *ret != ROW_NONE && t->name[r] == t->name[*ret];
            if (*ret == ROW_NONE ||
                (same ? t->dur_ns[r] > t->dur_ns[*ret] : ns[t->name[r]] > ns[t->name[*ret]]))
                *ret = r;
        }
    }
    return 0;
}

static int data_loader_report(const struct context *cx, const struct host_rows *h,
                              struct findings *out, struct err *e);

static bool data_loader_is_call(enum host_cause c)
{
    return c == HOST_DATA_CALL;
}

/* Labels of torch around waiting for a batch are exact; functions may only be samples. */
static bool has_labels(const struct context *cx)
{
    const struct host_causes *h = host_causes_of(cx);
    for (str_id id = 0; id < cx->t->strings.n; id++)
        if (host_cause_is_data((enum host_cause)h->by_name[id])) return true;
    return false;
}

static int data_loader_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_rows h;
    TRY(host_rows_find(cx, (struct host_rows_wanted){host_cause_is_data, data_loader_wait_ns}, &h,
                       e));
    if (!has_labels(cx))
        TRY(host_rows_find(cx, (struct host_rows_wanted){data_loader_is_call, data_loader_wait_ns},
                           &h, e));
    return host_rows_matter(cx, &h) ? data_loader_report(cx, &h, out, e) : 0;
}

const struct rule rule_data_loader = {
    .id = "data_loader",
    .summary = "the loop waits for its DataLoader",
    .limit = LIMIT_DATA,
    .tries = "loader:4",
    .run = data_loader_run,
};

/* Without a device: who waits is the program itself. */
static void say_no_device(struct finding *f, enum host_cause cause)
{
    f->not_fixed = "Loading that runs beside the steps costs nothing and is not counted.";
    if (cause != HOST_DATA_HERE) {
        f->why = "The workers have not finished the next batch when the loop asks for it.";
        return;
    }
    f->why = "The DataLoader has no workers (num_workers=0): the thread that computes loads every "
             "batch itself, and computes nothing meanwhile.";
    f->fix = "Set num_workers (4 to begin with, fewer where the machine has fewer cores) and "
             "persistent_workers=True: workers load the next batches while the program computes.";
}

/* Workers share the cores with the program, so they hide loading only in part: what is left of it
 * is one batch in as many as there are workers. */
static int share_the_loading(const struct context *cx, const struct host_rows *h, struct finding *f,
                             struct err *e)
{
    row_t *rows = arena_alloc(cx->mem, (h->n + (size_t)1) * sizeof *rows);
    uint32_t n = 0;
    if (!rows) return err_nomem(e);
    for (uint32_t i = 0; i < h->n; i++)
        if (i % data_loader_workers) rows[n++] = h->rows[i];
    f->edits[0].rows = rows;
    f->edits[0].n_rows = n;
    return 0;
}

static void say_here(struct finding *f)
{
    f->title = "batches are loaded between the steps";
    f->why = "The DataLoader has no workers (num_workers=0): the thread that launches loads every "
             "batch itself, and the GPU is idle meanwhile.";
    f->fix = "Set num_workers (4 to 8 to begin with), persistent_workers=True and "
             "pin_memory=True: workers load the next batches while the GPU computes.";
}

static void say_workers(const struct context *cx, struct finding *f, const struct workers *w)
{
    f->title = "the DataLoader's workers are too slow";
    f->why = "The workers have not finished the next batch when the loop asks for it; until then "
             "nothing is launched, and the GPU is idle.";
    f->fix = "Use more workers (num_workers), a larger prefetch_factor or cheaper transforms; "
             "pin_memory=True and persistent_workers=True help, too.";
    if (!w->n) return;
    int64_t batch = w->ns / w->n_batches;
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "a batch takes %s in a worker; %s worker%s recorded", human_time(batch).s,
                 human_count(w->n).s, w->n == 1 ? " was" : "s were");
    uint32_t steps = steps_of(cx)->n_steps;
    int64_t left = wall_of(cx)->wall_ns - f->exposed_ns;
    if (steps > 1 && left > 0)
        finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                     "a step takes %s without waiting: %lld workers would keep up",
                     human_time(left / steps).s, (long long)batch * steps / left + 1);
}

static int data_loader_report(const struct context *cx, const struct host_rows *h,
                              struct findings *out, struct err *e)
{
    const struct trace *t = cx->t;
    struct finding *f = host_rows_finding(cx, h, out, &rule_data_loader, e);
    if (!f) return ERR_NOMEM;
    enum host_cause cause = loaded_by(cx, h->longest);
    struct workers w = find_workers(t);
    if (cause == HOST_DATA_HERE) say_here(f);
    else say_workers(cx, f, &w);
    f->not_fixed = "Loading that runs while the GPU has queued work costs nothing and is not "
                   "counted.";
    if (rule_cpu_only(cx)) {
        say_no_device(f, cause);
        TRY(share_the_loading(cx, h, f, e));
    }
    row_t frame;
    TRY(heaviest_frame(cx, h, &frame, e));
    if (cause == HOST_DATA_WORKERS) frame = ROW_NONE;
    if (frame != ROW_NONE && !f->file) {
        struct place p;
        source_places_find(places_of(cx), frame, &p);
        rule_place(cx, f, &p);
    }
    f->subject = "DataLoader";
    if (frame == ROW_NONE) return 0;
    struct buf text;
    buf_init(&text);
    source_places_print_frame(t, frame, &text);
    finding_note(f, cx->mem, t->ts_ns[frame], frame, "the longest part of it is %s, %s",
                 rule_name(cx, str_c(buf_c(&text)), 120), human_time(t->dur_ns[frame]).s);
    buf_done(&text);
    return 0;
}
