/* records.c: see records.h.
 *
 * A kernel is launched thousands of times with the same name, shape and stream: all of that is one
 * definition. Which one is remembered by what CUPTI gives for it, so that the usual record costs a
 * look into a small table and one comparison of its name. */
#include "backend/cuda/records.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/cuda/cuda_private.h"
#include "backend/cuda/cupti_abi.h"
#include "base/map.h"
#include "base/mem.h"
#include "record/defs.h"
#include "record/names.h"
#include "record/recorder.h"

#define REMEMBERED    4096 /* kernels */
#define MOST_NAME     (RING_DEF_BYTES - sizeof(struct def_work))
#define MOST_CONTEXTS 64

/* A kernel as CUPTI describes it, and its definition. The text is compared too: an unloaded
 * module's names leave their addresses to others. */
struct known {
    struct def_work work;
    const char *at;
    char *name;
    uint32_t id;
};

static struct known known[REMEMBERED];
static uint64_t devices_seen;
static uint32_t device_of[MOST_CONTEXTS]; /* by context, + 1: sync records do not have it */

/* Names are not freed: the parent's thread may just have done that. */
void records_reset(void)
{
    memset(known, 0, sizeof known);
    memset(device_of, 0, sizeof device_of);
}

static uint32_t records_define(const struct def_work *work, const char *name)
{
    char bytes[2048];
    size_t n = strnlen(name, MOST_NAME);
    char *p = sizeof *work + n <= sizeof bytes ? bytes : mem_alloc(sizeof *work + n);
    if (!p) return 0;
    memcpy(p, work, sizeof *work);
    memcpy(p + sizeof *work, name, n);
    uint32_t id = defs_id(DEF_WORK, str_from(p, sizeof *work + n));
    if (p != bytes) mem_free(p);
    return id;
}

static struct known *records_place_of(const struct def_work *w, const char *at)
{
    uint64_t h = map_mix((uintptr_t)at);
    h = map_mix(h ^ (uint64_t)w->grid[0] << 32 ^ (uint64_t)w->grid[1] << 16 ^ w->grid[2]);
    h ^= (uint64_t)w->stream << 20 ^ (uint64_t)w->device << 40 ^ w->block[0] ^ w->shared_bytes;
    return &known[map_mix(h) % REMEMBERED];
}

static uint32_t kernel_id(const struct def_work *work, const char *name)
{
    struct known *k = records_place_of(work, name);
    if (k->id && k->at == name && memcmp(&k->work, work, sizeof *work) == 0 &&
        strcmp(k->name, name) == 0)
        return k->id;
    uint32_t id = records_define(work, name);
    char *copy = mem_strdup(name);
    if (!copy) return id;
    mem_free(k->name);
    *k = (struct known){*work, name, copy, id};
    return id;
}

struct times {
    uint64_t start, end;
};

#define TIMES(type, record) \
    ((struct times){((const struct type *)(record))->start, ((const struct type *)(record))->end})

static struct times records_times_of(const void *record)
{
    switch ((enum cupti_kind) * (const uint32_t *)record) {
    case CUPTI_KERNEL: return TIMES(cupti_kernel, record);
    case CUPTI_MEMCPY: return TIMES(cupti_memcpy, record);
    case CUPTI_PEER_COPY: return TIMES(cupti_peer_copy, record);
    case CUPTI_MEMSET: return TIMES(cupti_memset, record);
    case CUPTI_SYNC: return TIMES(cupti_sync, record);
    case CUPTI_OVERHEAD: return TIMES(cupti_overhead, record);
    case CUPTI_GRAPH: return TIMES(cupti_graph, record);
    case CUPTI_MEMORY: {
        uint64_t at = ((const struct cupti_memory *)record)->timestamp;
        return (struct times){at, at};
    }
    }
    return (struct times){0};
}

struct work {
    uint32_t id, correlation;
    struct times t; /* zeroes where it was never timed */
    int64_t bytes;  /* -1 for none */
    uint64_t node;  /* 0 for none */
    uint32_t graph;
};

static int add_wide(struct ring_record *out, struct ring_record r, uint64_t value, uint32_t extra)
{
    out[0] = r;
    out[1] = ring_with_id((struct ring_record){.ticks = value, .kind = RING_VALUE}, extra);
    return 2;
}

static void records_put_work(const struct work *w)
{
    struct ring_record slots[WRITER_MOST];
    struct ring_record head = {.kind = RING_WORK, .ticks = w->t.start};
    int n = add_wide(slots, ring_with_id(head, w->id), w->t.end, w->correlation);
    if (w->bytes >= 0)
        n += add_wide(slots + n, (struct ring_record){.kind = RING_WORK_BYTES}, (uint64_t)w->bytes,
                      0);
    if (w->node)
        n += add_wide(slots + n, (struct ring_record){.kind = RING_WORK_NODE}, w->node, w->graph);
    recorder_put_all(slots, n);
    pulse_record(w->correlation);
}

uint64_t records_devices(void)
{
    return __atomic_load_n(&devices_seen, __ATOMIC_RELAXED);
}

static void note_context(uint32_t context, uint32_t device)
{
    if (device < 64 && !(records_devices() >> device & 1))
        __atomic_fetch_or(&devices_seen, (uint64_t)1 << device, __ATOMIC_RELAXED);
    if (context < MOST_CONTEXTS) device_of[context] = device + 1;
}

static void records_put_kernel(const struct cupti_kernel *k, struct times t)
{
    struct def_work work = {
        .kind = DEF_WORK_KERNEL,
        .device = (int32_t)k->device,
        .context = (int32_t)k->context,
        .stream = (int32_t)k->stream,
        .registers = k->registers,
        .shared_bytes = (uint32_t)k->static_shared + (uint32_t)k->dynamic_shared,
    };
    memcpy(work.grid, k->grid, sizeof work.grid);
    memcpy(work.block, k->block, sizeof work.block);
    note_context(k->context, k->device);
    struct work w = {
        .id = kernel_id(&work, k->name ? k->name : "(unnamed kernel)"),
        .correlation = k->correlation,
        .t = t,
        .bytes = -1,
        .node = k->graph_node,
        .graph = k->graph,
    };
    records_put_work(&w);
}

static const char *records_copy_name(unsigned kind)
{
    static const char *const names[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

static const char *records_memory_name(unsigned kind)
{
    static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
    return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

/* Named as PyTorch's own profiler names them. */
static void put_copy(const struct cupti_memcpy *c, struct times t)
{
    struct def_work work = {DEF_WORK_COPY, (int32_t)c->device, (int32_t)c->context,
                            (int32_t)c->stream};
    char name[96];
    snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", records_copy_name(c->copy_kind),
             records_memory_name(c->src_kind), records_memory_name(c->dst_kind));
    note_context(c->context, c->device);
    struct work w = {records_define(&work, name), c->correlation, t,
                     (int64_t)c->bytes,           c->graph_node,  c->graph};
    records_put_work(&w);
}

static void put_peer_copy(const struct cupti_peer_copy *c, struct times t)
{
    struct def_work work = {DEF_WORK_COPY, (int32_t)c->device, (int32_t)c->context,
                            (int32_t)c->stream};
    char name[96];
    snprintf(name, sizeof name, "Memcpy PtoP (Device %u -> Device %u)", c->src_device,
             c->dst_device);
    struct work w = {records_define(&work, name), c->correlation, t,
                     (int64_t)c->bytes,           c->graph_node,  c->graph};
    records_put_work(&w);
}

static void put_memset(const struct cupti_memset *m, struct times t)
{
    struct def_work work = {DEF_WORK_SET, (int32_t)m->device, (int32_t)m->context,
                            (int32_t)m->stream};
    char name[64];
    snprintf(name, sizeof name, "Memset (%s)", records_memory_name(m->memory_kind));
    struct work w = {records_define(&work, name), m->correlation, t,
                     (int64_t)m->bytes,           m->graph_node,  m->graph};
    records_put_work(&w);
}

static void put_sync(const struct cupti_sync *s, struct times t)
{
    static const char *const names[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    uint32_t device = s->context < MOST_CONTEXTS ? device_of[s->context] : 0;
    struct def_work work = {DEF_WORK_SYNC, (int32_t)(device ? device - 1 : 0), (int32_t)s->context,
                            (int32_t)s->stream};
    struct work w = {
        records_define(&work, names[s->type < 5 ? s->type : 0]), s->correlation, t, -1, 0, 0};
    records_put_work(&w);
}

static void put_graph(const struct cupti_graph *g, struct times t)
{
    struct def_work work = {DEF_WORK_GRAPH, (int32_t)g->device, (int32_t)g->context,
                            (int32_t)g->stream};
    char name[48];
    snprintf(name, sizeof name, "CUDA graph %u", g->graph);
    struct work w = {records_define(&work, name), g->correlation, t, -1, 0, g->graph};
    records_put_work(&w);
}

/* Of the program's threads: the cost of our own fetching delays no thread of the program. */
static void put_overhead(const struct cupti_overhead *o)
{
    enum { OF_THREAD = 2 };
    if (o->object_kind == OF_THREAD && o->thread == (uint32_t)syscall(SYS_gettid)) return;
    static const char *const names[] = {"Overhead",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    uint32_t kind = o->overhead_kind >> 16;
    const char *name = names[kind < sizeof names / sizeof *names ? kind : 0];
    struct ring_record slots[2];
    struct ring_record r = {.kind = RING_OVERHEAD, .ticks = o->start};
    r.name = (uint16_t)names_id(str_c(name));
    add_wide(slots, r, o->end, o->object_kind == OF_THREAD ? o->thread : 0);
    recorder_put_all(slots, 2);
}

static void records_put_memory(const struct cupti_memory *m)
{
    struct ring_record slots[4];
    struct ring_record r = {.kind = RING_MEMORY, .ticks = m->timestamp};
    r.type = m->operation == 1 ? RING_MEMORY_ALLOC : RING_MEMORY_FREE;
    int n = add_wide(slots, ring_with_id(r, m->device), m->address, m->memory_kind);
    n += add_wide(slots + n, (struct ring_record){.kind = RING_MEMORY_BYTES}, m->bytes, 0);
    recorder_put_all(slots, n);
}

static bool is_good(struct times t, uint64_t earliest, uint64_t latest)
{
    return t.start >= earliest && t.start <= latest && t.end >= earliest && t.end <= latest;
}

enum record_times records_times(const void *record, uint64_t earliest, uint64_t latest)
{
    struct times t = records_times_of(record);
    if (!t.start || !t.end) return TIMES_NONE;
    if (is_good(t, earliest, latest)) return TIMES_GOOD;
    bool agree = t.start <= t.end && t.end - t.start <= latest - earliest;
    bool one_side = t.end < earliest || t.start > latest;
    return agree && one_side ? TIMES_ELSEWHERE : TIMES_NONE;
}

uint64_t records_start(const void *record)
{
    return records_times_of(record).start;
}

bool records_settled(const void *record, uint64_t earliest, uint64_t latest)
{
    struct times t = records_times_of(record);
    return records_times(record, earliest, latest) == TIMES_GOOD && t.start <= t.end;
}

void records_put(const void *record, enum record_times times)
{
    bool good = times == TIMES_GOOD;
    struct times t = good ? records_times_of(record) : (struct times){0};
    switch ((enum cupti_kind) * (const uint32_t *)record) {
    case CUPTI_KERNEL: records_put_kernel(record, t); break;
    case CUPTI_MEMCPY: put_copy(record, t); break;
    case CUPTI_PEER_COPY: put_peer_copy(record, t); break;
    case CUPTI_MEMSET: put_memset(record, t); break;
    case CUPTI_SYNC: put_sync(record, t); break;
    case CUPTI_GRAPH: put_graph(record, t); break;
    case CUPTI_OVERHEAD:
        if (good) put_overhead(record);
        break;
    case CUPTI_MEMORY:
        if (good) records_put_memory(record);
        break;
    }
}

bool records_complete(const void *record)
{
    switch ((enum cupti_kind) * (const uint32_t *)record) {
    case CUPTI_KERNEL: return ((const struct cupti_kernel *)record)->end != 0;
    case CUPTI_MEMCPY:
    case CUPTI_PEER_COPY: return ((const struct cupti_memcpy *)record)->end != 0;
    case CUPTI_MEMSET: return ((const struct cupti_memset *)record)->end != 0;
    case CUPTI_GRAPH: return ((const struct cupti_graph *)record)->end != 0;
    default: return true;
    }
}
