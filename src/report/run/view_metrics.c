/* view_metrics.c: see views_run.h. All samples of a metric stand together, as the format wants.
 */
#include "report/run/views_run.h"

#include "base/utf8.h"

struct metric {
    const char *name, *type, *help;
    bool (*of)(const struct timing_stage *s, double *ret); /* false: not known */
};

static bool view_metrics_seconds(int64_t ns, double *ret)
{
    *ret = (double)ns / 1e9;
    return ns >= 0;
}

static bool calls_of(const struct timing_stage *s, double *ret)
{
    *ret = (double)s->count;
    return true;
}

static bool errors_of(const struct timing_stage *s, double *ret)
{
    *ret = (double)s->errors;
    return true;
}

static bool total_of(const struct timing_stage *s, double *ret)
{
    return view_metrics_seconds(s->total_ns, ret);
}

static bool view_metrics_gpu_of(const struct timing_stage *s, double *ret)
{
    return view_metrics_seconds(s->gpu_ns, ret);
}

static bool view_metrics_median_of(const struct timing_stage *s, double *ret)
{
    return view_metrics_seconds(s->median_ns, ret);
}

static bool p95_of(const struct timing_stage *s, double *ret)
{
    return view_metrics_seconds(s->p95_ns, ret);
}

static bool peak_of(const struct timing_stage *s, double *ret)
{
    *ret = (double)s->peak_bytes;
    return s->peak_bytes >= 0;
}

static const struct metric metrics[] = {
    {"strata_stage_calls_total", "counter", "Calls of the stage that have ended.", calls_of},
    {"strata_stage_errors_total", "counter", "Calls that ended with an exception.", errors_of},
    {"strata_stage_seconds_total", "counter", "Time of all calls.", total_of},
    {"strata_stage_gpu_seconds_total", "counter", "Device time of all calls.", view_metrics_gpu_of},
    {"strata_stage_median_seconds", "gauge", "Median time of a call.", view_metrics_median_of},
    {"strata_stage_p95_seconds", "gauge", "95th percentile of the time of a call.", p95_of},
    {"strata_stage_peak_memory_bytes", "gauge", "Most memory while the stage ran.", peak_of},
};

/* In quotes; what is not UTF-8 and control characters become a question mark. */
static void view_metrics_put_value(struct buf *out, const char *text)
{
    struct str s = str_c(text ? text : "");
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_len(s, i);
        if (s.p[i] == '"' || s.p[i] == '\\') buf_addc(out, '\\');
        if (n == 0 || (unsigned char)s.p[i] < ' ' || s.p[i] == 127) buf_addc(out, '?');
        else buf_add(out, s.p + i, n);
        i += n ? n : 1;
    }
    buf_addc(out, '"');
}

static void view_metrics_put_process(struct buf *out, const struct timing *t)
{
    buf_adds(out, "{pipeline=");
    view_metrics_put_value(out, t->pipeline);
    buf_adds(out, ",host=");
    view_metrics_put_value(out, t->host);
    buf_printf(out, ",pid=\"%lld\",rank=\"%d\"", (long long)t->pid, t->rank);
}

static void view_metrics_put_head(struct buf *out, const char *name, const char *type,
                                  const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_metric(struct buf *out, const struct metric *m, const struct timing *t)
{
    double value;
    for (uint32_t i = 0; i < t->n_stages; i++) {
        if (!m->of(&t->stages[i], &value)) continue;
        buf_adds(out, m->name);
        view_metrics_put_process(out, t);
        buf_adds(out, ",stage=");
        view_metrics_put_value(out, t->stages[i].path);
        buf_printf(out, "} %.17g\n", value);
    }
}

void view_metrics(struct buf *out, const struct timing *list, uint32_t n)
{
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        view_metrics_put_head(out, metrics[m].name, metrics[m].type, metrics[m].help);
        for (uint32_t i = 0; i < n; i++) put_metric(out, &metrics[m], &list[i]);
    }
    view_metrics_put_head(out, "strata_process_running", "gauge", "1 while the process runs.");
    for (uint32_t i = 0; i < n; i++) {
        buf_adds(out, "strata_process_running");
        view_metrics_put_process(out, &list[i]);
        buf_printf(out, "} %d\n", list[i].running);
    }
    view_metrics_put_head(out, "strata_lost_records_total", "counter",
                          "Records that were not kept.");
    for (uint32_t i = 0; i < n; i++) {
        buf_adds(out, "strata_lost_records_total");
        view_metrics_put_process(out, &list[i]);
        buf_printf(out, "} %llu\n", (unsigned long long)list[i].lost_records);
    }
}
