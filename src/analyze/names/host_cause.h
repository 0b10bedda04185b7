/* host_cause.h: work of the host that has a name of its own, in any library: waiting for the next
 * batch, collecting garbage, compiling. From the names of operators, labels and Python functions as
 * torch, torch.profiler and our recorder write them. */
#ifndef STRATA_ANALYZE_NAMES_HOST_CAUSE_H
#define STRATA_ANALYZE_NAMES_HOST_CAUSE_H

#include "analyze/context.h"

enum host_cause {
    HOST_OTHER,
    HOST_DATA,         /* the next batch of a DataLoader; who loads it is not known */
    HOST_DATA_HERE,    /* ... which this thread loads itself: no workers */
    HOST_DATA_WORKERS, /* ... which worker processes load */
    HOST_DATA_CALL,    /* the function of the DataLoader around one of those */
    HOST_GC,           /* Python's garbage collector, by itself */
    HOST_GC_ASKED,     /* gc.collect() */
    HOST_COMPILE,      /* torch.compile at work */
};

/* Whether a row of this name is a profiler that starts or stops: of torch, of JAX. */
bool host_cause_is_profiler(struct str name);

/* Whether it tries several kernels to find the fastest. */
bool host_cause_is_autotuning(struct str name);

/* The label of torch around waiting for worker processes. */
#define HOST_CAUSE_WORKERS_NEXT "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

enum host_cause host_cause_of(struct str name);

static inline bool host_cause_is_data(enum host_cause c)
{
    return c == HOST_DATA || c == HOST_DATA_HERE || c == HOST_DATA_WORKERS;
}

static inline bool host_cause_is_gc(enum host_cause c)
{
    return c == HOST_GC || c == HOST_GC_ASKED;
}

/* The causes of all names of a trace. */
struct host_causes {
    const struct trace *t;
    uint8_t *by_name; /* enum host_cause, by str_id */
    row_t *around;    /* by row: the outermost row at or above it that has a cause, or ROW_NONE */
};

extern const struct pass host_causes_pass;

static inline const struct host_causes *host_causes_of(const struct context *cx)
{
    return context_kept(cx, PASS_HOST_CAUSES);
}

static inline enum host_cause host_causes_row(const struct host_causes *h, row_t r)
{
    return (enum host_cause)h->by_name[h->t->name[r]];
}

/* The outermost row at or above `r` that has a cause, or ROW_NONE. */
static inline row_t host_causes_around(const struct host_causes *h, row_t r)
{
    return r == ROW_NONE ? ROW_NONE : h->around[r];
}

/* Whether it is a batch in a worker process of a DataLoader: beside the program, not of it. */
bool host_cause_is_worker(const struct trace *t, row_t r);

#endif
