/* rules.c: the one list of rules, and what they share. To add one: <id>.c, this list, a page in
 * docs/rules, a firing and a near-miss trace in tests/unit/test_rules.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/rules/rule.h"
#include "base/human.h"

/* One a line. */
#define RULES(X)          \
    X(sync_in_loop)       \
    X(late_launch)        \
    X(slow_launch)        \
    X(launch_bound)       \
    X(pageable_copy)      \
    X(exposed_copy)       \
    X(allocation_in_loop) \
    X(slow_gemm)          \
    X(copy_before_gemm)   \
    X(eager_island)       \
    X(recompile)          \
    X(memory_growth)      \
    X(kernel_outlier)     \
    X(warm_up)

#define DECLARE(id) extern const struct rule rule_##id;
RULES(DECLARE)

#define LIST(id) &rule_##id,
const struct rule *const rules[] = {RULES(LIST) NULL};

int rules_run(const struct analysis *a, struct findings *out, struct err *e)
{
    for (int i = 0; rules[i]; i++) TRY(rules[i]->run(a, out, e));
    return 0;
}

struct finding *rule_finding(const struct analysis *a, struct findings *out, const struct rule *r,
                             struct err *e)
{
    struct finding *f = findings_add(out, r, a->mem);
    if (!f) (void)FAIL(e, ERR_NOMEM, "out of memory");
    return f;
}

const char *rule_text(const struct analysis *a, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(a->mem, str_c(text));
    return copy ? copy : "";
}

const char *rule_name(const struct analysis *a, struct str s, int width)
{
    char cut[512];
    const char *copy = arena_strdup(a->mem, str_c(human_cut(s, width, cut, sizeof cut)));
    return copy ? copy : "";
}

void rule_place(const struct analysis *a, struct finding *f, const struct place *p)
{
    if (p->source.line > 0) {
        f->file = rule_name(a, p->source.file, 400);
        f->line = p->source.line;
        f->function = rule_name(a, p->source.function, 120);
        f->subject = f->function;
        return;
    }
    row_t r = p->op != ROW_NONE ? p->op : p->annotation;
    f->subject = r == ROW_NONE ? "" : rule_name(a, trace_name(a->t, r), 80);
}

const char *rule_exactly(const struct analysis *a, struct str name)
{
    char *out = arena_alloc(a->mem, name.n * 2 + 3);
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

/* PCIe 4, one way, for want of anything better. */
#define PINNED_SPEED 24.0
#define LEAST_COPY   (1 << 20)

double rule_pinned_speed(const struct analysis *a)
{
    double bytes[2] = {0}, ns[2] = {0}; /* pageable, pinned */
    for (row_t r = 0; r < a->t->n_rows; r++) {
        const struct gpu_info *g = a->t->kind[r] == KIND_MEMCPY ? trace_gpu(a->t, r) : NULL;
        if (!g || g->bytes < LEAST_COPY) continue;
        bool pinned = str_has(trace_name(a->t, r), "Pinned");
        if (!pinned && !str_has(trace_name(a->t, r), "Pageable")) continue;
        bytes[pinned] += (double)g->bytes;
        ns[pinned] += (double)a->t->dur_ns[r];
    }
    double seen = ns[1] > 0 ? bytes[1] / ns[1] : PINNED_SPEED;
    double pageable = ns[0] > 0 ? bytes[0] / ns[0] : 0;
    return seen > pageable ? seen : pageable;
}
