/* pftrace_tracks.c: what Perfetto calls tracks: one for each process and thread, and one for every
 * row of spans that crosses another (see tracks.h).
 *
 * A stream is not a thread of the operating system, nor device 0 process 0: they get tracks by
 * name. What Kineto calls their pid and tid is in the description, for a reader of the exported
 * file.
 */
#include "base/mem.h"
#include "export/clean.h"
#include "export/pftrace_out.h"

enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_RANK = 12,
    TRACK_DESCRIPTION = 14
};

#define PROCESS_UUID ((uint64_t)1 << 40)
#define GROUP_UUID   ((uint64_t)1 << 41)
#define COUNTER_UUID ((uint64_t)1 << 42)

uint64_t pf_out_uuid(const struct pf_out *o, lane_id lane, uint8_t track)
{
    return ((uint64_t)o->tracks.thread[lane] + 1) * (TRACKS_MOST + 1) + track;
}

static bool is_os_number(int64_t v)
{
    return v > 0 && v <= INT32_MAX;
}

/* Whether the lane is a thread of the operating system. */
static bool is_os_lane(const struct trace *t, const struct lane *l)
{
    return is_os_number(t->processes[l->process].pid) && is_os_number(l->tid) &&
           l->kind != LANE_STREAM && l->kind != LANE_GPU_NOTE;
}

static int32_t pftrace_tracks_rank_of(int64_t sort_index)
{
    return sort_index < INT32_MIN || sort_index > INT32_MAX ? 0 : (int32_t)sort_index;
}

static void pftrace_tracks_put_text(struct pf_out *o, struct buf *b, uint32_t field, struct str s)
{
    proto_bytes(b, field, clean_utf8(s, &o->scratch));
}

static void begin_track(struct pf_out *o, uint64_t uuid, uint64_t parent)
{
    buf_reset(&o->event);
    proto_uint(&o->event, TRACK_UUID, uuid);
    if (parent) proto_uint(&o->event, TRACK_PARENT, parent);
}

/* A process of the operating system: ProcessDescriptor. */
static int pftrace_tracks_put_process(struct pf_out *o, uint32_t i, struct err *e)
{
    const struct process *p = &o->t->processes[i];
    struct buf *b = &o->note;
    begin_track(o, PROCESS_UUID + i, 0);
    buf_reset(b);
    proto_int(b, 1, p->pid);
    if (p->sort_index) proto_int(b, 3, pftrace_tracks_rank_of(p->sort_index));
    if (p->name) pftrace_tracks_put_text(o, b, 6, trace_str(o->t, p->name));
    if (p->labels) pftrace_tracks_put_text(o, b, 8, trace_str(o->t, p->labels));
    proto_bytes(&o->event, TRACK_PROCESS, buf_str(b));
    return pf_out_track(o, e);
}

/* Anything else that holds tracks: a device, the profiler's own spans. */
static int pftrace_tracks_put_group(struct pf_out *o, uint32_t i, struct err *e)
{
    const struct process *p = &o->t->processes[i];
    struct str name = trace_str(o->t, p->name), labels = trace_str(o->t, p->labels);
    char text[40];
    begin_track(o, GROUP_UUID + i, 0);
    if (p->pid == ID_NONE) {
        name = trace_str(o->t, p->pid_text);
    } else if (!name.n) {
        snprintf(text, sizeof text, "GPU %lld", (long long)p->pid);
        name = str_c(text);
    }
    pftrace_tracks_put_text(o, &o->event, TRACK_NAME, name);
    if (labels.n) pftrace_tracks_put_text(o, &o->event, TRACK_DESCRIPTION, labels);
    if (p->sort_index) proto_int(&o->event, TRACK_RANK, pftrace_tracks_rank_of(p->sort_index));
    return pf_out_track(o, e);
}

static int put_os_thread(struct pf_out *o, const struct lane *l, uint64_t uuid, struct err *e)
{
    struct buf *b = &o->note;
    begin_track(o, uuid, PROCESS_UUID + l->process);
    buf_reset(b);
    proto_int(b, 1, o->t->processes[l->process].pid);
    proto_int(b, 2, l->tid);
    if (l->sort_index) proto_int(b, 3, pftrace_tracks_rank_of(l->sort_index));
    if (l->name) pftrace_tracks_put_text(o, b, 5, trace_str(o->t, l->name));
    proto_bytes(&o->event, TRACK_THREAD, buf_str(b));
    return pf_out_track(o, e);
}

/* A stream, or what else is called by a name: without numbers it is called as the trace does. */
static int put_named(struct pf_out *o, const struct lane *l, uint64_t uuid, struct err *e)
{
    const struct process *p = &o->t->processes[l->process];
    bool numbers = p->pid != ID_NONE && l->tid != ID_NONE;
    struct str name = l->tid == ID_NONE ? trace_str(o->t, l->tid_text) : trace_str(o->t, l->name);
    char text[64];
    if (l->tid != ID_NONE && (!numbers || !name.n)) {
        snprintf(text, sizeof text, numbers ? "stream %lld" : "%lld", (long long)l->tid);
        name = str_c(text);
    }
    begin_track(o, uuid, GROUP_UUID + l->process);
    pftrace_tracks_put_text(o, &o->event, TRACK_NAME, name);
    if (numbers) {
        snprintf(text, sizeof text, "pid %lld tid %lld", (long long)p->pid, (long long)l->tid);
        proto_bytes(&o->event, TRACK_DESCRIPTION, str_c(text));
    }
    if (l->sort_index) proto_int(&o->event, TRACK_RANK, pftrace_tracks_rank_of(l->sort_index));
    return pf_out_track(o, e);
}

/* The further tracks of a thread, on which spans stand that cross others of it. */
static int put_overlaps(struct pf_out *o, lane_id lane, struct err *e)
{
    const struct lane *l = &o->t->lanes[lane];
    for (int k = 1; k <= o->tracks.n_extra[lane]; k++) {
        begin_track(o, pf_out_uuid(o, lane, (uint8_t)k), pf_out_uuid(o, lane, 0));
        buf_reset(&o->value);
        struct str name = str_trim(trace_str(o->t, l->name));
        if (name.n) buf_add_str(&o->value, name);
        else if (l->tid != ID_NONE) buf_printf(&o->value, "thread %lld", (long long)l->tid);
        else buf_add_str(&o->value, trace_str(o->t, l->tid_text));
        buf_adds(&o->value, " (overlap)");
        pftrace_tracks_put_text(o, &o->event, TRACK_NAME, buf_str(&o->value));
        TRY(pf_out_track(o, e));
    }
    return 0;
}

/* By thread: whether all its lanes are the operating system's; by process: what it holds. */
struct owners {
    bool *os_thread, *has_os, *has_group;
};

static void find_owners(const struct pf_out *o, struct owners *w)
{
    const struct trace *t = o->t;
    for (lane_id i = 0; i < t->n_lanes; i++) w->os_thread[i] = true;
    for (lane_id i = 0; i < t->n_lanes; i++)
        if (!is_os_lane(t, &t->lanes[i])) w->os_thread[o->tracks.thread[i]] = false;
    for (lane_id i = 0; i < t->n_lanes; i++) {
        bool os = w->os_thread[o->tracks.thread[i]];
        *(os ? &w->has_os[t->lanes[i].process] : &w->has_group[t->lanes[i].process]) = true;
    }
}

static int pftrace_tracks_put_tracks(struct pf_out *o, struct owners *w, struct err *e)
{
    const struct trace *t = o->t;
    find_owners(o, w);
    for (uint32_t i = 0; i < t->n_processes; i++) {
        if (w->has_os[i]) TRY(pftrace_tracks_put_process(o, i, e));
        if (w->has_group[i]) TRY(pftrace_tracks_put_group(o, i, e));
    }
    for (lane_id i = 0; i < t->n_lanes; i++) {
        if (o->tracks.thread[i] != i) continue;
        uint64_t uuid = pf_out_uuid(o, i, 0);
        TRY((w->os_thread[i] ? put_os_thread : put_named)(o, &t->lanes[i], uuid, e));
        TRY(put_overlaps(o, i, e));
    }
    return 0;
}

int pf_out_tracks(struct pf_out *o, struct err *e)
{
    struct owners w = {
        mem_zalloc(o->t->n_lanes, sizeof(bool)),
        mem_zalloc(o->t->n_processes, sizeof(bool)),
        mem_zalloc(o->t->n_processes, sizeof(bool)),
    };
    int rc =
        w.os_thread && w.has_os && w.has_group ? pftrace_tracks_put_tracks(o, &w, e) : err_nomem(e);
    mem_free(w.os_thread);
    mem_free(w.has_os);
    mem_free(w.has_group);
    return rc;
}

int pf_out_counter(struct pf_out *o, row_t r, uint64_t *ret_uuid, struct err *e)
{
    const struct lane *l = &o->t->lanes[o->t->lane[r]];
    uint64_t key = (uint64_t)l->process << 32 | o->t->name[r];
    uint32_t *slot = map_at(&o->counters, key);
    if (!slot) return err_nomem(e);
    *ret_uuid = COUNTER_UUID + (map_mix(key) >> 24);
    if (*slot != MAP_NONE) return 0;
    *slot = 0;
    bool os = is_os_number(o->t->processes[l->process].pid);
    begin_track(o, *ret_uuid, (os ? PROCESS_UUID : GROUP_UUID) + l->process);
    pftrace_tracks_put_text(o, &o->event, TRACK_NAME, trace_str(o->t, o->t->name[r]));
    proto_bytes(&o->event, TRACK_COUNTER, str_c(""));
    return pf_out_track(o, e);
}
