/* nsys.c: an Nsight Systems export as a trace: strings first, then the event tables of
 * nsys_rows.c, then the names of processes, threads and devices. Every version of Nsight Systems
 * writes other tables and columns, so nothing but one event table is required. */
#include "import/sqlite_formats.h"

#include <string.h>

#include "base/jout.h"
#include "base/mem.h"
#include "format/xxh64.h"
#include "import/nsys/nsys_rows.h"

enum { MOST_GPUS = 64 };

/* Calls fn for every row of the table, if it is there. */
static int nsys_each_row(struct nsys *n, const struct nsys_table *table, struct err *e)
{
    sqlite3_stmt *s;
    if (!sqlite_in_has(&n->db, table->name)) return 0;
    TRY(sqlite_in_select(&n->db, table->name, table->columns, &s, e));
    int rc;
    while ((rc = sqlite_in_step(&n->db, s, e)) > 0) {
        rc = table->add(n, s);
        if (rc < 0) break;
    }
    sqlite3_finalize(s);
    if (rc == ERR_NOMEM) return err_nomem(e);
    return rc;
}

static int nsys_add_string(struct nsys *n, sqlite3_stmt *s)
{
    int64_t id = sqlite_in_int(s, 0, ID_NONE);
    struct str text = sqlite_in_text(s, 1);
    if (id == ID_NONE || !text.p) return 0;
    str_id interned = intern_add(batch_strings(n->part), text);
    uint32_t *slot = interned == STR_NONE ? NULL : map_at(&n->strings, (uint64_t)id);
    if (!slot) return ERR_NOMEM;
    *slot = interned;
    return 0;
}

static int add_thread_name(struct nsys *n, sqlite3_stmt *s)
{
    int64_t global = sqlite_in_int(s, 0, ID_NONE);
    struct batch_key pid = nsys_process_key(n, nsys_pid(global)), tid = {nsys_tid(global), 0};
    str_id name = nsys_string(n, sqlite_in_int(s, 1, ID_NONE));
    if (pid.text == STR_NONE) return ERR_NOMEM;
    return name ? batch_add_label(n->part, LABEL_THREAD_NAME, pid, tid, name, 0) : 0;
}

static int add_process_name(struct nsys *n, sqlite3_stmt *s)
{
    struct batch_key pid = nsys_process_key(n, nsys_pid(sqlite_in_int(s, 0, ID_NONE))),
                     tid = {0, 0};
    struct str text = sqlite_in_text(s, 1);
    if (!text.p) return 0;
    str_id name = intern_add(batch_strings(n->part), text);
    if (name == STR_NONE || pid.text == STR_NONE) return ERR_NOMEM;
    return batch_add_label(n->part, LABEL_PROCESS_NAME, pid, tid, name, 0);
}

static const struct nsys_table strings = {"StringIds", "id value", nsys_add_string};
static const struct nsys_table threads = {"ThreadNames", "globalTid nameId", add_thread_name};
static const struct nsys_table processes = {"PROCESSES", "globalPid name", add_process_name};

/* Whether more than one process has device work: ids mean nothing across processes. */
static int find_processes(struct nsys *n, struct err *e)
{
    static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY"};
    int64_t first = ID_NONE;
    for (int i = 0; i < 2 && !n->many_processes; i++) {
        sqlite3_stmt *s;
        if (!sqlite_in_has(&n->db, tables[i])) continue;
        TRY(sqlite_in_select(&n->db, tables[i], "globalPid", &s, e));
        struct sqlite_in before = n->db;
        int rc = 0;
        while (!n->many_processes && (rc = sqlite_in_step(&n->db, s, e)) > 0) {
            int64_t pid = nsys_pid(sqlite_in_int(s, 0, ID_NONE));
            if (first == ID_NONE) first = pid;
            n->many_processes = pid != first;
        }
        sqlite3_finalize(s);
        n->db = before; /* the rows will be read, and their damage counted, again */
        if (rc < 0) return rc;
    }
    return 0;
}

static bool has_events(struct nsys *n)
{
    for (int i = 0; nsys_tables[i].name; i++)
        if (sqlite_in_has(&n->db, nsys_tables[i].name)) return true;
    return false;
}

static int32_t int32_at(sqlite3_stmt *s, int column, int32_t otherwise)
{
    int64_t v = sqlite_in_int(s, column, otherwise);
    return v < 0 || v > INT32_MAX ? otherwise : (int32_t)v;
}

#define GPU_COLUMNS                                                                               \
    "id cuDevice name totalMemory smCount threadsPerWarp maxWarpsPerSm computeMajor computeMinor" \
    " maxRegistersPerSm maxShmemPerSm maxShmemPerBlockOptin"

/* A GPU and the number CUDA gives it in the traced process. */
static int nsys_add_gpu(struct builder *b, sqlite3_stmt *s, int64_t cuda_id)
{
    struct str name = sqlite_in_text(s, 2);
    struct device d = {
        .id = (int32_t)cuda_id,
        .name = name.p ? builder_intern(b, name) : 0,
        .memory_bytes = sqlite_in_int(s, 3, 0),
        .n_sms = int32_at(s, 4, 0),
        .warp_size = int32_at(s, 5, 0),
        .major = int32_at(s, 7, 0),
        .minor = int32_at(s, 8, 0),
        .regs_per_sm = int32_at(s, 9, 0),
        .shared_per_sm = int32_at(s, 10, 0),
        .shared_per_block_optin = int32_at(s, 11, 0),
    };
    int64_t most = (int64_t)d.warp_size * int32_at(s, 6, 0);
    d.max_threads_per_sm = most <= INT32_MAX ? (int32_t)most : 0;
    return d.name == STR_NONE ? ERR_NOMEM : builder_add_device(b, &d);
}

struct gpu_map {
    int64_t gpu[MOST_GPUS], cuda[MOST_GPUS];
    int n;
};

/* TARGET_INFO_CUDA_DEVICE: what CUDA_VISIBLE_DEVICES made of the GPUs. */
static int read_gpu_map(struct nsys *n, struct gpu_map *m, struct err *e)
{
    sqlite3_stmt *s;
    m->n = 0;
    if (!sqlite_in_has(&n->db, "TARGET_INFO_CUDA_DEVICE")) return 0;
    TRY(sqlite_in_select(&n->db, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId", &s, e));
    int rc;
    while ((rc = sqlite_in_step(&n->db, s, e)) > 0 && m->n < MOST_GPUS) {
        m->gpu[m->n] = sqlite_in_int(s, 0, -1);
        m->cuda[m->n++] = sqlite_in_int(s, 1, -1);
    }
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* The CUDA number of GPU `id`, or -1 when the traced processes did not see it. */
static int64_t cuda_number(const struct gpu_map *m, int64_t id, int64_t cu_device)
{
    for (int i = 0; i < m->n; i++)
        if (m->gpu[i] == id) return m->cuda[i];
    if (m->n) return -1;
    return cu_device >= 0 ? cu_device : id;
}

static int read_gpus(struct nsys *n, struct builder *b, struct err *e)
{
    struct gpu_map map;
    sqlite3_stmt *s;
    TRY(read_gpu_map(n, &map, e));
    if (!sqlite_in_has(&n->db, "TARGET_INFO_GPU")) return 0;
    TRY(sqlite_in_select(&n->db, "TARGET_INFO_GPU", GPU_COLUMNS, &s, e));
    int rc, n_gpus = 0;
    while ((rc = sqlite_in_step(&n->db, s, e)) > 0 && n_gpus++ < MOST_GPUS) {
        int64_t id = cuda_number(&map, sqlite_in_int(s, 0, -1), sqlite_in_int(s, 1, -1));
        if (id < 0 || id > INT16_MAX) continue;
        rc = nsys_add_gpu(b, s, id);
        if (rc < 0) break;
    }
    sqlite3_finalize(s);
    return rc == ERR_NOMEM ? err_nomem(e) : rc < 0 ? rc : 0;
}

/* When the clock of the events read zero, and who wrote the export. */
static int read_session(struct nsys *n, struct builder *b, struct err *e)
{
    sqlite3_stmt *s;
    if (sqlite_in_has(&n->db, "TARGET_INFO_SESSION_START_TIME")) {
        TRY(sqlite_in_select(&n->db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &s, e));
        int rc = sqlite_in_step(&n->db, s, e);
        int64_t base = rc > 0 ? sqlite_in_int(s, 0, 0) : 0;
        if (base > 0 && base < INT64_MAX / 2) builder_trace(b)->base_ns = base;
        sqlite3_finalize(s);
        TRY(rc);
    }
    if (!sqlite_in_has(&n->db, "META_DATA_EXPORT")) return 0;
    TRY(sqlite_in_select(&n->db, "META_DATA_EXPORT", "name value", &s, e));
    int rc;
    while ((rc = sqlite_in_step(&n->db, s, e)) > 0) {
        struct str name = sqlite_in_text(s, 0), value = sqlite_in_text(s, 1);
        if (!name.p || !value.p || !str_starts(name, "EXPORT_")) continue;
        buf_reset(&n->scratch);
        jout_quote(&n->scratch, value);
        rc = buf_ok(&n->scratch) ? builder_add_meta(b, name, buf_str(&n->scratch)) : ERR_NOMEM;
        if (rc < 0) break;
    }
    sqlite3_finalize(s);
    return rc == ERR_NOMEM ? err_nomem(e) : rc < 0 ? rc : 0;
}

enum { MOST_WARNINGS = 3 };

/* A warning about the GPU that is not in the text yet. */
static void add_warning(struct buf *said, uint64_t *seen, int *n, struct str text)
{
    uint64_t hash = xxh64(text.p, text.n);
    if (!text.n || !str_has(text, "CUDA") || *n == MOST_WARNINGS) return;
    for (int i = 0; i < *n; i++)
        if (seen[i] == hash) return;
    seen[(*n)++] = hash;
    if (said->n) buf_addc(said, ' ');
    buf_add(said, text.p, text.n);
}

/* What Nsight Systems itself warned of: why records of the GPU are missing. */
static int read_warnings(struct nsys *n, struct builder *b, struct err *e)
{
    enum { WARNING = 2, ERROR = 3 };
    uint64_t seen[MOST_WARNINGS];
    sqlite3_stmt *s;
    int rc, n_seen = 0;
    if (!sqlite_in_has(&n->db, "DIAGNOSTIC_EVENT")) return 0;
    TRY(sqlite_in_select(&n->db, "DIAGNOSTIC_EVENT", "severity text", &s, e));
    struct buf said;
    buf_init(&said);
    while ((rc = sqlite_in_step(&n->db, s, e)) > 0) {
        int64_t severity = sqlite_in_int(s, 0, 0);
        if (severity == WARNING || severity == ERROR)
            add_warning(&said, seen, &n_seen, sqlite_in_text(s, 1));
    }
    sqlite3_finalize(s);
    buf_reset(&n->scratch);
    jout_quote(&n->scratch, buf_str(&said));
    if (rc == 0 && (!buf_ok(&said) || !buf_ok(&n->scratch))) rc = err_nomem(e);
    if (rc == 0 && said.n)
        rc = builder_add_meta(b, str_c(TRACE_META_WARNED), buf_str(&n->scratch)) < 0 ? err_nomem(e)
                                                                                     : 0;
    buf_done(&said);
    return rc;
}

static int read_tables(struct nsys *n, struct builder *b, struct err *e)
{
    if (!has_events(n) && sqlite_in_has(&n->db, "TARGET_INFO_SESSION_START_TIME"))
        return FAIL(e, ERR_FORMAT,
                    "an export of Nsight Systems without events: neither CUDA nor NVTX was "
                    "recorded; record with nsys profile --trace=cuda,nvtx, until the program ends");
    if (!has_events(n))
        return FAIL(e, ERR_FORMAT,
                    "a SQLite database, but neither from Nsight Systems nor rocprofv3: it has no "
                    "table CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS or rocpd_string");
    if (sqlite_in_has(&n->db, "StringTable") && !sqlite_in_has(&n->db, "StringIds"))
        return FAIL(
            e, ERR_UNSUPPORTED,
            "a recording of nvprof, which is not read; record again with strata run or nsys");
    TRY(find_processes(n, e));
    TRY(nsys_each_row(n, &strings, e));
    for (int i = 0; nsys_tables[i].name; i++) TRY(nsys_each_row(n, &nsys_tables[i], e));
    TRY(nsys_each_row(n, &threads, e));
    TRY(nsys_each_row(n, &processes, e));
    TRY(read_gpus(n, b, e));
    TRY(read_session(n, b, e));
    TRY(read_warnings(n, b, e));
    for (uint64_t i = 0; i < n->db.n_broken; i++)
        damage_note(batch_damage(n->part), DAMAGE_BAD_EVENT, n->n_rows);
    return 0;
}

int nsys_read(struct sqlite_in *db, struct builder *b, struct err *e)
{
    struct nsys n = {.db = *db, .part = batch_new(), .last_ns = INT64_MIN};
    map_init(&n.strings);
    map_init(&n.named);
    int rc = n.part ? read_tables(&n, b, e) : err_nomem(e);
    map_done(&n.strings);
    map_done(&n.named);
    buf_done(&n.scratch);
    if (rc == 0) return builder_add_part(b, n.part, e);
    batch_free(n.part);
    return rc;
}
