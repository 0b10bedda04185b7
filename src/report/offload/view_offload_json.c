/* view_offload_json.c: the keys of `strata offload --json`. */
#include "base/jout.h"
#include "report/offload/views_offload.h"
#include "results/result_json.h"
#include "results/results.h"

static void view_offload_json_put_ms(struct jout *j, const char *key, int64_t ns)
{
    jout_num(j, key, (double)ns / 1e6, 3);
}

/* ---- the document */

static const struct plan *plan_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct facts *model_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct prediction *prediction_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct observed_copies *copies_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

/* The row that the user asks about, or NULL. */
static const struct prediction *plan_asked(const struct rows *r, uint32_t i)
{
    return plan_find(plan_at(r, i), "largest", plan_at(r, i)->facts.host);
}

VALUE_OF(model_modules,
         value_int(model_at(r, i)->modules_are_pieces ? 0 : model_at(r, i)->n_modules))
VALUE_OF(model_compute_from, value_cstr(fact_from_name(model_at(r, i)->compute_from)))
VALUE_OF(model_host, value_cstr(host_name(model_at(r, i)->host)))
VALUE_OF(rate_from, value_cstr(fact_from_name(((const struct facts_rate *)rows_at(r, i))->from)))
VALUE_OF(copies_rate, copies_at(r, i)->rate.from == FACT_MEASURED
                          ? value_num(copies_at(r, i)->rate.bytes_per_ns)
                          : value_none())
VALUE_OF(traced_steps, value_int(plan_at(r, i)->trial->s->n_steps))
VALUE_OF(traced_guess, value_int(plan_at(r, i)->trial->s->steps_are_guess))
VALUE_OF(traced_wall, value_int(plan_at(r, i)->trial->u->traced_ns))
VALUE_OF(traced_replayed, value_int(plan_at(r, i)->trial->u->replayed_ns))
VALUE_OF(traced_plain, value_int(plan_at(r, i)->trial->u->plain_ns))
VALUE_OF(traced_exposed,
         value_int(plan_at(r, i)->observed.copying_ns - plan_at(r, i)->observed.overlapped_ns))
VALUE_OF(prediction_host, value_cstr(host_name(prediction_at(r, i)->host)))
VALUE_OF(prediction_group, value_cstr(prediction_at(r, i)->by_block ? "block" : "module"))
VALUE_OF(prediction_steps, value_int(((const struct plan *)r->with)->facts.steps))
VALUE_OF(prediction_rate, value_cstr(fact_from_name(prediction_at(r, i)->rate_from)))
VALUE_OF(measured_host, value_cstr(host_name(((const struct measured_run *)rows_at(r, i))->host)))
VALUE_OF(plan_break_even, value_int(plan_asked(r, i) ? plan_asked(r, i)->break_even : 0))
VALUE_OF(plan_verdict, plan_asked(r, i) ? value_cstr(plan_asked(r, i)->verdict) : value_none())
ROWS_OF(plan_traced, .list = plan_at(r, i), .n = plan_at(r, i)->trial != NULL)
ROWS_OF(plan_rates, .list = &plan_at(r, i)->facts, .n = 1)
ROWS_OF(plan_predictions, .list = plan_at(r, i)->rows, .n = plan_at(r, i)->n_rows,
        .with = plan_at(r, i))
ROWS_OF(plan_ceiling, .list = plan_at(r, i), .n = 1)
ROWS_OF(plan_curve, .list = plan_at(r, i)->curve, .n = PLAN_CURVE)
ROWS_OF(plan_runs, .list = plan_at(r, i)->runs, .n = plan_at(r, i)->n_runs)

static struct rows plan_quality(const struct rows *r, uint32_t i)
{
    const struct integrity *quality = r->with;
    (void)i;
    return (struct rows){.list = quality, .n = quality != NULL};
}

static void plan_inconsistencies(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct plan *p = plan_at(r, i);
    for (uint32_t k = 0; k < p->n_inconsistent; k++) jout_cstr(j, NULL, p->inconsistent[k]);
}

static void plan_advice(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct plan *p = plan_at(r, i);
    for (uint32_t k = 0; k < p->n_advice; k++) jout_cstr(j, NULL, p->advice[k]);
}

/* clang-format off */
static const struct field rate_fields[] = {
    FIELD(NUM, "gb_per_s", "", struct facts_rate, bytes_per_ns, "the rate", .decimals = 3),
    FIELD(NUM, "p10_gb_per_s", "", struct facts_rate, low, "its 10th percentile, where it was measured", .null = NULL_ZERO, .decimals = 3, .sparse = true),
    FIELD(NUM, "p90_gb_per_s", "", struct facts_rate, high, "its 90th percentile, where it was measured", .null = NULL_ZERO, .decimals = 3, .sparse = true),
    FIELD_GET(WORD, "from", "", rate_from, "`measured`, `given`, `assumed`"),
};
static const struct result result_rate = RESULT("rate", "how fast bytes are copied", rate_fields, struct facts_rate);

static const struct field rates_fields[] = {
    FIELD_SUB("pageable", &result_rate, struct facts, rate[HOST_PAGEABLE], "from pageable memory"),
    FIELD_SUB("pinned", &result_rate, struct facts, rate[HOST_PINNED], "from pinned memory"),
    FIELD_SUB("to_host", &result_rate, struct facts, back, "back to pageable memory"),
    FIELD_SUB("device_memory", &result_rate, struct facts, device_memory, "of the device's own memory"),
};
static const struct result result_rates = RESULT("rates", "rates of copies", rates_fields, struct facts);

static const struct field model_fields[] = {
    FIELD(BYTES, "bytes", "", struct facts, model_bytes, "bytes of its weights"),
    FIELD_GET(COUNT, "modules", "", model_modules, "its modules; 0: only the size is known"),
    FIELD(COUNT, "passes_per_step", "", struct facts, passes, "how often a step goes through it"),
    FIELD(MS, "compute_ms", "", struct facts, compute_ns, "device work of a step without copies"),
    FIELD_GET(WORD, "compute_from", "", model_compute_from, "as in `rates`"),
    FIELD(MS, "fixed_ms", "", struct facts, fixed_ns, "time outside the loop"),
    FIELD_GET(WORD, "host_memory", "", model_host, "where the weights lie: `pageable`, `pinned`"),
    FIELD(BYTES, "activation_bytes", "", struct facts, activation_bytes, "memory besides the weights", .null = NULL_NEGATIVE),
};
static const struct result result_model = RESULT("model", "the model", model_fields, struct facts);

static const struct field copies_fields[] = {
    FIELD(COUNT, "copies", "", struct observed_copies, n, "how many"),
    FIELD(BYTES, "bytes", "", struct observed_copies, bytes, "their bytes"),
    FIELD(MS, "time_ms", "", struct observed_copies, ns, "their time"),
    FIELD_GET(NUM, "gb_per_s", "", copies_rate, "median of large copies", .decimals = 3, .sparse = true),
};
static const struct result result_copies = RESULT("copies", "copies of one kind in the loop", copies_fields, struct observed_copies);

static const struct field churn_fields[] = {
    FIELD(COUNT, "device_allocs", "", struct observed_churn, allocs, "device allocations"),
    FIELD(COUNT, "device_frees", "", struct observed_churn, frees, "and frees"),
    FIELD(COUNT, "host_allocs", "", struct observed_churn, host_allocs, "allocations of pinned memory"),
    FIELD(MS, "time_ms", "", struct observed_churn, ns, "their time"),
};
static const struct result result_churn = RESULT("allocator", "calls to the driver's allocator", churn_fields, struct observed_churn);

static const struct field traced_fields[] = {
    FIELD_GET(COUNT, "steps", "", traced_steps, "steps of the loop"),
    FIELD_GET(FLAG, "steps_are_guess", "", traced_guess, "whether they were guessed"),
    FIELD_GET(MS, "wall_ms", "", traced_wall, "the wall clock"),
    FIELD_GET(MS, "replayed_ms", "", traced_replayed, "its replay"),
    FIELD_GET(MS, "without_profiler_ms", "", traced_plain, "the same without the profiler"),
    FIELD(MS, "first_step_ms", "", struct plan, observed.times.first_ns, "the first step"),
    FIELD(MS, "step_ms", "", struct plan, observed.times.step_ns, "a later one, median"),
    FIELD(MS, "fastest_step_ms", "", struct plan, observed.times.fastest_ns, "the fastest of them"),
    FIELD(MS, "slowest_step_ms", "", struct plan, observed.times.slowest_ns, "the slowest of them"),
    FIELD(BYTES, "first_step_bytes", "", struct plan, observed.first_bytes, "brought over in the first step"),
    FIELD(BYTES, "step_bytes", "", struct plan, observed.step_bytes, "brought over in a later one"),
    FIELD(MS, "copying_ms", "", struct plan, observed.copying_ns, "time in which uploads run"),
    FIELD(MS, "overlapped_ms", "", struct plan, observed.overlapped_ns, "of it, with a kernel beside them"),
    FIELD_GET(MS, "exposed_ms", "", traced_exposed, "of it, with none"),
    FIELD(MS, "compute_ms", "", struct plan, observed.compute_ns, "time in which kernels run"),
    FIELD_SUB("pageable_to_device", &result_copies, struct plan, observed.to_device[HOST_PAGEABLE], "copies from pageable memory"),
    FIELD_SUB("pinned_to_device", &result_copies, struct plan, observed.to_device[HOST_PINNED], "copies from pinned memory"),
    FIELD_SUB("to_host", &result_copies, struct plan, observed.to_host, "copies back"),
    FIELD_SUB("allocator_first_step", &result_churn, struct plan, observed.first, "calls to the driver's allocator in the first step"),
    FIELD_SUB("allocator_later_steps", &result_churn, struct plan, observed.later, "and in all later ones"),
    FIELD(FLAG, "empties_cache", "", struct plan, observed.empties_cache, "device memory is given back to the driver every step"),
    FIELD(BYTES, "peak_allocated_bytes", "", struct plan, observed.peak_allocated, "most memory of the framework's allocator", .null = NULL_NEGATIVE, .sparse = true),
};
static const struct result result_traced = RESULT("traced", "what the trace shows", traced_fields, struct plan);

static const struct field prediction_fields[] = {
    FIELD(WORD, "policy", "", struct prediction, policy, "`stream_all`, `smallest`, `largest`, `best`, `all_resident`, `preloaded`, `model_offload`, `group_offload`, `prefetch`, `prefetch_best`, `prefetch_block`, `prefetch_event`, `prefetch_deep`, `int8`, `int4`, `as_traced`"),
    FIELD_GET(WORD, "host_memory", "", prediction_host, "`pageable`, `pinned`"),
    FIELD(BYTES, "resident_bytes", "", struct prediction, resident_bytes, "bytes that stay on the device"),
    FIELD(COUNT, "prefetch_depth", "", struct prediction, depth, "how many groups are copied ahead"),
    FIELD_GET(WORD, "group", "", prediction_group, "`module`, `block`"),
    FIELD(COUNT, "weight_bits", "", struct prediction, weight_bits, "bits after quantization", .null = NULL_ZERO, .sparse = true),
    FIELD_GET(COUNT, "steps", "", prediction_steps, "for so many steps"),
    FIELD(MS, "first_step_ms", "", struct prediction, times.first_ns, "the first step"),
    FIELD(MS, "step_ms", "", struct prediction, times.step_ns, "a later one"),
    FIELD(MS, "total_ms", "", struct prediction, total_ns, "all of them, fixed stages included"),
    FIELD(MS, "low_ms", "", struct prediction, low_ns, "the least that is likely"),
    FIELD(MS, "high_ms", "", struct prediction, high_ns, "the most that is likely"),
    FIELD(BYTES, "peak_vram_bytes", "", struct prediction, peak_vram_bytes, "weights, and activations where known"),
    FIELD(BYTES, "host_ram_bytes", "", struct prediction, host_ram_bytes, "host memory it takes"),
    FIELD(PCT, "gain_pct", "", struct prediction, gain_pct, "compared with the current run", .decimals = 2),
    FIELD(COUNT, "break_even_steps", "", struct prediction, break_even, "steps from which `target_gain_pct` is gained; null: never", .null = NULL_ZERO),
    FIELD_GET(WORD, "rate_from", "", prediction_rate, "what the rate of its copies rests on, as in `rates`"),
    FIELD(TEXT, "verdict", "", struct prediction, verdict, "`as it is`, `worth it`, `within noise`, `worse`, `does not fit`, `needs host RAM`"),
};
static const struct result result_predictions = RESULT("predictions", "one per policy and host memory", prediction_fields, struct prediction);

static const struct field ceiling_fields[] = {
    FIELD(MS, "total_ms", "", struct plan, ceiling_ns, "the time if nothing is copied after the first step"),
    FIELD(PCT, "gain_pct", "", struct plan, ceiling_pct, "what that gains", .decimals = 2),
    FIELD(PCT, "gain_many_steps_pct", "", struct plan, ceiling_many_pct, "the same for very many steps", .decimals = 2),
};
static const struct result result_ceiling = RESULT("ceiling", "if nothing is copied after the first step", ceiling_fields, struct plan);

static const struct field curve_fields[] = {
    FIELD(BYTES, "resident_bytes", "", struct curve_point, resident_bytes, "bytes that stay"),
    FIELD(MS, "pageable_total_ms", "", struct curve_point, from[HOST_PAGEABLE].total_ns, "the time from pageable memory"),
    FIELD(MS, "pinned_total_ms", "", struct curve_point, from[HOST_PINNED].total_ns, "from pinned memory"),
};
static const struct result result_curve = RESULT("curve", "time by resident bytes", curve_fields, struct curve_point);

static const struct field measured_fields[] = {
    FIELD(COUNT, "steps", "", struct measured_run, steps, "its steps"),
    FIELD(BYTES, "resident_bytes", "", struct measured_run, resident_bytes, "bytes that stayed"),
    FIELD_GET(WORD, "host_memory", "", measured_host, "`pageable`, `pinned`"),
    FIELD(MS, "total_ms", "", struct measured_run, total_ns, "the time it took"),
    FIELD(MS, "predicted_ms", "", struct measured_run, predicted_ns, "the prediction for it"),
    FIELD(PCT, "off_pct", "", struct measured_run, off_pct, "measured over predicted", .decimals = 2),
};
static const struct result result_measured = RESULT("measured", "runs to compare with", measured_fields, struct measured_run);

static const struct field plan_fields[] = {
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, plan_quality, "", .null = NULL_SOMETIMES),
    FIELD_SUB("model", &result_model, struct plan, facts, "the model"),
    FIELD_IN(OBJECT, "traced", "", &result_traced, plan_traced, "what the trace shows", .sparse = true),
    FIELD_IN(OBJECT, "rates", "", &result_rates, plan_rates, "rates of copies"),
    FIELD(PCT, "noise_pct", "", struct plan, facts.noise_pct, "smaller changes are noise", .decimals = 2),
    FIELD_IN(LIST, "predictions", "", &result_predictions, plan_predictions, "one per policy and host memory"),
    FIELD_IN(OBJECT, "ceiling", "", &result_ceiling, plan_ceiling, "if nothing is copied after the first step"),
    FIELD(PCT, "target_gain_pct", "", struct plan, wish.target_pct, "the gain that break-even asks for", .decimals = 2),
    FIELD_GET(COUNT, "break_even_steps", "", plan_break_even, "steps from which the requested resident set gains that; null: never", .null = NULL_ZERO),
    FIELD_GET(TEXT, "verdict", "", plan_verdict, "for the requested resident set", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_IN(LIST, "curve", "", &result_curve, plan_curve, "from nothing resident to everything"),
    FIELD_IN(LIST, "measured", "", &result_measured, plan_runs, "runs to compare with"),
    FIELD_PUT(TEXTS, "inconsistencies", "", plan_inconsistencies, "sentences: numbers that do not fit together"),
    FIELD_PUT(TEXTS, "advice", "", plan_advice, "sentences: what to do"),
};
/* clang-format on */

const struct result document_offload =
    RESULT("offload", "what other ways to keep weights would cost", plan_fields, struct plan);

void view_offload_json(struct jout *j, const struct plan *p, const struct integrity *quality)
{
    struct context of = {.t = p->trial ? p->trial->t : NULL}; /* the fields need no pass */
    document_json(j, NULL, &of, &document_offload, p, quality);
}

/* ---- for a page ---- */

static void put_texts(struct jout *j, const char *key, const char *const *texts, uint32_t n)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < n; i++) jout_cstr(j, NULL, texts[i]);
    jout_end_arr(j);
}

struct range_ns {
    int64_t total, low, high;
};

static void put_range(struct jout *j, struct range_ns r)
{
    view_offload_json_put_ms(j, "total_ms", r.total);
    view_offload_json_put_ms(j, "low_ms", r.low);
    view_offload_json_put_ms(j, "high_ms", r.high);
}

static void put_mark(struct jout *j, const char *key, const struct prediction *r)
{
    jout_obj(j, key);
    jout_cstr(j, "policy", r->policy);
    jout_cstr(j, "about", r->about);
    jout_cstr(j, "host_memory", host_name(r->host));
    jout_int(j, "resident_bytes", r->resident_bytes);
    jout_int(j, "peak_vram_bytes", r->peak_vram_bytes);
    put_range(j, (struct range_ns){r->total_ns, r->low_ns, r->high_ns});
    jout_cstr(j, "verdict", r->verdict);
    jout_end_obj(j);
}

static void put_series(struct jout *j, const struct plan *p, enum offload_host h)
{
    jout_obj(j, NULL);
    jout_cstr(j, "policy", "largest");
    jout_cstr(j, "host_memory", host_name(h));
    jout_arr(j, "points");
    for (int i = 0; i < PLAN_CURVE; i++) {
        const struct curve_point *c = &p->curve[i];
        jout_obj(j, NULL);
        jout_int(j, "resident_bytes", c->resident_bytes);
        put_range(j, (struct range_ns){c->from[h].total_ns, c->from[h].low_ns, c->from[h].high_ns});
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_offload_page(struct jout *j, const char *key, const struct plan *p)
{
    jout_obj(j, key);
    jout_uint(j, "steps", p->facts.steps);
    jout_int(j, "model_bytes", p->facts.model_bytes);
    if (p->facts.vram_bytes) jout_int(j, "vram_bytes", p->facts.vram_bytes);
    else jout_null(j, "vram_bytes");
    jout_cstr(j, "host_memory", host_name(p->facts.host));
    jout_num(j, "noise_pct", p->facts.noise_pct, 2);
    put_mark(j, "now", &p->rows[p->base]);
    jout_arr(j, "series");
    for (int h = 0; h < HOST_KINDS; h++) put_series(j, p, (enum offload_host)h);
    jout_end_arr(j);
    jout_arr(j, "marks");
    for (uint32_t i = 0; i < p->n_rows; i++)
        if (i != p->base) put_mark(j, NULL, &p->rows[i]);
    jout_end_arr(j);
    put_texts(j, "advice", p->advice, p->n_advice);
    jout_end_obj(j);
}

static void view_offload_json_put_rate(struct jout *j, const char *key, const struct facts_rate *r)
{
    jout_obj(j, key);
    jout_num(j, "gb_per_s", r->bytes_per_ns, 3);
    if (r->low > 0) {
        jout_num(j, "p10_gb_per_s", r->low, 3);
        jout_num(j, "p90_gb_per_s", r->high, 3);
    }
    jout_cstr(j, "from", fact_from_name(r->from));
    jout_end_obj(j);
}

void view_calibration_json(struct buf *out, const struct calibration *c)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "device", c->device);
    jout_obj(&j, "rates");
    for (int h = 0; h < HOST_KINDS; h++)
        view_offload_json_put_rate(&j, host_name((enum offload_host)h), &c->rate[h]);
    view_offload_json_put_rate(&j, "to_host", &c->back);
    jout_end_obj(&j);
    jout_num(&j, "first_touch_gb_per_s", c->touch_bytes_per_ns, 3);
    jout_us(&j, "call_us", c->call_ns);
    jout_us(&j, "alloc_us", c->alloc_ns);
    jout_int(&j, "bytes", c->bytes);
    jout_uint(&j, "rounds", c->rounds);
    jout_end_obj(&j);
}
