/* ring_device.c: see ring_device.h. */
#include "import/ring/ring_device.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int ring_device_init(struct ring_device *d, struct batch *part, struct ring_process *p,
                     uint32_t ring)
{
    *d = (struct ring_device){.part = part, .p = p, .pid = p->pid, .ring = ring};
    map_init(&d->named);
    buf_init(&d->scratch);
    demangler_init(&d->demangler);
    if (p->pid_text) d->pid.text = intern_add(batch_strings(part), str_c(p->pid_text));
    d->names = mem_alloc(((size_t)p->defs.n + 1) * sizeof *d->names);
    if (!d->names || (p->pid_text && d->pid.text == STR_NONE)) return ERR_NOMEM;
    for (uint32_t i = 0; i <= p->defs.n; i++) d->names[i] = STR_NONE;
    return 0;
}

void ring_device_done(struct ring_device *d)
{
    mem_free(d->names);
    map_done(&d->named);
    buf_done(&d->scratch);
    demangler_done(&d->demangler);
}

bool ring_device_takes(enum ring_kind kind)
{
    return kind >= RING_CALL && kind <= RING_DROPPED;
}

int64_t ring_device_end_ns(const struct ring_process *p, const struct ring_entry *e)
{
    uint64_t ticks = e->r.ticks;
    if (e->r.kind == RING_WORK || e->r.kind == RING_OVERHEAD) ticks = e->value;
    bool timed = e->r.kind == RING_CALL || e->r.kind == RING_WORK || e->r.kind == RING_OVERHEAD ||
                 e->r.kind == RING_MEMORY;
    return timed && ticks ? ring_process_ns(p, ticks) : INT64_MIN;
}

/* Devices are processes of their own in a trace; where several processes use them, each has its
 * own set. */
static struct batch_key device_key(struct ring_device *d, int32_t device)
{
    if (!d->p->device_text) return (struct batch_key){device, 0};
    char text[160];
    snprintf(text, sizeof text, "%s %d", d->p->device_text, device);
    return (struct batch_key){ID_NONE, intern_add(batch_strings(d->part), str_c(text))};
}

static int ring_device_label(struct ring_device *d, enum batch_label what, const char *text)
{
    str_id id = intern_add(batch_strings(d->part), str_c(text));
    if (id == STR_NONE) return ERR_NOMEM;
    return batch_add_label(d->part, what, d->row.pid, d->row.tid, id, 0);
}

/* A stream gets its name when it is first met. */
static int ring_device_name_stream(struct ring_device *d)
{
    uint64_t key = (uint64_t)(uint32_t)d->gpu.device << 32 | (uint32_t)d->gpu.stream;
    uint32_t *slot = map_at(&d->named, map_mix(key + 1));
    if (!slot) return ERR_NOMEM;
    if (*slot != MAP_NONE) return 0;
    *slot = 0;
    char text[40];
    snprintf(text, sizeof text, "stream %d", d->gpu.stream);
    TRY(ring_device_label(d, LABEL_THREAD_NAME, text));
    snprintf(text, sizeof text, "GPU %d", d->gpu.device);
    return ring_device_label(d, LABEL_PROCESS_LABELS, text);
}

static int add_pending(struct ring_device *d)
{
    if (!d->pending) return 0;
    d->pending = false;
    if (!ring_process_shows(d->p, d->row.ts_ns)) return 0;
    if (d->row.pid.number == ID_NONE && d->row.pid.text == STR_NONE) return ERR_NOMEM;
    if (d->row.kind != KIND_MEMORY) TRY(ring_device_name_stream(d));
    return batch_add(d->part, &d->row);
}

/* The name of a definition in this part. Kernels are shown as people write them. */
static str_id ring_device_name_of(struct ring_device *d, uint32_t id, struct str name)
{
    if (d->names[id] != STR_NONE) return d->names[id];
    buf_reset(&d->scratch);
    if (demangle(&d->demangler, name, &d->scratch)) name = buf_str(&d->scratch);
    return d->names[id] = intern_add(batch_strings(d->part), name);
}

static const struct {
    enum row_kind kind;
    const char *cat;
} work_kinds[] = {
    [DEF_WORK_KERNEL] = {KIND_KERNEL, "kernel"},  [DEF_WORK_COPY] = {KIND_MEMCPY, "gpu_memcpy"},
    [DEF_WORK_SET] = {KIND_MEMSET, "gpu_memset"}, [DEF_WORK_SYNC] = {KIND_GPU_SYNC, "cuda_sync"},
    [DEF_WORK_GRAPH] = {KIND_KERNEL, "kernel"},
};
enum { N_WORK_KINDS = sizeof work_kinds / sizeof *work_kinds };

static void ring_device_set_times(struct ring_device *d, uint64_t start, uint64_t end,
                                  uint64_t number)
{
    if (!start || !end) {
        d->row.flags |= ROW_NO_TIME;
        damage_note(batch_damage(d->part), DAMAGE_ZERO_TIME, number);
        return;
    }
    d->row.ts_ns = ring_process_ns(d->p, start);
    int64_t dur = ring_process_ns(d->p, end) - d->row.ts_ns;
    if (dur < 0) damage_note(batch_damage(d->part), DAMAGE_NEGATIVE_DURATION, number);
    d->row.dur_ns = dur < 0 ? 0 : dur;
}

static void set_gpu(struct ring_device *d, const struct def_work *w, const struct ring_entry *e)
{
    d->gpu = (struct gpu_info){
        .correlation = e->extra ? (int64_t)e->extra : ID_NONE,
        .external_id = ID_NONE,
        .bytes = -1,
        .graph_id = ID_NONE,
        .graph_node = ID_NONE,
        .device = ring_process_device(d->p, w->device),
        .stream = w->stream,
        .context = w->context,
        .shared_bytes = w->shared_bytes,
        .registers = (uint16_t)(w->registers > UINT16_MAX ? UINT16_MAX : w->registers),
        .occupancy_pct = -1,
        .launch = ROW_NONE,
    };
    memcpy(d->gpu.grid, w->grid, sizeof w->grid);
    memcpy(d->gpu.block, w->block, sizeof w->block);
}

static int ring_device_begin_work(struct ring_device *d, const struct ring_entry *e)
{
    struct def_work w;
    struct str def = defs_file_get(&d->p->defs, ring_id(e->r), DEF_WORK, sizeof w);
    if (!def.p) {
        damage_note(batch_damage(d->part), DAMAGE_BAD_EVENT, e->number);
        return 0;
    }
    memcpy(&w, def.p, sizeof w);
    if (w.kind == 0 || w.kind >= N_WORK_KINDS) return 0; /* newer than we are */
    set_gpu(d, &w, e);
    d->row = (struct batch_row){
        .name = ring_device_name_of(d, ring_id(e->r), str_from(def.p + sizeof w, def.n - sizeof w)),
        .kind = work_kinds[w.kind].kind,
        .cat = batch_cat(d->part, str_c(work_kinds[w.kind].cat)),
        .phase = 'X',
        .src = RING_SRC(d->ring, e->number),
        .pid = device_key(d, ring_process_device(d->p, w.device)),
        .tid = {w.stream, 0},
        .aux = &d->gpu,
    };
    ring_device_set_times(d, e->r.ticks, e->value, e->number);
    d->pending = true;
    return d->row.name == STR_NONE ? ERR_NOMEM : 0;
}

static int begin_memory(struct ring_device *d, const struct ring_entry *e, struct batch_key tid)
{
    enum {
        PINNED = 2,
        DEVICE = 3,
        MANAGED = 5,
        ON_CPU = 0,
        ON_CUDA = 1
    }; /* CUPTI's, then torch's */
    if (e->extra != PINNED && e->extra != DEVICE && e->extra != MANAGED) return 0;
    d->mem = (struct mem_info){
        .addr = e->value,
        .bytes = e->r.type == RING_MEMORY_FREE ? -1 : 1, /* the sign; the size follows */
        .total_allocated = -1,
        .total_reserved = -1,
        .device_type = e->extra == PINNED ? ON_CPU : ON_CUDA,
        .device_id = (int16_t)ring_process_device(
            d->p, ring_id(e->r) <= INT16_MAX ? (int32_t)ring_id(e->r) : 0),
    };
    d->row = (struct batch_row){
        .ts_ns = ring_process_ns(d->p, e->r.ticks),
        .name = intern_add(batch_strings(d->part), str_c("[memory]")),
        .kind = KIND_MEMORY,
        .cat = batch_cat(d->part, str_c("cpu_instant_event")),
        .phase = 'i',
        .src = RING_SRC(d->ring, e->number),
        .pid = d->pid,
        .tid = tid,
        .aux = &d->mem,
    };
    d->pending = true;
    return d->row.name == STR_NONE ? ERR_NOMEM : 0;
}

/* A row on a thread of the process, from ticks to ticks. */
static int ring_device_add_on_thread(struct ring_device *d, struct batch_row row,
                                     const struct ring_entry *e, uint64_t begin, uint64_t end)
{
    struct str name = proc_file_string(&d->p->proc, e->r.name);
    row.ts_ns = ring_process_ns(d->p, begin);
    int64_t end_ns = ring_process_ns(d->p, end);
    if (end_ns < row.ts_ns) end_ns = row.ts_ns;
    if (!ring_process_clip(d->p, &row.ts_ns, &end_ns)) return 0;
    row.dur_ns = end_ns - row.ts_ns;
    row.name = intern_add(batch_strings(d->part), name.n ? name : str_c("(name lost)"));
    row.phase = 'X';
    row.src = RING_SRC(d->ring, e->number);
    row.pid = d->pid;
    return row.name == STR_NONE ? ERR_NOMEM : batch_add(d->part, &row);
}

static int ring_device_add_call(struct ring_device *d, const struct ring_entry *e,
                                struct batch_key tid)
{
    struct call_info call = {e->extra ? (int64_t)e->extra : ID_NONE, ID_NONE, 0, 0};
    struct str cat = proc_file_string(&d->p->proc, e->r.category);
    bool library = str_is(cat, RING_LIBRARY_CALL);
    struct batch_row row = {.kind = library ? KIND_RUNTIME : KIND_DRIVER,
                            .cat = batch_cat(d->part, library ? cat : str_c("cuda_driver")),
                            .tid = tid,
                            .aux = &call};
    return ring_device_add_on_thread(d, row, e, e->value, e->r.ticks);
}

static int ring_device_add_overhead(struct ring_device *d, const struct ring_entry *e)
{
    struct batch_row row = {.kind = KIND_OVERHEAD,
                            .cat = batch_cat(d->part, str_c("overhead")),
                            .flags = ROW_PROFILER,
                            .tid = {(int64_t)e->extra, 0}};
    if (!e->r.ticks || !e->value) return 0;
    return ring_device_add_on_thread(d, row, e, e->r.ticks, e->value);
}

int ring_device_add(struct ring_device *d, const struct ring_entry *e, struct batch_key tid)
{
    switch ((enum ring_kind)e->r.kind) {
    case RING_WORK_BYTES: d->gpu.bytes = e->value < INT64_MAX ? (int64_t)e->value : -1; return 0;
    case RING_WORK_NODE:
        d->gpu.graph_node = (int64_t)e->value;
        d->gpu.graph_id = e->extra;
        return 0;
    case RING_MEMORY_BYTES:
        if (e->value < INT64_MAX) /* the sign is there */
            d->mem.bytes = d->mem.bytes < 0 ? -(int64_t)e->value : (int64_t)e->value;
        return 0;
    default: break;
    }
    TRY(add_pending(d));
    switch ((enum ring_kind)e->r.kind) {
    case RING_CALL: return ring_device_add_call(d, e, tid);
    case RING_WORK: return ring_device_begin_work(d, e);
    case RING_OVERHEAD: return ring_device_add_overhead(d, e);
    case RING_MEMORY: return begin_memory(d, e, tid);
    case RING_DROPPED: d->n_dropped += e->value; return 0;
    default: return 0;
    }
}

int ring_device_end(struct ring_device *d)
{
    return add_pending(d);
}
