/* to_chrome.c: Chrome trace JSON as PyTorch writes it, one event per line.
 *
 * Events come in the order of the input, times in microseconds with exactly three decimals, args
 * and metadata as they were written. With for_perfetto, what Perfetto would drop or misplace is
 * arranged for it: see tracks.h. */
#include "base/jout.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "export/chrome.h"
#include "export/export_private.h"

enum { PROGRESS_EVERY = 65536 };

enum quoting { UNKNOWN, PLAIN, ESCAPED };

/* What would command a terminal is escaped, as in all JSON that is printed: nothing gets lost. */
static bool to_chrome_is_plain(struct str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_safe_len(s, i);
        if (s.p[i] == '"' || s.p[i] == '\\' || !n) return false;
        i += n;
    }
    return true;
}

/* Names repeat by the million: whether one needs escapes is found out once. */
static void to_chrome_put_name(struct chrome *c, str_id id)
{
    struct str s = trace_str(c->t, id);
    if (c->quoting[id] == UNKNOWN) c->quoting[id] = to_chrome_is_plain(s) ? PLAIN : ESCAPED;
    if (c->quoting[id] == ESCAPED) {
        jout_quote(chrome_text(c), s);
        return;
    }
    buf_addc(chrome_text(c), '"');
    buf_add_str(chrome_text(c), s);
    buf_addc(chrome_text(c), '"');
}

void chrome_begin_event(struct chrome *c)
{
    if (c->any_event) FMT_LIT(chrome_text(c), ",\n");
    c->any_event = true;
}

static void put_number_or_text(struct chrome *c, struct buf *b, int64_t number, str_id id)
{
    if (number != ID_NONE) fmt_i64(b, number);
    else jout_quote(b, trace_str(c->t, id));
}

void chrome_put_pid(struct chrome *c, struct buf *b, const struct process *p)
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
        chrome_put_pid(c, b, &t->processes[t->lanes[i].process]);
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
    return ok ? 0 : err_nomem(e);
}

/* Where the row is drawn: its lane, or a further track of its thread. */
static void to_chrome_put_where(struct chrome *c, row_t r)
{
    lane_id lane = c->t->lane[r];
    uint8_t track = c->o->for_perfetto ? c->tracks.of_row[r] : 0;
    if (track == 0) {
        buf_add_str(chrome_text(c), c->where[lane]);
        return;
    }
    chrome_put_pid(c, chrome_text(c), &c->t->processes[c->t->lanes[lane].process]);
    FMT_LIT(chrome_text(c), ",\"tid\":");
    fmt_i64(chrome_text(c), c->tracks.tid[c->tracks.thread[lane]] + track - 1);
}

/* Everything of an event up to its time: {"ph":"X","cat":..,"name":..,"pid":..,"tid":.. */
static void put_event_head(struct chrome *c, char phase, uint8_t cat, str_id name)
{
    struct buf *b = chrome_text(c);
    chrome_begin_event(c);
    FMT_LIT(b, "{\"ph\":\"");
    if (phase > 0x20 && phase < 0x7f && phase != '"' && phase != '\\') buf_addc(b, phase);
    FMT_LIT(b, "\",");
    buf_add_str(b, c->cats[cat]);
    FMT_LIT(b, "\"name\":");
    to_chrome_put_name(c, name);
    FMT_LIT(b, ",");
}

static void to_chrome_put_times(struct chrome *c, row_t r)
{
    const struct trace *t = c->t;
    struct buf *b = chrome_text(c);
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
    const struct async_info *async = trace_async(t, r);
    if (async) {
        FMT_LIT(b, ",\"id\":");
        fmt_i64(b, async->id == ID_NONE ? 0 : async->id);
    }
}

static int to_chrome_put_row(struct chrome *c, row_t r, struct err *e)
{
    const struct trace *t = c->t;
    struct buf *b = chrome_text(c);
    put_event_head(c, t->phase[r], t->cat[r], t->name[r]);
    to_chrome_put_where(c, r);
    to_chrome_put_times(c, r);
    bool any;
    size_t before = b->n;
    FMT_LIT(b, ",\"args\":");
    TRY(chrome_args_add(t, r, &c->scratch, b, &any, e));
    if (!any && buf_ok(b)) b->n = before;
    FMT_LIT(b, "}");
    return sink_pump(&c->sink, e);
}

static int to_chrome_put_rows(struct chrome *c, struct err *e)
{
    const row_t *order = c->o->for_perfetto ? c->tracks.order : c->order;
    for (row_t i = 0; i < c->t->n_rows; i++) {
        TRY(to_chrome_put_row(c, order[i], e));
        if (c->o->progress && i % PROGRESS_EVERY == 0)
            c->o->progress(c->o->progress_ctx, i, c->t->n_rows);
    }
    return 0;
}

static void put_flow_tail(struct chrome *c, char phase, int64_t id, int64_t ts_ns)
{
    struct buf *b = chrome_text(c);
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
static int to_chrome_put_flows(struct chrome *c, bool launches, struct err *e)
{
    const struct trace *t = c->t;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const struct flow *f = &t->flows[i];
        if (f->lane == LANE_NONE || (!launches && is_launch_flow(t, f))) continue;
        put_event_head(c, f->phase, f->cat, f->name);
        buf_add_str(chrome_text(c), c->where[f->lane]);
        put_flow_tail(c, f->phase, f->id, f->ts_ns);
        TRY(sink_pump(&c->sink, e));
    }
    return 0;
}

static void put_arrow_end(struct chrome *c, char phase, row_t r, int64_t id)
{
    chrome_begin_event(c);
    buf_printf(chrome_text(c), "{\"ph\":\"%c\",\"cat\":\"ac2g\",\"name\":\"ac2g\",", phase);
    to_chrome_put_where(c, r);
    put_flow_tail(c, phase, id, c->t->ts_ns[r]);
}

/* An arrow from every launch to what it launched. Numbered by the row of the launch: correlation
 * ids repeat where several processes were traced. */
static int put_links(struct chrome *c, struct err *e)
{
    for (row_t r = 0; r < c->t->n_rows; r++) {
        uint32_t n;
        const row_t *launched = trace_launched(c->t, r, &n);
        if (n) put_arrow_end(c, 's', r, r + INT64_C(1));
        for (uint32_t i = 0; i < n; i++) put_arrow_end(c, 'f', launched[i], r + INT64_C(1));
        TRY(sink_pump(&c->sink, e));
    }
    return 0;
}

static int to_chrome_put_all(struct chrome *c, struct err *e)
{
    bool draw_links = c->o->for_perfetto || c->t->n_flows == 0;
    TRY(prepare_texts(c, e));
    TRY(chrome_put_head(c, e));
    TRY(chrome_put_labels(c, e));
    TRY(to_chrome_put_rows(c, e));
    TRY(to_chrome_put_flows(c, !draw_links, e));
    if (draw_links) TRY(put_links(c, e));
    FMT_LIT(chrome_text(c), "\n]}\n");
    return 0;
}

static int to_chrome_arrange(struct chrome *c, struct err *e)
{
    if (c->o->for_perfetto) return tracks_init(&c->tracks, c->t, e);
    c->order = order_by_src(c->t);
    return c->order ? 0 : err_nomem(e);
}

static int write_chrome(const struct trace *t, const char *path, const struct export_options *o,
                        struct err *e)
{
    struct chrome c = {.t = t, .o = o};
    arena_init(&c.mem);
    int rc = to_chrome_arrange(&c, e);
    if (rc == 0) rc = sink_begin(&c.sink, t, path, o->n_threads, e);
    if (rc == 0) {
        rc = to_chrome_put_all(&c, e);
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
    .summary = "Chrome trace JSON, for Perfetto and every tool that reads PyTorch traces",
    .extensions = ".json .json.gz .json.zst",
    .uses = EXPORT_VIEWER,
    .next = {"strata export --open ", "    opens it in ui.perfetto.dev"},
    .write = write_chrome,
};
