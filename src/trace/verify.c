/* verify.c: one question per guarantee. Rows are verified in parallel shares; each question names
 * the guarantee in the words of the error message. */
#include "trace/verify.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "trace/bounds.h"

enum { SHARES = 64 };

struct share_result {
    const char *why; /* NULL when all is well */
    uint64_t index;
};

static bool string_ok(const struct trace *t, str_id id)
{
    return id < t->strings.n || id == STR_NONE;
}

static bool time_ok(const struct trace *t, row_t r)
{
    return bounds_ts(t->ts_ns[r]) && bounds_dur(t->dur_ns[r]);
}

/* Begin and end of the trace are those of its spans, which bounds their distance too. */
static bool verify_is_span(const struct trace *t, row_t r)
{
    return t->phase[r] == 'X' && t->kind[r] != KIND_WINDOW && !(t->flags[r] & ROW_NO_TIME);
}

static bool verify_is_inside(const struct trace *t, row_t r)
{
    if (!verify_is_span(t, r)) return true;
    return t->ts_ns[r] >= t->begin_ns && trace_end_ns(t, r) <= t->end_ns;
}

static uint32_t table_size(const struct trace *t, enum kind_table table)
{
    const uint32_t n[] = {
        [TABLE_NONE] = 0,
        [TABLE_OP] = t->n_ops,
        [TABLE_CALL] = t->n_calls,
        [TABLE_GPU] = t->n_gpu,
        [TABLE_PY] = t->n_py,
        [TABLE_MEM] = t->n_mem,
        [TABLE_ASYNC] = t->n_asyncs,
    };
    return n[table];
}

/* Calls and device work are looked up without a question; other rows may lack their entry, as in
 * files of recorders that had nothing to put there. */
static bool details_ok(const struct trace *t, row_t r)
{
    enum kind_table table = kind_table(t->kind[r]);
    if (t->aux[r] < table_size(t, table)) return true;
    return t->aux[r] == UINT32_MAX && table != TABLE_CALL && table != TABLE_GPU;
}

static bool parent_ok(const struct trace *t, row_t r)
{
    row_t p = t->parent[r];
    if (p == ROW_NONE) return t->depth[r] == 0;
    if (p >= r || p < t->lanes[t->lane[r]].begin) return false;
    return t->depth[p] < TRACE_DEEPEST && t->depth[r] == t->depth[p] + 1;
}

static bool verify_is_before(const struct trace *t, row_t a, row_t b)
{
    return t->ts_ns[a] < t->ts_ns[b] || (t->ts_ns[a] == t->ts_ns[b] && a < b);
}

/* The rows a call claims to have launched must name it as their launch; in order of time, so none
 * stands there twice. */
static bool launches_ok(const struct trace *t, row_t r)
{
    const struct call_info *c = trace_call(t, r);
    if (!c) return true;
    if ((uint64_t)c->first_gpu + c->n_gpu > t->n_launched) return false;
    const row_t *work = t->launched + c->first_gpu;
    for (uint32_t i = 0; i < c->n_gpu; i++) {
        if (trace_launch_of(t, work[i]) != r || !trace_is_work(t, work[i])) return false;
        if (i && !verify_is_before(t, work[i - 1], work[i])) return false;
    }
    return true;
}

static bool launch_ok(const struct trace *t, row_t r)
{
    const struct gpu_info *g = trace_gpu(t, r);
    return !g || g->launch == ROW_NONE || trace_call(t, g->launch);
}

static const char *verify_row(const struct trace *t, row_t r)
{
    if (t->lane[r] >= t->n_lanes) return "its lane does not exist";
    const struct lane *lane = &t->lanes[t->lane[r]];
    if (r < lane->begin || r >= lane->end) return "it lies outside its lane";
    if (t->kind[r] >= KIND_COUNT) return "its kind is unknown";
    if (t->cat[r] >= t->n_cats) return "its category does not exist";
    if (t->name[r] >= t->strings.n) return "its name does not exist";
    if (!time_ok(t, r)) return "its time is impossible";
    if (r > lane->begin && t->ts_ns[r] < t->ts_ns[r - 1]) return "it is out of order";
    if (!verify_is_inside(t, r)) return "it lies outside of the trace";
    if (!details_ok(t, r)) return "its details do not exist";
    if (!parent_ok(t, r)) return "its parent is impossible";
    return NULL;
}

/* Needs every row's kind and aux to be sound already. */
static const char *verify_row_links(const struct trace *t, row_t r)
{
    if (!launches_ok(t, r)) return "what it launched does not exist";
    if (!launch_ok(t, r)) return "its launch does not exist";
    return NULL;
}

struct rows_job {
    const struct trace *t;
    const char *(*verify)(const struct trace *t, row_t r);
    struct share_result result[SHARES];
};

static void verify_share(void *ctx, int item, int worker)
{
    struct rows_job *job = ctx;
    (void)worker;
    uint64_t n = job->t->n_rows;
    row_t end = (row_t)(n * ((unsigned)item + 1) / SHARES);
    for (row_t r = (row_t)(n * (unsigned)item / SHARES); r < end; r++) {
        const char *why = job->verify(job->t, r);
        if (!why) continue;
        job->result[item] = (struct share_result){why, r};
        return;
    }
}

static int verify_rows(const struct trace *t, int n_threads, struct err *e,
                       const char *(*verify)(const struct trace *t, row_t r))
{
    struct rows_job job = {.t = t, .verify = verify};
    pool_run(n_threads, SHARES, verify_share, &job);
    for (int i = 0; i < SHARES; i++)
        if (job.result[i].why)
            return FAIL(e, ERR_FORMAT, "damaged: row %" PRIu64 ": %s", job.result[i].index,
                        job.result[i].why);
    return 0;
}

/* Needs what calls launched to be sound already: then no work is missing if as much is listed. */
static int verify_launched(const struct trace *t, struct err *e)
{
    uint64_t listed = 0, linked = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct call_info *c = trace_call(t, r);
        if (c) listed += c->n_gpu;
        linked += trace_is_work(t, r) && trace_launch_of(t, r) != ROW_NONE;
    }
    if (listed == linked && listed == t->n_launched) return 0;
    return FAIL(e, ERR_FORMAT, "damaged: work that its launch does not know");
}

/* Where the details of each kind of row begin among those of all kinds; returns how many. */
static size_t verify_count_details(const struct trace *t, size_t begin[TABLE_ASYNC + 1])
{
    size_t n = 0;
    for (int table = TABLE_NONE; table <= TABLE_ASYNC; table++) {
        begin[table] = n;
        n += table_size(t, (enum kind_table)table);
    }
    return n;
}

/* Whether details belong to one row only: who counts rows makes room for as many as there are
 * details, and sums over rows are bounded by those over details. Needs kind and aux to be sound. */
static int verify_details_are_own(const struct trace *t, struct err *e)
{
    size_t begin[TABLE_ASYNC + 1], n = verify_count_details(t, begin);
    uint8_t *taken = mem_zalloc(n + 1, 1);
    if (!taken) return err_nomem(e);
    row_t r = 0;
    for (; r < t->n_rows; r++) {
        if (t->aux[r] == UINT32_MAX) continue;
        uint8_t *mine = &taken[begin[kind_table(t->kind[r])] + t->aux[r]];
        if (*mine) break;
        *mine = 1;
    }
    mem_free(taken);
    if (r == t->n_rows) return 0;
    return FAIL(e, ERR_FORMAT, "damaged: row %" PRIu32 ": its details are those of another", r);
}

/* Strings follow each other, so all of them together are no longer than the file. */
static bool strings_ok(const struct trace *t)
{
    const struct intern_view *v = &t->strings.view;
    if (!v->offsets) return true;
    for (uint32_t i = 0; i < t->strings.n; i++)
        if (v->offsets[i] >= v->offsets[i + 1]) return false;
    return v->offsets[t->strings.n] <= v->n_bytes;
}

/* What threads, processes, devices, categories and metadata are called. */
static bool names_ok(const struct trace *t)
{
    uint32_t n = t->strings.n;
    bool ok = true;
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct process *p = &t->processes[i];
        ok = ok && p->pid_text < n && p->name < n && p->labels < n;
    }
    for (uint32_t i = 0; i < t->n_lanes; i++)
        ok = ok && t->lanes[i].tid_text < n && t->lanes[i].name < n;
    for (uint32_t i = 0; i < t->n_devices; i++) ok = ok && t->devices[i].name < n;
    for (uint32_t i = 0; i < t->n_cats; i++) ok = ok && t->cats[i] < n;
    for (uint32_t i = 0; i < t->n_metas; i++)
        ok = ok && t->metas[i].key < n && t->metas[i].value < n;
    return ok;
}

static bool verify_is_time(int64_t ns)
{
    return ns == ID_NONE || bounds_ts(ns);
}

/* Of the trace as a whole. */
static bool times_ok(const struct trace *t)
{
    if (!bounds_ts(t->base_ns)) return false;
    if (!verify_is_time(t->window_begin_ns) || !verify_is_time(t->window_end_ns)) return false;
    if (t->begin_ns == ID_NONE || t->end_ns == ID_NONE) return t->begin_ns == t->end_ns;
    const int64_t most = 2 * BOUNDS_SPREAD_NS + BOUNDS_DUR_NS;
    return bounds_ts(t->begin_ns) && t->end_ns >= t->begin_ns && t->end_ns - t->begin_ns <= most;
}

/* Whether a span of the rows begins with the trace and one ends with it; none lies outside. A trace
 * that is cut out of it later takes its times from its spans. */
static bool verify_spans_reach(const struct trace *t)
{
    bool begins = t->begin_ns == ID_NONE, ends = begins;
    for (row_t r = 0; r < t->n_rows && !(begins && ends); r++) {
        if (!verify_is_span(t, r)) continue;
        begins = begins || t->ts_ns[r] == t->begin_ns;
        ends = ends || trace_end_ns(t, r) == t->end_ns;
    }
    return begins && ends;
}

int trace_verify_lanes(const struct trace *t, struct err *e)
{
    if (!names_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: a name does not exist");
    if (!times_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: it begins or ends at no time");
    row_t next = 0;
    for (uint32_t i = 0; i < t->n_lanes; i++) {
        const struct lane *l = &t->lanes[i];
        if (l->begin != next || l->end < l->begin || l->end > t->n_rows)
            return FAIL(e, ERR_FORMAT, "damaged: lane %u has impossible rows", i);
        if (l->process >= t->n_processes || (unsigned)l->kind > LANE_OTHER)
            return FAIL(e, ERR_FORMAT, "damaged: lane %u has no process or kind", i);
        next = l->end;
    }
    if (next != t->n_rows) return FAIL(e, ERR_FORMAT, "damaged: rows outside every lane");
    return 0;
}

static bool ops_ok(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct op_info *op = &t->ops[i];
        if (!string_ok(t, op->dims) || !string_ok(t, op->types) || !string_ok(t, op->concrete))
            return false;
    }
    return true;
}

static bool flows_ok(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const struct flow *f = &t->flows[i];
        bool placed = f->lane < t->n_lanes || f->lane == LANE_NONE;
        if (!placed || f->cat >= t->n_cats || f->name >= t->strings.n) return false;
    }
    return true;
}

static bool sizes_ok(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].bytes < -1 || !bounds_bytes(t->gpu[i].bytes)) return false;
    for (uint32_t i = 0; i < t->n_mem; i++)
        if (!bounds_bytes(t->mem[i].bytes) || !bounds_bytes(t->mem[i].total_allocated) ||
            !bounds_bytes(t->mem[i].total_reserved))
            return false;
    return true;
}

int trace_verify(const struct trace *t, int n_threads, struct err *e)
{
    TRY(trace_verify_lanes(t, e));
    if (!strings_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: texts that share their bytes");
    if (!sizes_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: sizes that cannot be");
    if (!ops_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: shapes that do not exist");
    if (!flows_ok(t)) return FAIL(e, ERR_FORMAT, "damaged: flows that lead nowhere");
    TRY(verify_rows(t, n_threads, e, verify_row));
    if (!verify_spans_reach(t))
        return FAIL(e, ERR_FORMAT, "damaged: it begins or ends with no span");
    TRY(verify_details_are_own(t, e));
    TRY(verify_rows(t, n_threads, e, verify_row_links));
    TRY(verify_launched(t, e));
    if (!bounds_sums(t)) return FAIL(e, ERR_FORMAT, "damaged: times or sizes that cannot be");
    return 0;
}
