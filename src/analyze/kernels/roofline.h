/* roofline.h: how long each kernel would take at the rates its GPU reaches.
 *
 * The work of a kernel is that of the operator that launched it (op_work.h); an operator's kernels
 * share its work by their time. Without shapes the kernel's name and launch show how much an
 * elementwise kernel moves, and the same kernel launched alike elsewhere in the trace stands in for
 * others. What is left is not known, and stays so.
 *
 *     roof = the longest of: operations at the rate of their precision, bytes at the memory's rate,
 *            the least a kernel takes */
#ifndef STRATA_ANALYZE_KERNELS_ROOFLINE_H
#define STRATA_ANALYZE_KERNELS_ROOFLINE_H

#include "analyze/context.h"
#include "analyze/kernels/ceilings.h"
#include "analyze/names/kernel_name.h"
#include "analyze/ops/op_links.h"
#include "analyze/ops/op_work.h"

enum roof_from {
    ROOF_UNKNOWN,
    ROOF_SHAPES, /* of the operator */
    ROOF_NAME,   /* of the kernel, and its launch */
    ROOF_PEERS,  /* the same launch, of which another one had shapes */
};

const char *roof_from_name(enum roof_from f); /* "shapes" ...; "unknown" */

/* Kernels of one name that do the same work. */
struct roof_kind {
    struct op_work work; /* of a call of the operator; only its class where shapes are missing */
    struct kernel_traits traits;
    enum kernel_family family;
    enum precision precision; /* of what it multiplies; PRECISIONS when it does not, or not known */
    enum roof_from from;
    struct str shapes;   /* of the inputs of its operator; empty where they are not known */
    double flops, bytes; /* of a call of the operator; 0 when none, or not known */
    double roof_ns;      /* of a call of the operator; NaN when not known */
    bool alone;          /* the work is this kernel's, not shared with others of the operator */
    bool helper;         /* stands beside what multiplies: adds up its parts, changes a layout */
};

struct roofline {
    struct ceilings ceilings;
    struct op_links links;
    const int64_t *multiplying_ns; /* by index into trace->ops: its kernels but helpers */
    const uint32_t *kind_of;       /* by index into trace->gpu */
    const struct roof_kind *kinds;
    uint32_t n_kinds; /* one more stands behind them: nothing is known */
    int per_thread;   /* elements that a thread of torch's elementwise kernels takes, at least */

    int64_t kernel_ns;  /* all kernels but communication, durations added */
    int64_t known_ns;   /* of it, where the roof is known */
    double roof_ns;     /* of those, at the roof */
    int64_t talking_ns; /* communication kernels, left out above */
};

extern const struct pass roofline_pass;

static inline const struct roofline *roofline_of(const struct context *cx)
{
    return context_kept(cx, PASS_ROOFLINE);
}

/* Where a row of device work stands in tables by index into trace->gpu, which have one place more:
 * for those whose record was lost. */
static inline uint32_t roofline_slot(const struct trace *t, row_t r)
{
    return t->aux[r] < t->n_gpu ? t->aux[r] : t->n_gpu;
}

/* The operator that launched it, or ROW_NONE. */
static inline row_t roofline_owner(const struct roofline *f, const struct trace *t, row_t r)
{
    return t->aux[r] < t->n_gpu ? f->links.owner[t->aux[r]] : ROW_NONE;
}

/* Of a row of device work. */
static inline const struct roof_kind *roofline_kind(const struct roofline *f, const struct trace *t,
                                                    row_t r)
{
    return &f->kinds[f->kind_of[roofline_slot(t, r)]];
}

/* The least time that row of device work needs, at most what it takes; NaN when not known. */
double roofline_row_ns(const struct roofline *f, const struct trace *t, row_t r);

/* Its part of the operations and bytes of its operator. */
double roofline_row_flops(const struct roofline *f, const struct trace *t, row_t r);
double roofline_row_bytes(const struct roofline *f, const struct trace *t, row_t r);

/* Tiles of the result of a product: blocks of threads that compute it at once. */
double roofline_tiles(const struct op_work *w);

/* How long operations of a precision and bytes take at least on this GPU; NaN when a rate that is
 * needed is not known. */
double roofline_ns(const struct ceilings *c, enum precision p, double flops, double bytes);

/* The rate of fused attention with heads of this size, operations per nanosecond. */
double roofline_attention_rate(const struct ceilings *c, enum precision p, double head, bool back);

/* Whether any kernel multiplies in that precision. */
bool roofline_uses(const struct roofline *f, enum precision p);

/* What the kernels reach, of their roofs: 0 to 100; NaN when too little of their time is known. */
double roofline_pct(const struct roofline *f);

#endif
