/* to_chrome.c: Chrome trace JSON as PyTorch writes it, one event a line.
 *
 * Events come in the order of the input, times in microseconds with exactly three decimals, args
 * and metadata as they were written. With for_perfetto, what Perfetto would drop or misplace is
 * arranged for it: see tracks.h. */
#include "base/jout.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "export/chrome_args.h"
#include "export/export.h"
#include "export/fmt.h"
#include "export/json_repair.h"
#include "export/json_valid.h"
#include "export/order.h"
#include "export/sink.h"
#include "export/strip.h"
#include "export/tracks.h"

enum { PROGRESS_EVERY = 65536 };

struct chrome {
    const struct trace *t;
    const struct export_options *o;
    struct sink sink;
    struct arena mem;
    struct buf scratch;
    struct str *where;    /* by lane: "pid":7,"tid":7, */
    struct str *cats;     /* by category: "cat":"kernel", */
    uint8_t *quoting;     /* by string: enum quoting, filled as names are met */
    struct tracks tracks; /* for_perfetto only */
    row_t *order;
    bool any_event;
};

enum quoting { UNKNOWN, PLAIN, ESCAPED };

static struct buf *text(struct chrome *c)
{
    return &c->sink.text;
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char ch = (unsigned char)s.p[i];
        size_t n = utf8_len(s, i);
        if (ch < 0x20 || ch == '"' || ch == '\\' || !n) return false;
        i += n;
    }
    return true;
}

/* Names repeat by the million: whether one needs escapes is found out once. */
static void put_name(struct chrome *c, str_id id)
{
    struct str s = trace_str(c->t, id);
    if (c->quoting[id] == UNKNOWN) c->quoting[id] = is_plain(s) ? PLAIN : ESCAPED;
    if (c->quoting[id] == ESCAPED) {
        jout_quote(text(c), s);
        return;
    }
    buf_addc(text(c), '"');
    buf_add_str(text(c), s);
    buf_addc(text(c), '"');
}

static void begin_event(struct chrome *c)
{
    if (c->any_event) FMT_LIT(text(c), ",\n");
    c->any_event = true;
}

static void put_number_or_text(struct chrome *c, struct buf *b, int64_t number, str_id id)
{
    if (number != ID_NONE) fmt_i64(b, number);
    else jout_quote(b, trace_str(c->t, id));
}

static void put_pid(struct chrome *c, struct buf *b, const struct process *p)
{
    FMT_LIT(b, "\"pid\":");
    put_number_or_text(c, b, p->pid, p->pid_text);
}

/* The texts that every event of a lane or category repeats. */
static int prepare_texts(struct chrome *c, struct err *e)
{
    const struct trace *t = c->t;
    struct buf *b = &c->scratch;
    c->where = arena_zalloc(&c->mem, t->n_lanes, sizeof *c->where);
    c->cats = arena_zalloc(&c->mem, t->n_cats, sizeof *c->cats);
    c->quoting = arena_zalloc(&c->mem, t->strings.n, 1);
    bool ok = c->where && c->cats && c->quoting;
    for (uint32_t i = 0; i < t->n_lanes && ok; i++) {
        buf_reset(b);
        put_pid(c, b, &t->processes[t->lanes[i].process]);
        FMT_LIT(b, ",\"tid\":");
        put_number_or_text(c, b, t->lanes[i].tid, t->lanes[i].tid_text);
        c->where[i] = str_from(arena_strdup(&c->mem, buf_str(b)), b->n);
        ok = buf_ok(b) && c->where[i].p;
    }
    for (uint32_t i = 0; i < t->n_cats && ok; i++) {
        buf_reset(b);
        struct str cat = trace_str(t, t->cats[i]);
        if (cat.n) FMT_LIT(b, "\"cat\":");
        if (cat.n) jout_quote(b, cat);
        if (cat.n) FMT_LIT(b, ",");
        c->cats[i] = str_from(arena_strdup(&c->mem, buf_str(b)), b->n);
        ok = buf_ok(b) && c->cats[i].p;
    }
    return ok ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}

/* Where the row is drawn: its lane, or a further track of its thread. */
static void put_where(struct chrome *c, row_t r)
{
    lane_id lane = c->t->lane[r];
    uint8_t track = c->o->for_perfetto ? c->tracks.of_row[r] : 0;
    if (track == 0) {
        buf_add_str(text(c), c->where[lane]);
        return;
    }
    put_pid(c, text(c), &c->t->processes[c->t->lanes[lane].process]);
    FMT_LIT(text(c), ",\"tid\":");
    fmt_i64(text(c), c->tracks.tid[c->tracks.thread[lane]] + track - 1);
}

/* Everything of an event up to its time: {"ph":"X","cat":..,"name":..,"pid":..,"tid":.. */
static void put_event_head(struct chrome *c, char phase, uint8_t cat, str_id name)
{
    struct buf *b = text(c);
    begin_event(c);
    FMT_LIT(b, "{\"ph\":\"");
    if (phase > 0x20 && phase < 0x7f && phase != '"' && phase != '\\') buf_addc(b, phase);
    FMT_LIT(b, "\",");
    buf_add_str(b, c->cats[cat]);
    FMT_LIT(b, "\"name\":");
    put_name(c, name);
    FMT_LIT(b, ",");
}

static void put_times(struct chrome *c, row_t r)
{
    const struct trace *t = c->t;
    struct buf *b = text(c);
    bool span = t->phase[r] == 'X';
    if (span || !(t->flags[r] & ROW_NO_TIME)) {
        FMT_LIT(b, ",\"ts\":");
        fmt_us(b, t->ts_ns[r]);
    }
    if (span) {
        FMT_LIT(b, ",\"dur\":");
        fmt_us(b, t->dur_ns[r]);
    } else if (t->phase[r] == 'i') {
        bool local = kind_is_device(t->kind[r]) || t->lanes[t->lane[r]].kind == LANE_THREAD;
        if (local) FMT_LIT(b, ",\"s\":\"t\"");
        else FMT_LIT(b, ",\"s\":\"g\"");
    }
}

static int put_row(struct chrome *c, row_t r, struct err *e)
{
    const struct trace *t = c->t;
    struct buf *b = text(c);
    put_event_head(c, t->phase[r], t->cat[r], t->name[r]);
    put_where(c, r);
    put_times(c, r);
    bool any;
    size_t before = b->n;
    FMT_LIT(b, ",\"args\":");
    TRY(chrome_args_add(t, r, &c->scratch, b, &any, e));
    if (!any && buf_ok(b)) b->n = before;
    FMT_LIT(b, "}");
    return sink_pump(&c->sink, e);
}

static int put_rows(struct chrome *c, struct err *e)
{
    const row_t *order = c->o->for_perfetto ? c->tracks.order : c->order;
    for (row_t i = 0; i < c->t->n_rows; i++) {
        TRY(put_row(c, order[i], e));
        if (c->o->progress && i % PROGRESS_EVERY == 0)
            c->o->progress(c->o->progress_ctx, i, c->t->n_rows);
    }
    return 0;
}

static void put_flow_tail(struct chrome *c, char phase, int64_t id, int64_t ts_ns)
{
    struct buf *b = text(c);
    FMT_LIT(b, ",\"ts\":");
    fmt_us(b, ts_ns);
    if (id != ID_NONE) {
        FMT_LIT(b, ",\"id\":");
        fmt_i64(b, id);
    }
    if (phase == 'f') FMT_LIT(b, ",\"bp\":\"e\"");
    FMT_LIT(b, "}");
}

static bool is_launch_flow(const struct trace *t, const struct flow *f)
{
    struct str cat = trace_str(t, t->cats[f->cat]);
    return str_is(cat, "ac2g") || str_starts(cat, "async");
}

/* Flows as they were written. Arrows from launches are left to put_links where it draws them. */
static int put_flows(struct chrome *c, bool launches, struct err *e)
{
    const struct trace *t = c->t;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const struct flow *f = &t->flows[i];
        if (f->lane == LANE_NONE || (!launches && is_launch_flow(t, f))) continue;
        put_event_head(c, f->phase, f->cat, f->name);
        buf_add_str(text(c), c->where[f->lane]);
        put_flow_tail(c, f->phase, f->id, f->ts_ns);
        TRY(sink_pump(&c->sink, e));
    }
    return 0;
}

static void put_arrow_end(struct chrome *c, char phase, row_t r, int64_t id)
{
    begin_event(c);
    buf_printf(text(c), "{\"ph\":\"%c\",\"cat\":\"ac2g\",\"name\":\"ac2g\",", phase);
    put_where(c, r);
    put_flow_tail(c, phase, id, c->t->ts_ns[r]);
}

/* An arrow from every launch to what it launched, numbered by the row of the launch. */
static int put_links(struct chrome *c, struct err *e)
{
    for (row_t r = 0; r < c->t->n_rows; r++) {
        uint32_t n;
        const row_t *launched = trace_launched(c->t, r, &n);
        if (n) put_arrow_end(c, 's', r, trace_call(c->t, r)->correlation);
        for (uint32_t i = 0; i < n; i++)
            put_arrow_end(c, 'f', launched[i], trace_call(c->t, r)->correlation);
        TRY(sink_pump(&c->sink, e));
    }
    return 0;
}

/* {"ph":"M","name":WHAT,"pid":..,"tid":..,"args":{KEY:TEXT or NUMBER}} */
static void put_label(struct chrome *c, const char *what, struct str where, const char *key,
                      struct str label)
{
    begin_event(c);
    buf_printf(text(c), "{\"ph\":\"M\",\"name\":\"%s\",", what);
    buf_add_str(text(c), where);
    buf_printf(text(c), ",\"args\":{\"%s\":", key);
    jout_quote(text(c), label);
    FMT_LIT(text(c), "}}");
}

static void put_sort_index(struct chrome *c, const char *what, struct str where, int64_t index)
{
    if (!index) return;
    begin_event(c);
    buf_printf(text(c), "{\"ph\":\"M\",\"name\":\"%s\",", what);
    buf_add_str(text(c), where);
    buf_printf(text(c), ",\"args\":{\"sort_index\":%lld}}", (long long)index);
}

static void put_process(struct chrome *c, const struct process *p)
{
    const struct trace *t = c->t;
    struct buf *where = &c->scratch;
    buf_reset(where);
    put_pid(c, where, p);
    FMT_LIT(where, ",\"tid\":0");
    struct str at = buf_str(where);
    if (p->name) put_label(c, "process_name", at, "name", trace_str(t, p->name));
    if (p->labels) put_label(c, "process_labels", at, "labels", trace_str(t, p->labels));
    put_sort_index(c, "process_sort_index", at, p->sort_index);
}

/* Names the further tracks of a thread after it. */
static void put_track_names(struct chrome *c, lane_id lane)
{
    const struct trace *t = c->t;
    const struct lane *l = &t->lanes[lane];
    struct str name = str_trim(trace_str(t, l->name));
    for (int k = 0; c->o->for_perfetto && k < c->tracks.n_extra[lane]; k++) {
        struct buf *b = &c->scratch;
        buf_reset(b);
        put_pid(c, b, &t->processes[l->process]);
        buf_printf(b, ",\"tid\":%lld", (long long)c->tracks.tid[lane] + k);
        size_t n_where = b->n;
        if (name.n) buf_add_str(b, name);
        else if (l->tid != ID_NONE) buf_printf(b, "thread %lld", (long long)l->tid);
        else buf_add_str(b, trace_str(t, l->tid_text));
        buf_adds(b, " (overlap)");
        struct str where = str_from(b->p, n_where);
        put_label(c, "thread_name", where, "name", str_from(b->p + n_where, b->n - n_where));
        put_sort_index(c, "thread_sort_index", where, l->sort_index);
    }
}

static int put_labels(struct chrome *c, struct err *e)
{
    const struct trace *t = c->t;
    for (uint32_t i = 0; i < t->n_processes; i++) put_process(c, &t->processes[i]);
    for (lane_id i = 0; i < t->n_lanes; i++) {
        const struct lane *l = &t->lanes[i];
        if (l->name) put_label(c, "thread_name", c->where[i], "name", trace_str(t, l->name));
        put_sort_index(c, "thread_sort_index", c->where[i], l->sort_index);
        put_track_names(c, i);
        TRY(sink_pump(&c->sink, e));
    }
    return buf_ok(&c->scratch) ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}

static void put_meta(struct chrome *c, const struct meta *m)
{
    struct str key = trace_str(c->t, m->key), value = trace_str(c->t, m->value);
    if (str_is(key, "traceEvents") || str_is(key, "baseTimeNanoseconds")) return;
    jout_quote(text(c), key);
    FMT_LIT(text(c), ":");
    if (json_valid(value)) buf_add_str(text(c), value);
    else json_repair(value, text(c));
    FMT_LIT(text(c), ",\n");
}

static void put_device(struct jout *j, const struct trace *t, const struct device *d)
{
    jout_obj(j, NULL);
    jout_int(j, "id", d->id);
    jout_str(j, "name", trace_str(t, d->name));
    jout_int(j, "totalGlobalMem", d->memory_bytes);
    jout_int(j, "computeMajor", d->major);
    jout_int(j, "computeMinor", d->minor);
    jout_int(j, "warpSize", d->warp_size);
    jout_int(j, "numSms", d->n_sms);
    jout_int(j, "maxThreadsPerMultiprocessor", d->max_threads_per_sm);
    jout_int(j, "regsPerMultiprocessor", d->regs_per_sm);
    jout_int(j, "sharedMemPerMultiprocessor", d->shared_per_sm);
    jout_int(j, "sharedMemPerBlockOptin", d->shared_per_block_optin);
    jout_end_obj(j);
}

static void put_devices(struct chrome *c)
{
    struct jout j;
    jout_init(&j, text(c), false);
    FMT_LIT(text(c), "\"deviceProperties\":");
    jout_arr(&j, NULL);
    for (uint32_t i = 0; i < c->t->n_devices; i++) put_device(&j, c->t, &c->t->devices[i]);
    jout_end_arr(&j);
    FMT_LIT(text(c), ",\n");
}

/* Everything before the events. A key that was written twice is written once. */
static int put_head(struct chrome *c, struct err *e)
{
    const struct trace *t = c->t;
    bool *seen = arena_zalloc(&c->mem, t->strings.n, sizeof *seen);
    if (!seen) return FAIL(e, ERR_NOMEM, "out of memory");
    FMT_LIT(text(c), "{\n");
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct meta *m = &t->metas[i];
        if (m->key >= t->strings.n || seen[m->key] || !strip_keeps(t, m, c->o)) continue;
        seen[m->key] = true;
        put_meta(c, m);
        TRY(sink_pump(&c->sink, e));
    }
    if (!trace_meta(t, "deviceProperties").p && t->n_devices) put_devices(c);
    if (!trace_meta(t, "displayTimeUnit").p) FMT_LIT(text(c), "\"displayTimeUnit\":\"ms\",\n");
    if (t->base_ns) buf_printf(text(c), "\"baseTimeNanoseconds\":%lld,\n", (long long)t->base_ns);
    FMT_LIT(text(c), "\"traceEvents\":[\n");
    return sink_pump(&c->sink, e);
}

static int put_all(struct chrome *c, struct err *e)
{
    bool draw_links = c->o->for_perfetto || c->t->n_flows == 0;
    TRY(prepare_texts(c, e));
    TRY(put_head(c, e));
    TRY(put_labels(c, e));
    TRY(put_rows(c, e));
    TRY(put_flows(c, !draw_links, e));
    if (draw_links) TRY(put_links(c, e));
    FMT_LIT(text(c), "\n]}\n");
    return 0;
}

static int arrange(struct chrome *c, struct err *e)
{
    if (c->o->for_perfetto) return tracks_init(&c->tracks, c->t, e);
    c->order = order_by_src(c->t);
    return c->order ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}

static int write_chrome(const struct trace *t, const char *path, const struct export_options *o,
                        struct err *e)
{
    struct chrome c = {.t = t, .o = o};
    arena_init(&c.mem);
    int rc = arrange(&c, e);
    if (rc == 0) rc = sink_begin(&c.sink, path, o->n_threads, e);
    if (rc == 0) {
        rc = put_all(&c, e);
        if (rc == 0) rc = sink_commit(&c.sink, e);
        else sink_abort(&c.sink);
    }
    tracks_done(&c.tracks);
    mem_free(c.order);
    buf_done(&c.scratch);
    arena_done(&c.mem);
    return rc;
}

const struct exporter to_chrome = {
    .name = "chrome",
    .summary = "Chrome trace JSON, for Perfetto and every tool that reads PyTorch's",
    .extensions = ".json .json.gz .json.zst",
    .next = {"open ", " in https://ui.perfetto.dev"},
    .write = write_chrome,
};
