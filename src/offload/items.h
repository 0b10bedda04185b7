/* items.h: a thread as a row of items: the outermost operators and calls on it, with what they mean
 * for a run that streams weights. Python frames and annotations are looked through. */
#ifndef STRATA_OFFLOAD_ITEMS_H
#define STRATA_OFFLOAD_ITEMS_H

#include "offload/streamed.h"

enum item_kind {
    ITEM_COMPUTE, /* the model's own */
    ITEM_SERVICE, /* may serve the moving of weights */
    ITEM_LOAD,    /* part of a load */
    ITEM_BARRIER, /* the program waits for the device by itself */
};

struct item {
    row_t row;
    int64_t begin_ns, end_ns;
    enum item_kind kind;
    bool sure;          /* ITEM_SERVICE: nothing but offloading does this */
    bool frees;         /* gives device memory back to the driver */
    uint32_t step;      /* that it begins in */
    uint32_t load;      /* the last load that began at or before it, or STREAMED_NONE */
    int64_t down_bytes; /* copied back to the host */
    int64_t alloc_ns;   /* spent in the driver's allocator inside the operator */
};

/* What items are read from. */
struct items_source {
    const struct trace *t;
    const struct context *cx;
    const struct streamed *s;
};

/* Items of one thread inside the steps, in time order. NULL for `ret` counts them. */
uint32_t items_read(const struct items_source *src, lane_id lane, struct item *ret);

/* The first load of the thread at or after `i`; n_loads when there is none. */
uint32_t items_next_load(const struct streamed *s, uint32_t i, lane_id lane);

#endif
