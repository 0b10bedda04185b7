/* overhead.h: rows of kind KIND_OVERHEAD, by what they mean. Not all of them are the profiler's
 * doing: loading code and a full command buffer happen without it as well. */
#ifndef STRATA_ANALYZE_NAMES_OVERHEAD_H
#define STRATA_ANALYZE_NAMES_OVERHEAD_H

#include "trace/trace.h"

enum overhead_kind {
    OVERHEAD_PROFILER,   /* buffers and instrumentation: gone without the profiler */
    OVERHEAD_LOADING,    /* code is loaded or compiled on its first use */
    OVERHEAD_QUEUE_FULL, /* the launch waits because the device is far behind: healthy */
    OVERHEAD_OTHER
};

enum overhead_kind overhead_kind(struct str name);

/* The time inside [begin, end) that overhead of this kind covers, over all overhead lanes. */
int64_t overhead_ns(const struct trace *t, enum overhead_kind kind, int64_t begin_ns,
                    int64_t end_ns);

#endif
