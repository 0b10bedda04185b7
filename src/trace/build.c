/* build.c: from parts to a frozen trace.
 *
 * Adding a part translates its ids (strings, lanes, categories) into the trace's own and appends
 * its rows. Freezing pairs B/E events, brings the rows into their final order one column at a time
 * (so that the old and the new copy of only one column live together), then nests and links. */
#include "trace/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/seed.h"
#include "base/vec.h"
#include "trace/batch_private.h"
#include "trace/bounds.h"
#include "trace/freeze.h"

enum { MOST_LANES = 1 << 20, OTHER_CAT = 255 };

struct builder {
    struct trace *trace;
    struct rows rows;
    struct map lane_at, process_at, place_at; /* hash of the key -> index, probed on from there */
    size_t cap_lanes, cap_processes, cap_metas, cap_devices, cap_flows, cap_labels;
    struct batch_label_row *labels;
    size_t n_labels;
    struct batch_lane *places; /* of flows, by flow.lane until freezing */
    size_t n_places, cap_places;
    bool has_pairs;
};

struct builder *builder_new(struct err *e)
{
    struct builder *b = mem_zalloc(1, sizeof *b);
    struct trace *t = trace_new();
    str_id *cats = mem_zalloc(OTHER_CAT + 1, sizeof *cats);
    if (!b || !t || !cats) {
        mem_free(b);
        mem_free(cats);
        trace_free(t);
        err_nomem(e);
        return NULL;
    }
    b->trace = t;
    t->cats = cats;
    return b;
}

void builder_free(struct builder *b)
{
    if (!b) return;
    trace_free(b->trace);
    rows_done(&b->rows);
    map_done(&b->lane_at);
    map_done(&b->process_at);
    map_done(&b->place_at);
    mem_free(b->labels);
    mem_free(b->places);
    mem_free(b);
}

struct trace *builder_trace(struct builder *b)
{
    return b->trace;
}

str_id builder_intern(struct builder *b, struct str s)
{
    return intern_add(&b->trace->strings, s);
}

int builder_add_meta(struct builder *b, struct str key, struct str value)
{
    struct trace *t = b->trace;
    struct meta m = {builder_intern(b, key), builder_intern(b, value)};
    if (m.key == STR_NONE || m.value == STR_NONE) return ERR_NOMEM;
    if (VEC_RESERVE(t->metas, t->n_metas, b->cap_metas, 1)) return ERR_NOMEM;
    t->metas[t->n_metas++] = m;
    return 0;
}

int builder_add_device(struct builder *b, const struct device *d)
{
    struct trace *t = b->trace;
    if (VEC_RESERVE(t->devices, t->n_devices, b->cap_devices, 1)) return ERR_NOMEM;
    t->devices[t->n_devices++] = *d;
    return 0;
}

void builder_expect(struct builder *b, uint64_t n_rows)
{
    if (n_rows > b->rows.cap && n_rows < ROW_NONE) (void)rows_reserve(&b->rows, n_rows - b->rows.n);
}

uint32_t builder_n_rows(const struct builder *b)
{
    return (uint32_t)b->rows.n;
}

void builder_end_row(struct builder *b, uint32_t row, int64_t end_ns, bool whole)
{
    struct rows *r = &b->rows;
    if (r->phase[row] != 'X') return; /* it has no start */
    /* beyond all bounds where the times are: freeze_bounds comes later */
    if (__builtin_sub_overflow(end_ns, r->ts_ns[row], &r->dur_ns[row])) r->dur_ns[row] = -1;
    if (!whole) r->flags[row] |= ROW_UNFINISHED;
}

static uint64_t build_key_hash(struct batch_key k)
{
    return k.number != ID_NONE ? seed_hash((uint64_t)k.number) : seed_hash(~(uint64_t)k.text);
}

static bool process_is(const struct process *p, struct batch_key pid)
{
    return p->pid == pid.number && (pid.number != ID_NONE || p->pid_text == pid.text);
}

/* The index of process `pid`, or UINT32_MAX when it is not there and `add` is false or fails. */
static uint32_t build_find_process(struct builder *b, struct batch_key pid, bool add)
{
    struct trace *t = b->trace;
    for (uint64_t h = build_key_hash(pid);; h++) {
        uint32_t at = map_find(&b->process_at, h);
        if (at != MAP_NONE && process_is(&t->processes[at], pid)) return at;
        if (at != MAP_NONE) continue;
        if (!add || VEC_RESERVE(t->processes, t->n_processes, b->cap_processes, 1))
            return UINT32_MAX;
        uint32_t *slot = map_at(&b->process_at, h);
        if (!slot) return UINT32_MAX;
        t->processes[t->n_processes] =
            (struct process){.pid = pid.number, .pid_text = pid.number == ID_NONE ? pid.text : 0};
        return *slot = t->n_processes++;
    }
}

static bool build_lane_is(const struct lane *l, uint32_t process, const struct batch_lane *want)
{
    return l->kind == want->kind && l->process == process && l->tid == want->tid.number &&
           (l->tid != ID_NONE || l->tid_text == want->tid.text);
}

static uint32_t build_find_lane(struct builder *b, uint32_t process, const struct batch_lane *want,
                                bool add)
{
    struct trace *t = b->trace;
    for (uint64_t h = map_mix(build_key_hash(want->tid) + process * 31ull + want->kind);; h++) {
        uint32_t at = map_find(&b->lane_at, h);
        if (at != MAP_NONE && build_lane_is(&t->lanes[at], process, want)) return at;
        if (at != MAP_NONE) continue;
        if (!add || VEC_RESERVE(t->lanes, t->n_lanes, b->cap_lanes, 1)) return UINT32_MAX;
        uint32_t *slot = map_at(&b->lane_at, h);
        if (!slot) return UINT32_MAX;
        t->lanes[t->n_lanes] = (struct lane){
            .kind = want->kind,
            .process = process,
            .tid = want->tid.number,
            .tid_text = want->tid.number == ID_NONE ? want->tid.text : 0,
            .device = want->device,
            .stream = want->stream,
        };
        return *slot = t->n_lanes++;
    }
}

static struct batch_key translate_key(const str_id *strings, struct batch_key k)
{
    if (k.number == ID_NONE) k.text = strings[k.text];
    return k;
}

static bool build_place_is(const struct batch_lane *p, const struct batch_lane *want)
{
    return batch_key_eq(p->pid, want->pid) && batch_key_eq(p->tid, want->tid);
}

static uint32_t build_add_place(struct builder *b, const struct batch_lane *lane)
{
    uint64_t h = map_mix(build_key_hash(lane->pid)) + build_key_hash(lane->tid);
    for (;; h++) {
        uint32_t at = map_find(&b->place_at, h);
        if (at != MAP_NONE && build_place_is(&b->places[at], lane)) return at;
        if (at != MAP_NONE) continue;
        if (VEC_RESERVE(b->places, b->n_places, b->cap_places, 1)) return UINT32_MAX;
        uint32_t *slot = map_at(&b->place_at, h);
        if (!slot) return UINT32_MAX;
        b->places[b->n_places] = *lane;
        return *slot = (uint32_t)b->n_places++;
    }
}

/* The builder's number for each lane of the part. */
static int translate_lanes(struct builder *b, const struct batch *p, const str_id *strings,
                           uint32_t *lanes)
{
    for (size_t i = 0; i < p->n_lanes; i++) {
        struct batch_lane lane = p->lanes[i];
        lane.pid = translate_key(strings, lane.pid);
        lane.tid = translate_key(strings, lane.tid);
        if (lane.kind == LANE_PLACE) {
            lanes[i] = build_add_place(b, &lane);
        } else {
            uint32_t process = build_find_process(b, lane.pid, true);
            lanes[i] = process == UINT32_MAX ? process : build_find_lane(b, process, &lane, true);
        }
        if (lanes[i] == UINT32_MAX) return ERR_NOMEM;
    }
    return b->trace->n_lanes + b->n_places > MOST_LANES ? ERR_LIMIT : 0;
}

static uint8_t build_find_cat(struct trace *t, str_id text)
{
    for (uint32_t i = 0; i < t->n_cats; i++)
        if (t->cats[i] == text) return (uint8_t)i;
    if (t->n_cats >= OTHER_CAT) {
        t->n_cats = OTHER_CAT + 1;
        return OTHER_CAT;
    }
    t->cats[t->n_cats] = text;
    return (uint8_t)t->n_cats++;
}

static int build_add_labels(struct builder *b, const struct batch *p, const str_id *strings)
{
    if (VEC_RESERVE(b->labels, b->n_labels, b->cap_labels, p->n_labels)) return ERR_NOMEM;
    for (size_t i = 0; i < p->n_labels; i++) {
        struct batch_label_row l = p->labels[i];
        l.pid = translate_key(strings, l.pid);
        l.tid = translate_key(strings, l.tid);
        l.text = strings[l.text];
        b->labels[b->n_labels++] = l;
    }
    return 0;
}

static int build_add_flows(struct builder *b, const struct batch *p, const struct rows_ids *ids)
{
    struct trace *t = b->trace;
    if (p->n_flows > UINT32_MAX - t->n_flows) return ERR_LIMIT;
    if (VEC_RESERVE(t->flows, t->n_flows, b->cap_flows, p->n_flows)) return ERR_NOMEM;
    for (size_t i = 0; i < p->n_flows; i++) {
        struct flow f = p->flows[i];
        f.name = ids->strings[f.name];
        f.cat = ids->cats[f.cat];
        f.lane = ids->lanes[f.lane];
        t->flows[t->n_flows++] = f;
    }
    return 0;
}

/* Everything that needs the translation tables, once they have their memory. */
static int copy_with(struct builder *b, const struct batch *p, str_id *strings, uint32_t *lanes)
{
    struct trace *t = b->trace;
    for (uint32_t i = 0; i < p->strings.n; i++) {
        strings[i] = intern_add_hashed(&t->strings, p->strings.strs[i], p->strings.hashes[i]);
        if (strings[i] == STR_NONE) return ERR_NOMEM;
    }
    TRY(translate_lanes(b, p, strings, lanes));
    uint8_t cats[OTHER_CAT + 1] = {[OTHER_CAT] = OTHER_CAT};
    for (uint32_t i = 0; i < p->n_cats; i++) cats[i] = build_find_cat(t, strings[p->cats[i]]);
    struct rows_ids ids = {strings, lanes, cats};
    TRY(build_add_labels(b, p, strings));
    TRY(build_add_flows(b, p, &ids));
    if (b->rows.n + p->rows.n >= ROW_NONE) return ERR_LIMIT;
    return rows_append(&b->rows, &p->rows, &ids) ? ERR_NOMEM : 0;
}

int builder_copy_part(struct builder *b, const struct batch *p, struct err *e)
{
    str_id *strings = mem_alloc(p->strings.n * sizeof *strings);
    uint32_t *lanes = mem_alloc(p->n_lanes * sizeof *lanes);
    int rc = strings && lanes ? copy_with(b, p, strings, lanes) : ERR_NOMEM;
    mem_free(strings);
    mem_free(lanes);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc == ERR_LIMIT) return FAIL(e, rc, "the trace has too many events or threads");
    b->has_pairs |= p->has_pairs;
    damage_merge(&b->trace->damage, &p->damage);
    return 0;
}

int builder_add_part(struct builder *b, struct batch *p, struct err *e)
{
    int rc = builder_copy_part(b, p, e);
    batch_free(p);
    return rc;
}

static void build_label_process(struct process *p, const struct batch_label_row *l)
{
    if (l->what == LABEL_PROCESS_NAME) p->name = l->text;
    else if (l->what == LABEL_PROCESS_LABELS) p->labels = l->text;
    else p->sort_index = l->number;
}

static void apply_labels(struct builder *b)
{
    for (size_t i = 0; i < b->n_labels; i++) {
        const struct batch_label_row *l = &b->labels[i];
        uint32_t process = build_find_process(b, l->pid, false);
        if (process == UINT32_MAX) continue;
        if (l->what <= LABEL_PROCESS_SORT) {
            build_label_process(&b->trace->processes[process], l);
            continue;
        }
        for (int kind = 0; kind <= LANE_OTHER; kind++) {
            struct batch_lane want = {.tid = l->tid, .kind = (enum lane_kind)kind};
            uint32_t at = build_find_lane(b, process, &want, false);
            if (at == UINT32_MAX) continue;
            if (l->what == LABEL_THREAD_NAME) b->trace->lanes[at].name = l->text;
            else b->trace->lanes[at].sort_index = l->number;
        }
    }
}

/* Flows named a process and a thread; now that all lanes are known, they get one. A flow starts
 * on a thread and ends on a stream where both have the same numbers. Where nothing else happened
 * on them, an empty lane is made. */
static int place_flows(struct builder *b)
{
    static const enum lane_kind order[2][6] = {
        {LANE_THREAD, LANE_STREAM, LANE_GPU_NOTE, LANE_OVERHEAD, LANE_COUNTER, LANE_OTHER},
        {LANE_STREAM, LANE_THREAD, LANE_GPU_NOTE, LANE_OVERHEAD, LANE_COUNTER, LANE_OTHER},
    };
    struct trace *t = b->trace;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        struct batch_lane place = b->places[t->flows[i].lane];
        uint32_t process = build_find_process(b, place.pid, true), at = UINT32_MAX;
        for (int k = 0; k < 6 && at == UINT32_MAX && process != UINT32_MAX; k++) {
            place.kind = order[t->flows[i].phase == 'f'][k];
            at = build_find_lane(b, process, &place, place.kind == LANE_OTHER);
        }
        if (at == UINT32_MAX) return ERR_NOMEM;
        t->flows[i].lane = at;
    }
    return 0;
}

/* Nesting and linking touch different columns: they run side by side. */
struct relating {
    struct trace *trace;
    int rc[2];
};

static void build_relate(void *ctx, int item, int worker)
{
    struct relating *job = ctx;
    job->rc[item] = item == 0 ? freeze_nest(job->trace) : freeze_links(job->trace);
}

static int freeze_relate(struct trace *t, int n_threads)
{
    struct relating job = {.trace = t};
    pool_run(n_threads, 2, build_relate, &job);
    return job.rc[0] < 0 ? job.rc[0] : job.rc[1];
}

static int build_freeze(struct builder *b, int n_threads)
{
    TRY(place_flows(b));
    apply_labels(b);
    map_done(&b->lane_at);
    map_done(&b->process_at);
    struct trace *t = b->trace;
    if (b->has_pairs) TRY(freeze_pairs(&b->rows, t));
    freeze_bounds(&b->rows, t);
    TRY(freeze_lanes(&b->rows, t));
    TRY(freeze_order(&b->rows, t, n_threads));
    freeze_times(t);
    TRY(freeze_relate(t, n_threads));
    if (!bounds_sums(t)) return ERR_LIMIT;
    return freeze_profiler(t);
}

int builder_freeze(struct builder *b, int n_threads, struct trace **ret_trace, struct err *e)
{
    int rc = build_freeze(b, n_threads);
    if (rc < 0) {
        if (rc == ERR_LIMIT)
            err_set(e, rc, "its times or sizes add up to more than any recording can");
        err_grow(e, rc);
    } else {
        *ret_trace = b->trace;
        b->trace = NULL;
    }
    builder_free(b);
    return rc;
}
