/* batch_private.h: the inside of a batch, for batch.c and build.c only. Importers use batch.h. */
#ifndef STRATA_TRACE_BATCH_PRIVATE_H
#define STRATA_TRACE_BATCH_PRIVATE_H

#include "trace/batch.h"
#include "trace/rows.h"

/* A lane as one batch knows it: what the file printed, and where it belongs. */
struct batch_lane {
    struct batch_key pid, tid;
    enum lane_kind kind;
    int32_t device, stream;
};

struct batch_label_row {
    enum batch_label what;
    struct batch_key pid, tid;
    str_id text;
    int64_t number;
};

/* Where a flow event stands: a process and thread, whatever lanes they turn out to have. */
#define LANE_PLACE ((enum lane_kind)(LANE_OTHER + 1))

struct batch {
    struct rows rows;
    struct intern strings;
    struct damage damage;
    str_id cats[255];
    uint32_t n_cats;
    bool has_pairs; /* B or E rows */

    struct batch_lane *lanes;
    size_t n_lanes, cap_lanes;
    uint32_t *lane_slots; /* hash table: index + 1, 0 = empty */
    uint32_t lane_mask;
    uint32_t last_lane;

    struct batch_label_row *labels;
    size_t n_labels, cap_labels;
    struct flow *flows; /* lane = index of a LANE_PLACE */
    size_t n_flows, cap_flows;
};

static inline bool batch_key_eq(struct batch_key a, struct batch_key b)
{
    return a.number == b.number && (a.number != ID_NONE || a.text == b.text);
}

#endif
