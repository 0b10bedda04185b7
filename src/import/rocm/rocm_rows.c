/* rocm_rows.c: see rocm_rows.h. */
#include "import/rocm/rocm_rows.h"

#include "import/op_range.h"

#include <stdio.h>

#include "trace/bounds.h"

enum { MOST_DEVICES = 1024 };

void rocm_init(struct rocm *r, struct builder *b, struct batch *p)
{
    *r = (struct rocm){.builder = b, .part = p};
    map_init(&r->devices);
    map_init(&r->named);
}

void rocm_done(struct rocm *r)
{
    map_done(&r->devices);
    map_done(&r->named);
}

static int32_t rocm_rows_to_int32(int64_t v)
{
    return v < 0 || v > INT32_MAX ? 0 : (int32_t)v;
}

int rocm_add_gpu(struct rocm *r, const struct rocm_gpu *g)
{
    uint32_t *slot = map_at(&r->devices, g->agent);
    if (!slot) return ERR_NOMEM;
    if (*slot != MAP_NONE || r->n_devices >= MOST_DEVICES) return 0;
    struct device d = {
        .id = g->index >= 0 && g->index < MOST_DEVICES ? (int32_t)g->index : r->n_devices,
        .name = builder_intern(r->builder, g->name),
        .memory_bytes = g->memory_bytes,
        .n_sms = rocm_rows_to_int32(g->n_cus),
        .warp_size = rocm_rows_to_int32(g->wave_size),
    };
    r->n_devices++;
    *slot = (uint32_t)d.id;
    const struct trace *t = builder_trace(r->builder); /* processes share their GPUs */
    for (uint32_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].id == d.id) return 0;
    return d.name == STR_NONE ? ERR_NOMEM : builder_add_device(r->builder, &d);
}

/* The device of an agent; -1 where it is not a GPU. */
static int32_t rocm_rows_device_of(const struct rocm *r, uint64_t agent)
{
    uint32_t found = map_find(&r->devices, agent);
    return found == MAP_NONE ? -1 : (int32_t)found;
}

/* False for a row without a time. */
static bool rocm_rows_set_times(struct rocm *r, struct batch_row *row, struct rocm_times at)
{
    row->src = r->n_rows++;
    row->phase = 'X';
    if (!bounds_ts(at.start_ns) || !bounds_ts(at.end_ns)) {
        damage_note(batch_damage(r->part), DAMAGE_BAD_EVENT, row->src);
        return false;
    }
    int64_t dur = at.end_ns - at.start_ns;
    if (dur < 0) damage_note(batch_damage(r->part), DAMAGE_NEGATIVE_DURATION, row->src);
    row->ts_ns = at.start_ns;
    row->dur_ns = dur < 0 ? 0 : dur > BOUNDS_DUR_NS ? BOUNDS_DUR_NS : dur;
    return true;
}

static int rocm_rows_add(struct rocm *r, struct batch_row *row, const char *cat)
{
    row->cat = batch_cat(r->part, str_c(cat));
    return row->name == STR_NONE ? ERR_NOMEM : batch_add(r->part, row);
}

static str_id rocm_rows_intern(struct rocm *r, struct str s)
{
    return intern_add(batch_strings(r->part), s);
}

/* A stream gets its name when it is first met. */
static int rocm_rows_name_stream(struct rocm *r, const struct batch_row *row)
{
    uint64_t key = (uint64_t)row->pid.number << 32 | (uint32_t)row->tid.number;
    uint32_t *slot = map_at(&r->named, key);
    if (!slot) return ERR_NOMEM;
    if (*slot != MAP_NONE) return 0;
    *slot = 0;
    char text[32];
    snprintf(text, sizeof text, "stream %lld", (long long)row->tid.number);
    TRY(batch_add_label(r->part, LABEL_THREAD_NAME, row->pid, row->tid,
                        rocm_rows_intern(r, str_c(text)), 0));
    snprintf(text, sizeof text, "GPU %lld", (long long)row->pid.number);
    return batch_add_label(r->part, LABEL_PROCESS_LABELS, row->pid, row->tid,
                           rocm_rows_intern(r, str_c(text)), 0);
}

static void rocm_rows_begin_work(struct batch_row *row, struct gpu_info *g, int32_t device,
                                 int64_t stream)
{
    *g = (struct gpu_info){
        .external_id = ID_NONE,
        .bytes = -1,
        .graph_id = ID_NONE,
        .graph_node = ID_NONE,
        .device = device < 0 ? 0 : device,
        .stream = rocm_rows_to_int32(stream),
        .context = -1,
        .occupancy_pct = -1,
        .launch = ROW_NONE,
    };
    row->aux = g;
    row->pid.number = g->device;
    row->tid.number = g->stream;
}

static uint32_t rocm_rows_clamp_u32(int64_t v)
{
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

int rocm_add_kernel(struct rocm *r, const struct rocm_kernel *k)
{
    struct batch_row row = {.kind = k->fills ? KIND_MEMSET : KIND_KERNEL};
    struct gpu_info g;
    if (!rocm_rows_set_times(r, &row, k->at)) return 0;
    rocm_rows_begin_work(&row, &g, rocm_rows_device_of(r, k->agent), k->stream);
    g.correlation = k->correlation;
    g.shared_bytes = rocm_rows_clamp_u32(k->lds_bytes);
    g.registers =
        (uint16_t)(k->n_registers < 0 || k->n_registers > UINT16_MAX ? 0 : k->n_registers);
    for (int i = 0; i < 3; i++) {
        g.block[i] = rocm_rows_clamp_u32(k->block[i]);
        uint64_t threads = rocm_rows_clamp_u32(k->threads[i]);
        g.grid[i] = g.block[i] ? (uint32_t)((threads + g.block[i] - 1) / g.block[i]) : 0;
    }
    row.name = rocm_rows_intern(r, k->name);
    TRY(rocm_rows_name_stream(r, &row));
    return rocm_rows_add(r, &row, k->fills ? "gpu_memset" : "kernel");
}

/* "Memcpy HtoD (Host -> Device)", as PyTorch says it on ROCm. */
static const char *rocm_rows_copy_name(struct rocm *r, const struct rocm_copy *c)
{
    static const char *const names[2][2] = {
        {"Memcpy HtoH (Host -> Host)", "Memcpy HtoD (Host -> Device)"},
        {"Memcpy DtoH (Device -> Host)", "Memcpy DtoD (Device -> Device)"}};
    if (str_has(c->name, "HOST_TO_DEVICE")) return names[0][1];
    if (str_has(c->name, "DEVICE_TO_HOST")) return names[1][0];
    if (str_has(c->name, "DEVICE_TO_DEVICE")) return names[1][1];
    if (str_has(c->name, "HOST_TO_HOST")) return names[0][0];
    return names[rocm_rows_device_of(r, c->from) >= 0][rocm_rows_device_of(r, c->to) >= 0];
}

int rocm_add_copy(struct rocm *r, const struct rocm_copy *c)
{
    struct batch_row row = {.kind = KIND_MEMCPY};
    struct gpu_info g;
    if (!rocm_rows_set_times(r, &row, c->at)) return 0;
    int32_t to = rocm_rows_device_of(r, c->to), from = rocm_rows_device_of(r, c->from);
    rocm_rows_begin_work(&row, &g, to >= 0 ? to : from, c->stream);
    g.correlation = c->correlation;
    g.bytes = c->bytes < 0 ? -1 : c->bytes;
    row.name = rocm_rows_intern(r, str_c(rocm_rows_copy_name(r, c)));
    TRY(rocm_rows_name_stream(r, &row));
    return rocm_rows_add(r, &row, "gpu_memcpy");
}

int rocm_add_call(struct rocm *r, const struct rocm_call *c)
{
    struct batch_row row = {0};
    struct call_info call = {c->correlation, ID_NONE, 0, 0};
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    if (!rocm_rows_set_times(r, &row, c->at)) return 0;
    row.name = rocm_rows_intern(r, c->name);
    row.pid.number = c->pid;
    row.tid.number = c->tid;
    bool hip = str_starts(c->category, "HIP"), hsa = str_starts(c->category, "HSA");
    if (hip || hsa) {
        row.kind = hip ? KIND_RUNTIME : KIND_DRIVER;
        row.aux = &call;
        return rocm_rows_add(r, &row, hip ? "cuda_runtime" : "cuda_driver");
    }
    row.kind = KIND_OP;
    row.aux = &op;
    if (str_starts(c->category, "MARKER")) TRY(op_range_fill(r->part, c->name, &row, &op));
    return rocm_rows_add(r, &row, row.kind == KIND_OP ? "cpu_op" : "user_annotation");
}

int rocm_add_alloc(struct rocm *r, const struct rocm_alloc *a)
{
    enum { CPU = 0, CUDA = 1 };
    struct batch_row row = {.kind = KIND_MEMORY};
    if (!rocm_rows_set_times(r, &row, (struct rocm_times){a->ts_ns, a->ts_ns})) return 0;
    int32_t device = rocm_rows_device_of(r, a->agent);
    struct mem_info m = {
        .addr = a->address,
        .bytes = a->bytes,
        .total_allocated = -1,
        .total_reserved = -1,
        .device_type = device < 0 ? CPU : CUDA,
        .device_id = (int16_t)device,
    };
    row.phase = 'i';
    row.aux = &m;
    row.name = rocm_rows_intern(r, str_c("[memory]"));
    row.pid.number = a->pid;
    row.tid.number = a->tid;
    return rocm_rows_add(r, &row, "cpu_instant_event");
}
