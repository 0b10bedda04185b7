/* result_family_sums.c: what fills the time of the GPU, by family of kernels. */
#include <math.h>

#include "analyze/answer/answer.h"
#include "analyze/gaps/wall.h"
#include "analyze/kernels/top_kernels.h"
#include "base/stats.h"
#include "results/results.h"

static const struct kernel_family_sum *families_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value families_name(const struct rows *r, uint32_t i)
{
    return value_cstr(kernel_family_name(families_at(r, i)->family));
}

static struct value families_total(const struct rows *r, uint32_t i)
{
    return value_int((int64_t)families_at(r, i)->total_ns);
}

static struct value families_share(const struct rows *r, uint32_t i)
{
    return value_num(stats_pct(families_at(r, i)->total_ns, top_kernels_of(r->cx)->families_ns));
}

static struct value families_flop_rate(const struct rows *r, uint32_t i)
{
    const struct kernel_family_sum *f = families_at(r, i);
    return value_num(f->flops > 0 ? f->flops / f->total_ns / 1e3 : NAN);
}

static struct value families_byte_rate(const struct rows *r, uint32_t i)
{
    const struct kernel_family_sum *f = families_at(r, i);
    return value_num(f->bytes > 0 ? f->bytes / f->total_ns : NAN);
}

/* The roof of most of its time is known. */
static bool families_known(const struct kernel_family_sum *f)
{
    return 2 * f->known_ns >= f->total_ns;
}

static struct value families_of_roof(const struct rows *r, uint32_t i)
{
    const struct kernel_family_sum *f = families_at(r, i);
    return value_num(families_known(f) ? stats_pct(f->roof_ns, f->known_ns) : NAN);
}

/* Work of several streams shares the time. */
static double families_saved_ns(const struct rows *r, uint32_t i)
{
    const struct kernel_family_sum *f = families_at(r, i);
    double all = top_kernels_of(r->cx)->families_ns;
    double of_time = all > 0 ? (double)wall_of(r->cx)->plain.busy_ns / all : 0;
    return (f->known_ns - f->roof_ns) * (of_time < 1 ? of_time : 1);
}

static struct value families_saved(const struct rows *r, uint32_t i)
{
    if (!families_known(families_at(r, i))) return value_none();
    return value_int((int64_t)families_saved_ns(r, i));
}

static struct value families_saved_pct(const struct rows *r, uint32_t i)
{
    if (!families_known(families_at(r, i))) return value_num(NAN);
    return value_num(stats_pct(families_saved_ns(r, i), (double)answer_of(r->cx)->wall_ns));
}

/* clang-format off */
static const struct field families_fields[] = {
    FIELD_GET(TEXT, "family", "GPU time", families_name, "the family", .page = PAGE_COLUMN),
    FIELD_GET(NS, "total_us", "", families_total, "how long its kernels run"),
    FIELD_GET(PCT, "share_pct", "share", families_share, "share of the time of all kernels", .decimals = 3, .page = PAGE_COLUMN),
    FIELD_GET(NUM, "tflop_per_s", "TFLOP/s", families_flop_rate, "how fast it multiplies", .decimals = 3),
    FIELD_GET(NUM, "gb_per_s", "GB/s", families_byte_rate, "how fast it reads and writes", .decimals = 3),
    FIELD_GET(PCT, "of_roof_pct", "of best", families_of_roof, "share of the roofline it reaches, where that is known for most of it", .decimals = 3, .page = PAGE_COLUMN),
    FIELD_GET(NS, "could_save_us", "could save", families_saved, "what it would save at the roofline", .null = NULL_SOMETIMES, .page = PAGE_COLUMN),
    FIELD_GET(PCT, "could_save_pct", "of wall", families_saved_pct, "the same as a share of the wall clock", .decimals = 3),
};
/* clang-format on */

const struct result result_family_sums =
    RESULT("families", "what fills the time of the GPU", families_fields, struct kernel_family_sum);

struct rows rows_family_sums(const struct context *cx)
{
    const struct top_kernels *k = top_kernels_of(cx);
    return (struct rows){
        .of = &result_family_sums, .cx = cx, .list = k->families, .n = k->n_families};
}
