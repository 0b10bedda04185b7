/* kineto.c: from events to rows. Rows are classified by category and phase, never by pid: device
 * pids (0, 1, ...) collide with process ids in containers. */
#include "import/json/kineto.h"

#include <string.h>

#include "trace/bounds.h"

enum { MOST_DEVICES = 1024 };

void kineto_init(struct kineto *k)
{
    k->part = NULL;
    k->n_cats = 0;
    k->remembers = false;
    map_init(&k->known);
    buf_init(&k->scratch);
}

void kineto_begin(struct kineto *k, struct batch *part)
{
    k->part = part;
    k->n_cats = 0;
    map_done(&k->known); /* ids are the part's */
}

void kineto_done(struct kineto *k)
{
    map_done(&k->known);
    buf_done(&k->scratch);
}

static str_id kineto_intern(struct kineto *k, struct scan *s, struct scan_text text)
{
    enum { SHORT = 64 }; /* as quickly read as looked up */
    if (k->remembers && text.n > SHORT && text.p >= s->text && text.p < s->end) {
        uint32_t *known = map_at(&k->known, (uintptr_t)text.p ^ (uint64_t)text.n << 48);
        if (!known) return STR_NONE;
        if (*known == MAP_NONE) *known = scan_intern(s, text, batch_strings(k->part), &k->scratch);
        return *known;
    }
    return scan_intern(s, text, batch_strings(k->part), &k->scratch);
}

/* The category of an event, remembered so that the usual few cost one comparison. */
static struct kineto_cat kineto_find_cat(struct kineto *k, struct str text)
{
    for (int i = 0; i < k->n_cats; i++) {
        if (!str_eq(k->cats[i].text, text)) continue;
        struct kineto_cat found = k->cats[i];
        if (i) {
            k->cats[i] = k->cats[0];
            k->cats[0] = found;
        }
        return found;
    }
    struct kineto_cat c = {.cat = batch_cat(k->part, text), .kind = cat_kind(text)};
    c.text = intern_get(batch_strings(k->part), intern_find(batch_strings(k->part), text));
    if (k->n_cats < (int)(sizeof k->cats / sizeof *k->cats)) k->cats[k->n_cats++] = c;
    return c;
}

static bool kineto_find_key(struct kineto *k, struct scan *s, const struct event_id *id, bool have,
                            struct batch_key *ret)
{
    *ret = (struct batch_key){have ? id->number : ID_NONE, 0};
    if (ret->number == ID_NONE && have && id->text.p) ret->text = kineto_intern(k, s, id->text);
    return ret->text != STR_NONE;
}

/* The number a text such as "stream 7" ends with, or -1. */
static int32_t kineto_trailing_number(struct scan_text t)
{
    int32_t value = 0;
    uint32_t n = t.n, digits = 0;
    while (n && t.p[n - 1] == ' ') n--;
    uint32_t first = n;
    while (first && t.p[first - 1] >= '0' && t.p[first - 1] <= '9' && digits < 9) first--, digits++;
    for (uint32_t i = first; i < n; i++) value = value * 10 + (t.p[i] - '0');
    return digits ? value : -1;
}

static int32_t kineto_to_int32(int64_t v)
{
    return v < INT32_MIN || v > INT32_MAX ? -1 : (int32_t)v;
}

static int32_t device_number(const struct event_id *id, bool have)
{
    if (!have) return -1;
    return id->number == ID_NONE ? kineto_trailing_number(id->text) : kineto_to_int32(id->number);
}

static bool fill_op(struct kineto *k, struct scan *s, const struct event *ev, struct op_info *op)
{
    *op = (struct op_info){
        .external_id = event_arg(ev, ARG_EXTERNAL_ID, ID_NONE),
        .sequence = event_arg(ev, ARG_SEQUENCE, ID_NONE),
        .fwd_thread = kineto_to_int32(event_arg(ev, ARG_FWD_THREAD, 0)),
        .dims = STR_NONE,
        .types = STR_NONE,
        .concrete = STR_NONE,
    };
    static const enum event_arg args[] = {ARG_DIMS, ARG_TYPES, ARG_CONCRETE};
    str_id *into[] = {&op->dims, &op->types, &op->concrete};
    for (int i = 0; i < 3; i++) {
        if (!event_has_arg(ev, args[i])) continue;
        *into[i] = kineto_intern(k, s, ev->args[args[i]].text);
        if (*into[i] == STR_NONE) return false;
    }
    return true;
}

static void fill_call(const struct event *ev, struct call_info *call)
{
    *call = (struct call_info){
        .correlation = event_arg(ev, ARG_CORRELATION, ID_NONE),
        .external_id = event_arg(ev, ARG_EXTERNAL_ID, ID_NONE),
    };
}

static uint32_t kineto_clamp_u32(int64_t v, uint32_t most)
{
    return v < 0 ? 0 : v > most ? most : (uint32_t)v;
}

static void kineto_fill_gpu(const struct event *ev, struct gpu_info *g)
{
    memset(g, 0, sizeof *g);
    g->correlation = event_arg(ev, ARG_CORRELATION, ID_NONE);
    g->external_id = event_arg(ev, ARG_EXTERNAL_ID, ID_NONE);
    g->bytes = event_arg(ev, ARG_BYTES, event_arg(ev, ARG_SIZE, -1));
    g->graph_id = event_arg(ev, ARG_GRAPH_ID, ID_NONE);
    g->graph_node = event_arg(ev, ARG_GRAPH_NODE, ID_NONE);
    int64_t pid = device_number(&ev->pid, event_has(ev, EVENT_PID));
    int64_t tid = device_number(&ev->tid, event_has(ev, EVENT_TID));
    g->device = kineto_to_int32(event_arg(ev, ARG_DEVICE, event_arg(ev, ARG_IN_DEVICE, pid)));
    g->stream = kineto_to_int32(event_arg(ev, ARG_STREAM, tid));
    g->context = kineto_to_int32(event_arg(ev, ARG_CONTEXT, -1));
    if (event_has_arg(ev, ARG_GRID)) memcpy(g->grid, ev->args[ARG_GRID].dim3, sizeof g->grid);
    if (event_has_arg(ev, ARG_BLOCK)) memcpy(g->block, ev->args[ARG_BLOCK].dim3, sizeof g->block);
    g->shared_bytes = kineto_clamp_u32(event_arg(ev, ARG_SHARED, 0), UINT32_MAX);
    g->registers = (uint16_t)kineto_clamp_u32(event_arg(ev, ARG_REGISTERS, 0), UINT16_MAX);
    int64_t pct = event_arg(ev, ARG_OCCUPANCY, -1);
    g->occupancy_pct = (int16_t)(pct < 0 ? -1 : pct > INT16_MAX ? INT16_MAX : pct);
    if (event_has_arg(ev, ARG_BLOCKS_PER_SM))
        g->blocks_per_sm = (float)ev->args[ARG_BLOCKS_PER_SM].real;
    if (event_has_arg(ev, ARG_WARPS_PER_SM))
        g->warps_per_sm = (float)ev->args[ARG_WARPS_PER_SM].real;
    g->launch = ROW_NONE;
}

static void fill_py(const struct event *ev, struct py_info *py)
{
    *py = (struct py_info){
        .id = kineto_to_int32(event_arg(ev, ARG_PY_ID, -1)),
        .parent_id = kineto_to_int32(event_arg(ev, ARG_PY_PARENT, -1)),
        .module_id = kineto_to_int32(event_arg(ev, ARG_PY_MODULE, -1)),
    };
}

static void fill_mem(const struct event *ev, struct mem_info *m)
{
    int64_t type = event_arg(ev, ARG_DEVICE_TYPE, -1), id = event_arg(ev, ARG_DEVICE_ID, -1);
    *m = (struct mem_info){
        .addr = (uint64_t)event_arg(ev, ARG_ADDR, 0),
        .bytes = event_arg(ev, ARG_MEM_BYTES, 0),
        .total_allocated = event_arg(ev, ARG_ALLOCATED, -1),
        .total_reserved = event_arg(ev, ARG_RESERVED, -1),
        .device_type = (int16_t)(type < -1 || type > INT16_MAX ? -1 : type),
        .device_id = (int16_t)(id < -1 || id > INT16_MAX ? -1 : id),
    };
}

union aux {
    struct op_info op;
    struct call_info call;
    struct gpu_info gpu;
    struct py_info py;
    struct mem_info mem;
    struct async_info async;
};

/* The row's side-table entry; false when out of memory. */
static bool fill_aux(struct kineto *k, struct scan *s, const struct event *ev,
                     struct batch_row *row, union aux *aux)
{
    row->aux = aux;
    switch (kind_table(row->kind)) {
    case TABLE_OP: return fill_op(k, s, ev, &aux->op);
    case TABLE_CALL: fill_call(ev, &aux->call); break;
    case TABLE_GPU: kineto_fill_gpu(ev, &aux->gpu); break;
    case TABLE_PY: fill_py(ev, &aux->py); break;
    case TABLE_MEM: fill_mem(ev, &aux->mem); break;
    case TABLE_ASYNC: aux->async.id = event_has(ev, EVENT_ID) ? ev->id : ID_NONE; break;
    case TABLE_NONE: row->aux = NULL; break;
    }
    return true;
}

/* The kind by category, corrected by phase: only spans are ops, calls or kernels. */
static enum row_kind kineto_find_kind(enum row_kind by_cat, const struct event *ev)
{
    switch (ev->phase) {
    case 'X':
    case 'B':
    case 'E': return by_cat == KIND_MEMORY || by_cat == KIND_COUNTER ? KIND_OTHER : by_cat;
    case 'i':
    case 'I':
    case 'R':
        if (str_is(str_from(ev->name.p, ev->name.n), "[memory]")) return KIND_MEMORY;
        return KIND_INSTANT;
    case 'C': return KIND_COUNTER;
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F': return KIND_ASYNC;
    default: return KIND_OTHER;
    }
}

/* Work of a vendor we do not know: it names a stream and a launch, on a process that looks like a
 * device. */
static bool is_foreign_work(const struct event *ev, enum row_kind kind)
{
    return kind == KIND_OTHER && event_has_arg(ev, ARG_STREAM) &&
           event_has_arg(ev, ARG_CORRELATION) && event_has(ev, EVENT_PID) && ev->pid.number >= 0 &&
           ev->pid.number < MOST_DEVICES;
}

static void kineto_set_times(struct scan *s, const struct event *ev, struct batch_row *row)
{
    bool span = row->phase == 'X';
    bool have_ts = event_has(ev, EVENT_TS) && bounds_ts(ev->ts_ns);
    bool have_dur = event_has(ev, EVENT_DUR) && ev->dur_ns <= BOUNDS_DUR_NS;
    if (have_ts) row->ts_ns = ev->ts_ns;
    else row->flags |= ROW_NO_TIME;
    if (span && have_dur && have_ts) row->dur_ns = ev->dur_ns;
    if (span && (!have_dur || !have_ts)) row->phase = 'i';
    if ((span && !have_dur) || (!have_ts && row->phase != 'M'))
        scan_note(s, DAMAGE_NO_TIME, ev->begin);
    if (row->dur_ns < 0) {
        row->dur_ns = 0;
        scan_note(s, DAMAGE_NEGATIVE_DURATION, ev->begin);
    }
}

/* Traces of AMD without categories: those of rocprof name the queue of their work, those that
 * rocmProfileData exports describe it. Everything else is what calls are called. */
static struct str kineto_category_of_amd(const struct event *ev)
{
    struct str name = str_from(ev->name.p, ev->name.n), what = name;
    if (event_has_arg(ev, ARG_WHAT))
        what = str_from(ev->args[ARG_WHAT].text.p, ev->args[ARG_WHAT].text.n);
    if (str_starts(what, "CopyHostTo") || str_starts(what, "CopyDeviceTo"))
        return str_c("gpu_memcpy");
    if (str_starts(what, "FillBuffer")) return str_c("gpu_memset");
    if (str_is(what, "KernelExecution") ||
        (event_has_arg(ev, ARG_DEVICE) && event_has_arg(ev, ARG_STREAM)))
        return str_c("kernel");
    return str_starts(name, "hip") ? str_c("hip_runtime") : str_c("");
}

static struct str kineto_category(const struct event *ev)
{
    if (event_has(ev, EVENT_CAT)) return str_from(ev->cat.p, ev->cat.n);
    bool named = ev->phase == 'X' && event_has(ev, EVENT_NAME);
    return named ? kineto_category_of_amd(ev) : str_c("");
}

static int kineto_add_row(struct kineto *k, struct scan *s, const struct event *ev)
{
    struct kineto_cat cat = kineto_find_cat(k, kineto_category(ev));
    struct batch_row row = {
        .kind = kineto_find_kind(cat.kind, ev),
        .cat = cat.cat,
        .phase = ev->phase,
        .src = (uint64_t)(ev->begin - s->text),
        .name = event_has(ev, EVENT_NAME) ? kineto_intern(k, s, ev->name) : 0,
    };
    row.on_device = is_foreign_work(ev, row.kind);
    kineto_set_times(s, ev, &row);
    if (row.phase == 'X' && event_has_arg(ev, ARG_FINISHED) && !ev->args[ARG_FINISHED].number)
        row.flags |= ROW_UNFINISHED;
    if (row.kind == KIND_OVERHEAD) row.flags |= ROW_PROFILER;
    union aux aux;
    if (row.name == STR_NONE ||
        !kineto_find_key(k, s, &ev->pid, event_has(ev, EVENT_PID), &row.pid) ||
        !kineto_find_key(k, s, &ev->tid, event_has(ev, EVENT_TID), &row.tid) ||
        !fill_aux(k, s, ev, &row, &aux))
        return ERR_NOMEM;
    return batch_add(k->part, &row);
}

static int add_flow(struct kineto *k, struct scan *s, const struct event *ev)
{
    struct str cat_text = event_has(ev, EVENT_CAT) ? str_from(ev->cat.p, ev->cat.n) : str_c("");
    struct flow f = {
        .id = event_has(ev, EVENT_ID) ? ev->id : ID_NONE,
        .ts_ns = event_has(ev, EVENT_TS) ? ev->ts_ns : 0,
        .name = event_has(ev, EVENT_NAME) ? kineto_intern(k, s, ev->name) : 0,
        .cat = kineto_find_cat(k, cat_text).cat,
        .phase = ev->phase,
    };
    struct batch_key pid, tid;
    if (!kineto_find_key(k, s, &ev->pid, event_has(ev, EVENT_PID), &pid) ||
        !kineto_find_key(k, s, &ev->tid, event_has(ev, EVENT_TID), &tid))
        return ERR_NOMEM;
    return batch_add_flow(k->part, &f, pid, tid);
}

static const struct {
    const char *name;
    enum batch_label what;
    enum event_arg arg;
} labels[] = {
    {"process_name", LABEL_PROCESS_NAME, ARG_NAME},
    {"process_labels", LABEL_PROCESS_LABELS, ARG_LABELS},
    {"process_sort_index", LABEL_PROCESS_SORT, ARG_SORT_INDEX},
    {"thread_name", LABEL_THREAD_NAME, ARG_NAME},
    {"thread_sort_index", LABEL_THREAD_SORT, ARG_SORT_INDEX},
};

static int add_metadata(struct kineto *k, struct scan *s, const struct event *ev)
{
    struct str name = event_has(ev, EVENT_NAME) ? str_from(ev->name.p, ev->name.n) : str_c("");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (!str_is(name, labels[i].name)) continue;
        if (!event_has_arg(ev, labels[i].arg)) return 0;
        struct batch_key pid, tid;
        str_id text = 0;
        int64_t number = 0;
        if (labels[i].arg == ARG_SORT_INDEX) number = ev->args[ARG_SORT_INDEX].number;
        else text = kineto_intern(k, s, ev->args[labels[i].arg].text);
        if (!kineto_find_key(k, s, &ev->pid, event_has(ev, EVENT_PID), &pid) ||
            !kineto_find_key(k, s, &ev->tid, event_has(ev, EVENT_TID), &tid))
            return ERR_NOMEM;
        return batch_add_label(k->part, labels[i].what, pid, tid, text, number);
    }
    return kineto_add_row(k, s, ev);
}

int kineto_add(struct kineto *k, struct scan *s, const struct event *ev)
{
    switch (ev->phase) {
    case 's':
    case 't':
    case 'f': return add_flow(k, s, ev);
    case 'M': return add_metadata(k, s, ev);
    default: return kineto_add_row(k, s, ev);
    }
}
