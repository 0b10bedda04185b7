/* pairing.c: see dive.h. */
#include "dive/dive.h"

#include <math.h>

const char *pairing_key(enum pairing p)
{
    static const char *const keys[] = {"same", "other_size", "absent"};
    return keys[p];
}

/* What recorders call "(anonymous namespace)" ncu calls "<unnamed>", which reads as a template. */
void pairing_short(struct str ncu_name, struct buf *out)
{
    static const char unnamed[] = "<unnamed>";
    struct buf name;
    buf_init(&name);
    for (;;) {
        long at = str_find(ncu_name, unnamed);
        if (at < 0) break;
        buf_add(&name, ncu_name.p, (size_t)at);
        buf_adds(&name, "(anonymous namespace)");
        size_t skip = (size_t)at + sizeof unnamed - 1;
        ncu_name = str_from(ncu_name.p + skip, ncu_name.n - skip);
    }
    buf_add_str(&name, ncu_name);
    kernel_name_short(buf_str(&name), out);
    if (!buf_ok(&name)) out->failed = true;
    buf_done(&name);
}

static bool pairing_same_size(const struct ncu_launch *l, const struct kernel_config *c)
{
    return memcmp(l->grid, c->grid, sizeof l->grid) == 0 &&
           memcmp(l->block, c->block, sizeof l->block) == 0;
}

/* How far the measured time is from the traced one, either way: 0 is the same. */
static double pairing_distance(double ratio)
{
    return ratio > 0 ? fabs(log(ratio)) : INFINITY;
}

static struct pair pairing_find_pair(const struct target *t, const struct ncu_report *r,
                                     const struct str *shorts)
{
    struct pair best = {PAIRING_ABSENT, NULL, NAN};
    for (uint32_t i = 0; i < r->n_launches; i++) {
        const struct ncu_launch *l = &r->launches[i];
        if (!str_eq(shorts[i], t->short_name) && !str_eq(l->name, t->name)) continue;
        double ratio = t->row_ns > 0 ? l->value[NCU_TIME_NS] / (double)t->row_ns : NAN;
        struct pair p = {pairing_same_size(l, &t->config) ? PAIRING_SAME : PAIRING_OTHER_SIZE, l,
                         ratio};
        bool nearer = pairing_distance(ratio) < pairing_distance(best.time_ratio);
        if (p.how < best.how || (p.how == best.how && nearer)) best = p;
    }
    return best;
}

int pairing_run(const struct targets *targets, const struct ncu_report *report, struct arena *mem,
                struct pair **ret, struct err *e)
{
    struct pair *pairs = arena_zalloc(mem, targets->n + 1u, sizeof *pairs);
    struct str *shorts = arena_zalloc(mem, report->n_launches + 1u, sizeof *shorts);
    struct buf b;
    buf_init(&b);
    bool failed = !pairs || !shorts;
    for (uint32_t i = 0; !failed && i < report->n_launches; i++) {
        buf_reset(&b);
        pairing_short(report->launches[i].name, &b);
        shorts[i] = str_from(arena_strdup(mem, buf_str(&b)), b.n);
        failed = !buf_ok(&b) || !shorts[i].p;
    }
    buf_done(&b);
    if (failed) return err_nomem(e);
    for (uint32_t i = 0; i < targets->n; i++)
        pairs[i] = pairing_find_pair(&targets->all[i], report, shorts);
    *ret = pairs;
    return 0;
}
