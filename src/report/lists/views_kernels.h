/* views_kernels.h: operators and kernels, for people and programs. */
#ifndef STRATA_REPORT_LISTS_VIEWS_KERNELS_H
#define STRATA_REPORT_LISTS_VIEWS_KERNELS_H

#include "analyze/comm/messages.h"
#include "analyze/context.h"
#include "analyze/flame/flame.h"
#include "analyze/kernels/kernel_stats.h"
#include "analyze/ops/op_table.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_kernels.c: kernels for people and for programs. */

struct kernels_how {
    enum kernel_by by;
    bool wide;
    const struct roofline
        *roof; /* with it: rates, roofs and headroom instead of order statistics */
};

void view_kernels_text(const struct screen *s, const struct context *cx,
                       const struct kernel_stats *k, const struct kernels_how *how);

/* At most `limit` rows; communication too, from the passes of `cx`. */
void view_kernels_json(struct jout *j, const char *key, const struct context *cx,
                       const struct kernel_stats *k, uint32_t limit);

/* view_top_kernels.c: what fills the GPU's time, as part of a report. */

/* The table and, where the kernels run at their roof, what is left to do; only where the GPU is
 * what the run waits for. */
void view_top_kernels_text(const struct screen *s, const struct context *cx);
void view_top_kernels_md(struct buf *out, const struct context *cx);

/* view_table.c: the operator table for people and for programs. */

/* What the table is about besides time: its columns are shown even without --wide. */
enum view_table_focus { FOCUS_TIME, FOCUS_CPU_MEMORY, FOCUS_DEVICE_MEMORY, FOCUS_FLOPS };

struct view_table_opts {
    enum op_by by;
    enum view_table_focus focus;
    bool wide;   /* every column, however wide */
    bool sorted; /* by a key that the user gave */
};

void view_table_text(const struct screen *s, const struct context *cx, const struct op_table *table,
                     const struct view_table_opts *o);

/* At most `limit` rows. */
void view_table_json(struct jout *j, const char *key, const struct context *cx,
                     const struct op_table *table, const struct view_table_opts *o, uint32_t limit);

/* view_cpu.c: hot operators and functions: what a program without a GPU spends its time in. */

/* Whether the trace is of a program that uses no device: neither work nor launches. */
bool view_cpu_only(const struct context *cx);

#define VIEW_CPU_MOST 5

/* At most `most` rows of each list. */
void view_cpu_text(const struct screen *s, const struct context *cx, uint32_t most);
void view_cpu_md(struct buf *out, const struct context *cx);

/* view_comm.c: communication between devices, as part of a report. */

/* How much there is, how much of it is exposed, and which collectives; nothing where the trace
 * has no communication. */
void view_comm_text(const struct screen *s, const struct context *cx);

/* view_flame.c: time by stack for people, as a tree of what matters, and as the document that the
 * page draws. */

void view_flame_text(const struct screen *s, const struct flame *f, struct arena *mem);

/* Nodes with less than `least_ns` are left out; their time stays in the node above. */
int view_flame_json(struct buf *out, const struct flame *f, int64_t least_ns, struct arena *mem,
                    struct err *e) MUST_USE;

#endif
