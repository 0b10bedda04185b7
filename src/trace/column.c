/* column.c: the list, and the check that the layout in memory is the layout on disk. */
#include "trace/column.h"

#include <stddef.h>

#include "base/mem.h"
#include "format/strata_file.h"

#define COLUMN(id, items, n)                                                                     \
    {                                                                                            \
#items, SECTION_##id, sizeof *((struct trace *)0)->items, offsetof(struct trace, items), \
            offsetof(struct trace, n)                                                            \
    }

const struct trace_column trace_columns[] = {
    COLUMN(TS_NS, ts_ns, n_rows),   COLUMN(DUR_NS, dur_ns, n_rows),
    COLUMN(NAME, name, n_rows),     COLUMN(LANE, lane, n_rows),
    COLUMN(KIND, kind, n_rows),     COLUMN(CAT, cat, n_rows),
    COLUMN(PHASE, phase, n_rows),   COLUMN(FLAGS, flags, n_rows),
    COLUMN(AUX, aux, n_rows),       COLUMN(SRC, src, n_rows),
    COLUMN(PARENT, parent, n_rows), COLUMN(DEPTH, depth, n_rows),
    COLUMN(OPS, ops, n_ops),        COLUMN(CALLS, calls, n_calls),
    COLUMN(GPU, gpu, n_gpu),        COLUMN(PY, py, n_py),
    COLUMN(MEM, mem, n_mem),        COLUMN(LAUNCHED, launched, n_launched),
    COLUMN(FLOWS, flows, n_flows),  COLUMN(ASYNCS, asyncs, n_asyncs),
};

const int trace_n_columns = sizeof trace_columns / sizeof *trace_columns;

/* A change here is a change of the file format: raise STRATA_MAJOR and say so in its document. */
static_assert(sizeof(struct op_info) == 32 && offsetof(struct op_info, fwd_thread) == 16 &&
                  offsetof(struct op_info, concrete) == 28,
              "op_info is on disk");
static_assert(sizeof(struct call_info) == 24 && offsetof(struct call_info, first_gpu) == 16,
              "call_info is on disk");
static_assert(sizeof(struct gpu_info) == 96 && offsetof(struct gpu_info, device) == 40 &&
                  offsetof(struct gpu_info, grid) == 52 &&
                  offsetof(struct gpu_info, registers) == 80 &&
                  offsetof(struct gpu_info, launch) == 92,
              "gpu_info is on disk");
static_assert(sizeof(struct py_info) == 12, "py_info is on disk");
static_assert(sizeof(struct mem_info) == 40 && offsetof(struct mem_info, device_type) == 32,
              "mem_info is on disk");
static_assert(sizeof(struct async_info) == 8, "async_info is on disk");
static_assert(sizeof(struct flow) == 32 && offsetof(struct flow, cat) == 24, "flow is on disk");
static_assert(KIND_OTHER == 0 && KIND_OP == 1 && KIND_ANNOTATION == 2 && KIND_PYTHON == 3 &&
                  KIND_RUNTIME == 4 && KIND_DRIVER == 5 && KIND_KERNEL == 6 && KIND_MEMCPY == 7 &&
                  KIND_MEMSET == 8 && KIND_GPU_ANNOTATION == 9 && KIND_GPU_SYNC == 10 &&
                  KIND_GPU_EVENT == 11 && KIND_OVERHEAD == 12 && KIND_MEMORY == 13 &&
                  KIND_INSTANT == 14 && KIND_COUNTER == 15 && KIND_WINDOW == 16 && KIND_ASYNC == 17,
              "kinds are on disk: add at the end");
static_assert((int)KIND_COUNT <= (int)STRATA_KINDS, "strata_summary has no room for more kinds");
static_assert(ROW_UNFINISHED == 1 && ROW_CROSSES == 2 && ROW_PROFILER == 4 && ROW_NO_TIME == 8,
              "flags are on disk");
static_assert(LANE_THREAD == 0 && LANE_STREAM == 1 && LANE_GPU_NOTE == 2 && LANE_OVERHEAD == 3 &&
                  LANE_COUNTER == 4 && LANE_OTHER == 5,
              "lane kinds are on disk: add at the end");
static_assert(DAMAGE_PLACES == (int)STRATA_DAMAGE_PLACES, "damage places are on disk");

/* ---- the end of a trace: every column in the list, and what stands beside them */

static void column_free_all(struct trace *t)
{
    for (int i = 0; i < trace_n_columns; i++) mem_free(*column_items(&trace_columns[i], t));
}

void trace_free(struct trace *t)
{
    if (!t) return;
    if (t->columns_owned) column_free_all(t);
    if (t->args) t->args->free(t->args);
    mem_free(t->lanes);
    mem_free(t->processes);
    mem_free(t->devices);
    mem_free(t->metas);
    mem_free(t->cats);
    mem_free(t->path);
    intern_done(&t->strings);
    file_unmap(&t->mapping);
    trace_free(t->captures);
    trace_free(t->deep);
    mem_free(t);
}
