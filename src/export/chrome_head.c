/* chrome_head.c: the top-level keys of a trace: as they were written, without what export_private.h
 * leaves out, and the few that viewers need where there were none. */
#include "base/jout.h"
#include "base/json_valid.h"
#include "export/chrome.h"
#include "export/export_private.h"

static void chrome_head_put_meta(struct chrome *c, const struct meta *m)
{
    struct str key = trace_str(c->t, m->key), value = trace_str(c->t, m->value);
    if (str_is(key, "traceEvents") || str_is(key, "baseTimeNanoseconds")) return;
    jout_quote(chrome_text(c), key);
    FMT_LIT(chrome_text(c), ":");
    if (json_valid(value)) buf_add_str(chrome_text(c), value);
    else json_repair(value, chrome_text(c));
    FMT_LIT(chrome_text(c), ",\n");
}

static void put_unless_zero(struct jout *j, const char *key, int64_t v)
{
    if (v) jout_int(j, key, v);
}

static void put_device(struct jout *j, const struct trace *t, const struct device *d)
{
    jout_obj(j, NULL);
    jout_int(j, "id", d->id);
    jout_str(j, "name", trace_str(t, d->name));
    put_unless_zero(j, "totalGlobalMem", d->memory_bytes);
    jout_int(j, "computeMajor", d->major);
    jout_int(j, "computeMinor", d->minor);
    put_unless_zero(j, "warpSize", d->warp_size);
    put_unless_zero(j, "numSms", d->n_sms);
    put_unless_zero(j, "maxThreadsPerMultiprocessor", d->max_threads_per_sm);
    put_unless_zero(j, "regsPerMultiprocessor", d->regs_per_sm);
    put_unless_zero(j, "sharedMemPerMultiprocessor", d->shared_per_sm);
    put_unless_zero(j, "sharedMemPerBlockOptin", d->shared_per_block_optin);
    jout_end_obj(j);
}

void chrome_put_devices(const struct trace *t, struct buf *out)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_arr(&j, NULL);
    for (uint32_t i = 0; i < t->n_devices; i++) put_device(&j, t, &t->devices[i]);
    jout_end_arr(&j);
}

static void chrome_head_put_devices(struct chrome *c)
{
    FMT_LIT(chrome_text(c), "\"deviceProperties\":");
    chrome_put_devices(c->t, chrome_text(c));
    FMT_LIT(chrome_text(c), ",\n");
}

/* Everything before the events. A key that was written twice is written once. */
int chrome_put_head(struct chrome *c, struct err *e)
{
    const struct trace *t = c->t;
    bool *seen = arena_zalloc(&c->mem, t->strings.n, sizeof *seen);
    if (!seen) return err_nomem(e);
    FMT_LIT(chrome_text(c), "{\n");
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct meta *m = &t->metas[i];
        if (m->key >= t->strings.n || seen[m->key] || !strip_keeps(t, m, c->o)) continue;
        seen[m->key] = true;
        chrome_head_put_meta(c, m);
        TRY(sink_pump(&c->sink, e));
    }
    if (!trace_meta(t, "deviceProperties").p && t->n_devices) chrome_head_put_devices(c);
    if (!trace_meta(t, "displayTimeUnit").p)
        FMT_LIT(chrome_text(c), "\"displayTimeUnit\":\"ms\",\n");
    if (t->base_ns)
        buf_printf(chrome_text(c), "\"baseTimeNanoseconds\":%lld,\n", (long long)t->base_ns);
    FMT_LIT(chrome_text(c), "\"traceEvents\":[\n");
    return sink_pump(&c->sink, e);
}
