/* overhead.h: rows of kind KIND_OVERHEAD, by what they mean. Not all of them are the profiler's
 * doing: loading code and a full command buffer happen without it as well. */
#ifndef STRATA_ANALYZE_NAMES_OVERHEAD_H
#define STRATA_ANALYZE_NAMES_OVERHEAD_H

#include "analyze/context.h"
#include "base/span_set.h"

enum overhead_kind {
    OVERHEAD_PROFILER,   /* buffers and instrumentation: gone without the profiler */
    OVERHEAD_LOADING,    /* code is loaded or compiled on its first use */
    OVERHEAD_QUEUE_FULL, /* the launch waits because the device is far behind: healthy */
    OVERHEAD_OTHER,
    OVERHEAD_KINDS
};

enum overhead_kind overhead_kind(struct str name);

/* When there was overhead of each kind, over all overhead lanes: each moment counts once. */
struct overheads {
    struct span_set of[OVERHEAD_KINDS];
};

extern const struct pass overheads_pass;

static inline const struct overheads *overheads_of(const struct context *cx)
{
    return context_kept(cx, PASS_OVERHEADS);
}

/* The time inside [begin, end) that overhead of this kind covers. */
static inline int64_t overhead_ns(const struct overheads *o, enum overhead_kind kind,
                                  int64_t begin_ns, int64_t end_ns)
{
    return span_set_ns(&o->of[kind], (struct span){begin_ns, end_ns});
}

#endif
