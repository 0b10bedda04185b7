/* recording_prices.h: what recording one event costs the CPU, by its kind. One table for all that
 * is said of the cost of recording: how much longer the CPU side took, and what the replay takes
 * out. */
#ifndef STRATA_ANALYZE_NAMES_RECORDING_PRICES_H
#define STRATA_ANALYZE_NAMES_RECORDING_PRICES_H

#include "trace/trace.h"

/* In launch calls, as they are recorded in the same trace. */
struct recording_prices {
    float launch, call, op, shapes, annotation, python, memory;
    float node;    /* of a graph that is recorded node by node, at each launch of it */
    int launch_ns; /* a recorded launch call; the replay measures that of the trace instead */
};

/* By who recorded the trace; `op` includes the shapes of inputs where they are recorded. */
struct recording_prices recording_prices_of(const struct trace *t);

/* Of one event. */
float recording_price(const struct trace *t, row_t r, const struct recording_prices *p);

#endif
