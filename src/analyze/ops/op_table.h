/* op_table.h: the numbers of torch's key_averages(), from any trace.
 *
 * CPU rows (operators, annotations, runtime and driver calls, profiler overhead) are nested by
 * thread and time as torch nests them; self time is the own time less that of the direct children.
 * An operator's device time is that of the work it launched, its device total adds its children's.
 * Device rows (kernels, copies, fills, device-side syncs and annotations) stand for themselves.
 *
 * Differences from torch, both on purpose: overhead rows are never credited with device time
 * (torch 2.11 to 2.13 counts the kernels of their operator twice, pytorch #193392), and
 * names are demangled only when they are mangled. */
#ifndef STRATA_ANALYZE_OPS_OP_TABLE_H
#define STRATA_ANALYZE_OPS_OP_TABLE_H

#include "analyze/ops/op_by.h"
#include "trace/trace.h"

struct op_row {
    struct str name;
    const char *device; /* "cpu", "cuda", "xpu" ... */
    bool is_annotation;
    struct str group; /* input shapes, stack or module it was grouped by; .p is NULL when not */
    row_t first;      /* its first event */
    uint64_t calls;
    int64_t self_cpu_ns, cpu_total_ns;
    int64_t self_device_ns, device_total_ns;
    int64_t cpu_mem_bytes, self_cpu_mem_bytes;
    int64_t device_mem_bytes, self_device_mem_bytes;
    uint64_t flops;
    double cpu_avg_ns, device_avg_ns;                    /* totals per call */
    double self_cpu_pct, cpu_total_pct, self_device_pct; /* of the table's totals; NaN without */
};

struct op_table {
    struct op_row *rows; /* by first appearance: earliest start, longest first */
    uint32_t n_rows;
    int64_t self_cpu_ns;    /* over all rows */
    int64_t self_device_ns; /* over device rows that are not annotations */
    bool has_device, has_memory, has_flops, has_python;
    uint64_t n_unfinished; /* spans still open when the profiler stopped: left out, as torch does */
};

/* Memory from `mem`. */
int op_table_run(const struct trace *t, const struct op_table_opts *opts, struct arena *mem,
                 struct op_table *ret, struct err *e) MUST_USE;

/* A sorting key by torch's name (self_cuda_time_total) or ours (self_gpu); "cuda", "xpu", "gpu" and
 * "device" are the same word; "first" keeps the order of appearance. NULL when there is no such
 * key. op_sort_word lists ours. */
struct op_sort_key;
const struct op_sort_key *op_sort_find(const char *word);
const char *op_sort_word(int n); /* NULL at the end */
const char *op_sort_name(const struct op_sort_key *key);

/* Largest first; equal rows keep their order. Without a key: by self device time, then by self CPU
 * time, device-side annotations behind the work they cover. */
int op_table_sort(struct op_table *table, const struct op_sort_key *key, struct arena *mem,
                  struct err *e) MUST_USE;

#endif
