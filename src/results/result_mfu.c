/* result_mfu.c: the operations of a step, and how much of the device's rate they use. */
#include "analyze/answer/mfu.h"

#include <math.h>

#include "results/results.h"

static const struct mfu *mfu_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(mfu_rate, value_num(mfu_at(r, i)->per_s / 1e12))
VALUE_OF(mfu_peak, value_num(mfu_at(r, i)->peak_per_s / 1e12))
VALUE_OF(mfu_reach, value_num(mfu_at(r, i)->reach_per_s / 1e12))
VALUE_OF(mfu_precision, value_cstr(precision_name(mfu_at(r, i)->precision)))

/* clang-format off */
static const struct field mfu_fields[] = {
    FIELD(NUM, "flop_per_step", "", struct mfu, step_flop, "operations of products, convolutions and attention per step, as torch's FlopCounterMode counts them (causal attention in full, recomputation again), or of the whole trace where `steps` is 0", .decimals = 0),
    FIELD(COUNT, "steps", "", struct mfu, steps, "over how many whole steps; 0: nothing repeats"),
    FIELD_GET(NUM, "tflop_per_s", "", mfu_rate, "all operations over the wall clock without the profiler", .decimals = 3),
    FIELD_GET(WORD, "precision", "", mfu_precision, "that most of them are in"),
    FIELD(PCT, "mfu_pct", "", struct mfu, pct, "model FLOP utilization: share of the dense rate on the datasheets of all devices of the trace; null where that is not known", .decimals = 3),
    FIELD_GET(NUM, "peak_tflop_per_s", "", mfu_peak, "that rate; of float32 that of TF32", .decimals = 1),
    FIELD(PCT, "of_reachable_pct", "", struct mfu, reach_pct, "share of what products reach on these devices", .decimals = 3),
    FIELD_GET(NUM, "reachable_tflop_per_s", "", mfu_reach, "that rate, as measured or as the table has it", .decimals = 1),
    FIELD(PCT, "known_pct", "", struct mfu, known_pct, "share of the time of kernels that multiply whose work is known; null without a device", .decimals = 3),
};
/* clang-format on */

const struct result result_mfu =
    RESULT("mfu", "the operations of a step, and the share of the device's rate that they use",
           mfu_fields, struct mfu);

struct rows rows_in_mfu(const struct rows *r, uint32_t i)
{
    (void)i;
    const struct mfu *m = mfu_of(r->cx);
    return (struct rows){.of = &result_mfu, .cx = r->cx, .list = m, .n = m->known};
}
