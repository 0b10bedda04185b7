/* bounds.h: what the times and sizes of a trace may be, in one place, so that code that adds them
 * up has to fear an overflow.
 *
 * What a row says by itself is held against the limits here when it is read and when the trace is
 * frozen; a number beyond them is as good as not written. What all rows say together is held
 * against BOUNDS_SUM: no recording is that long or that large, and a file that says so is refused.
 * Sums over the rows of a trace therefore stay below BOUNDS_SUM, and may be multiplied by 16. */
#ifndef STRATA_TRACE_BOUNDS_H
#define STRATA_TRACE_BOUNDS_H

#include "trace/trace.h"

#define BOUNDS_TS_NS     4000000000000000000ll /* either way; also of base_ns: both add up to 2^63 */
#define BOUNDS_DUR_NS    (1ll << 50)           /* 13 days */
#define BOUNDS_SPREAD_NS (1ll << 50)           /* of a span from the middle of all, either way */
#define BOUNDS_BYTES     (1ll << 50)           /* a petabyte */
#define BOUNDS_SUM       (1ll << 58)

static inline bool bounds_ts(int64_t ns)
{
    return ns >= -BOUNDS_TS_NS && ns <= BOUNDS_TS_NS;
}

static inline bool bounds_dur(int64_t ns)
{
    return ns >= 0 && ns <= BOUNDS_DUR_NS;
}

static inline bool bounds_bytes(int64_t n)
{
    return n >= -BOUNDS_BYTES && n <= BOUNDS_BYTES;
}

/* Numbers of side tables and devices beyond the limits become "not known". */
void bounds_gpu(struct gpu_info *g);
void bounds_mem(struct mem_info *m);
void bounds_device(struct device *d);

/* Whether the sums over all rows are within bounds: durations, bytes, from launches to what they
 * launched, and the length of the trace over all streams. */
bool bounds_sums(const struct trace *t);

#endif
