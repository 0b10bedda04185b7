/* result_hot_spots.c: which operators and lines hold the time of a GPU that is the limit. */
#include "analyze/answer/hot_spots.h"
#include "results/results.h"

static struct value hot_spots_get_where(const struct rows *r, uint32_t i)
{
    const struct hot_spot *s = rows_at(r, i);
    return s->where ? value_cstr(s->where) : value_none();
}

/* clang-format off */
static const struct field hot_spot_fields[] = {
    FIELD(TEXT, "what", "holds GPU time", struct hot_spot, what, "the operator, or the kernel where no operator is known"),
    FIELD_GET(TEXT, "where", "where", hot_spots_get_where, "the line that calls it", .null = NULL_SOMETIMES),
    FIELD(TEXT, "kind", "kind", struct hot_spot, kind, "what kind of work: `gemm`, `attention`, `copy` and others, as the families of `kernels`"),
    FIELD(COUNT, "kernels", "kernels", struct hot_spot, kernels, "how many kernels it launches"),
    FIELD(NS, "gpu_us", "GPU time", struct hot_spot, gpu_ns, "how long they run"),
    FIELD(PCT, "share_pct", "share", struct hot_spot, share_pct, "share of all work of the GPU", .decimals = 3),
    FIELD(PCT, "of_roof_pct", "of best", struct hot_spot, roof_pct, "share of the roofline that its kernels reach; null where that is known for too little of them", .decimals = 3),
    FIELD(NS, "most_gain_us", "", struct hot_spot, gain_ns, "what the wall clock gains if the operator and its kernels never run, by replay: the most a change there gains"),
    FIELD(PCT, "most_gain_pct", "at most", struct hot_spot, gain_pct, "the same as a share of the wall clock", .decimals = 3),
};
/* clang-format on */

const struct result result_hot_spots =
    RESULT("hot_spots", "which operators and lines hold the time of the GPU", hot_spot_fields,
           struct hot_spot);

struct rows rows_hot_spots(const struct context *cx)
{
    const struct hot_spots *h = hot_spots_of(cx);
    return (struct rows){.of = &result_hot_spots, .cx = cx, .list = h->list, .n = h->n};
}
