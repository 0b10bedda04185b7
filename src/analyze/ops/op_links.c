/* op_links.c: see op_links.h. Most rows are settled by looking at the operator right above them; a
 * map of operator ids is built only when a row needs a search. */
#include "analyze/ops/op_links.h"

#include <stdlib.h>

#include "analyze/names/torch_words.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/wrap.h"

/* How sure we are that the profiler was stopped on a thread, best first. */
enum main_rank { MAIN_STOP_SYNC = 4, MAIN_STEPS = 3, MAIN_FIRST = 2, MAIN_OPS = 1, MAIN_NOT = 0 };

struct candidate {
    enum main_rank rank;
    int64_t weight; /* among equals the larger wins: time of the sync, or number of operators */
};

struct linker {
    const struct trace *t;
    struct op_links *out;
    bool by_id;     /* External ids can be trusted */
    struct map ids; /* (process, external id) -> op row; filled on first use */
    bool ids_filled;
    lane_id *main;          /* by process: where its unlinked calls nest */
    struct candidate *best; /* by process: why */
    uint32_t sole_process;  /* the only process with threads, or UINT32_MAX */
    size_t cap_guests;
    struct op_guest *guests;
};

static bool op_links_is_call(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER;
}

/* Device rows that may carry device time of an operator: all but projections of annotations. */
static bool is_device_time(enum row_kind kind)
{
    return kind_is_device(kind) && kind != KIND_GPU_ANNOTATION;
}

static int64_t op_links_known(int64_t id)
{
    return id == ID_NONE || id <= 0 ? 0 : id;
}

static bool is_device_lane(const struct lane *l)
{
    return l->kind == LANE_STREAM || l->kind == LANE_GPU_NOTE;
}

/* Without a single link on device work the ids tell nothing, whatever the file's age. */
static bool ids_tell(const struct trace *t)
{
    for (lane_id l = 0; l < t->n_lanes && t->external_ids_usable; l++)
        for (row_t r = t->lanes[l].begin; is_device_lane(&t->lanes[l]) && r < t->lanes[l].end; r++)
            if (is_device_time(t->kind[r]) && t->aux[r] < t->n_gpu &&
                op_links_known(t->gpu[t->aux[r]].external_id))
                return true;
    return false;
}

/* The op's own id; 0 when it has none. */
static int64_t id_of_op(const struct trace *t, row_t op)
{
    const struct op_info *o = op == ROW_NONE ? NULL : trace_op(t, op);
    return o ? op_links_known(o->external_id) : 0;
}

static uint64_t id_key(uint32_t process, int64_t id)
{
    return map_mix((uint64_t)id) ^ process;
}

static bool fill_ids(struct linker *k)
{
    const struct trace *t = k->t;
    if (k->ids_filled) return false;
    if (map_reserve(&k->ids, t->n_ops)) return true;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            int64_t id = t->kind[r] == KIND_OP ? id_of_op(t, r) : 0;
            if (!id) continue;
            uint32_t *slot = map_at(&k->ids, id_key(t->lanes[l].process, id));
            if (!slot) return true;
            if (*slot == MAP_NONE) *slot = r;
        }
    }
    k->ids_filled = true;
    return false;
}

/* The op with this id in the process, or ROW_NONE. True when out of memory. */
static bool find_id(struct linker *k, uint32_t process, int64_t id, row_t *ret)
{
    if (fill_ids(k)) return true;
    row_t r = map_find(&k->ids, id_key(process, id));
    *ret = r != MAP_NONE && id_of_op(k->t, r) == id ? r : ROW_NONE;
    return false;
}

/* The op a call belongs to; *ret = ROW_NONE when it was made outside any. `id` is its link. */
static bool owner_of_call(struct linker *k, row_t call, int64_t id, row_t *ret)
{
    const struct trace *t = k->t;
    *ret = ROW_NONE;
    if (k->by_id && !id) return false;
    row_t op = trace_up(t, call, KIND_OP);
    if (!k->by_id || id_of_op(t, op) == id) {
        *ret = op;
        return false;
    }
    return find_id(k, t->lanes[t->lane[call]].process, id, ret);
}

static uint32_t sole_process(const struct trace *t)
{
    uint32_t sole = UINT32_MAX;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        if (sole != UINT32_MAX && sole != t->lanes[l].process) return UINT32_MAX;
        sole = t->lanes[l].process;
    }
    return sole;
}

static bool owner_of_device_row(struct linker *k, row_t r, row_t *ret)
{
    const struct trace *t = k->t;
    const struct gpu_info *g = &t->gpu[t->aux[r]];
    *ret = ROW_NONE;
    int64_t id = op_links_known(g->external_id);
    row_t call = trace_launch_of(t, r);
    if (call != ROW_NONE) {
        const struct call_info *c = trace_call(t, call);
        return owner_of_call(k, call, id ? id : c ? op_links_known(c->external_id) : 0, ret);
    }
    if (!k->by_id || !id || k->sole_process == UINT32_MAX) return false;
    return find_id(k, k->sole_process, id, ret);
}

static bool credit_row(struct linker *k, row_t r)
{
    const struct trace *t = k->t;
    row_t op;
    if (!is_device_time(t->kind[r]) || t->aux[r] >= t->n_gpu) return false;
    if (owner_of_device_row(k, r, &op)) return true;
    if (op == ROW_NONE || t->aux[op] >= t->n_ops) return false;
    k->out->owner[t->aux[r]] = op;
    int64_t *ns = &k->out->device_ns[t->aux[op]];
    *ns = wrap_add(*ns, t->dur_ns[r]);
    return false;
}

static bool credit_device_time(struct linker *k)
{
    const struct trace *t = k->t;
    for (uint32_t i = 0; i < t->n_gpu; i++) k->out->owner[i] = ROW_NONE;
    for (lane_id l = 0; l < t->n_lanes; l++)
        for (row_t r = t->lanes[l].begin; is_device_lane(&t->lanes[l]) && r < t->lanes[l].end; r++)
            if (credit_row(k, r)) return true;
    return false;
}

static bool is_better(struct candidate a, struct candidate b)
{
    return a.rank != b.rank ? a.rank > b.rank : a.weight > b.weight;
}

/* torch synchronizes the device when it stops, outside any operator: its thread is the main one.
 * Watchdog threads poll outside operators too, so other calls prove nothing. */
static bool is_stop_sync(const struct trace *t, row_t r)
{
    const struct call_info *c = trace_call(t, r);
    if (c && op_links_known(c->external_id) && t->external_ids_usable) return false;
    return str_ends(trace_name(t, r), "DeviceSynchronize");
}

static struct candidate rank_lane(const struct trace *t, lane_id l)
{
    const struct lane *lane = &t->lanes[l];
    struct candidate best = {MAIN_NOT, 0};
    int64_t n_ops = 0;
    for (row_t r = lane->begin; r < lane->end; r++) {
        if (t->kind[r] == KIND_OP || t->kind[r] == KIND_ANNOTATION) n_ops++;
        if (t->kind[r] == KIND_ANNOTATION && best.rank < MAIN_STEPS &&
            torch_is_step(trace_name(t, r)))
            best.rank = MAIN_STEPS;
        if (op_links_is_call(t, r) && is_stop_sync(t, r))
            best = (struct candidate){MAIN_STOP_SYNC, t->ts_ns[r]};
    }
    if (best.rank == MAIN_STOP_SYNC) return best;
    best.weight = n_ops;
    if (best.rank == MAIN_NOT && n_ops)
        best.rank = lane->tid == t->processes[lane->process].pid ? MAIN_FIRST : MAIN_OPS;
    return best;
}

/* Fills k->main for every process, and the main lane of them all. */
static void find_main_lanes(struct linker *k)
{
    const struct trace *t = k->t;
    struct candidate best = {MAIN_NOT, 0};
    k->out->main = LANE_NONE;
    for (uint32_t p = 0; p < t->n_processes; p++) k->main[p] = LANE_NONE;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        struct candidate c = rank_lane(t, l);
        uint32_t p = t->lanes[l].process;
        if (k->main[p] == LANE_NONE || is_better(c, k->best[p])) k->main[p] = l, k->best[p] = c;
        if (k->out->main == LANE_NONE || is_better(c, best)) k->out->main = l, best = c;
    }
}

static bool add_guest(struct linker *k, lane_id lane, row_t r)
{
    if (lane == LANE_NONE) return false;
    if (VEC_RESERVE(k->guests, k->out->n_guests, k->cap_guests, 1)) return true;
    k->guests[k->out->n_guests++] = (struct op_guest){lane, r};
    return false;
}

static bool place_call(struct linker *k, row_t r)
{
    const struct trace *t = k->t;
    const struct call_info *c = trace_call(t, r);
    if (!c) return false;
    row_t op;
    if (owner_of_call(k, r, op_links_known(c->external_id), &op)) return true;
    lane_id lane = op != ROW_NONE ? t->lane[op] : k->main[t->lanes[t->lane[r]].process];
    if (lane == t->lane[r] || lane == LANE_NONE) return false;
    k->out->away[t->aux[r]] = 1;
    return add_guest(k, lane, r);
}

static bool place_calls(struct linker *k)
{
    const struct trace *t = k->t;
    for (lane_id l = 0; l < t->n_lanes; l++)
        for (row_t r = t->lanes[l].begin; !is_device_lane(&t->lanes[l]) && r < t->lanes[l].end; r++)
            if (op_links_is_call(t, r) && place_call(k, r)) return true;
    return false;
}

/* What merged files put before a pid: "[rank 1] " of "[rank 1] -1"; empty for a plain number. */
static struct str pid_prefix(const struct trace *t, uint32_t process)
{
    const struct process *p = &t->processes[process];
    struct str s = p->pid == ID_NONE ? trace_str(t, p->pid_text) : (struct str){"", 0};
    while (s.n && ((s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9') || s.p[s.n - 1] == '-')) s.n--;
    return s;
}

/* Overhead has a process of its own (pid -1): the main thread of its rank. */
static lane_id main_of_rank(const struct linker *k, uint32_t overhead)
{
    const struct trace *t = k->t;
    struct str rank = pid_prefix(t, overhead);
    lane_id best = LANE_NONE;
    for (uint32_t p = 0; p < t->n_processes; p++) {
        if (k->main[p] == LANE_NONE || !str_eq(pid_prefix(t, p), rank)) continue;
        if (best == LANE_NONE || is_better(k->best[p], k->best[t->lanes[best].process]))
            best = k->main[p];
    }
    return best != LANE_NONE ? best : k->out->main;
}

static bool place_overhead(struct linker *k)
{
    const struct trace *t = k->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        lane_id main = main_of_rank(k, t->lanes[l].process);
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            if (add_guest(k, main, r)) return true;
    }
    return false;
}

static int guest_order(const void *pa, const void *pb, void *ctx)
{
    const struct trace *t = ctx;
    const struct op_guest *a = pa, *b = pb;
    if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
    if (t->ts_ns[a->row] != t->ts_ns[b->row]) return t->ts_ns[a->row] < t->ts_ns[b->row] ? -1 : 1;
    if (t->dur_ns[a->row] != t->dur_ns[b->row])
        return t->dur_ns[a->row] > t->dur_ns[b->row] ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Sorts the guests and moves them into the arena. */
static bool settle_guests(struct linker *k, struct arena *mem)
{
    const struct trace *t = k->t;
    struct op_links *out = k->out;
    out->first_guest = arena_zalloc(mem, (size_t)t->n_lanes + 1, sizeof *out->first_guest);
    out->guests = arena_zalloc(mem, out->n_guests + 1u, sizeof *out->guests);
    if (!out->first_guest || !out->guests) return true;
    if (out->n_guests) {
        qsort_r(k->guests, out->n_guests, sizeof *k->guests, guest_order, (void *)t);
        memcpy(out->guests, k->guests, out->n_guests * sizeof *k->guests);
    }
    for (uint32_t i = 0; i < out->n_guests; i++) out->first_guest[out->guests[i].lane + 1]++;
    for (lane_id l = 0; l < t->n_lanes; l++) out->first_guest[l + 1] += out->first_guest[l];
    return false;
}

static bool link_all(struct linker *k, struct arena *mem)
{
    const struct trace *t = k->t;
    k->out->device_ns = arena_zalloc(mem, t->n_ops + 1u, sizeof *k->out->device_ns);
    k->out->away = arena_zalloc(mem, t->n_calls + 1u, 1);
    k->out->owner = arena_zalloc(mem, t->n_gpu + 1u, sizeof *k->out->owner);
    k->main = arena_zalloc(mem, t->n_processes + 1u, sizeof *k->main);
    k->best = arena_zalloc(mem, t->n_processes + 1u, sizeof *k->best);
    if (!k->out->device_ns || !k->out->away || !k->out->owner || !k->main || !k->best) return true;
    find_main_lanes(k);
    return credit_device_time(k) || place_calls(k) || place_overhead(k) || settle_guests(k, mem);
}

static void linker_init(struct linker *k, const struct trace *t, struct op_links *out)
{
    *k = (struct linker){.t = t, .out = out, .by_id = ids_tell(t), .sole_process = sole_process(t)};
    map_init(&k->ids);
}

static void linker_done(struct linker *k)
{
    map_done(&k->ids);
    mem_free(k->guests);
}

int op_links_run(const struct trace *t, struct arena *mem, struct op_links *ret, struct err *e)
{
    struct linker k;
    *ret = (struct op_links){0};
    linker_init(&k, t, ret);
    bool failed = link_all(&k, mem);
    linker_done(&k);
    return failed ? err_nomem(e) : 0;
}
