/* trace.h: what a trace is, once it has been read. Importers fill it through build.h; everything
 * downstream only reads it. A frozen trace never changes and may be shared between threads.
 *
 * Columns, not objects: a row is an index; the i-th entry of every column describes row i. Rows
 * are ordered by (lane, start, longest first, place in the file), so a lane is a contiguous run
 * [lane.begin, lane.end) and a parent precedes its children.
 *
 *     row     0    1    2    3  |  4    5    6   ...
 *     lane    thread 1213       |  GPU 0 stream 7 ...
 *     ts_ns   10   12   15   40 |  20   31   44
 *     dur_ns  50   20    5    9 |  10   12    3
 *     parent  -    0    1    0  |  -    -    -          (by time, on the same lane)
 *     aux     0    1    0    2  |  0    1    2          (index into the table of the row's kind)
 *
 * Times are integer nanoseconds; ts_ns + base_ns is wall-clock time since 1970. Strings are ids
 * into `strings`. What only some kinds of row have stands in the side tables below, reached with
 * trace_op, trace_call, trace_gpu, trace_py, trace_mem and trace_async. */
#ifndef STRATA_TRACE_TRACE_H
#define STRATA_TRACE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/span.h"
#include "trace/cat.h"
#include "trace/damage.h"

typedef uint32_t row_t;
typedef uint32_t lane_id;

#define ROW_NONE  UINT32_MAX
#define LANE_NONE UINT32_MAX
#define ID_NONE   INT64_MIN /* an id (correlation, external, graph ...) that was not written */

/* Largest depth of a row. Rows nested deeper stand side by side there, so that walking up to what
 * encloses a row takes a bounded number of steps whatever the trace. Python allows 1,000 frames by
 * itself; what users write is less than half as deep. */
#define TRACE_DEEPEST 512

enum row_flag {
    ROW_UNFINISHED = 1, /* still open when the profiler stopped ("finished": false) */
    ROW_CROSSES = 2,    /* overlaps its neighbour on the lane without nesting */
    ROW_PROFILER = 4,   /* the profiler's own doing: its last synchronize, buffer requests */
    ROW_NO_TIME = 8,    /* its start was not recorded: stands at 0, counts towards no time */
    ROW_FAILED = 16,    /* a range that was left by an exception */
    ROW_LINE = 32, /* of a Python function, directly inside its row: named by the line it is at */
    ROW_RESUMED = 64, /* a further turn of a generator: the call before it goes on */
    ROW_STAGE = 128,  /* of a recording: marked with strata, not with another library's ranges */
};

/* CPU op or user annotation. Shape texts are the raw JSON arrays, interned. */
struct op_info {
    int64_t external_id; /* own id, which device work launched under it refers to */
    int64_t sequence;    /* autograd sequence number */
    int32_t fwd_thread;
    str_id dims, types, concrete; /* STR_NONE when shapes were not recorded */
};

/* Runtime or driver call. `first_gpu`/`n_gpu` index trace->launched: the kernels, copies and
 * memsets it caused (device-side sync records link to their call too, but are not work it
 * launched). */
struct call_info {
    int64_t correlation;
    int64_t external_id;
    uint32_t first_gpu, n_gpu;
};

/* Kernel, copy, memset, device-side sync or annotation. */
struct gpu_info {
    int64_t correlation;
    int64_t external_id;
    int64_t bytes; /* copies and memsets, else -1 */
    int64_t graph_id, graph_node;
    int32_t device, stream, context;
    uint32_t grid[3], block[3]; /* all zero when not recorded */
    uint32_t shared_bytes;
    uint16_t registers;
    int16_t occupancy_pct; /* as estimated by the recorder, -1 when not recorded */
    float blocks_per_sm, warps_per_sm;
    row_t launch; /* the call with its correlation id, or ROW_NONE: normal at window edges */
};

/* Python frame. Ids are -1 where the trace has none. */
struct py_info {
    int32_t id, parent_id, module_id;
};

/* Allocator event: bytes > 0 allocates, < 0 frees. Totals are -1 where not recorded. */
struct mem_info {
    uint64_t addr;
    int64_t bytes, total_allocated, total_reserved;
    int16_t device_type, device_id;
    uint32_t reserved; /* 0; no hidden padding: rows are written to .strata files as they are */
};

/* Asynchronous event: what joins its begin and end. */
struct async_info {
    int64_t id;
};

enum lane_kind {
    LANE_THREAD,   /* a CPU thread */
    LANE_STREAM,   /* a GPU stream: kernels, copies, memsets */
    LANE_GPU_NOTE, /* device-side annotations and sync records: not work */
    LANE_OVERHEAD, /* the profiler's own cost, placed on no thread */
    LANE_COUNTER,
    LANE_OTHER, /* whatever else was written */
};

struct lane {
    enum lane_kind kind;
    uint32_t process; /* index into trace->processes */
    int64_t tid;      /* as printed, or ID_NONE when it was not a number */
    str_id tid_text;  /* as printed when it was not a number */
    str_id name;      /* from metadata; 0 when none */
    int64_t sort_index;
    int32_t device, stream; /* LANE_STREAM and LANE_GPU_NOTE, else -1 */
    row_t begin, end;       /* its rows */
};

struct process {
    int64_t pid; /* as printed, or ID_NONE */
    str_id pid_text;
    str_id name, labels;
    int64_t sort_index;
};

struct device {
    int32_t id;
    str_id name;
    int64_t memory_bytes;
    int32_t major, minor;
    int32_t n_sms, warp_size;
    int32_t max_threads_per_sm, regs_per_sm, shared_per_sm, shared_per_block_optin;
};

/* Top-level keys of the file other than the events, as raw JSON text. May hold secrets (whole
 * environments have been seen): never print values of unknown keys. */
struct meta {
    str_id key, value;
};

/* Key of the meta of timelines that Strata recorded itself: recording one event costs less. */
#define TRACE_META_RECORDED "strata_timeline"

/* Key of the meta of traces made from recordings: how much those held then; see
 * import/ring/rings.h. */
#define TRACE_META_EXTENT "strata_recordings"

/* Keys of metas about a device, with its number behind: its UUID, and what the user calls it in
 * CUDA_VISIBLE_DEVICES. */
#define TRACE_META_UUID    "strata_device_uuid_"
#define TRACE_META_VISIBLE "strata_device_visible_"

/* Key of the meta that says what a compiler made kernels of: an array of [module, kernel,
 * operation, "FILE(LINE): FUNCTION"]. */
#define TRACE_META_SOURCES "strata_sources"

/* Key of the meta that says what ran when the nodes of CUDA graphs were captured, for the devices
 * of a process; behind it what stands before the numbers of its devices, if anything ("[4711]").
 *
 *     {"names": ["ptrain.py(12): main", "mnn.Module: Linear_3", "oaten::addmm"],
 *      "origins": [[0, 1, 2]], "nodes": [7, 1, 0]}
 *
 * A name begins with what it is: p a Python function with the line that ran, m the call of a
 * module, o an operator, s what that was called with (dims, types and values, by tabs). An origin
 * is a stack, outermost first. Three numbers are a node: the upper and lower half of its id, and
 * its origin. */
#define TRACE_META_CAPTURED "strata_captured"

/* Key of the meta that says what is set in the program: flags of torch, variables of the
 * environment, processors. An array of [name, value], both texts, the values of one name in the
 * order they were seen. Only names of a list are in it (python/strata/_base/process_settings.py).
 */
#define TRACE_META_SETTINGS "strata_settings"

/* Key of the meta with what the recorder itself warned of, as one text. */
#define TRACE_META_WARNED "strata_recorder_warned"

/* Key of the meta of traces whose Python functions are made of samples: how many microseconds lie
 * between two, which is how good their times are. */
#define TRACE_META_SAMPLED "strata_sample_period_us"

/* Flow events as written. Joins use them only where a trace has no numbers at all (half of them are
 * not what they seem); they are kept so that nothing is lost on the way to another format. */
struct flow {
    int64_t ts_ns;
    int64_t id;
    lane_id lane;
    str_id name;
    uint8_t cat;
    char phase;
    uint8_t reserved[6]; /* 0, as in mem_info */
};

/* How many rows of what. A mapped trace brings them along, so that `info` reads no column. */
struct trace_counts {
    uint32_t by_kind[KIND_COUNT];
    uint32_t by_cat[256];
    uint32_t step_marks; /* annotations named ProfilerStep# */
    uint32_t unlinked;   /* device work without a launch */
};

/* Why time of a recording is left out that no later call would take again. */
enum left_out {
    LEFT_OUT_START_UP, /* contexts, handles, code that is loaded or compiled, cold first steps */
    LEFT_OUT_CAPTURE,  /* a graph is captured: nothing runs */
    LEFT_OUT_PROFILER, /* the profiler starts or stops */
    LEFT_OUT_EARLIER,  /* waiting for work that was launched before the recording */
    LEFT_OUT_KINDS
};

/* Of a trace that was cut out of a longer one: how long that was, and what this is of it. */
/* Of a run that was not recorded throughout (analyze/rests.h). Units are what it repeats, each with
 * what comes between it and the next; they were seen all the time. */
struct trace_rests {
    uint32_t n_parts; /* that were recorded; 0: all was */
    int64_t recorded_ns, run_ns;
    str_id unit;               /* a name of it; STR_NONE where nothing was seen in the rests */
    uint32_t n_units, n_slow;  /* in the whole run; of them, with a pause */
    int64_t units_ns, slow_ns; /* of all; what pauses added */
    int64_t usual_ns, rest_usual_ns; /* median in the parts that were recorded; in the rests */
};

struct trace_part {
    int64_t whole_begin_ns, whole_end_ns; /* equal when nothing was cut */
    str_id name;                          /* of the calls it is made of, or STR_NONE */
    uint32_t n_calls;                     /* calls, or rounds of a loop; 0 when not known */
    uint32_t n_cold;                      /* such calls before, left out: not warmed up */
    int64_t cold_ns;                      /* how long those took */
    bool lost_end;                        /* the end is left out: its device records were lost */
    bool snapshot;            /* what was kept before something happened (snapshot_mark.h) */
    str_id snapshot_name;     /* valid with it: the name of its mark, which may be left out, */
    int64_t snapshot_at_ns;   /* and when that was */
    uint32_t number, n_parts; /* of the parts a program recorded of itself: the 2nd of 3; or 0 */
    uint64_t n_records;       /* of the whole recording, where it was too long to read; else 0 */
    bool judged;              /* what can be judged of it: all but left_out_ns */
    int64_t left_out_ns[LEFT_OUT_KINDS]; /* by enum left_out; valid with `judged` */
    int64_t usual_ns;                    /* of the steps that are left after cold ones */
    bool only_captured; /* its steps capture graphs, none of which is launched in them */
    struct trace_rests rests;
};

/* Reads back the raw JSON text of one event's args. Supplied by the importer. */
struct args_source {
    int (*read)(struct args_source *self, uint64_t src, struct buf *out, struct err *e);
    void (*free)(struct args_source *self);
    uint64_t plain_bytes;         /* native files: all of them, unpacked */
    _Atomic uint64_t taken_bytes; /* read so far; see budget.h */
};

struct trace {
    /* columns */
    uint32_t n_rows;
    int64_t *ts_ns;
    int64_t *dur_ns; /* 0 for instants */
    str_id *name;
    lane_id *lane;
    uint8_t *kind;  /* enum row_kind */
    uint8_t *cat;   /* index into cats: the category as written */
    char *phase;    /* 'X', 'i', 'C', 'b' ... as in the Chrome format; B/E pairs become 'X' */
    uint8_t *flags; /* enum row_flag */
    uint32_t *aux;  /* index into the side table of the row's kind, or UINT32_MAX */
    uint64_t *src;  /* byte offset of the event in the (inflated) input; only the order of it counts
                       where the input was not text */
    row_t *parent;  /* enclosing row on the same lane, or ROW_NONE */
    uint16_t *depth; /* 0 at the top; TRACE_DEEPEST at most */

    /* side tables */
    struct op_info *ops;
    struct call_info *calls;
    struct gpu_info *gpu;
    struct py_info *py;
    struct mem_info *mem;
    struct async_info *asyncs;
    uint32_t n_ops, n_calls, n_gpu, n_py, n_mem, n_asyncs;
    row_t *launched; /* device rows grouped by launching call; see call_info */
    uint32_t n_launched;

    struct lane *lanes;
    uint32_t n_lanes;
    struct process *processes;
    uint32_t n_processes;
    struct device *devices;
    uint32_t n_devices;
    struct meta *metas;
    uint32_t n_metas;
    struct flow *flows;
    uint32_t n_flows;
    str_id *cats; /* category texts by index */
    uint32_t n_cats;

    struct intern strings;
    struct damage damage;
    int64_t base_ns;
    int64_t begin_ns, end_ns;               /* first start and last end of any span with a time */
    int64_t window_begin_ns, window_end_ns; /* the profiler's own window where it wrote one */
    uint64_t source_bytes;                  /* size of the plain text (inflated) */
    bool external_ids_usable;               /* false where they only copy the correlation id */
    char *path;                             /* as given by the user */
    const char *format;                     /* "kineto json", "strata", "nsys sqlite" ... */
    bool without_bytes; /* places of damage are rows or documents, not bytes of a file */
    bool has_source;    /* made from another file, whose damage it remembers */

    struct trace_part part;
    struct trace
        *captures;      /* threads while graphs were captured, where that was cut out; or NULL */
    struct trace *deep; /* units in depth, which say what the other work is; or NULL */
    struct trace_counts counts; /* valid when `counted`: use trace_count */
    bool counted;
    struct args_source *args; /* NULL when nothing more can be read */
    struct file_map mapping;  /* of the native reader: columns point into it */
    bool columns_owned;       /* false when the columns are mapped */
};

struct trace *trace_new(void);
void trace_free(struct trace *t);

static inline struct str trace_str(const struct trace *t, str_id id)
{
    return intern_get(&t->strings, id);
}

static inline struct str trace_name(const struct trace *t, row_t r)
{
    return trace_str(t, t->name[r]);
}

static inline int64_t trace_end_ns(const struct trace *t, row_t r)
{
    return t->ts_ns[r] + t->dur_ns[r];
}

static inline struct span trace_span(const struct trace *t, row_t r)
{
    return (struct span){t->ts_ns[r], trace_end_ns(t, r)};
}

/* The index of row `r` in its side table when its kind uses `table`, else UINT32_MAX. */
static inline uint32_t trace_aux(const struct trace *t, row_t r, enum kind_table table)
{
    return r < t->n_rows && kind_table((enum row_kind)t->kind[r]) == table ? t->aux[r] : UINT32_MAX;
}

/* The row's entry in its side table, or NULL when its kind has none. Calls are read by the million.
 *  */
static inline const struct call_info *trace_call(const struct trace *t, row_t r)
{
    uint32_t i = trace_aux(t, r, TABLE_CALL);
    return i < t->n_calls ? &t->calls[i] : NULL;
}

const struct op_info *trace_op(const struct trace *t, row_t r);
const struct gpu_info *trace_gpu(const struct trace *t, row_t r);
const struct py_info *trace_py(const struct trace *t, row_t r);
const struct mem_info *trace_mem(const struct trace *t, row_t r);
const struct async_info *trace_async(const struct trace *t, row_t r);

/* The nearest enclosing row of `kind`, `r` itself included; ROW_NONE when there is none. */
row_t trace_up(const struct trace *t, row_t r, enum row_kind kind);

/* Device rows a call launched, in time order; *ret_n is 0 for calls that launch nothing. */
const row_t *trace_launched(const struct trace *t, row_t call, uint32_t *ret_n);

/* The call that launched device row `r`, or ROW_NONE. */
row_t trace_launch_of(const struct trace *t, row_t r);

/* The value of a top-level key as raw JSON text; .p is NULL when absent. */
struct str trace_meta(const struct trace *t, const char *key);

/* Whether it was recorded by Strata: a timeline, or that or stages alone. */
bool trace_timeline_is_ours(const struct trace *t);
bool trace_is_ours(const struct trace *t);

/* Raw JSON object text of the row's args ("{}" when it has none) appended to `out`. */
int trace_args(const struct trace *t, row_t r, struct buf *out, struct err *e) MUST_USE;

/* The same of a row of t->deep. */
int trace_deep_args(const struct trace *t, row_t r, struct buf *out, struct err *e) MUST_USE;

/* Rows by kind and category: at once where the file holds them, else by a pass over all rows. */
void trace_count(const struct trace *t, struct trace_counts *ret);

/* Whether an annotation is one that our recorder made by itself (CAT_DERIVED). */
static inline bool trace_is_derived(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && t->cat[r] < t->n_cats &&
           str_is(trace_str(t, t->cats[t->cat[r]]), CAT_DERIVED);
}

/* First row at or after `ts_ns` on the lane; lane.end when there is none. */
row_t trace_lower_bound(const struct trace *t, lane_id lane, int64_t ts_ns);

/* A moment as time since the first span; 0 where no span has a time. */
static inline int64_t trace_since_ns(const struct trace *t, int64_t ns)
{
    return t->begin_ns == ID_NONE ? 0 : ns - t->begin_ns;
}

/* Whether the row is device work (kernel, copy, memset) and counts as busy time. */
static inline bool trace_is_work(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_KERNEL || t->kind[r] == KIND_MEMCPY || t->kind[r] == KIND_MEMSET;
}

/* Bytes that one answer or one export of the trace may have: bounded by the size of the trace. */
uint64_t trace_text_budget(const struct trace *t);

/* The error where an answer or an export would have more than `most` bytes. */
int trace_over_budget(uint64_t most, struct err *e);

#endif
