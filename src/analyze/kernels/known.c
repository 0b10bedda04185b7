/* known.c: see known.h. */
#include "analyze/kernels/known.h"

#include "analyze/deep/deep_match.h"
#include "analyze/kernels/kernel_where.h"
#include "analyze/kernels/roofline.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/kernel_name.h"
#include "analyze/names/source_place.h"
#include "base/stats.h"

/* The operator around the launch, an origin's, or what a compiler says. */
static bool known_has_op(const struct context *cx, row_t r)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), cx->t, r);
    if (o && o->op.n) return true;
    if (roofline_owner(roofline_of(cx), cx->t, r) != ROW_NONE) return true;
    const struct kernel_source *s = kernel_source_find(cx, r);
    return s && s->op.n;
}

static void known_add(const struct context *cx, struct kernel_where *w, row_t r, struct known *k)
{
    int64_t ns = cx->t->dur_ns[r];
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), cx->t, r);
    k->kernel_ns += ns;
    if (o && o->differs) k->differs_ns += ns;
    if (known_has_op(cx, r)) k->op_ns += ns;
    if (kernel_where_shapes(w, r).n) k->shapes_ns += ns;
    if (kernel_where_module(w, r).n) k->module_ns += ns;
    if (kernel_where_has_line(w, r)) k->line_ns += ns;
}

static const char *known_say(const struct context *cx, const struct known *k)
{
    if (!k->n_deep) return "";
    double all = (double)k->kernel_ns, asked = (double)k->asked_ns;
    const char *differ = "";
    if (k->differs_ns)
        differ = arena_printf(cx->mem, ", %.1f %% differs between units",
                              stats_pct((double)k->differs_ns, asked));
    if (!differ) return NULL;
    return arena_printf(cx->mem,
                        "known: operator %.0f %%, shapes %.0f %%, line %.0f %% of the GPU's time, "
                        "from %u unit%s in depth; %.1f %% did not match%s",
                        stats_pct((double)k->op_ns, all), stats_pct((double)k->shapes_ns, all),
                        stats_pct((double)k->line_ns, all), k->n_deep, k->n_deep == 1 ? "" : "s",
                        stats_pct(asked - (double)k->like_ns, asked), differ);
}

static int known_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct known *k = ret;
    const struct trace *t = cx->t;
    struct kernel_where w;
    int rc = kernel_where_init(&w, cx, e);
    for (row_t r = 0; rc == 0 && r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL || t->aux[r] >= t->n_gpu || t->dur_ns[r] <= 0) continue;
        if (roofline_kind(roofline_of(cx), t, r)->family == FAMILY_COMMUNICATION) continue;
        known_add(cx, &w, r, k);
    }
    kernel_where_done(&w);
    k->n_deep = deep_match_of(cx)->n_units;
    k->asked_ns = deep_match_of(cx)->asked_ns;
    k->like_ns = deep_match_of(cx)->found_ns;
    k->sentence = known_say(cx, k);
    if (rc == 0 && !k->sentence) return err_nomem(e);
    return rc;
}

static const struct pass *const needs[] = {
    &deep_match_pass, &graph_origin_pass, &kernel_sources_pass, &places_pass, &roofline_pass, NULL};

const struct pass known_pass = {
    .id = PASS_KNOWN,
    .size = sizeof(struct known),
    .needs = needs,
    .run = known_run_pass,
};
