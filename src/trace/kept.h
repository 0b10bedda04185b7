/* kept.h: a recording of the last seconds before something happened (strata run --keep): when
 * that was, and what. */
#ifndef STRATA_TRACE_KEPT_H
#define STRATA_TRACE_KEPT_H

#include "trace/trace.h"

struct kept {
    int64_t at_ns, keep_ns;
    struct str why; /* as it was asked for */
    bool slow;      /* because something took far longer than usual, just before */
};

/* The last one that the trace ends with; false where the recording went on. */
bool kept_find(const struct trace *t, struct kept *ret);

#endif
