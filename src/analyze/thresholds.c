/* thresholds.c: the table. */
#include "analyze/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

static const struct {
    const char *name;
    double value, most;
    const char *help;
} table[TH_COUNT] = {
    [TH_REPORT_GAIN_PCT] = {"report_gain_pct", 0.2, 100,
                            "findings that gain less are only counted"},
    [TH_HIGH_GAIN_PCT] = {"high_gain_pct", 10, 100,
                          "findings that gain at least this are of high severity"},
    [TH_MEDIUM_GAIN_PCT] = {"medium_gain_pct", 2, 100,
                            "findings that gain at least this are of medium severity"},
    [TH_GAP_US] = {"gap_us", 5, 1e6, "gaps shorter than this are summed, not listed"},
    [TH_IDLE_PCT] = {"idle_pct", 10, 100, "device idle time below this is healthy"},
    [TH_STAGE_SHARE_PCT] = {"stage_share_pct", 5, 100,
                            "largest healthy share of a step for a bookkeeping stage"},
    [TH_LAUNCH_LATENCY_US] = {"launch_latency_us", 20, 1e6,
                              "largest healthy launch latency on an idle stream"},
    [TH_FIRST_STEP_RATIO] = {"first_step_ratio", 1.5, 1e6,
                             "ratio of the first step to the median of the others"},
    [TH_GROWTH_PCT] = {"growth_pct", 0.5, 1e6,
                       "memory growth per step, relative to the first step's level"},
    [TH_KERNEL_OUTLIER_RATIO] = {"kernel_outlier_ratio", 1.8, 1e6,
                                 "ratio of a kernel run to the median run of that kernel"},
    [TH_COPY_SHARE_PCT] = {"copy_share_pct", 5, 100,
                           "share of the wall clock for copies that no kernel overlaps"},
    [TH_COMM_SHARE_PCT] = {"comm_share_pct", 5, 100,
                           "share of the wall clock for communication that no other work overlaps"},
    [TH_REPLAY_ERROR_PCT] = {"replay_error_pct", 5, 100,
                             "replay error above which no gains are computed"},
};

void thresholds_init(struct thresholds *th)
{
    for (int i = 0; i < TH_COUNT; i++) th->value[i] = table[i].value;
}

static int thresholds_unknown(const char *text, size_t n, struct err *e)
{
    char word[64];
    const char *names[TH_COUNT];
    for (int i = 0; i < TH_COUNT; i++) names[i] = table[i].name;
    if (n >= sizeof word) n = sizeof word - 1;
    memcpy(word, text, n);
    word[n] = '\0';
    const char *near = opt_nearest(word, names, TH_COUNT);
    return FAIL(e, ERR_USAGE, "unknown threshold '%s'%s%s%s", word,
                near ? ". Did you mean '" : "; strata report --help lists them", near ? near : "",
                near ? "'?" : "");
}

int thresholds_set(struct thresholds *th, const char *text, struct err *e)
{
    size_t n = strcspn(text, "=");
    if (text[n] != '=') return FAIL(e, ERR_USAGE, "--set takes name=value, not '%s'", text);
    for (int i = 0; i < TH_COUNT; i++) {
        if (strlen(table[i].name) != n || memcmp(table[i].name, text, n) != 0) continue;
        char *end;
        double v = strtod(text + n + 1, &end);
        if (end == text + n + 1 || *end || !isfinite(v) || v < 0 || v > table[i].most)
            return FAIL(e, ERR_USAGE, "%s takes a number from 0 to %g, not '%s'", table[i].name,
                        table[i].most, text + n + 1);
        th->value[i] = v;
        return 0;
    }
    return thresholds_unknown(text, n, e);
}

const char *threshold_name(enum threshold t)
{
    return table[t].name;
}

const char *threshold_help(enum threshold t)
{
    return table[t].help;
}

double threshold_default(enum threshold t)
{
    return table[t].value;
}
