/* doubt.h: one reason not to believe a trace, and how grave it is. */
#ifndef STRATA_ANALYZE_QUALITY_DOUBT_H
#define STRATA_ANALYZE_QUALITY_DOUBT_H

#include "trace/trace.h"

enum quality {
    QUALITY_GOOD,     /* nothing, or nothing that changes a conclusion */
    QUALITY_USABLE,   /* some figures are wrong, slightly or in places that are named */
    QUALITY_DOUBTFUL, /* whole kinds of figures are wrong */
    QUALITY_UNUSABLE, /* record again */
};

struct doubt {
    const char *id; /* "records_dropped" ...: stable, for JSON */
    enum quality level;
    uint64_t count, of;  /* how many of how many; of is 0 when that makes no sense */
    row_t example;       /* a row to look at, or ROW_NONE */
    const char *what;    /* what was seen, with numbers */
    const char *means;   /* what it does to the figures */
    const char *instead; /* what to record or do instead */
};

#endif
