/* to_pftrace.c: Perfetto's own format: a run of packets, one for each begin, end, instant or
 * counter value. Spans that cross others of their thread get tracks of their own (tracks.h), so
 * that every end closes the begin it belongs to. Launches and what they launched are joined by
 * flows. */
#include "base/mem.h"
#include "base/vec.h"
#include "export/clean.h"
#include "export/export_private.h"
#include "export/pftrace_out.h"

enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2, PROGRESS_EVERY = 65536 };

/* TracePacket */
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};

/* TrackEvent */
enum {
    EVENT_CATEGORY = 3,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_DOUBLE_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { MOST_FLOWS = 4096 }; /* of one launch */

static int put_packet(struct pf_out *o, struct err *e)
{
    buf_addc(&o->sink.text, 0x0a);
    proto_varint(&o->sink.text, o->packet.n);
    buf_add_str(&o->sink.text, buf_str(&o->packet));
    if (!buf_ok(&o->packet) || !buf_ok(&o->event) || !buf_ok(&o->note) || !buf_ok(&o->value) ||
        !buf_ok(&o->interned) || !buf_ok(&o->scratch))
        return err_nomem(e);
    for (int i = 0; i < PF_OUT_DEPTH; i++)
        if (!buf_ok(&o->nested[i])) return err_nomem(e);
    o->any = true;
    return sink_pump(&o->sink, e);
}

int pf_out_event(struct pf_out *o, int64_t ts_ns, struct err *e)
{
    struct buf *b = &o->packet;
    buf_reset(b);
    if (ts_ns != ID_NONE) proto_int(b, PACKET_TIME, ts_ns);
    proto_uint(b, PACKET_SEQUENCE, SEQUENCE);
    proto_uint(b, PACKET_FLAGS, NEEDS_STATE);
    if (o->interned.n) proto_bytes(b, PACKET_INTERNED, buf_str(&o->interned));
    buf_reset(&o->interned);
    proto_bytes(b, PACKET_EVENT, buf_str(&o->event));
    return put_packet(o, e);
}

int pf_out_track(struct pf_out *o, struct err *e)
{
    buf_reset(&o->packet);
    proto_uint(&o->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_bytes(&o->packet, PACKET_TRACK, buf_str(&o->event));
    return put_packet(o, e);
}

/* The first packet: everything interned begins here; and what time it was. */
static int to_pftrace_put_start(struct pf_out *o, struct err *e)
{
    enum { REALTIME = 1, BOOTTIME = 6 };
    struct buf *b = &o->event;
    int64_t wall_ns = o->t->base_ns - o->shift_ns;
    buf_reset(b);
    for (int i = 0; i < 2 && wall_ns > 0; i++) {
        buf_reset(&o->note);
        proto_uint(&o->note, 1, i ? REALTIME : BOOTTIME);
        proto_int(&o->note, 2, i ? wall_ns : 0);
        proto_bytes(b, 1, buf_str(&o->note));
    }
    buf_reset(&o->packet);
    proto_uint(&o->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_uint(&o->packet, PACKET_FLAGS, STATE_CLEARED);
    if (b->n) proto_bytes(&o->packet, PACKET_CLOCKS, buf_str(b));
    return put_packet(o, e);
}

/* A text of InternedData, in the packet that first refers to it. */
static void put_interned(struct pf_out *o, uint32_t table, uint64_t id, struct str text)
{
    buf_reset(&o->value);
    proto_uint(&o->value, 1, id);
    proto_bytes(&o->value, 2, clean_utf8(text, &o->scratch));
    proto_bytes(&o->interned, table, buf_str(&o->value));
}

static void to_pftrace_put_name(struct pf_out *o, row_t r)
{
    enum { NAMES = 2, CATEGORIES = 1 };
    str_id name = o->t->name[r];
    uint8_t cat = o->t->cat[r];
    if (!o->named[name]) put_interned(o, NAMES, (uint64_t)name + 1, trace_str(o->t, name));
    o->named[name] = true;
    proto_uint(&o->event, EVENT_NAME, (uint64_t)name + 1);
    struct str text = cat < o->t->n_cats ? trace_str(o->t, o->t->cats[cat]) : str_c("");
    if (!text.n) return;
    if (!o->has_cat[cat]) put_interned(o, CATEGORIES, (uint64_t)cat + 1, text);
    o->has_cat[cat] = true;
    proto_uint(&o->event, EVENT_CATEGORY, (uint64_t)cat + 1);
}

/* Each piece of device work has a flow of its own from its launch. */
static void to_pftrace_put_flows(struct pf_out *o, row_t r)
{
    uint32_t n;
    const row_t *launched = trace_launched(o->t, r, &n);
    for (uint32_t i = 0; i < n && i < MOST_FLOWS; i++)
        proto_fixed64(&o->event, EVENT_FLOW, (uint64_t)launched[i] + 1);
    if (trace_launch_of(o->t, r) != ROW_NONE && trace_is_work(o->t, r))
        proto_fixed64(&o->event, EVENT_FLOW_ENDS, (uint64_t)r + 1);
}

static int64_t to_pftrace_time_of(const struct pf_out *o, row_t r)
{
    return o->t->flags[r] & ROW_NO_TIME ? ID_NONE : o->t->ts_ns[r] + o->shift_ns;
}

static int to_pftrace_put_args(struct pf_out *o, row_t r, struct err *e)
{
    bool any;
    buf_reset(&o->args);
    TRY(chrome_args_add(o->t, r, &o->scratch, &o->args, &any, e));
    if (!buf_ok(&o->args)) return err_nomem(e);
    if (any && pf_out_notes(o, buf_str(&o->args)) < 0) return err_nomem(e);
    return 0;
}

static int to_pftrace_put_counter(struct pf_out *o, row_t r, struct err *e)
{
    uint64_t uuid;
    bool any;
    TRY(pf_out_counter(o, r, &uuid, e));
    buf_reset(&o->args);
    TRY(chrome_args_add(o->t, r, &o->scratch, &o->args, &any, e));
    buf_reset(&o->event);
    proto_uint(&o->event, EVENT_TYPE, COUNTER);
    proto_uint(&o->event, EVENT_TRACK, uuid);
    to_pftrace_put_name(o, r);
    proto_double(&o->event, EVENT_DOUBLE_VALUE, any ? pf_out_number(buf_str(&o->args)) : 0);
    return pf_out_event(o, to_pftrace_time_of(o, r), e);
}

/* Phases that only the legacy format has: asynchronous begins and ends. */
static void put_legacy(struct pf_out *o, row_t r)
{
    const struct async_info *async = trace_async(o->t, r);
    buf_reset(&o->note);
    proto_uint(&o->note, 2, (unsigned char)o->t->phase[r]);
    proto_int(&o->note, 6, async && async->id != ID_NONE ? async->id : 0);
    proto_bytes(&o->event, EVENT_LEGACY, buf_str(&o->note));
}

static int to_pftrace_put_row(struct pf_out *o, row_t r, struct err *e)
{
    const struct trace *t = o->t;
    char phase = t->phase[r];
    if (phase == 'C') return to_pftrace_put_counter(o, r, e);
    if (phase == 'M') return 0;
    buf_reset(&o->event);
    if (phase == 'X') proto_uint(&o->event, EVENT_TYPE, SLICE_BEGIN);
    else if (!trace_async(t, r)) proto_uint(&o->event, EVENT_TYPE, INSTANT);
    proto_uint(&o->event, EVENT_TRACK, pf_out_uuid(o, t->lane[r], o->tracks.of_row[r]));
    to_pftrace_put_name(o, r);
    if (trace_async(t, r)) put_legacy(o, r);
    to_pftrace_put_flows(o, r);
    TRY(to_pftrace_put_args(o, r, e));
    return pf_out_event(o, to_pftrace_time_of(o, r), e);
}

/* Spans of one thread that have begun, by track. */
struct open_rows {
    row_t *rows[TRACKS_MOST + 1];
    size_t n[TRACKS_MOST + 1], cap[TRACKS_MOST + 1];
};

/* Ends the spans of a track that are over at `ts_ns`. */
static int end_rows(struct pf_out *o, struct open_rows *open, uint8_t track, int64_t ts_ns,
                    struct err *e)
{
    while (open->n[track]) {
        row_t r = open->rows[track][open->n[track] - 1];
        if (trace_end_ns(o->t, r) > ts_ns) return 0;
        open->n[track]--;
        buf_reset(&o->event);
        proto_uint(&o->event, EVENT_TYPE, SLICE_END);
        proto_uint(&o->event, EVENT_TRACK, pf_out_uuid(o, o->t->lane[r], track));
        TRY(pf_out_event(o, trace_end_ns(o->t, r) + o->shift_ns, e));
    }
    return 0;
}

static int end_thread(struct pf_out *o, struct open_rows *open, struct err *e)
{
    for (int k = 0; k <= TRACKS_MOST; k++) TRY(end_rows(o, open, (uint8_t)k, INT64_MAX, e));
    return 0;
}

static int to_pftrace_put_rows(struct pf_out *o, struct open_rows *open, struct err *e)
{
    const struct trace *t = o->t;
    lane_id thread = LANE_NONE;
    for (row_t i = 0; i < t->n_rows; i++) {
        row_t r = o->tracks.order[i];
        uint8_t k = o->tracks.of_row[r];
        if (o->tracks.thread[t->lane[r]] != thread) TRY(end_thread(o, open, e));
        thread = o->tracks.thread[t->lane[r]];
        if (t->phase[r] == 'X') {
            TRY(end_rows(o, open, k, t->ts_ns[r], e));
            if (VEC_RESERVE(open->rows[k], open->n[k], open->cap[k], 1)) return err_nomem(e);
            open->rows[k][open->n[k]++] = r;
        }
        TRY(to_pftrace_put_row(o, r, e));
        if (o->o->progress && i % PROGRESS_EVERY == 0)
            o->o->progress(o->o->progress_ctx, i, t->n_rows);
    }
    return end_thread(o, open, e);
}

static int to_pftrace_put_all(struct pf_out *o, struct err *e)
{
    struct open_rows open = {0};
    TRY(to_pftrace_put_start(o, e));
    TRY(pf_out_tracks(o, e));
    TRY(pf_out_metas(o, e));
    int rc = to_pftrace_put_rows(o, &open, e);
    for (int k = 0; k <= TRACKS_MOST; k++) mem_free(open.rows[k]);
    return rc;
}

static int to_pftrace_prepare(struct pf_out *o, struct err *e)
{
    const struct trace *t = o->t;
    for (row_t r = 0; r < t->n_rows; r++)
        if (!(t->flags[r] & ROW_NO_TIME) && -t->ts_ns[r] > o->shift_ns) o->shift_ns = -t->ts_ns[r];
    o->named = mem_zalloc(t->strings.n, sizeof *o->named);
    o->has_cat = mem_zalloc(256, sizeof *o->has_cat);
    map_init(&o->counters);
    if (!o->named || !o->has_cat || intern_init(&o->keys)) return err_nomem(e);
    return tracks_init(&o->tracks, t, e);
}

static void to_pftrace_done(struct pf_out *o)
{
    struct buf *bufs[] = {&o->packet,   &o->event,   &o->note, &o->value,
                          &o->interned, &o->scratch, &o->args};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) buf_done(bufs[i]);
    for (int i = 0; i < PF_OUT_DEPTH; i++) buf_done(&o->nested[i]);
    intern_done(&o->keys);
    map_done(&o->counters);
    tracks_done(&o->tracks);
    mem_free(o->named);
    mem_free(o->has_cat);
}

static int write_pftrace(const struct trace *t, const char *path, const struct export_options *o,
                         struct err *e)
{
    struct pf_out out = {.t = t, .o = o};
    int rc = to_pftrace_prepare(&out, e);
    if (rc == 0) rc = sink_begin(&out.sink, t, path, o->n_threads, e);
    if (rc == 0) {
        rc = to_pftrace_put_all(&out, e);
        if (rc == 0) rc = sink_commit(&out.sink, e);
        else sink_abort(&out.sink);
    }
    to_pftrace_done(&out);
    return rc;
}

const struct exporter to_pftrace = {
    .name = "perfetto",
    .summary = "Perfetto's own format: smaller than JSON, and loads faster there",
    .extensions = ".pftrace .pftrace.gz .perfetto-trace",
    .next = {"strata export --open ", "    opens it in ui.perfetto.dev"},
    .write = write_pftrace,
};
