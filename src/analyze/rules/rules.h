/* rules.h: the one list of rules. To add one: <id>.c, a line here, a page in docs/rules, a firing
 * and a near-miss trace in tests/unit/test_rules*.c. The order of the lines means nothing: a rule
 * declares which rules it yields to, and rules_run sorts by that. */
#ifndef STRATA_ANALYZE_RULES_RULES_H
#define STRATA_ANALYZE_RULES_RULES_H

#include "analyze/findings/rule.h"

#define RULES(X)           \
    X(allocation_in_loop)  \
    X(cheaper_way)         \
    X(conv_layout)         \
    X(copy_before_gemm)    \
    X(data_loader)         \
    X(device_copies)       \
    X(eager_island)        \
    X(exposed_comm)        \
    X(exposed_copy)        \
    X(float32_products)    \
    X(gc_pause)            \
    X(graph_break)         \
    X(growing_cat)         \
    X(held_clock)          \
    X(host_function)       \
    X(kernel_outlier)      \
    X(late_launch)         \
    X(late_start)          \
    X(launch_bound)        \
    X(lock_wait)           \
    X(made_on_cpu)         \
    X(memory_growth)       \
    X(odd_gemm)            \
    X(overwritten_fill)    \
    X(pageable_copy)       \
    X(recompile)           \
    X(repeated_conversion) \
    X(repeated_work)       \
    X(settings)            \
    X(slow_attention)      \
    X(slow_launch)         \
    X(small_copies)        \
    X(sync_in_loop)        \
    X(tensor_loop)         \
    X(thread_readback)     \
    X(unfused_attention)   \
    X(unfused_chain)       \
    X(unfused_optimizer)   \
    X(warm_up)

#define RULES_DECLARE(id) extern const struct rule rule_##id;
RULES(RULES_DECLARE)

extern const struct rule *const rules[]; /* NULL-terminated */

/* Runs the rules of a NULL-terminated list, each after all that it yields to. Declarations that
 * form a circle, or name a rule that is not in the list, are ERR_INTERNAL. */
int rules_run(const struct rule *const *list, const struct context *cx, struct findings *out,
              struct err *e) MUST_USE;

#endif
