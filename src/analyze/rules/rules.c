/* rules.c: the one list of rules, and what they share. To add one: <id>.c, this list, a page in
 * docs/rules, a firing and a near-miss trace in tests/unit/test_rules.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/comm/messages.h"
#include "analyze/device/gpu_clocks.h"
#include "analyze/device/queue.h"
#include "analyze/kernels/roofline.h"
#include "analyze/names/host_cause.h"
#include "analyze/rules/rule.h"
#include "base/human.h"

/* One per line. */
#define RULES(X)           \
    X(small_copies)        \
    X(thread_readback)     \
    X(sync_in_loop)        \
    X(data_loader)         \
    X(gc_pause)            \
    X(lock_wait)           \
    X(host_function)       \
    X(late_launch)         \
    X(late_start)          \
    X(slow_launch)         \
    X(launch_bound)        \
    X(pageable_copy)       \
    X(exposed_copy)        \
    X(exposed_comm)        \
    X(allocation_in_loop)  \
    X(unfused_attention)   \
    X(slow_attention)      \
    X(float32_products)    \
    X(odd_gemm)            \
    X(conv_layout)         \
    X(repeated_conversion) \
    X(overwritten_fill)    \
    X(growing_cat)         \
    X(unfused_optimizer)   \
    X(tensor_loop)         \
    X(unfused_chain)       \
    X(copy_before_gemm)    \
    X(device_copies)       \
    X(graph_break)         \
    X(eager_island)        \
    X(recompile)           \
    X(memory_growth)       \
    X(kernel_outlier)      \
    X(held_clock)          \
    X(warm_up)

#define DECLARE(id) extern const struct rule rule_##id;
RULES(DECLARE)

#define LIST(id) &rule_##id,
const struct rule *const rules[] = {RULES(LIST) NULL};

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    bool abstains = wall_of(cx)->abstains;
    for (int i = 0; !abstains && rules[i]; i++) TRY(rules[i]->run(cx, ret, e));
    return findings_rank(ret, cx, e);
}

static void done_pass(void *result)
{
    findings_done(result);
}

static const struct pass *const needs[] = {&stages_pass,
                                           &memory_pass,
                                           &launchless_pass,
                                           &launch_delays_pass,
                                           &wall_pass,
                                           &roofline_pass,
                                           &host_causes_pass,
                                           &gpu_clocks_pass,
                                           &queues_pass,
                                           &messages_pass,
                                           NULL};

const struct pass findings_pass = {
    .id = PASS_FINDINGS,
    .size = sizeof(struct findings),
    .needs = needs,
    .run = run_pass,
    .done = done_pass,
};

struct finding *rule_finding(const struct context *cx, struct findings *out, const struct rule *r,
                             struct err *e)
{
    struct finding *f = findings_add(out, r, cx->mem);
    if (!f) (void)err_nomem(e);
    return f;
}

const char *rule_text(const struct context *cx, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(cx->mem, str_c(text));
    return copy ? copy : "";
}

const char *rule_name(const struct context *cx, struct str s, int width)
{
    char cut[512];
    const char *copy = arena_strdup(cx->mem, str_c(human_cut(s, width, cut, sizeof cut)));
    return copy ? copy : "";
}

void rule_place(const struct context *cx, struct finding *f, const struct place *p)
{
    if (p->source.line > 0) {
        f->file = rule_name(cx, p->source.file, 400);
        f->line = p->source.line;
        f->function = rule_name(cx, p->source.function, 120);
        f->subject = f->function;
        return;
    }
    row_t r = p->op != ROW_NONE ? p->op : p->annotation;
    f->subject = r == ROW_NONE ? "" : rule_name(cx, trace_name(cx->t, r), 80);
}

const char *rule_exactly(const struct context *cx, struct str name)
{
    char *out = arena_alloc(cx->mem, name.n * 2 + 3);
    if (!out) return "^$";
    size_t o = 0;
    out[o++] = '^';
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("\\^$.|?*+()[]{}", name.p[i])) out[o++] = '\\';
        out[o++] = name.p[i];
    }
    out[o++] = '$';
    out[o] = '\0';
    return out;
}
