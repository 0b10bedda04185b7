/* recording_weight.h: the cost of recording each event, in launch calls of the same trace.
 * undistort.h turns it into time. */
#ifndef STRATA_ANALYZE_SIMULATE_RECORDING_WEIGHT_H
#define STRATA_ANALYZE_SIMULATE_RECORDING_WEIGHT_H

#include "analyze/simulate/model.h"

/* Charges every recorded event to the node it happens in, or to the stretch that leads to the next
 * one, so that a replay only has to look at nodes. For a model whose nodes are chained. */
void recording_weight_set(struct sim_model *m);

/* Of the events that begin in [begin, end) of the thread, outside of its nodes. O(their number). */
double recording_weight_of(const struct sim_model *m, uint32_t thread, int64_t begin_ns,
                           int64_t end_ns);

#endif
