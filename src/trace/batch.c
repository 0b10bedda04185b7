/* batch.c: one worker's share of a trace: rows, strings, lanes and labels of its own. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/seed.h"
#include "base/vec.h"
#include "trace/batch_private.h"

enum { FIRST_LANE_MASK = 63 };

struct batch *batch_new(void)
{
    struct batch *p = mem_zalloc(1, sizeof *p);
    if (!p) return NULL;
    p->lane_mask = FIRST_LANE_MASK;
    p->lane_slots = mem_zalloc(p->lane_mask + 1, sizeof *p->lane_slots);
    if (!p->lane_slots || intern_init(&p->strings)) {
        mem_free(p->lane_slots);
        mem_free(p);
        return NULL;
    }
    return p;
}

void batch_free(struct batch *p)
{
    if (!p) return;
    rows_done(&p->rows);
    intern_done(&p->strings);
    mem_free(p->lanes);
    mem_free(p->lane_slots);
    mem_free(p->labels);
    mem_free(p->flows);
    mem_free(p);
}

int batch_reset(struct batch *p)
{
    rows_reset(&p->rows);
    p->n_cats = 0;
    p->has_pairs = false;
    p->damage = (struct damage){0};
    p->n_lanes = p->n_labels = p->n_flows = 0;
    memset(p->lane_slots, 0, (p->lane_mask + 1) * sizeof *p->lane_slots);
    return intern_reset(&p->strings) ? ERR_NOMEM : 0;
}

struct intern *batch_strings(struct batch *p)
{
    return &p->strings;
}

struct damage *batch_damage(struct batch *p)
{
    return &p->damage;
}

uint8_t batch_cat(struct batch *p, struct str cat)
{
    str_id id = intern_add(&p->strings, cat);
    for (uint32_t i = 0; i < p->n_cats; i++)
        if (p->cats[i] == id) return (uint8_t)i;
    if (id == STR_NONE || p->n_cats == 255) return 255;
    p->cats[p->n_cats] = id;
    return (uint8_t)p->n_cats++;
}

static uint64_t batch_key_hash(struct batch_key k)
{
    return k.number != ID_NONE ? seed_hash((uint64_t)k.number) : seed_hash(~(uint64_t)k.text);
}

static bool batch_lane_is(const struct batch_lane *a, const struct batch_lane *b)
{
    return a->kind == b->kind && batch_key_eq(a->tid, b->tid) && batch_key_eq(a->pid, b->pid);
}

static uint32_t *lane_slot(const struct batch *p, const struct batch_lane *lane)
{
    uint64_t h = map_mix(batch_key_hash(lane->pid) * 31 + batch_key_hash(lane->tid) + lane->kind);
    for (uint32_t i = (uint32_t)h & p->lane_mask;; i = (i + 1) & p->lane_mask) {
        uint32_t at = p->lane_slots[i];
        if (!at || batch_lane_is(&p->lanes[at - 1], lane)) return &p->lane_slots[i];
    }
}

static bool grow_lane_slots(struct batch *p)
{
    uint32_t *old = p->lane_slots, mask = p->lane_mask * 2 + 1;
    uint32_t *slots = mem_zalloc((size_t)mask + 1, sizeof *slots);
    if (!slots) return true;
    p->lane_slots = slots;
    p->lane_mask = mask;
    for (size_t i = 0; i < p->n_lanes; i++) *lane_slot(p, &p->lanes[i]) = (uint32_t)i + 1;
    mem_free(old);
    return false;
}

static enum lane_kind lane_kind_of(const struct batch_row *row)
{
    switch (row->kind) {
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET: return LANE_STREAM;
    case KIND_GPU_ANNOTATION:
    case KIND_GPU_SYNC:
    case KIND_GPU_EVENT: return LANE_GPU_NOTE;
    case KIND_OVERHEAD: return LANE_OVERHEAD;
    case KIND_COUNTER: return LANE_COUNTER;
    case KIND_WINDOW: return LANE_OTHER;
    default: break;
    }
    if (row->on_device) return LANE_STREAM;
    /* "Traces" and "Record Window End" markers name no process */
    if (row->kind == KIND_INSTANT && row->pid.number == ID_NONE) return LANE_OTHER;
    return LANE_THREAD;
}

static int32_t batch_small_number(struct batch_key k)
{
    return k.number >= INT32_MIN && k.number <= INT32_MAX ? (int32_t)k.number : -1;
}

/* Which device and stream a new lane belongs to: the row's args know best, then pid and tid. */
static void place_on_device(struct batch_lane *lane, const struct batch_row *row)
{
    if (lane->kind != LANE_STREAM && lane->kind != LANE_GPU_NOTE) return;
    const struct gpu_info *g = kind_table(row->kind) == TABLE_GPU ? row->aux : NULL;
    lane->device = g && g->device >= 0 ? g->device : batch_small_number(row->pid);
    lane->stream = g && g->stream >= 0 ? g->stream : batch_small_number(row->tid);
}

/* The number in the batch for `lane`, added when new; UINT32_MAX when out of memory. */
static uint32_t batch_find_lane(struct batch *p, struct batch_lane *lane,
                                const struct batch_row *row)
{
    if (p->last_lane < p->n_lanes && batch_lane_is(&p->lanes[p->last_lane], lane))
        return p->last_lane;
    uint32_t *slot = lane_slot(p, lane);
    if (!*slot) {
        if (VEC_RESERVE(p->lanes, p->n_lanes, p->cap_lanes, 1)) return UINT32_MAX;
        if (p->n_lanes >= p->lane_mask / 2) {
            if (grow_lane_slots(p)) return UINT32_MAX;
            slot = lane_slot(p, lane);
        }
        if (row) place_on_device(lane, row);
        p->lanes[p->n_lanes] = *lane;
        *slot = (uint32_t)++p->n_lanes;
    }
    p->last_lane = *slot - 1;
    return p->last_lane;
}

static const struct call_info no_call = {ID_NONE, ID_NONE, 0, 0};
static const struct gpu_info no_work = {
    .correlation = ID_NONE,
    .external_id = ID_NONE,
    .bytes = -1,
    .graph_id = ID_NONE,
    .graph_node = ID_NONE,
    .device = -1,
    .stream = -1,
    .context = -1,
    .occupancy_pct = -1,
    .launch = ROW_NONE,
};

/* Copies the side-table entry; *ret_aux is its index. */
static int add_aux(struct rows *r, const struct batch_row *row, uint32_t *ret_aux)
{
    enum kind_table kept_in = kind_table(row->kind);
    const void *aux = row->aux;
    *ret_aux = UINT32_MAX;
    /* calls and device work are looked up without a question (verify.c) */
    if (!aux && kept_in == TABLE_CALL) aux = &no_call;
    if (!aux && kept_in == TABLE_GPU) aux = &no_work;
    if (!aux) return 0;
#define ADD(table)                                                                \
    if (VEC_RESERVE(r->table, r->n_##table, r->cap_##table, 1)) return ERR_NOMEM; \
    memcpy(&r->table[r->n_##table], aux, sizeof *r->table);                       \
    *ret_aux = (uint32_t)r->n_##table++;                                          \
    break
    switch (kept_in) {
    case TABLE_OP: ADD(ops);
    case TABLE_CALL: ADD(calls);
    case TABLE_GPU: ADD(gpu);
    case TABLE_PY: ADD(py);
    case TABLE_MEM: ADD(mem);
    case TABLE_ASYNC: ADD(asyncs);
    case TABLE_NONE: break;
    }
#undef ADD
    return 0;
}

int batch_add(struct batch *p, const struct batch_row *row)
{
    struct rows *r = &p->rows;
    if (row->name == STR_NONE || rows_reserve(r, 1)) return ERR_NOMEM;
    struct batch_lane key = {row->pid, row->tid, lane_kind_of(row), -1, -1};
    uint32_t lane = batch_find_lane(p, &key, row);
    if (lane == UINT32_MAX) return ERR_NOMEM;
    TRY(add_aux(r, row, &r->aux[r->n]));
    r->ts_ns[r->n] = row->ts_ns;
    r->dur_ns[r->n] = row->dur_ns;
    r->name[r->n] = row->name;
    r->lane[r->n] = lane;
    r->kind[r->n] = (uint8_t)row->kind;
    r->cat[r->n] = row->cat;
    r->phase[r->n] = row->phase;
    r->flags[r->n] = row->flags;
    r->src[r->n] = row->src;
    r->n++;
    if (row->phase == 'B' || row->phase == 'E') p->has_pairs = true;
    return 0;
}

int batch_add_flow(struct batch *p, const struct flow *f, struct batch_key pid,
                   struct batch_key tid)
{
    if (f->name == STR_NONE || VEC_RESERVE(p->flows, p->n_flows, p->cap_flows, 1)) return ERR_NOMEM;
    struct batch_lane place = {pid, tid, LANE_PLACE, -1, -1};
    uint32_t lane = batch_find_lane(p, &place, NULL);
    if (lane == UINT32_MAX) return ERR_NOMEM;
    p->flows[p->n_flows] = *f;
    p->flows[p->n_flows++].lane = lane;
    return 0;
}

int batch_add_label(struct batch *p, enum batch_label what, struct batch_key pid,
                    struct batch_key tid, str_id text, int64_t number)
{
    if (text == STR_NONE || VEC_RESERVE(p->labels, p->n_labels, p->cap_labels, 1)) return ERR_NOMEM;
    p->labels[p->n_labels++] = (struct batch_label_row){what, pid, tid, text, number};
    return 0;
}
