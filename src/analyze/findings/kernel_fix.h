/* kernel_fix.h: kernels that a finding is about, with how long each would take once it is fixed.
 *
 *     struct kernel_fix fix = {.others = out};
 *     TRY(kernel_fix_add(&fix, cx, r, 0, e));          this one goes
 *     TRY(kernel_fix_add(&fix, cx, r, ns, e));         this one takes ns instead
 *     if (kernel_fix_pays(&fix, cx)) ... kernel_fix_into(&fix, cx, f, e)
 *     kernel_fix_done(&fix);                           in any case */
#ifndef STRATA_ANALYZE_FINDINGS_KERNEL_FIX_H
#define STRATA_ANALYZE_FINDINGS_KERNEL_FIX_H

#include "analyze/context.h"
#include "analyze/findings/rule.h"
#include "analyze/kernels/roofline.h"

struct kernel_fix {
    row_t *rows;
    int64_t *ns; /* by index into rows */
    uint32_t n;
    size_t cap_rows, cap_ns;
    int64_t before_ns, after_ns;
    row_t longest;                 /* valid when n */
    const struct findings *others; /* kernels these claim are left to them */
};

/* Kernels that a finding of a rule yielded to has a fix for are left out. Rules about kernels yield
 * to each other in a chain: what removes more comes first. 0: it never happens. A kernel that takes
 * over the work of others may take longer than now. */
int kernel_fix_add(struct kernel_fix *x, const struct context *cx, row_t r, double ns,
                   struct err *e) MUST_USE;

/* Whether the device would be busy noticeably less: else nothing needs to be said. */
bool kernel_fix_pays(const struct kernel_fix *x, const struct context *cx);

/* The edit that makes the kernels as fast, in the memory of the analysis. */
int kernel_fix_edit(const struct kernel_fix *x, const struct context *cx, struct sim_edit *ret,
                    struct err *e) MUST_USE;

/* Sets edits, costs, place and the first evidence of the finding. */
int kernel_fix_into(const struct kernel_fix *x, const struct context *cx, struct finding *f,
                    struct err *e) MUST_USE;

/* The operators of the kernels that go, with those around them that are there for nothing else
 * (`wrappers`, NULL-terminated), never run either. */
int kernel_fix_drop_ops(const struct kernel_fix *x, const struct context *cx,
                        const char *const *wrappers, struct finding *f, struct err *e) MUST_USE;

void kernel_fix_done(struct kernel_fix *x);

/* Bytes of a copy or a fill; 0 when they were not recorded. */
double kernel_copied_bytes(const struct trace *t, row_t r);

/* A count for people: sums of shapes from a file may be anything. */
static inline int64_t kernel_whole(double v)
{
    return v > 0 ? v < 9e18 ? (int64_t)v : INT64_MAX : 0;
}

/* The share of the wall clock, in percent, that `ns` of device time is. */
double kernel_share(const struct context *cx, int64_t ns);

/* attention.c: what the CPU no longer does once an attention is one kernel: it launches one,
 * and neither takes memory for the matrix of weights nor gives it back.
 *
 *     struct attention_calls calls = {0};
 *     TRY(attention_calls_add(&calls, cx, rows, n, e));       for each attention
 *     TRY(attention_calls_into(&calls, cx, f, e));            once
 *     attention_calls_done(&calls);                           in any case */

struct attention_calls {
    struct sim_cut *spans;
    size_t n, cap;
};

/* `rows`: the kernels of one attention in the order of their stream, of which the first stays.
 * Nothing is added where something else happens between their launches. */
int attention_calls_add(struct attention_calls *x, const struct context *cx, const row_t *rows,
                        uint32_t n, struct err *e) MUST_USE;

/* Sets the edit of the finding, if there is anything. */
int attention_calls_into(struct attention_calls *x, const struct context *cx, struct finding *f,
                         struct err *e) MUST_USE;

void attention_calls_done(struct attention_calls *x);

/* attention.c: the kernels of the math path of scaled_dot_product_attention, where no
 * operator shows them: it is the only one whose softmax looks for rows that are masked as a whole.
 */

/* Rows of a stream, `end` not included. */
struct attention_rows {
    row_t begin, end;
};

bool attention_is_math(const struct trace *t, struct attention_rows a);

/* From its products on both sides: what scales and converts its operands, makes its mask and
 * converts the result. `stream` limits it. */
struct attention_rows attention_whole_math(const struct trace *t, struct attention_rows a,
                                           struct attention_rows stream);

#endif
