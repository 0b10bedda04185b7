/* kernel_fix.h: kernels that a finding is about, with how long each would take once it is fixed.
 *
 *     struct kernel_fix fix = {.others = out};
 *     TRY(kernel_fix_add(&fix, cx, r, 0, e));          this one goes
 *     TRY(kernel_fix_add(&fix, cx, r, ns, e));         this one takes ns instead
 *     if (kernel_fix_pays(&fix, cx)) ... kernel_fix_into(&fix, cx, out, f, e)
 *     kernel_fix_done(&fix);                           in any case */
#ifndef STRATA_ANALYZE_RULES_KERNEL_FIX_H
#define STRATA_ANALYZE_RULES_KERNEL_FIX_H

#include "analyze/kernels/roofline.h"
#include "analyze/rules/rule.h"

struct kernel_fix {
    row_t *rows;
    int64_t *ns; /* by index into rows */
    uint32_t n;
    size_t cap_rows, cap_ns;
    int64_t before_ns, after_ns;
    row_t longest;                 /* valid when n */
    const struct findings *others; /* kernels these claim are left to them */
};

/* Whether a finding before has a fix for that kernel. Rules about kernels stand in rules.c in the
 * order in which they claim them: what removes more comes first. */
bool kernel_is_claimed(const struct findings *others, const struct context *cx, row_t r);

/* 0: it never happens. A kernel that takes over the work of others may take longer than now. */
int kernel_fix_add(struct kernel_fix *x, const struct context *cx, row_t r, double ns,
                   struct err *e) MUST_USE;

/* Whether the device would be busy noticeably less: else nothing needs to be said. */
bool kernel_fix_pays(const struct kernel_fix *x, const struct context *cx);

/* The edit that makes the kernels as fast, in the memory of the analysis. */
int kernel_fix_edit(const struct kernel_fix *x, const struct context *cx, struct sim_edit *ret,
                    struct err *e) MUST_USE;

/* Sets edits, costs, place and the first evidence of the finding, which is one of `out`, and claims
 * the kernels. */
int kernel_fix_into(const struct kernel_fix *x, const struct context *cx, struct findings *out,
                    struct finding *f, struct err *e) MUST_USE;

/* The operators of the kernels that go, with those around them that are there for nothing else
 * (`wrappers`, NULL-terminated), never run either. */
int kernel_fix_drop_ops(const struct kernel_fix *x, const struct context *cx,
                        const char *const *wrappers, struct finding *f, struct err *e) MUST_USE;

void kernel_fix_done(struct kernel_fix *x);

/* The nearest operator at or above the launch of a device row whose name contains `part`, or
 * ROW_NONE. */
row_t kernel_under(const struct context *cx, row_t r, const char *part);

/* Bytes of a copy or a fill; 0 when they were not recorded. */
double kernel_copied_bytes(const struct trace *t, row_t r);

/* A count for people: sums of shapes from a file may be anything. */
static inline int64_t kernel_whole(double v)
{
    return v > 0 ? v < 9e18 ? (int64_t)v : INT64_MAX : 0;
}

/* The share of the wall clock, in percent, that `ns` of device time is. */
double kernel_share(const struct context *cx, int64_t ns);

#endif
