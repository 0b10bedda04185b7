/* calls.h: what a runtime or driver call does, told from its name, whoever made the device.
 *
 * Vendors name the same few verbs alike (cudaStreamSynchronize, hipStreamSynchronize,
 * aclrtSynchronizeStream, urQueueFinish), with prefixes and suffixes (_v2, _ptsz) of their own, so
 * names are read by the verbs in them; an unknown call is CALL_OTHER and waits for nothing. */
#ifndef STRATA_ANALYZE_CALLS_H
#define STRATA_ANALYZE_CALLS_H

#include "trace/trace.h"

enum call_kind {
    CALL_OTHER,
    CALL_LAUNCH,       /* starts a kernel */
    CALL_GRAPH_LAUNCH, /* starts all the work of a graph */
    CALL_COPY_ASYNC,   /* returns before the copy is done, unless memory is pageable */
    CALL_COPY,         /* returns when the copy is done */
    CALL_SET,          /* fills device memory */
    CALL_SYNC_STREAM,  /* the CPU waits for a stream */
    CALL_SYNC_DEVICE,  /* ... for everything on the device */
    CALL_SYNC_EVENT,   /* ... for an event */
    CALL_WAIT_EVENT,   /* a stream waits for an event; the CPU does not */
    CALL_RECORD_EVENT,
    CALL_QUERY,      /* asks whether something is done, without waiting */
    CALL_ALLOC,      /* device memory; may wait for the device */
    CALL_FREE,       /* waits for the device, as a rule */
    CALL_HOST_ALLOC, /* pins host memory */
    CALL_LOAD,       /* loads code onto the device */
    CALL_KINDS
};

enum call_kind call_kind(struct str name);

/* "stream sync", "launch" ...: for people. */
const char *call_kind_name(enum call_kind k);

static inline bool call_kind_syncs(enum call_kind k)
{
    return k == CALL_SYNC_STREAM || k == CALL_SYNC_DEVICE || k == CALL_SYNC_EVENT;
}

static inline bool call_kind_allocates(enum call_kind k)
{
    return k == CALL_ALLOC || k == CALL_FREE || k == CALL_HOST_ALLOC;
}

/* Whether the call puts work on a stream and does not wait for it. */
static inline bool call_kind_enqueues(enum call_kind k)
{
    return k == CALL_LAUNCH || k == CALL_GRAPH_LAUNCH || k == CALL_COPY_ASYNC || k == CALL_SET;
}

/* The kinds of a trace's calls, each name looked at once. Not shared between threads. */
struct calls {
    const struct trace *t;
    uint8_t *kinds; /* by str_id: enum call_kind + 1, 0 = not looked at yet */
};

int calls_init(struct calls *c, const struct trace *t, struct err *e) MUST_USE;
void calls_done(struct calls *c);

/* CALL_OTHER for rows that are no calls. */
enum call_kind calls_kind(struct calls *c, row_t r);

#endif
