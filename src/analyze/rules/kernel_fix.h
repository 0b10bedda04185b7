/* kernel_fix.h: kernels that a finding is about, with how long each would take once it is fixed.
 *
 *     struct kernel_fix fix = {0};
 *     TRY(kernel_fix_add(&fix, cx, r, 0, e));          this one goes
 *     TRY(kernel_fix_add(&fix, cx, r, ns, e));         this one takes ns instead
 *     if (kernel_fix_pays(&fix, cx)) ... kernel_fix_into(&fix, cx, f, e)
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
    row_t longest; /* valid when n */
};

/* 0: it never happens. A kernel that takes over the work of others may take longer than now. */
int kernel_fix_add(struct kernel_fix *x, const struct context *cx, row_t r, double ns,
                   struct err *e) MUST_USE;

/* Whether the device would be busy noticeably less: else nothing needs to be said. */
bool kernel_fix_pays(const struct kernel_fix *x, const struct context *cx);

/* Sets edits, costs, place and the first evidence of the finding. */
int kernel_fix_into(const struct kernel_fix *x, const struct context *cx, struct finding *f,
                    struct err *e) MUST_USE;

/* The operators of the kernels that go, with those around them that are there for nothing else
 * (`wrappers`, NULL-terminated), never run either. */
int kernel_fix_drop_ops(const struct kernel_fix *x, const struct context *cx,
                        const char *const *wrappers, struct finding *f, struct err *e) MUST_USE;

void kernel_fix_done(struct kernel_fix *x);

/* The nearest operator at or above the launch of a device row whose name contains `part`, or
 * ROW_NONE. */
row_t kernel_under(const struct context *cx, row_t r, const char *part);

/* The share of the wall clock, in percent, that `ns` of device time is. */
double kernel_share(const struct context *cx, int64_t ns);

#endif
