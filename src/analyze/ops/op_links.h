/* op_links.h: what belongs to which operator: device time, and calls recorded on the wrong thread.
 *
 * Two questions have to be answered before CPU rows can be nested as torch nests them:
 *
 *   - how much device time did each operator launch itself? By the recorder's link (`External id`)
 *     where it can be trusted, else the innermost operator around the launching call;
 *   - on which thread does a runtime call nest? On its operator's. A call outside any operator, and
 *     the profiler's own overhead, nest on the thread that stopped the profiler.
 *
 * A row that nests on a lane it was not recorded on is a guest of that lane. */
#ifndef STRATA_ANALYZE_OPS_OP_LINKS_H
#define STRATA_ANALYZE_OPS_OP_LINKS_H

#include "trace/trace.h"

struct op_guest {
    lane_id lane; /* where it nests */
    row_t row;
};

struct op_links {
    row_t *owner;            /* by index into trace->gpu: the op that launched it, or ROW_NONE */
    int64_t *device_ns;      /* by index into trace->ops: what the op launched itself */
    uint8_t *away;           /* by index into trace->calls: 1 when the call is a guest elsewhere */
    struct op_guest *guests; /* by lane, then start, longest first, row */
    uint32_t *first_guest;   /* by lane, n_lanes + 1 entries */
    uint32_t n_guests;
    lane_id main; /* the thread that stopped the profiler, or LANE_NONE */
};

/* Memory from `mem`. ERR_NOMEM is the only failure. */
int op_links_run(const struct trace *t, struct arena *mem, struct op_links *ret,
                 struct err *e) MUST_USE;

#endif
