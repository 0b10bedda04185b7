/* page_bins.c: see page_bins.h. */
#include "page/page_bins.h"

/* Upper ends in ns; the last bin has none. */
static const int64_t ends_ns[] = {1000,      2000,      5000,      10000,     20000,
                                  50000,     100000,    200000,    500000,    1000000,
                                  2000000,   5000000,   10000000,  20000000,  50000000,
                                  100000000, 200000000, 500000000, 1000000000};

enum { N_ENDS = sizeof ends_ns / sizeof *ends_ns };

struct bin {
    uint64_t count;
    int64_t idle_ns;
};

static void count(const struct device_idle *idle, struct bin *bins)
{
    for (uint32_t i = 0; i < idle->n_gaps; i++) {
        int64_t ns = idle_gap_ns(&idle->gaps[i]);
        int at = 0;
        while (at < N_ENDS && ns >= ends_ns[at]) at++;
        bins[at].count++;
        bins[at].idle_ns += ns;
    }
}

void page_bins_put(const struct context *cx, struct jout *j)
{
    struct bin bins[N_ENDS + 1] = {{0}};
    for (uint32_t i = 0; i < timeline_of(cx)->n_devices; i++) count(&idle_of(cx)->of[i], bins);
    jout_arr(j, "gap_histogram");
    for (int i = 0; i <= N_ENDS; i++) {
        if (!bins[i].count) continue;
        jout_obj(j, NULL);
        jout_us(j, "from_us", i ? ends_ns[i - 1] : 0);
        if (i < N_ENDS) jout_us(j, "to_us", ends_ns[i]);
        else jout_null(j, "to_us");
        jout_uint(j, "count", bins[i].count);
        jout_us(j, "idle_us", bins[i].idle_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}
