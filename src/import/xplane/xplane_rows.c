/* xplane_rows.c: see xplane_private.h.
 *
 * A plane is a device or the host; a line of a device is a stream, or (called Steps, XLA Modules
 * ...) something derived from streams; a line of the host is a thread. */
#include "import/xplane/xplane_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/bounds.h"

enum { PS_PER_NS = 1000, FIRST_PID = 1 << 16 }; /* hosts have no number: above all devices */

enum { PLANE_LINES = 3 };

struct line {
    int64_t id, ts_ns;
    struct str name;
    int device;      /* -1: of the host */
    bool is_stream;  /* its events are work */
    bool is_derived; /* made from those of streams */
};

/* One event, with the stats we read. */
struct xevent {
    int64_t ts_ns, dur_ns;
    bool has_dur;
    uint64_t src;
    struct str name;
    struct xvalue stats[XSTAT_COUNT]; /* kind XVALUE_NONE when it has none */
};

int xplane_device(const struct xplane *p)
{
    long at = str_find(p->name, "/device:");
    if (at < 0) return -1;
    size_t first = p->name.n;
    while (first && p->name.n - first < 6 && p->name.p[first - 1] >= '0' &&
           p->name.p[first - 1] <= '9')
        first--;
    int value = 0;
    for (size_t i = first; i < p->name.n; i++) value = value * 10 + (p->name.p[i] - '0');
    return first == p->name.n ? -1 : value;
}

static void read_stats(struct xrows *r, struct str bytes, uint32_t field, struct xevent *ev)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number != field || f.type != PB_BYTES) continue;
        struct xvalue v = xplane_value(r->planes, r->plane, f.bytes);
        if (v.name && v.name->stat && ev->stats[v.name->stat].kind == XVALUE_NONE)
            ev->stats[v.name->stat] = v;
    }
}

static bool to_ns(uint64_t ps, int64_t *ret)
{
    *ret = (int64_t)(ps / PS_PER_NS);
    return *ret <= BOUNDS_TS_NS;
}

/* False for an event without a place in time. */
static bool xplane_rows_read_event(struct xrows *r, const struct line *line, struct str bytes,
                                   struct xevent *ev)
{
    enum { NAME = 1, OFFSET = 2, DURATION = 3, STATS = 4, NAME_STATS = 5 };
    struct pb m = pb_open(bytes);
    struct pb_field f;
    uint64_t offset_ps = 0, dur_ps = 0;
    const struct xname *name = NULL;
    memset(ev, 0, sizeof *ev);
    ev->src = r->src;
    while (pb_next(&m, &f)) {
        if (f.number == NAME) name = xplane_event_name(r->planes, r->plane, f.value);
        else if (f.number == OFFSET) offset_ps = f.value;
        else if (f.number == DURATION) dur_ps = f.value, ev->has_dur = true;
    }
    read_stats(r, bytes, STATS, ev);
    if (name) {
        ev->name = name->text;
        read_stats(r, name->more, NAME_STATS, ev);
    }
    int64_t begin, end;
    uint64_t end_ps;
    bool ok = !m.bad && !__builtin_add_overflow(offset_ps, dur_ps, &end_ps) &&
              to_ns(offset_ps, &begin) && to_ns(end_ps, &end);
    if (!ok || !bounds_ts(line->ts_ns) || !bounds_ts(line->ts_ns + begin)) {
        damage_note(batch_damage(r->part), DAMAGE_BAD_EVENT, ev->src);
        return false;
    }
    ev->ts_ns = line->ts_ns + begin;
    ev->dur_ns = end - begin > BOUNDS_DUR_NS ? BOUNDS_DUR_NS : end - begin;
    return true;
}

static int64_t int_stat(const struct xevent *ev, enum xstat stat, int64_t otherwise)
{
    return xvalue_int(&ev->stats[stat], otherwise);
}

static struct str text_stat(const struct xevent *ev, enum xstat stat)
{
    return ev->stats[stat].kind == XVALUE_TEXT ? ev->stats[stat].text : str_c("");
}

/* The value of "key:" in details such as "grid:132,1,1 block:128,1,1 regs:32". */
static struct str xplane_rows_detail(struct str details, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n < details.n; i++) {
        bool begins = i == 0 || details.p[i - 1] == ' ' || details.p[i - 1] == '\n';
        if (!begins || memcmp(details.p + i, key, n) != 0 || details.p[i + n] != ':') continue;
        const char *p = details.p + i + n + 1;
        size_t len = 0, most = (size_t)(details.p + details.n - p);
        while (len < most && p[len] != ' ' && p[len] != '\n') len++;
        return str_from(p, len);
    }
    return str_c("");
}

/* Up to `most` numbers with commas between; how many there are. */
static int xplane_rows_numbers(struct str s, uint32_t *ret, int most)
{
    int n = 0;
    for (size_t i = 0; s.p && i < s.n && n < most; i++) {
        uint64_t value = 0;
        size_t first = i;
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && value <= UINT32_MAX; i++)
            value = value * 10 + (uint64_t)(s.p[i] - '0');
        if (i == first || value > UINT32_MAX) return n;
        ret[n++] = (uint32_t)value;
    }
    return n;
}

static uint32_t xplane_rows_number(struct str s)
{
    uint32_t v = 0;
    return xplane_rows_numbers(s, &v, 1) ? v : 0;
}

static void xplane_rows_fill_gpu(const struct line *line, const struct xevent *ev,
                                 struct gpu_info *g)
{
    struct str d = text_stat(ev, XSTAT_KERNEL_DETAILS);
    uint32_t registers = xplane_rows_number(xplane_rows_detail(d, "regs"));
    memset(g, 0, sizeof *g);
    g->correlation = int_stat(ev, XSTAT_CORRELATION, ID_NONE);
    g->external_id = ID_NONE;
    g->bytes = -1;
    g->graph_id = int_stat(ev, XSTAT_GRAPH_ID, 0) ? int_stat(ev, XSTAT_GRAPH_ID, 0) : ID_NONE;
    g->graph_node = ID_NONE;
    g->device = line->device;
    g->stream = (int32_t)line->id;
    g->context = -1;
    g->launch = ROW_NONE;
    if (xplane_rows_numbers(xplane_rows_detail(d, "grid"), g->grid, 3) != 3)
        memset(g->grid, 0, sizeof g->grid);
    if (xplane_rows_numbers(xplane_rows_detail(d, "block"), g->block, 3) != 3)
        memset(g->block, 0, sizeof g->block);
    g->registers = (uint16_t)(registers > UINT16_MAX ? UINT16_MAX : registers);
    uint64_t shared = (uint64_t)xplane_rows_number(xplane_rows_detail(d, "static_shared")) +
                      xplane_rows_number(xplane_rows_detail(d, "dynamic_shared")) +
                      xplane_rows_number(xplane_rows_detail(d, "group_mem"));
    g->shared_bytes = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared;
    /* 0 is what recorders write that do not know it */
    uint32_t pct = xplane_rows_number(xplane_rows_detail(d, "occ_pct"));
    g->occupancy_pct = (int16_t)(pct == 0 || pct > 100 ? -1 : (int)pct);
}

static str_id xplane_rows_intern(struct xrows *r, struct str s)
{
    return intern_add(batch_strings(r->part), s);
}

/* Of a text that stays where it is and stands for many events: read once. */
static str_id xplane_rows_intern_kept(struct xrows *r, struct str s)
{
    enum { SHORT = 64 };
    if (s.n <= SHORT) return xplane_rows_intern(r, s);
    uint32_t *known = map_at(&r->known, (uintptr_t)s.p ^ (uint64_t)s.n << 48);
    if (known && *known == MAP_NONE) *known = xplane_rows_intern(r, s);
    return known ? *known : STR_NONE;
}

/* "MemcpyH2D (pinned -> device)". */
static str_id xplane_rows_copy_name(struct xrows *r, const struct xevent *ev)
{
    struct str d = text_stat(ev, XSTAT_MEMCPY_DETAILS);
    struct str from = xplane_rows_detail(d, "kind_src"), to = xplane_rows_detail(d, "kind_dst");
    if (!from.n || !to.n) return xplane_rows_intern_kept(r, ev->name);
    buf_reset(&r->scratch);
    buf_add_str(&r->scratch, ev->name);
    buf_printf(&r->scratch, " (" STR_FMT " -> " STR_FMT ")", STR_ARG(from), STR_ARG(to));
    return buf_ok(&r->scratch) ? xplane_rows_intern(r, buf_str(&r->scratch)) : STR_NONE;
}

static struct batch_row row_of(const struct xevent *ev)
{
    return (struct batch_row){
        .ts_ns = ev->ts_ns, .dur_ns = ev->dur_ns, .phase = 'X', .src = ev->src};
}

static int xplane_rows_add(struct xrows *r, struct batch_row *row, const char *cat)
{
    row->cat = batch_cat(r->part, str_c(cat));
    return row->name == STR_NONE ? ERR_NOMEM : batch_add(r->part, row);
}

static int xplane_rows_add_work(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct batch_row row = row_of(ev);
    struct gpu_info g;
    xplane_rows_fill_gpu(line, ev, &g);
    bool copies = str_starts(ev->name, "Memcpy") || text_stat(ev, XSTAT_MEMCPY_DETAILS).n;
    bool sets = str_starts(ev->name, "Memset");
    row.kind = copies ? KIND_MEMCPY : sets ? KIND_MEMSET : KIND_KERNEL;
    row.name = copies ? xplane_rows_copy_name(r, ev) : xplane_rows_intern_kept(r, ev->name);
    row.aux = &g;
    row.pid.number = line->device;
    row.tid.number = line->id;
    if (copies || sets) {
        struct str size = xplane_rows_detail(text_stat(ev, XSTAT_MEMCPY_DETAILS), "size");
        if (!size.n) size = xplane_rows_detail(text_stat(ev, XSTAT_MEMCPY_DETAILS), "num_bytes");
        if (size.n) g.bytes = xplane_rows_number(size);
    }
    return xplane_rows_add(r, &row, copies ? "gpu_memcpy" : sets ? "gpu_memset" : "kernel");
}

/* Steps and modules, as the recorder's tools put them over a device's work. */
static int add_derived(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct batch_row row = row_of(ev);
    struct gpu_info g;
    xplane_rows_fill_gpu(line, ev, &g);
    g.correlation = ID_NONE;
    row.kind = KIND_GPU_ANNOTATION;
    row.name = xplane_rows_intern_kept(r, ev->name);
    row.aux = &g;
    row.pid.number = line->device;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, "gpu_user_annotation");
}

static bool xplane_rows_is_driver_call(struct str s)
{
    return s.n > 2 && str_starts(s, "cu") && s.p[2] >= 'A' && s.p[2] <= 'Z';
}

static bool xplane_rows_is_call(const struct xevent *ev)
{
    return ev->stats[XSTAT_CORRELATION].kind != XVALUE_NONE || str_starts(ev->name, "cuda") ||
           xplane_rows_is_driver_call(ev->name);
}

/* The part of a compiled program that a call belongs to, as the operator around it. */
static int add_hlo_op(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct str op = text_stat(ev, XSTAT_HLO_OP), module = text_stat(ev, XSTAT_HLO_MODULE);
    if (!op.n) return 0;
    struct op_info info = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    struct batch_row row = row_of(ev);
    buf_reset(&r->scratch);
    buf_add_str(&r->scratch, module);
    if (module.n) buf_addc(&r->scratch, '/');
    buf_add_str(&r->scratch, op);
    row.name = buf_ok(&r->scratch) ? xplane_rows_intern(r, buf_str(&r->scratch)) : STR_NONE;
    row.kind = KIND_OP;
    row.aux = &info;
    row.pid = r->host;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, "cpu_op");
}

static int xplane_rows_add_call(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct batch_row row = row_of(ev);
    struct call_info call = {int_stat(ev, XSTAT_CORRELATION, ID_NONE), ID_NONE, 0, 0};
    bool driver = xplane_rows_is_driver_call(ev->name);
    TRY(add_hlo_op(r, line, ev));
    row.kind = driver ? KIND_DRIVER : KIND_RUNTIME;
    row.name = xplane_rows_intern_kept(r, ev->name);
    row.aux = &call;
    row.pid = r->host;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, driver ? "cuda_driver" : "cuda_runtime");
}

/* A function of JAX that waits in C++, which leaves no call of the device's library. */
static bool xplane_rows_is_wait(const struct xevent *ev)
{
    return str_starts(ev->name, "$api.py:") && str_ends(ev->name, " block_until_ready");
}

static int xplane_rows_add_wait(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct batch_row row = row_of(ev);
    struct call_info call = {ID_NONE, ID_NONE, 0, 0};
    row.kind = KIND_RUNTIME;
    row.name = xplane_rows_intern(r, str_c("jax.block_until_ready"));
    row.aux = &call;
    row.pid = r->host;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, "library_call");
}

/* "$gemm.py:31 run" is gemm.py(31): run. */
static int xplane_rows_add_python(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct batch_row row = row_of(ev);
    struct py_info py = {-1, -1, -1};
    if (xplane_rows_is_wait(ev)) return xplane_rows_add_wait(r, line, ev);
    struct str s = str_from(ev->name.p + 1, ev->name.n - 1);
    const char *colon = memchr(s.p, ':', s.n), *blank = memchr(s.p, ' ', s.n);
    const char *end = s.p + s.n;
    buf_reset(&r->scratch);
    if (colon && blank && colon < blank) {
        buf_add(&r->scratch, s.p, (size_t)(colon - s.p));
        buf_printf(&r->scratch, "(%.*s): ", (int)(blank - colon - 1), colon + 1);
        buf_add(&r->scratch, blank + 1, (size_t)(end - blank - 1));
    } else {
        buf_add_str(&r->scratch, s);
    }
    row.name = buf_ok(&r->scratch) ? xplane_rows_intern(r, buf_str(&r->scratch)) : STR_NONE;
    row.kind = KIND_PYTHON;
    row.aux = &py;
    row.pid = r->host;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, "python_function");
}

/* The device of an allocator called "GPU_0_bfc"; -1 for the host's. */
static int allocator_device(struct str name)
{
    long at = str_find(name, "GPU_");
    if (at < 0) return -1;
    return (int)xplane_rows_number(str_from(name.p + at + 4, name.n - (size_t)at - 4));
}

static int xplane_rows_add_memory(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    enum { CPU = 0, CUDA = 1 };
    struct batch_row row = row_of(ev);
    int device = allocator_device(text_stat(ev, XSTAT_ALLOCATOR));
    int64_t bytes = int_stat(ev, XSTAT_BYTES, 0);
    if (bytes < 0) bytes = 0;
    struct mem_info m = {
        .addr = (uint64_t)int_stat(ev, XSTAT_ADDRESS, 0),
        .bytes = str_is(ev->name, "MemoryDeallocation") ? -bytes : bytes,
        .total_allocated = int_stat(ev, XSTAT_ALLOCATED, -1),
        .total_reserved = -1,
        .device_type = device < 0 ? CPU : CUDA,
        .device_id = (int16_t)(device > INT16_MAX ? -1 : device),
    };
    row.kind = KIND_MEMORY;
    row.phase = 'i';
    row.dur_ns = 0;
    row.name = xplane_rows_intern(r, str_c("[memory]"));
    row.aux = &m;
    row.pid = r->host;
    row.tid.number = line->id;
    return xplane_rows_add(r, &row, "cpu_instant_event");
}

/* TraceMe: what the program and its libraries say that they do; steps have a number. */
static int add_traceme(struct xrows *r, const struct line *line, const struct xevent *ev)
{
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    struct batch_row row = row_of(ev);
    bool step = ev->stats[XSTAT_STEP].kind != XVALUE_NONE;
    row.kind = step ? KIND_ANNOTATION : KIND_OP;
    row.name = xplane_rows_intern_kept(r, ev->name);
    row.aux = &op;
    row.pid = r->host;
    row.tid.number = line->id;
    if (step) {
        buf_reset(&r->scratch);
        buf_printf(&r->scratch, "ProfilerStep#%lld", (long long)int_stat(ev, XSTAT_STEP, 0));
        row.name = buf_ok(&r->scratch) ? xplane_rows_intern(r, buf_str(&r->scratch)) : STR_NONE;
    }
    if (!ev->has_dur) {
        row.kind = KIND_INSTANT;
        row.phase = 'i';
        row.aux = NULL;
    }
    return xplane_rows_add(r, &row, step ? "user_annotation" : "cpu_op");
}

static int xplane_rows_add_event(struct xrows *r, const struct line *line, struct str bytes)
{
    struct xevent ev;
    if (!xplane_rows_read_event(r, line, bytes, &ev)) return 0;
    if (line->is_stream) return xplane_rows_add_work(r, line, &ev);
    if (line->is_derived) return add_derived(r, line, &ev);
    if (ev.name.n && *ev.name.p == '$') return xplane_rows_add_python(r, line, &ev);
    if (str_is(ev.name, "MemoryAllocation") || str_is(ev.name, "MemoryDeallocation"))
        return xplane_rows_add_memory(r, line, &ev);
    return xplane_rows_is_call(&ev) ? xplane_rows_add_call(r, line, &ev)
                                    : add_traceme(r, line, &ev);
}

static int xplane_rows_label(struct xrows *r, const struct line *line)
{
    struct batch_key pid = line->device < 0 ? r->host : (struct batch_key){line->device, 0};
    struct batch_key tid = {line->id, 0};
    if (line->name.n) {
        str_id name = xplane_rows_intern(r, line->name);
        if (name == STR_NONE) return ERR_NOMEM;
        TRY(batch_add_label(r->part, LABEL_THREAD_NAME, pid, tid, name, 0));
    }
    str_id plane = xplane_rows_intern(r, r->plane->name);
    if (plane == STR_NONE) return ERR_NOMEM;
    return batch_add_label(r->part, LABEL_PROCESS_NAME, pid, tid, plane, 0);
}

/* What a line of a device holds, by its name. */
static void xplane_rows_classify(const struct xrows *r, struct line *line)
{
    bool tpu = str_has(r->plane->name, "TPU");
    line->is_stream = str_starts(line->name, "Stream #") || (tpu && str_is(line->name, "XLA Ops"));
    line->is_derived = str_is(line->name, "Steps") || str_is(line->name, "XLA Modules");
    if (line->is_stream && !tpu) {
        uint32_t stream;
        struct str digits = str_from(line->name.p + 8, line->name.n - 8);
        if (xplane_rows_numbers(digits, &stream, 1) && stream <= INT32_MAX) line->id = stream;
    }
    if (line->id < 0 || line->id > INT32_MAX) line->id &= INT32_MAX;
}

static struct line xplane_rows_read_line(struct str bytes, int device)
{
    enum { ID = 1, NAME = 2, TIME = 3, DISPLAY_NAME = 11 };
    struct line line = {.device = device};
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number == ID) line.id = (int64_t)f.value;
        else if (f.number == TIME) line.ts_ns = (int64_t)f.value;
        else if ((f.number == NAME && f.type == PB_BYTES) ||
                 (f.number == DISPLAY_NAME && !line.name.n))
            line.name = f.bytes;
    }
    if (line.id == ID_NONE) line.id = 0;
    return line;
}

static int xplane_rows_add_events(struct xrows *r, const struct line *line, struct str bytes)
{
    enum { EVENTS = 4 };
    struct pb m = pb_open(bytes);
    struct pb_field f;
    for (const char *at = m.p; pb_next(&m, &f); at = m.p) {
        r->src = (uint64_t)(at - r->planes->text);
        if (f.number == EVENTS && f.type == PB_BYTES) TRY(xplane_rows_add_event(r, line, f.bytes));
    }
    return 0;
}

static int add_device_line(struct xrows *r, struct str bytes, int device)
{
    struct line line = xplane_rows_read_line(bytes, device);
    xplane_rows_classify(r, &line);
    /* the rest is made from the same work: it would count twice */
    if (!line.is_stream && !line.is_derived) return 0;
    TRY(xplane_rows_add_events(r, &line, bytes));
    return xplane_rows_label(r, &line);
}

/* The line `number` of a plane. */
static struct line line_at(const struct xplane *p, uint32_t xplane_rows_number)
{
    struct pb m = pb_open(p->bytes);
    struct pb_field f;
    for (uint32_t i = 0; pb_next(&m, &f);) {
        if (f.number != PLANE_LINES || f.type != PB_BYTES) continue;
        if (i++ == xplane_rows_number) return xplane_rows_read_line(f.bytes, -1);
    }
    return (struct line){.device = -1};
}

static int add_host_line(struct xrows *r, struct str bytes, uint32_t same_as)
{
    struct line line = xplane_rows_read_line(bytes, -1);
    if (same_as) line.id = line_at(r->plane, same_as - 1).id;
    TRY(xplane_rows_add_events(r, &line, bytes));
    return same_as ? 0 : xplane_rows_label(r, &line);
}

static int add_host(struct xrows *r)
{
    struct xthreads threads;
    struct pb m = pb_open(r->plane->bytes);
    struct pb_field f;
    int rc = xthreads_find(&threads, r->planes, r->plane);
    for (uint32_t i = 0; rc == 0 && pb_next(&m, &f);) {
        if (f.number != PLANE_LINES || f.type != PB_BYTES) continue;
        rc = add_host_line(r, f.bytes, i < threads.n ? threads.same_as[i] : 0);
        i++;
    }
    xthreads_done(&threads);
    return rc;
}

int xrows_add_plane(struct xrows *r, const struct xplane *p)
{
    int device = xplane_device(p);
    struct pb m = pb_open(p->bytes);
    struct pb_field f;
    if (device < 0 && !str_starts(p->name, "/host:")) return 0;
    if (str_is(p->name, "/host:metadata")) return 0;
    r->plane = p;
    r->host = (struct batch_key){FIRST_PID + (p - r->planes->list), 0};
    if (device < 0) return add_host(r);
    while (pb_next(&m, &f))
        if (f.number == PLANE_LINES && f.type == PB_BYTES) TRY(add_device_line(r, f.bytes, device));
    return 0;
}
