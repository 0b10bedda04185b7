/* nsys_rows.c: one function a table. Rows get the names and categories PyTorch's own recorder gives
 * them, so that everything downstream treats both alike. */
#include "import/nsys/nsys_rows.h"

#include "import/op_range.h"

#include <stdio.h>
#include <string.h>

#include "trace/bounds.h"

enum { ID_BITS = 24, ID_MASK = (1 << ID_BITS) - 1 };

int64_t nsys_pid(int64_t global_id)
{
    return global_id == ID_NONE ? 0 : global_id >> ID_BITS & ID_MASK;
}

int64_t nsys_tid(int64_t global_id)
{
    return global_id == ID_NONE ? 0 : global_id & ID_MASK;
}

static struct batch_key nsys_rows_key_of(struct nsys *n, int64_t pid, int64_t number)
{
    if (!n->many_processes) return (struct batch_key){number, 0};
    char text[64];
    int len = snprintf(text, sizeof text, "[%lld] %lld", (long long)pid, (long long)number);
    return (struct batch_key){ID_NONE,
                              intern_add(batch_strings(n->part), str_from(text, (size_t)len))};
}

struct batch_key nsys_process_key(struct nsys *n, int64_t pid)
{
    return nsys_rows_key_of(n, pid, pid);
}

struct batch_key nsys_device_key(struct nsys *n, int64_t pid, int64_t device)
{
    return nsys_rows_key_of(n, pid, device);
}

str_id nsys_string(const struct nsys *n, int64_t id)
{
    uint32_t found = id == ID_NONE ? MAP_NONE : map_find(&n->strings, (uint64_t)id);
    return found == MAP_NONE ? 0 : found;
}

/* A name column holds a string id, or in some versions the text itself. */
static str_id name_at(struct nsys *n, sqlite3_stmt *s, int column)
{
    struct str text = sqlite_in_text(s, column);
    if (text.p) return intern_add(batch_strings(n->part), text);
    return nsys_string(n, sqlite_in_int(s, column, ID_NONE));
}

static int32_t nsys_rows_to_int32(int64_t v)
{
    return v < INT32_MIN || v > INT32_MAX ? -1 : (int32_t)v;
}

static uint32_t to_uint32(int64_t v)
{
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static void nsys_rows_note(struct nsys *n, enum damage_reason why)
{
    damage_note(batch_damage(n->part), why, n->n_rows);
}

/* Columns 0 and 1 of every table: start and end. False for a row without a start. */
static bool nsys_rows_read_times(struct nsys *n, sqlite3_stmt *s, struct batch_row *row)
{
    int64_t start = sqlite_in_int(s, 0, ID_NONE), end = sqlite_in_int(s, 1, start);
    if (!bounds_ts(start)) {
        nsys_rows_note(n, DAMAGE_BAD_EVENT);
        return false;
    }
    if (!bounds_ts(end)) end = start;
    if (end < start) nsys_rows_note(n, DAMAGE_NEGATIVE_DURATION);
    row->ts_ns = start;
    row->dur_ns = end < start ? 0 : end - start > BOUNDS_DUR_NS ? BOUNDS_DUR_NS : end - start;
    if (row->ts_ns + row->dur_ns > n->last_ns) n->last_ns = row->ts_ns + row->dur_ns;
    return true;
}

/* Gives the row its place in the file and its category, and adds it. */
static int nsys_rows_add(struct nsys *n, struct batch_row *row, const char *cat)
{
    row->src = n->n_rows++;
    row->cat = batch_cat(n->part, str_c(cat));
    if (!row->phase) row->phase = 'X';
    if (row->name == STR_NONE || row->pid.text == STR_NONE || row->tid.text == STR_NONE)
        return ERR_NOMEM;
    return batch_add(n->part, row);
}

/* On a thread: the column holds a globalTid. */
static void on_thread(struct nsys *n, struct batch_row *row, int64_t global_tid)
{
    row->pid = nsys_process_key(n, nsys_pid(global_tid));
    row->tid = (struct batch_key){nsys_tid(global_tid), 0};
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel; per-thread default streams have a mark too. */
static struct str plain_call(struct str s)
{
    size_t digits = s.n;
    while (digits && s.p[digits - 1] >= '0' && s.p[digits - 1] <= '9') digits--;
    if (digits < s.n && digits >= 2 && s.p[digits - 1] == 'v' && s.p[digits - 2] == '_')
        s.n = digits - 2;
    if (str_ends(s, "_ptsz") || str_ends(s, "_ptds")) s.n -= 5;
    return s;
}

static bool nsys_rows_is_driver_call(struct str s)
{
    return s.n > 2 && s.p[0] == 'c' && s.p[1] == 'u' && s.p[2] >= 'A' && s.p[2] <= 'Z';
}

static int nsys_rows_add_call(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_row row = {0};
    if (!nsys_rows_read_times(n, s, &row)) return 0;
    struct intern *strings = batch_strings(n->part);
    struct call_info call = {sqlite_in_int(s, 3, ID_NONE), ID_NONE, 0, 0};
    str_id id = name_at(n, s, 4);
    if (id == STR_NONE) return ERR_NOMEM;
    struct str name = plain_call(intern_get(strings, id));
    bool driver = nsys_rows_is_driver_call(name);
    row.name = intern_add(strings, name);
    row.kind = driver ? KIND_DRIVER : KIND_RUNTIME;
    row.aux = &call;
    on_thread(n, &row, sqlite_in_int(s, 2, ID_NONE));
    return nsys_rows_add(n, &row, driver ? "cuda_driver" : "cuda_runtime");
}

#define DEVICE_COLUMNS "start end globalPid deviceId streamId contextId correlationId graphNodeId"

/* The columns of DEVICE_COLUMNS. False when the row has no time. */
static bool read_device_row(struct nsys *n, sqlite3_stmt *s, struct batch_row *row,
                            struct gpu_info *g)
{
    if (!nsys_rows_read_times(n, s, row)) return false;
    int64_t node = sqlite_in_int(s, 7, ID_NONE), device = sqlite_in_int(s, 3, 0);
    memset(g, 0, sizeof *g);
    g->correlation = sqlite_in_int(s, 6, ID_NONE);
    g->external_id = ID_NONE;
    g->bytes = -1;
    g->graph_node = node == 0 ? ID_NONE : node;
    g->graph_id = g->graph_node == ID_NONE ? ID_NONE : (int64_t)((uint64_t)node >> 32);
    g->device = nsys_rows_to_int32(device);
    g->stream = nsys_rows_to_int32(sqlite_in_int(s, 4, 0));
    g->context = nsys_rows_to_int32(sqlite_in_int(s, 5, -1));
    g->occupancy_pct = -1;
    g->launch = ROW_NONE;
    row->aux = g;
    row->pid = nsys_device_key(n, nsys_pid(sqlite_in_int(s, 2, ID_NONE)), device);
    row->tid = (struct batch_key){g->stream, 0};
    return true;
}

static int nsys_rows_label(struct nsys *n, enum batch_label what, const struct batch_row *row,
                           const char *text)
{
    str_id id = intern_add(batch_strings(n->part), str_c(text));
    if (id == STR_NONE) return ERR_NOMEM;
    return batch_add_label(n->part, what, row->pid, row->tid, id, 0);
}

/* A stream gets its name when it is first met. */
static int nsys_rows_name_stream(struct nsys *n, const struct batch_row *row,
                                 const struct gpu_info *g)
{
    uint64_t pid = row->pid.number != ID_NONE ? (uint64_t)row->pid.number : row->pid.text;
    uint32_t *slot = map_at(&n->named, map_mix(map_mix(pid) + (uint32_t)g->stream));
    if (!slot) return ERR_NOMEM;
    if (*slot != MAP_NONE) return 0;
    *slot = 0;
    char text[32];
    snprintf(text, sizeof text, "stream %d", g->stream);
    TRY(nsys_rows_label(n, LABEL_THREAD_NAME, row, text));
    snprintf(text, sizeof text, "GPU %d", g->device);
    return nsys_rows_label(n, LABEL_PROCESS_LABELS, row, text);
}

static int add_device_row(struct nsys *n, struct batch_row *row, const struct gpu_info *g,
                          const char *cat)
{
    if (row->pid.text == STR_NONE) return ERR_NOMEM;
    TRY(nsys_rows_name_stream(n, row, g));
    return nsys_rows_add(n, row, cat);
}

static int nsys_rows_add_kernel(struct nsys *n, sqlite3_stmt *s)
{
    enum { NAMES = 8, REGISTERS = 11, GRID = 12, BLOCK = 15, SHARED = 18 };
    struct batch_row row = {.kind = KIND_KERNEL};
    struct gpu_info g;
    if (!read_device_row(n, s, &row, &g)) return 0;
    for (int i = 0; i < 3 && !row.name; i++) row.name = name_at(n, s, NAMES + i);
    uint32_t registers = to_uint32(sqlite_in_int(s, REGISTERS, 0));
    g.registers = (uint16_t)(registers > UINT16_MAX ? UINT16_MAX : registers);
    for (int i = 0; i < 3; i++) {
        g.grid[i] = to_uint32(sqlite_in_int(s, GRID + i, 0));
        g.block[i] = to_uint32(sqlite_in_int(s, BLOCK + i, 0));
    }
    g.shared_bytes = to_uint32((int64_t)to_uint32(sqlite_in_int(s, SHARED, 0)) +
                               to_uint32(sqlite_in_int(s, SHARED + 1, 0)));
    return add_device_row(n, &row, &g, "kernel");
}

/* A graph launched as a whole and recorded as a whole: the device was busy, with what is unknown.
 */
static int add_graph(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_row row = {.kind = KIND_KERNEL};
    struct gpu_info g;
    if (!read_device_row(n, s, &row, &g)) return 0;
    g.graph_id = sqlite_in_int(s, 8, ID_NONE);
    buf_reset(&n->scratch);
    buf_adds(&n->scratch, "CUDA graph");
    if (g.graph_id != ID_NONE) buf_printf(&n->scratch, " %lld", (long long)g.graph_id);
    row.name = intern_add(batch_strings(n->part), buf_str(&n->scratch));
    return add_device_row(n, &row, &g, "kernel");
}

static const char *nsys_rows_copy_name(int64_t kind)
{
    static const char *const names[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                        "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
    return kind >= 0 && kind < (int64_t)(sizeof names / sizeof *names) ? names[kind] : names[0];
}

static const char *nsys_rows_memory_name(int64_t kind)
{
    static const char *const names[] = {"Pageable", "Pinned",        "Device",         "Array",
                                        "Managed",  "Device Static", "Managed Static", "Unknown"};
    return kind >= 0 && kind < 8 ? names[kind] : names[7];
}

static int nsys_rows_add_copy(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_row row = {.kind = KIND_MEMCPY};
    struct gpu_info g;
    if (!read_device_row(n, s, &row, &g)) return 0;
    g.bytes = sqlite_in_int(s, 8, -1);
    char name[96];
    snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", nsys_rows_copy_name(sqlite_in_int(s, 9, 0)),
             nsys_rows_memory_name(sqlite_in_int(s, 10, 7)),
             nsys_rows_memory_name(sqlite_in_int(s, 11, 7)));
    row.name = intern_add(batch_strings(n->part), str_c(name));
    return add_device_row(n, &row, &g, "gpu_memcpy");
}

static int add_memset(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_row row = {.kind = KIND_MEMSET};
    struct gpu_info g;
    if (!read_device_row(n, s, &row, &g)) return 0;
    g.bytes = sqlite_in_int(s, 8, -1);
    char name[64];
    snprintf(name, sizeof name, "Memset (%s)", nsys_rows_memory_name(sqlite_in_int(s, 9, 2)));
    row.name = intern_add(batch_strings(n->part), str_c(name));
    return add_device_row(n, &row, &g, "gpu_memset");
}

static int nsys_rows_add_sync(struct nsys *n, sqlite3_stmt *s)
{
    static const char *const names[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    struct batch_row row = {.kind = KIND_GPU_SYNC};
    struct gpu_info g;
    if (!read_device_row(n, s, &row, &g)) return 0;
    int64_t type = sqlite_in_int(s, 8, 0);
    row.name = intern_add(batch_strings(n->part), str_c(names[type >= 0 && type < 5 ? type : 0]));
    return nsys_rows_add(n, &row, "cuda_sync");
}

static int nsys_rows_add_event(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_row row = {.kind = KIND_GPU_EVENT};
    struct gpu_info g;
    if (sqlite3_column_type(s, 0) == SQLITE_NULL) return 0; /* older exports have no time */
    if (!read_device_row(n, s, &row, &g)) return 0;
    row.name = intern_add(batch_strings(n->part), str_c("cudaEvent"));
    return nsys_rows_add(n, &row, "cuda_event");
}

static int nsys_rows_add_on_thread(struct nsys *n, sqlite3_stmt *s, enum row_kind kind,
                                   const char *cat)
{
    struct batch_row row = {.kind = kind};
    if (!nsys_rows_read_times(n, s, &row)) return 0;
    on_thread(n, &row, sqlite_in_int(s, 2, ID_NONE));
    row.name = name_at(n, s, 3);
    if (kind == KIND_OVERHEAD) row.flags = ROW_PROFILER;
    return nsys_rows_add(n, &row, cat);
}

static int add_os_call(struct nsys *n, sqlite3_stmt *s)
{
    return nsys_rows_add_on_thread(n, s, KIND_OTHER, "os_runtime");
}

static int add_graph_event(struct nsys *n, sqlite3_stmt *s)
{
    return nsys_rows_add_on_thread(n, s, KIND_OTHER, "cuda_graph");
}

static int nsys_rows_add_overhead(struct nsys *n, sqlite3_stmt *s)
{
    return nsys_rows_add_on_thread(n, s, KIND_OVERHEAD, "overhead");
}

/* Device memory a process took (0) or gave back (1). */
static int nsys_rows_add_memory(struct nsys *n, sqlite3_stmt *s)
{
    enum { PAGEABLE = 0, PINNED = 1, CPU = 0, CUDA = 1 };
    struct batch_row row = {.kind = KIND_MEMORY, .phase = 'i'};
    if (!nsys_rows_read_times(n, s, &row)) return 0;
    row.dur_ns = 0;
    int64_t pid = nsys_pid(sqlite_in_int(s, 2, ID_NONE)), bytes = sqlite_in_int(s, 5, 0);
    int64_t where = sqlite_in_int(s, 6, 2), device = sqlite_in_int(s, 3, 0);
    if (bytes < 0) bytes = 0;
    struct mem_info m = {
        .addr = (uint64_t)sqlite_in_int(s, 4, 0),
        .bytes = sqlite_in_int(s, 7, 0) == 1 ? -bytes : bytes,
        .total_allocated = -1,
        .total_reserved = -1,
        .device_type = where == PAGEABLE || where == PINNED ? CPU : CUDA,
        .device_id = device >= 0 && device <= INT16_MAX ? (int16_t)device : -1,
    };
    row.aux = &m;
    row.name = intern_add(batch_strings(n->part), str_c("[memory]"));
    row.pid = nsys_process_key(n, pid);
    row.tid = (struct batch_key){pid, 0};
    return nsys_rows_add(n, &row, "cpu_instant_event");
}

/* Ranges become annotations or operators, marks instants; a range that never ended lasts until the
 * end. */
static int add_nvtx(struct nsys *n, sqlite3_stmt *s)
{
    enum { MARK = 34, PUSH_POP = 59, START_END = 60 };
    bool ended = sqlite3_column_type(s, 1) == SQLITE_INTEGER;
    int64_t type = sqlite_in_int(s, 5, ended ? PUSH_POP : MARK);
    if (type != MARK && type != PUSH_POP && type != START_END) return 0;
    struct batch_row row = {0};
    if (!nsys_rows_read_times(n, s, &row)) return 0;
    row.name = name_at(n, s, 3);
    if (!row.name) row.name = name_at(n, s, 4);
    on_thread(n, &row, sqlite_in_int(s, 2, ID_NONE));
    if (type == MARK) {
        row.kind = KIND_INSTANT;
        row.phase = 'i';
        row.dur_ns = 0;
        return nsys_rows_add(n, &row, "user_annotation");
    }
    struct op_info op;
    TRY(op_range_fill(n->part, intern_get(batch_strings(n->part), row.name), &row, &op));
    row.aux = &op;
    if (!ended) {
        row.dur_ns =
            n->last_ns - row.ts_ns > BOUNDS_DUR_NS ? BOUNDS_DUR_NS : n->last_ns - row.ts_ns;
        row.flags = ROW_UNFINISHED;
    }
    return nsys_rows_add(n, &row, row.kind == KIND_OP ? "cpu_op" : "user_annotation");
}

const struct nsys_table nsys_tables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start end globalTid correlationId nameId", nsys_rows_add_call},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     DEVICE_COLUMNS " demangledName shortName mangledName registersPerThread gridX gridY gridZ"
                    " blockX blockY blockZ staticSharedMemory dynamicSharedMemory",
     nsys_rows_add_kernel},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", DEVICE_COLUMNS " graphId", add_graph},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", DEVICE_COLUMNS " bytes copyKind srcKind dstKind",
     nsys_rows_add_copy},
    {"CUPTI_ACTIVITY_KIND_MEMSET", DEVICE_COLUMNS " bytes memKind", add_memset},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", DEVICE_COLUMNS " syncType", nsys_rows_add_sync},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", DEVICE_COLUMNS, nsys_rows_add_event},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start start globalPid deviceId address bytes memKind memoryOperationType",
     nsys_rows_add_memory},
    {"OSRT_API", "start end globalTid nameId", add_os_call},
    {"CUDA_GRAPH_EVENTS", "start end globalTid nameId", add_graph_event},
    {"CUDA_GRAPH_NODE_EVENTS", "start end globalTid nameId", add_graph_event},
    {"PROFILER_OVERHEAD", "start end globalTid nameId", nsys_rows_add_overhead},
    {"NVTX_EVENTS", "start end globalTid text textId eventType", add_nvtx},
    {0},
};
