/* host_side.h: what rules about the host share. */
#ifndef STRATA_ANALYZE_FINDINGS_HOST_SIDE_H
#define STRATA_ANALYZE_FINDINGS_HOST_SIDE_H

#include "analyze/findings/rule.h"
#include "analyze/names/host_cause.h"
#include "analyze/waits/waits.h"
#include "base/span_set.h"

/* launch_units.c: the parts of a program that could be launched as one: stages, and the body of the
 * loop where stages do not cover it or have no names.
 *
 *     loop body   [ l l l l l  quiet  l l l l l l l  sync  ]      one per step
 *     stretches   |--------|         |---------------------|
 *
 * Long calls that launch nothing (analyze/gaps/launchless) are not part of it: no graph and no
 * compiler removes what a DataLoader or a walk over modules does between launches. */

struct launch_unit {
    const struct stage *stage; /* NULL: the body of the loop */
    struct sim_cut *spans;     /* where it runs, by time */
    uint32_t n_spans;
    uint32_t calls;                   /* times it runs */
    uint32_t launches, syncs;         /* in all of them */
    uint32_t works, works_in_graphs;  /* pieces of device work that those launch */
    uint32_t works_compiled;          /* launched by code that torch.compile made */
    uint32_t works_other;             /* fills, and copies from and to the host */
    int64_t cpu_ns, work_ns, idle_ns; /* CPU time without waits; device work; idle meanwhile */
    /* single launches that load a library or its code: not in the above */
    int64_t loading_ns, loading_idle_ns;
};

struct launch_units {
    struct launch_unit *list; /* those that are launch-bound, outermost ones only */
    uint32_t n;
};

int launch_units_find(const struct context *cx, struct launch_units *ret, struct err *e) MUST_USE;

/* Mean time from one launch to the next, waits left out. */
int64_t launch_unit_interval(const struct launch_unit *u);

/* joined_items.c: items that are worked on one by one, whose results are joined at the end: frames,
 * tiles, prompts.
 *
 *     select 0  conv norm conv ...   select 1  conv norm conv ...   ...   aten::cat [n tensors]
 *
 * As many runs of the same operators as tensors are joined. Whether one item needs the result of
 * another (a recurrent network) no trace shows: this is a way to fix something, no finding. */

/* What one run for all items of a join is: the first one, with as much more in each kernel. */
struct joined_items {
    uint32_t items; /* of the largest join; 0: there is none */
    struct sim_edit edits[2];
};

/* Memory of the analysis. */
int joined_items_find(const struct context *cx, struct joined_items *ret, struct err *e) MUST_USE;

/* compiled_regions.c: where a thread runs what torch.compile made, as torch.profiler marks it or,
 * where nothing does, as the names of kernels show.
 *
 *     thread    [triton][gemm][triton]  [at::native][copy][sync]  [triton][gemm][triton]
 *     regions   |--------------------|                            |--------------------|
 *
 * Kernels alone say less: products and convolutions belong to whatever is around them, and only
 * what lies in one call of a module, which our recorder marks, is one function. */

struct compiled_region {
    struct span time; /* on the CPU */
    row_t holder;     /* regions with another holder are not pieces of one function */
};

struct compiled_regions {
    struct compiled_region *list; /* by time, apart */
    uint32_t n;
};

enum regions_from { REGIONS_NONE, REGIONS_MARKED, REGIONS_BY_KERNELS };

/* How they are seen in this trace. */
enum regions_from compiled_regions_from(const struct context *cx);

/* Of one thread of the model; memory of the analysis. */
int compiled_regions_find(const struct context *cx, uint32_t thread, enum regions_from from,
                          struct compiled_regions *ret, struct err *e) MUST_USE;

/* upload_makers.c: what the program does to upload a constant: making a tensor of a Python list,
 * the operator that copies it, the copy, the wait. All of it goes when the constant is uploaded
 * once.
 *
 *     with stacks      [torch.tensor [to [copy][wait]]]
 *     with operators     silence     [to [copy][wait]]
 *     with calls         silence         [copy][wait]
 */

/* Adds the edit that drops them for every wait of the site. ERR_NOMEM is the only failure. */
int upload_makers_drop(const struct context *cx, const struct sync_site *site,
                       struct finding *f) MUST_USE;

/* readback_way.c: what to write instead of an operator that waits because it has to know a size: a
 * table from operators to the same result without the wait. */

/* A text for a finding; NULL where the operators around the wait, or around the copy that it waits
 * for, say nothing special. */
const char *readback_way(const struct context *cx, const struct wait *w);

/* host_rows.c: what a rule about the host looks at: all rows of one kind of work, on the threads of
 * the program, and what the device misses meanwhile. */

struct host_rows {
    row_t *rows; /* outermost ones, by thread and time */
    uint32_t n;
    row_t longest;    /* ROW_NONE when there are none */
    int64_t cpu_ns;   /* their durations */
    int64_t idle_ns;  /* of devices, meanwhile */
    uint32_t n_steps; /* steps they lie in */
};

/* Which rows: those with a cause for which `is` is true, if they last that long. */
struct host_rows_wanted {
    bool (*is)(enum host_cause c);
    int64_t least_ns;
};

int host_rows_find(const struct context *cx, struct host_rows_wanted wanted, struct host_rows *ret,
                   struct err *e) MUST_USE;

/* Whether it is worth a finding: it costs the device time, and again and again. */
bool host_rows_matter(const struct context *cx, const struct host_rows *h);

/* A finding about them: where, both costs, the edit that takes them out, and how often they come.
 * The words are the caller's. */
struct finding *host_rows_finding(const struct context *cx, const struct host_rows *h,
                                  struct findings *out, const struct rule *rule, struct err *e);

/* exposure.c: what pieces of time cost the busiest device, each moment counted once: so no finding
 * claims more than there is. */

/* Room for `n` spans in `mem`; the caller adds them to s->list. ERR_NOMEM otherwise. */
int exposure_begin(struct span_set *s, uint32_t n, struct arena *mem) MUST_USE;

/* How long the busiest device had nothing to do in the spans that were added, within the wall
 * clock: functions may begin before it does, and it is not idle before it is used. */
int64_t exposure_idle(const struct context *cx, struct span_set *s);

/* The same of one span. */
int64_t exposure_idle_in(const struct context *cx, struct span s);

/* How long only copies ran on it in them: no kernel and no fill. */
int exposure_copies(const struct context *cx, struct span_set *s, int64_t *ret_ns,
                    struct err *e) MUST_USE;

#endif
