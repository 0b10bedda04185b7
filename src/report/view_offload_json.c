/* view_offload_json.c: the keys of `strata offload --json`. */
#include "base/jout.h"
#include "report/view_offload.h"

static void put_ms(struct jout *j, const char *key, int64_t ns)
{
    jout_num(j, key, (double)ns / 1e6, 3);
}

static void put_prediction(struct jout *j, const struct plan *p, const struct prediction *r)
{
    jout_obj(j, NULL);
    jout_cstr(j, "policy", r->policy);
    jout_cstr(j, "host_memory", host_name(r->host));
    jout_int(j, "resident_bytes", r->resident_bytes);
    jout_uint(j, "prefetch_depth", r->depth);
    jout_cstr(j, "group", r->by_block ? "block" : "module");
    if (r->weight_bits) jout_uint(j, "weight_bits", r->weight_bits);
    jout_uint(j, "steps", p->facts.steps);
    put_ms(j, "first_step_ms", r->times.first_ns);
    put_ms(j, "step_ms", r->times.step_ns);
    put_ms(j, "total_ms", r->total_ns);
    put_ms(j, "low_ms", r->low_ns);
    put_ms(j, "high_ms", r->high_ns);
    jout_int(j, "peak_vram_bytes", r->peak_vram_bytes);
    jout_int(j, "host_ram_bytes", r->host_ram_bytes);
    jout_num(j, "gain_pct", r->gain_pct, 2);
    if (r->break_even) jout_uint(j, "break_even_steps", r->break_even);
    else jout_null(j, "break_even_steps");
    jout_cstr(j, "rate_from", fact_from_name(r->rate_from));
    jout_cstr(j, "verdict", r->verdict);
    jout_end_obj(j);
}

static void put_rate(struct jout *j, const char *key, const struct facts_rate *r)
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

static void put_churn(struct jout *j, const char *key, const struct observed_churn *c)
{
    jout_obj(j, key);
    jout_uint(j, "device_allocs", c->allocs);
    jout_uint(j, "device_frees", c->frees);
    jout_uint(j, "host_allocs", c->host_allocs);
    put_ms(j, "time_ms", c->ns);
    jout_end_obj(j);
}

static void put_copies(struct jout *j, const char *key, const struct observed_copies *c)
{
    jout_obj(j, key);
    jout_uint(j, "copies", c->n);
    jout_int(j, "bytes", c->bytes);
    put_ms(j, "time_ms", c->ns);
    if (c->rate.from == FACT_MEASURED) jout_num(j, "gb_per_s", c->rate.bytes_per_ns, 3);
    jout_end_obj(j);
}

static void put_observed(struct jout *j, const struct plan *p)
{
    const struct observed *o = &p->observed;
    const struct streamed *s = p->trial->s;
    jout_obj(j, "traced");
    jout_uint(j, "steps", s->n_steps);
    jout_bool(j, "steps_are_guess", s->steps_are_guess);
    put_ms(j, "wall_ms", p->trial->u->traced_ns);
    put_ms(j, "replayed_ms", p->trial->u->replayed_ns);
    put_ms(j, "without_profiler_ms", p->trial->u->plain_ns);
    put_ms(j, "first_step_ms", o->times.first_ns);
    put_ms(j, "step_ms", o->times.step_ns);
    put_ms(j, "fastest_step_ms", o->times.fastest_ns);
    put_ms(j, "slowest_step_ms", o->times.slowest_ns);
    jout_int(j, "first_step_bytes", o->first_bytes);
    jout_int(j, "step_bytes", o->step_bytes);
    put_ms(j, "copying_ms", o->copying_ns);
    put_ms(j, "overlapped_ms", o->overlapped_ns);
    put_ms(j, "exposed_ms", o->copying_ns - o->overlapped_ns);
    put_ms(j, "compute_ms", o->compute_ns);
    put_copies(j, "pageable_to_device", &o->to_device[HOST_PAGEABLE]);
    put_copies(j, "pinned_to_device", &o->to_device[HOST_PINNED]);
    put_copies(j, "to_host", &o->to_host);
    put_churn(j, "allocator_first_step", &o->first);
    put_churn(j, "allocator_later_steps", &o->later);
    jout_bool(j, "empties_cache", o->empties_cache);
    if (o->peak_allocated >= 0) jout_int(j, "peak_allocated_bytes", o->peak_allocated);
    jout_end_obj(j);
}

static void put_model(struct jout *j, const struct facts *f)
{
    jout_obj(j, "model");
    jout_int(j, "bytes", f->model_bytes);
    jout_uint(j, "modules", f->modules_are_pieces ? 0 : f->n_modules);
    jout_uint(j, "passes_per_step", f->passes);
    put_ms(j, "compute_ms", f->compute_ns);
    jout_cstr(j, "compute_from", fact_from_name(f->compute_from));
    put_ms(j, "fixed_ms", f->fixed_ns);
    jout_cstr(j, "host_memory", host_name(f->host));
    if (f->activation_bytes >= 0) jout_int(j, "activation_bytes", f->activation_bytes);
    else jout_null(j, "activation_bytes");
    jout_end_obj(j);
}

static void put_curve(struct jout *j, const struct plan *p)
{
    jout_arr(j, "curve");
    for (int i = 0; i < PLAN_CURVE; i++) {
        jout_obj(j, NULL);
        jout_int(j, "resident_bytes", p->curve[i].resident_bytes);
        put_ms(j, "pageable_total_ms", p->curve[i].from[HOST_PAGEABLE].total_ns);
        put_ms(j, "pinned_total_ms", p->curve[i].from[HOST_PINNED].total_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_runs(struct jout *j, const struct plan *p)
{
    jout_arr(j, "measured");
    for (uint32_t i = 0; i < p->n_runs; i++) {
        const struct measured_run *r = &p->runs[i];
        jout_obj(j, NULL);
        jout_uint(j, "steps", r->steps);
        jout_int(j, "resident_bytes", r->resident_bytes);
        jout_cstr(j, "host_memory", host_name(r->host));
        put_ms(j, "total_ms", r->total_ns);
        put_ms(j, "predicted_ms", r->predicted_ns);
        jout_num(j, "off_pct", r->off_pct, 2);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_texts(struct jout *j, const char *key, const char *const *texts, uint32_t n)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < n; i++) jout_cstr(j, NULL, texts[i]);
    jout_end_arr(j);
}

void view_offload_json(struct buf *out, const struct plan *p, const struct integrity *quality)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    if (quality) view_quality_json(&j, "trace_quality", p->trial->t, quality);
    else jout_null(&j, "trace_quality");
    put_model(&j, &p->facts);
    if (p->trial) put_observed(&j, p);
    jout_obj(&j, "rates");
    for (int h = 0; h < HOST_KINDS; h++)
        put_rate(&j, host_name((enum offload_host)h), &p->facts.rate[h]);
    put_rate(&j, "to_host", &p->facts.back);
    put_rate(&j, "device_memory", &p->facts.device_memory);
    jout_end_obj(&j);
    jout_num(&j, "noise_pct", p->facts.noise_pct, 2);
    jout_arr(&j, "predictions");
    for (uint32_t i = 0; i < p->n_rows; i++) put_prediction(&j, p, &p->rows[i]);
    jout_end_arr(&j);
    jout_obj(&j, "ceiling");
    put_ms(&j, "total_ms", p->ceiling_ns);
    jout_num(&j, "gain_pct", p->ceiling_pct, 2);
    jout_num(&j, "gain_many_steps_pct", p->ceiling_many_pct, 2);
    jout_end_obj(&j);
    const struct prediction *asked = plan_find(p, "largest", p->facts.host);
    jout_num(&j, "target_gain_pct", p->wish.target_pct, 2);
    if (asked && asked->break_even) jout_uint(&j, "break_even_steps", asked->break_even);
    else jout_null(&j, "break_even_steps");
    if (asked) jout_cstr(&j, "verdict", asked->verdict);
    put_curve(&j, p);
    put_runs(&j, p);
    put_texts(&j, "inconsistencies", p->inconsistent, p->n_inconsistent);
    put_texts(&j, "advice", p->advice, p->n_advice);
    jout_end_obj(&j);
}

/* ---- for a page ---- */

struct range_ns {
    int64_t total, low, high;
};

static void put_range(struct jout *j, struct range_ns r)
{
    put_ms(j, "total_ms", r.total);
    put_ms(j, "low_ms", r.low);
    put_ms(j, "high_ms", r.high);
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

void view_calibration_json(struct buf *out, const struct calibration *c)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "device", c->device);
    jout_obj(&j, "rates");
    for (int h = 0; h < HOST_KINDS; h++) put_rate(&j, host_name((enum offload_host)h), &c->rate[h]);
    put_rate(&j, "to_host", &c->back);
    jout_end_obj(&j);
    jout_num(&j, "first_touch_gb_per_s", c->touch_bytes_per_ns, 3);
    jout_us(&j, "call_us", c->call_ns);
    jout_us(&j, "alloc_us", c->alloc_ns);
    jout_int(&j, "bytes", c->bytes);
    jout_uint(&j, "rounds", c->rounds);
    jout_end_obj(&j);
}
