/* rocprof.c: {"rocprofiler-sdk-tool": [{metadata, agents, strings, kernel_symbols,
 * buffer_records}]}: first what records refer to, then the records, list by list. */
#include "import/importer.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/vec.h"
#include "import/bytes/plain.h"
#include "import/json/json_scan.h"
#include "import/rocm/rocm_rows.h"

struct tool {
    struct str metadata, agents, strings, symbols, records;
};

/* A kind of record, and the names of its operations. */
struct kind {
    struct str name;
    size_t first, n; /* in reading.operations */
};

struct reading {
    struct rocm rows;
    struct map kernels;  /* kernel_id -> index into symbols */
    struct map markers;  /* correlation -> index into texts */
    struct str *symbols; /* objects */
    struct kind *kinds;
    struct str *operations;
    size_t n_symbols, cap_symbols, n_kinds, cap_kinds, n_operations, cap_operations;
    struct str *texts;
    size_t n_texts, cap_texts;
    int64_t pid;
};

static struct tool find_parts(struct str text)
{
    struct tool p = {0};
    struct walk w = walk_open(text);
    struct str key, value;
    while (walk_next(&w, &key, &value)) {
        if (str_is(key, "metadata")) p.metadata = value;
        else if (str_is(key, "agents")) p.agents = value;
        else if (str_is(key, "strings")) p.strings = value;
        else if (str_is(key, "kernel_symbols")) p.symbols = value;
        else if (str_is(key, "buffer_records")) p.records = value;
    }
    return p;
}

/* {"handle": N}, or N. */
static int64_t rocprof_handle(struct str value, int64_t otherwise)
{
    if (value.n && *value.p == '{') value = walk_find(value, "handle");
    return walk_int(value, otherwise);
}

static int add_agents(struct reading *r, struct str agents)
{
    enum { GPU = 2 };
    struct walk w = walk_open(agents);
    struct str key, agent;
    while (walk_next(&w, &key, &agent)) {
        struct str type = walk_find(agent, "type");
        if (walk_int(type, 0) != GPU && !str_has(type, "GPU")) continue;
        struct str name = walk_text(walk_find(agent, "product_name"));
        struct rocm_gpu g = {
            .agent = (uint64_t)rocprof_handle(walk_find(agent, "id"), -1),
            .index = walk_int(walk_find(agent, "logical_node_type_id"), -1),
            .n_cus = walk_int(walk_find(agent, "cu_count"), 0),
            .wave_size = walk_int(walk_find(agent, "wave_front_size"), 0),
            .name = name.n ? name : walk_text(walk_find(agent, "name")),
        };
        TRY(rocm_add_gpu(&r->rows, &g));
    }
    return 0;
}

static int add_symbols(struct reading *r, struct str symbols)
{
    struct walk w = walk_open(symbols);
    struct str key, symbol;
    while (walk_next(&w, &key, &symbol)) {
        uint32_t *slot = map_at(&r->kernels, (uint64_t)walk_int(walk_find(symbol, "kernel_id"), 0));
        if (!slot || VEC_RESERVE(r->symbols, r->n_symbols, r->cap_symbols, 1)) return ERR_NOMEM;
        *slot = (uint32_t)r->n_symbols;
        r->symbols[r->n_symbols++] = symbol;
    }
    return 0;
}

static int rocprof_add_kind(struct reading *r, struct str item)
{
    if (VEC_RESERVE(r->kinds, r->n_kinds, r->cap_kinds, 1)) return ERR_NOMEM;
    struct kind *k = &r->kinds[r->n_kinds++];
    *k = (struct kind){walk_text(walk_find(item, "kind")), r->n_operations, 0};
    struct walk w = walk_open(walk_find(item, "operations"));
    struct str key, name;
    while (walk_next(&w, &key, &name)) {
        if (VEC_RESERVE(r->operations, r->n_operations, r->cap_operations, 1)) return ERR_NOMEM;
        r->operations[r->n_operations++] = walk_text(name);
        k->n++;
    }
    return 0;
}

/* Names of operations by kind, and what markers say. */
static int add_strings(struct reading *r, struct str strings)
{
    struct walk w = walk_open(walk_find(strings, "buffer_records"));
    struct str key, item;
    while (walk_next(&w, &key, &item)) TRY(rocprof_add_kind(r, item));
    w = walk_open(walk_find(strings, "marker_api"));
    while (walk_next(&w, &key, &item)) {
        uint32_t *slot = map_at(&r->markers, (uint64_t)walk_int(walk_find(item, "key"), 0));
        if (!slot || VEC_RESERVE(r->texts, r->n_texts, r->cap_texts, 1)) return ERR_NOMEM;
        *slot = (uint32_t)r->n_texts;
        r->texts[r->n_texts++] = walk_text(walk_find(item, "value"));
    }
    return 0;
}

/* A record, its fields found in one go. */
struct record {
    struct str kind, operation, thread, correlation, start, end, dispatch, stream, from, to, bytes,
        agent, address, size;
};

static void rocprof_read_record(struct str text, struct record *ret)
{
    static const struct {
        const char *key;
        size_t offset;
    } fields[] = {
        {"kind", offsetof(struct record, kind)},
        {"operation", offsetof(struct record, operation)},
        {"thread_id", offsetof(struct record, thread)},
        {"correlation_id", offsetof(struct record, correlation)},
        {"start_timestamp", offsetof(struct record, start)},
        {"end_timestamp", offsetof(struct record, end)},
        {"dispatch_info", offsetof(struct record, dispatch)},
        {"stream_id", offsetof(struct record, stream)},
        {"src_agent_id", offsetof(struct record, from)},
        {"dst_agent_id", offsetof(struct record, to)},
        {"bytes", offsetof(struct record, bytes)},
        {"agent_id", offsetof(struct record, agent)},
        {"address", offsetof(struct record, address)},
        {"allocation_size", offsetof(struct record, size)},
    };
    struct walk w = walk_open(text);
    struct str key, value;
    *ret = (struct record){0};
    while (walk_next(&w, &key, &value))
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (str_is(key, fields[i].key))
                *(struct str *)(void *)((char *)ret + fields[i].offset) = value;
}

static struct rocm_times rocprof_times_of(const struct record *c)
{
    return (struct rocm_times){walk_int(c->start, ID_NONE), walk_int(c->end, ID_NONE)};
}

static int64_t correlation_of(const struct record *c)
{
    return walk_int(walk_find(c->correlation, "internal"), ID_NONE);
}

/* The record's kind: by its number, or by its name; NULL when there is none such. */
static const struct kind *rocprof_kind_of(const struct reading *r, const struct record *c)
{
    int64_t number = walk_int(c->kind, -1);
    struct str name = walk_text(c->kind);
    if (number >= 0) return (uint64_t)number < r->n_kinds ? &r->kinds[number] : NULL;
    for (size_t i = 0; i < r->n_kinds && name.n; i++)
        if (str_eq(r->kinds[i].name, name)) return &r->kinds[i];
    return NULL;
}

/* The name of what was done: a number into the operations of the kind, or the name itself. */
static struct str operation_of(const struct reading *r, const struct record *c)
{
    const struct kind *k = rocprof_kind_of(r, c);
    int64_t number = walk_int(c->operation, -1);
    if (number < 0) return walk_text(c->operation);
    return k && (uint64_t)number < k->n ? r->operations[k->first + (size_t)number] : str_c("");
}

static void read_dim3(struct str value, int64_t ret[3])
{
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) ret[i] = walk_int(walk_find(value, names[i]), 0);
}

static int rocprof_add_dispatch(struct reading *r, const struct record *c)
{
    struct rocm_kernel k = {
        .at = rocprof_times_of(c),
        .correlation = correlation_of(c),
        .agent = (uint64_t)rocprof_handle(walk_find(c->dispatch, "agent_id"), -1),
        .stream = rocprof_handle(c->stream, -1),
        .lds_bytes = walk_int(walk_find(c->dispatch, "group_segment_size"), 0),
    };
    if (k.stream < 0) k.stream = rocprof_handle(walk_find(c->dispatch, "queue_id"), 0);
    uint64_t id = (uint64_t)walk_int(walk_find(c->dispatch, "kernel_id"), 0);
    uint32_t at = map_find(&r->kernels, id);
    if (at != MAP_NONE) {
        static const char *const names[] = {"demangled_kernel_name", "formatted_kernel_name",
                                            "kernel_name"};
        for (int i = 0; i < 3 && !k.name.n; i++)
            k.name = walk_text(walk_find(r->symbols[at], names[i]));
        k.n_registers = walk_int(walk_find(r->symbols[at], "arch_vgpr_count"), 0);
    }
    read_dim3(walk_find(c->dispatch, "grid_size"), k.threads);
    read_dim3(walk_find(c->dispatch, "workgroup_size"), k.block);
    return rocm_add_kernel(&r->rows, &k);
}

static int rocprof_add_copy(struct reading *r, const struct record *c)
{
    struct rocm_copy k = {
        .at = rocprof_times_of(c),
        .name = operation_of(r, c),
        .from = (uint64_t)rocprof_handle(c->from, -1),
        .to = (uint64_t)rocprof_handle(c->to, -1),
        .correlation = correlation_of(c),
        .stream = rocprof_handle(c->stream, 0),
        .bytes = walk_int(c->bytes, -1),
    };
    return rocm_add_copy(&r->rows, &k);
}

static int rocprof_add_call(struct reading *r, const struct record *c)
{
    const struct kind *kind = rocprof_kind_of(r, c);
    struct rocm_call k = {
        .at = rocprof_times_of(c),
        .category = kind ? kind->name : walk_text(c->kind),
        .name = operation_of(r, c),
        .pid = r->pid,
        .tid = walk_int(c->thread, 0),
        .correlation = correlation_of(c),
    };
    uint32_t said = str_starts(k.category, "MARKER")
                        ? map_find(&r->markers, (uint64_t)k.correlation)
                        : MAP_NONE;
    if (said != MAP_NONE) k.name = r->texts[said];
    return rocm_add_call(&r->rows, &k);
}

static int rocprof_add_alloc(struct reading *r, const struct record *c)
{
    struct str operation = operation_of(r, c);
    int64_t bytes = walk_int(c->size, 0);
    bool frees = str_has(operation, "FREE");
    if (bytes < 0 || str_has(operation, "VMEM")) bytes = 0;
    struct rocm_alloc a = {walk_int(c->start, ID_NONE),
                           frees ? -bytes : bytes,
                           r->pid,
                           walk_int(c->thread, 0),
                           (uint64_t)rocprof_handle(c->address, 0),
                           (uint64_t)rocprof_handle(c->agent, -1)};
    return bytes ? rocm_add_alloc(&r->rows, &a) : 0;
}

static const struct {
    const char *name;
    int (*add)(struct reading *r, const struct record *c);
} lists[] = {
    {"kernel_dispatch", rocprof_add_dispatch},
    {"memory_copy", rocprof_add_copy},
    {"hip_api", rocprof_add_call},
    {"hsa_api", rocprof_add_call},
    {"marker_api", rocprof_add_call},
    {"rccl_api", rocprof_add_call},
    {"rocdecode_api", rocprof_add_call},
    {"memory_allocation", rocprof_add_alloc},
};

static int rocprof_add_records(struct reading *r, struct str records)
{
    struct walk w = walk_open(records), inside;
    struct str key, list, item;
    while (walk_next(&w, &key, &list)) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            if (!str_is(key, lists[i].name)) continue;
            struct record c;
            for (inside = walk_open(list); walk_next(&inside, &key, &item);) {
                rocprof_read_record(item, &c);
                TRY(lists[i].add(r, &c));
            }
            break;
        }
    }
    return 0;
}

static int rocprof_add_process(struct reading *r, struct str text)
{
    struct tool p = find_parts(text);
    r->n_symbols = r->n_kinds = r->n_texts = r->n_operations = 0;
    map_done(&r->kernels);
    map_done(&r->markers);
    r->pid = walk_int(walk_find(p.metadata, "pid"), 0);
    TRY(add_agents(r, p.agents));
    TRY(add_symbols(r, p.symbols));
    TRY(add_strings(r, p.strings));
    return rocprof_add_records(r, p.records);
}

static int add_tools(struct reading *r, struct str text)
{
    struct walk w = walk_open(text), inside;
    struct str key, value, item;
    while (walk_next(&w, &key, &value)) {
        if (!str_starts(key, "rocprofiler-sdk")) continue;
        if (value.n && *value.p == '{') TRY(rocprof_add_process(r, value));
        for (inside = walk_open(value); *value.p == '[' && walk_next(&inside, &key, &item);)
            TRY(rocprof_add_process(r, item));
    }
    return 0;
}

static int rocprof_read_text(struct builder *b, struct str text, struct err *e)
{
    struct reading r = {0};
    struct batch *part = batch_new();
    if (!part) return err_nomem(e);
    rocm_init(&r.rows, b, part);
    int rc = add_tools(&r, text);
    if (rc == 0) rc = builder_copy_part(b, part, e);
    rocm_done(&r.rows);
    map_done(&r.kernels);
    map_done(&r.markers);
    mem_free(r.symbols);
    mem_free(r.kinds);
    mem_free(r.operations);
    mem_free(r.texts);
    batch_free(part);
    if (rc == 0 && builder_n_rows(b) == 0)
        return FAIL(e, ERR_FORMAT,
                    "JSON of rocprofv3 that is cut short or without calls, kernels and copies; "
                    "record with --sys-trace or --kernel-trace");
    return err_grow(e, rc);
}

static int open_rocprof(struct file_map *file, const char *path, const struct import_options *o,
                        struct trace **ret, struct err *e)
{
    struct plain *plain = NULL;
    struct builder *b = builder_new(e);
    bool all, whole;
    int rc = b ? plain_open(&plain, file, o, e) : ERR_NOMEM;
    if (rc == 0) {
        struct trace *t = builder_trace(b);
        t->format = "rocprofv3 json";
        t->without_bytes = true;
        t->path = mem_strdup(path);
        t->source_bytes = plain_wait(plain, UINT64_MAX - FILE_PADDING, &all);
        rc = plain_result(plain, &whole, e);
        if (rc == 0 && !t->path) rc = err_nomem(e);
        if (rc == 0) rc = rocprof_read_text(b, str_from(plain_text(plain), t->source_bytes), e);
    }
    plain_close(plain);
    file_unmap(file);
    if (rc == 0) return builder_freeze(b, o->n_threads, ret, e);
    builder_free(b);
    return rc;
}

/* A tool's records stand behind a key of that name, in an object or a list. Traces of others have a
 * version behind such a key. */
static bool rocprof_sniff(struct str head)
{
    static const char key[] = "\"rocprofiler-sdk";
    struct str text = str_trim(head);
    if (!text.n || *text.p != '{') return false;
    for (size_t i = 0; i + sizeof key <= text.n; i++) {
        if (memcmp(text.p + i, key, sizeof key - 1) != 0) continue;
        size_t at = i + sizeof key - 1;
        while (at < text.n && text.p[at] != '"') at++;
        for (at++; at < text.n && (isspace((unsigned char)text.p[at]) || text.p[at] == ':');) at++;
        if (at >= text.n || text.p[at] == '{' || text.p[at] == '[') return true;
    }
    return false;
}

const struct importer import_rocprof = {"rocprofv3 json", rocprof_sniff, open_rocprof,
                                        .inflates = true};
