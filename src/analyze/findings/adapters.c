/* adapters.c: low-rank adapters beside layers: y = x W + (x A) B * scale, where A has few columns.
 * At inference A and B can be added into W once.
 *
 *     product [m, k] [k, n]     the layer
 *     product [m, k] [k, r]     thin: r is far below k and n
 *     product [m, r] [r, n]
 *     scale, add                as large as the result
 *
 * Without shapes: the second and the third take a fraction of the time of the first, nothing comes
 * between these two, so they are one product of low rank, and their result is scaled and added. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "base/human.h"

struct adapters {
    struct spare_search *x;
    uint32_t n;  /* in total */
    double rank; /* of the last one; 0 when not known */
};

/* The last three products, oldest first, as places in the sequence. */
struct adapters_window {
    uint32_t at[3];
    uint32_t n;
};

static const struct roof_kind *adapters_kind(const struct context *cx, uint32_t i)
{
    return roofline_kind(roofline_of(cx), cx->t, sequence_of(cx)->items[i].work);
}

static bool adapters_is_product(const struct context *cx, uint32_t i)
{
    const struct roof_kind *k = adapters_kind(cx, i);
    return k->family == FAMILY_GEMM && !k->helper;
}

static bool adapters_is_thin(const struct op_work *a, const struct op_work *b,
                             const struct op_work *layer)
{
    double narrow = layer->n < layer->k ? layer->n : layer->k;
    return a->k == layer->k && b->n == layer->n && a->n == b->k && a->m == layer->m &&
           b->m == layer->m && a->n >= 1 && adapters_thin_part * a->n <= narrow;
}

/* The same by launches: `b` is the kernel of the layer on far fewer numbers. */
static bool adapters_is_short(const struct context *cx, uint32_t a, uint32_t b, uint32_t layer)
{
    const struct launched *x = sequence_of(cx)->items;
    const int64_t *dur = cx->t->dur_ns;
    return cx->t->name[x[b].work] == cx->t->name[x[layer].work] && x[b].token == x[layer].token &&
           adapters_short_part * dur[x[b].work] <= dur[x[layer].work] &&
           adapters_short_part * dur[x[a].work] <= dur[x[layer].work];
}

/* The same where the kernels differ: nothing lies between `a` and `b`. */
static bool adapters_are_one(const struct context *cx, uint32_t a, uint32_t b, uint32_t layer)
{
    const struct launched *x = sequence_of(cx)->items;
    const int64_t *dur = cx->t->dur_ns;
    for (uint32_t i = a + 1; i < b; i++)
        if (cx->t->kind[x[i].work] == KIND_KERNEL && !adapters_kind(cx, i)->helper) return false;
    return adapters_short_part * dur[x[b].work] <= dur[x[layer].work] &&
           adapters_short_part * dur[x[a].work] <= dur[x[layer].work];
}

static bool adapters_fit(const struct context *cx, uint32_t a, uint32_t b, uint32_t layer)
{
    const struct op_work *wa = &adapters_kind(cx, a)->work, *wb = &adapters_kind(cx, b)->work,
                         *wl = &adapters_kind(cx, layer)->work;
    if (wa->m > 0 && wb->m > 0 && wl->m > 0) return adapters_is_thin(wa, wb, wl);
    return sequence_of(cx)->items[a].op == ROW_NONE &&
           (adapters_is_short(cx, a, b, layer) || adapters_are_one(cx, a, b, layer));
}

/* The items after `last` that scale and add its result; `last` + 1 where there are none. */
static uint32_t adapters_sum_up(const struct context *cx, struct work_words *w, uint32_t last)
{
    const struct sequence *s = sequence_of(cx);
    bool scaled = false;
    for (uint32_t i = last + 1; i < s->n && i - last <= adapters_reach_kernels &&
                                s->items[i].thread == s->items[last].thread;
         i++) {
        uint32_t words = work_words_of(w, &s->items[i]);
        if (cx->t->kind[s->items[i].work] != KIND_KERNEL) continue;
        if (words >> WORD_ADD & 1) return i + 1;
        if (scaled || !(words >> WORD_SCALE & 1)) break;
        scaled = true;
    }
    return last + 1;
}

/* Without shapes only what is scaled is an adapter for certain. */
static bool adapters_are_certain(const struct context *cx, struct work_words *w, uint32_t last,
                                 uint32_t end)
{
    const struct launched *x = sequence_of(cx)->items;
    bool scaled = x[last].op != ROW_NONE;
    for (uint32_t i = last + 1; i < end; i++) scaled |= work_words_has(w, &x[i], WORD_SCALE);
    return scaled;
}

static int adapters_add(struct adapters *out, uint32_t first, uint32_t end, struct err *e)
{
    const struct context *cx = out->x->cx;
    struct spare *spare = &out->x->spare;
    const struct launched *x = sequence_of(cx)->items;
    for (uint32_t i = first; i < end; i++) TRY(spare_drop(spare, cx, x[i].work, e));
    out->n++;
    return spare_cut(spare, cx, x[first].thread,
                     spare_launching(cx, x[first].call, x[end - 1].call), e);
}

/* Looks at the last three products: the adapter is [first, end), without the layer. */
static int adapters_look(struct adapters *out, struct adapters_window *x, struct err *e)
{
    const struct context *cx = out->x->cx;
    const uint32_t *at = x->at;
    uint32_t last = at[2], end = adapters_sum_up(cx, out->x->words, last);
    if (end == last + 1 || !adapters_are_certain(cx, out->x->words, last, end)) return 0;
    bool after = adapters_fit(cx, at[1], at[2], at[0]);
    bool before = !after && adapters_fit(cx, at[0], at[1], at[2]);
    if (!after && !before) return 0;
    double rank = adapters_kind(cx, after ? at[1] : at[0])->work.n;
    out->rank = rank > 0 ? rank : 0;
    x->n = 0;
    if (after) return adapters_add(out, at[0] + 1, end, e);
    TRY(adapters_add(out, at[0], at[1] + 1, e));
    for (uint32_t i = last + 1; i < end; i++)
        TRY(spare_drop(&out->x->spare, cx, sequence_of(cx)->items[i].work, e));
    return 0;
}

static void adapters_push(struct adapters_window *x, uint32_t i)
{
    if (x->n == 3) {
        x->at[0] = x->at[1];
        x->at[1] = x->at[2];
        x->n = 2;
    }
    x->at[x->n++] = i;
}

int adapters_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    struct adapters_window last = {.n = 0};
    struct adapters found = {.x = x};
    for (uint32_t i = 0; i < s->n && !s->trains; i++) {
        if (last.n && s->items[i].thread != s->items[last.at[last.n - 1]].thread) last.n = 0;
        if (!adapters_is_product(x->cx, i)) continue;
        adapters_push(&last, i);
        if (last.n == 3) TRY(adapters_look(&found, &last, e));
    }
    const char *rank =
        found.rank > 0 ? rule_text(x->cx, " (of rank %lld)", (long long)found.rank) : "";
    x->why = rule_text(x->cx,
                       "Beside %s products a low-rank adapter%s is computed: two thin products, "
                       "and their result is scaled and added (%s of GPU time).",
                       human_count(found.n).s, rank, human_time(x->spare.fix.before_ns).s);
    return 0;
}
