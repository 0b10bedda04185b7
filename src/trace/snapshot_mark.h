/* snapshot_mark.h: a recording of the last seconds before something happened (strata run --keep):
 * when that was, and what. */
#ifndef STRATA_TRACE_SNAPSHOT_MARK_H
#define STRATA_TRACE_SNAPSHOT_MARK_H

#include "trace/trace.h"

struct snapshot_mark {
    int64_t at_ns, keep_ns;
    row_t row;      /* of the mark; ROW_NONE where it is left out */
    struct str why; /* as it was requested */
    bool slow;      /* because something took far longer than usual, just before */
    bool before;    /* much of it came before the call that is named */
};

/* The last one that the trace ends with; false where the recording went on. */
bool snapshot_mark_find(const struct trace *t, struct snapshot_mark *ret);

#endif
