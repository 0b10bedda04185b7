/* recording_prices.c: see recording_prices.h. From runs with and without recording on one machine,
 * CPU-bound loops of 400 to 3,000 launches. */
#include "analyze/names/recording_prices.h"

/* launch_ns: with it a Python frame costs 550 ns and an operator of ours 255 ns, as was measured on
 * pipelines with and without recording. */
static const struct recording_prices of_torch = {
    .launch = 1.28F,
    .call = 0.48F,
    .op = 0.43F,
    .shapes = 0.10F,
    .annotation = 0.43F,
    .python = 0.25F,
    .memory = 0.16F,
    .node = 0.20F,
    .launch_ns = 2200,
};
/* Our own: Python functions are samples, which cost the program next to nothing. */
static const struct recording_prices of_ours = {
    .launch = 0.80F,
    .call = 0.20F,
    .op = 0.15F,
    .annotation = 0.15F,
    .memory = 0.05F,
    .node = 0.20F,
    .launch_ns = 1700,
};

static bool recording_prices_has(const struct trace *t, const char *key)
{
    struct str v = trace_meta(t, key);
    return v.p && !str_is(v, "0") && !str_is(v, "false");
}

struct recording_prices recording_prices_of(const struct trace *t)
{
    struct recording_prices p = trace_timeline_is_ours(t) ? of_ours : of_torch;
    if (recording_prices_has(t, "record_shapes")) p.op += p.shapes;
    return p;
}

static float recording_prices_call(const struct call_info *c, const struct recording_prices *p)
{
    return c->n_gpu ? p->launch + p->node * (float)(c->n_gpu - 1) : p->call;
}

float recording_price(const struct trace *t, row_t r, const struct recording_prices *p)
{
    switch (t->kind[r]) {
    case KIND_OP: return p->op;
    case KIND_ANNOTATION: return p->annotation;
    case KIND_PYTHON: return p->python;
    case KIND_MEMORY: return p->memory;
    case KIND_RUNTIME:
    case KIND_DRIVER: return recording_prices_call(trace_call(t, r), p);
    default: return 0;
    }
}
