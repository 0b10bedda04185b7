/* calls.h: what a runtime or driver call does, by its name, for every vendor.
 *
 * Vendors name the same few verbs alike (cudaStreamSynchronize, hipStreamSynchronize,
 * aclrtSynchronizeStream, urQueueFinish), with prefixes and suffixes (_v2, _ptsz) of their own, so
 * names are read by the verbs in them; an unknown call is CALL_OTHER and waits for nothing. */
#ifndef STRATA_ANALYZE_NAMES_CALLS_H
#define STRATA_ANALYZE_NAMES_CALLS_H

#include "analyze/context.h"

enum call_kind {
    CALL_OTHER,
    CALL_LAUNCH,       /* starts a kernel */
    CALL_GRAPH_LAUNCH, /* starts all the work of a graph */
    CALL_COPY,         /* returns before the copy is done, unless memory is pageable */
    CALL_COPY_SYNC,    /* returns when the copy is done */
    CALL_SET,          /* fills device memory */
    CALL_SYNC_STREAM,  /* the CPU waits for a stream */
    CALL_SYNC_DEVICE,  /* ... for everything on the device */
    CALL_SYNC_EVENT,   /* ... for an event */
    CALL_SYNC_LIBRARY, /* ... for a library, which launches, waits and copies on threads of its own
                          meanwhile: the device need not be busy all that time */
    CALL_EVENT_WAIT,   /* a stream waits for an event; the CPU does not */
    CALL_EVENT_RECORD,
    CALL_QUERY,      /* asks whether something is done, without waiting */
    CALL_ALLOC,      /* device memory; may wait for the device */
    CALL_FREE,       /* waits for the device, as a rule */
    CALL_HOST_ALLOC, /* pins or unpins host memory */
    CALL_LOAD,       /* loads code onto the device */
    CALL_KINDS
};

enum call_kind call_kind(struct str name);

/* "stream sync", "launch" ...: for people. */
const char *call_kind_name(enum call_kind k);

static inline bool call_syncs(enum call_kind k)
{
    return k == CALL_SYNC_STREAM || k == CALL_SYNC_DEVICE || k == CALL_SYNC_EVENT ||
           k == CALL_SYNC_LIBRARY;
}

/* Whether the call is meant to make the CPU wait for the device. */
static inline bool call_waits(enum call_kind k)
{
    return call_syncs(k) || k == CALL_COPY_SYNC;
}

static inline bool call_allocates(enum call_kind k)
{
    return k == CALL_ALLOC || k == CALL_FREE || k == CALL_HOST_ALLOC;
}

/* Whether the call puts work on the device, so that device records are expected for it. */
static inline bool call_launches(enum call_kind k)
{
    return k == CALL_LAUNCH || k == CALL_GRAPH_LAUNCH || k == CALL_COPY || k == CALL_SET ||
           k == CALL_COPY_SYNC;
}

struct calls {
    const uint8_t *kind_of_name; /* enum call_kind by str_id; CALL_OTHER for all other names */
};

/* Looks at every distinct name once. Memory from `mem`; ERR_NOMEM is the only failure. */
int calls_init(struct calls *c, const struct trace *t, struct arena *mem, struct err *e) MUST_USE;

extern const struct pass calls_pass;

static inline const struct calls *calls_of(const struct context *cx)
{
    return context_kept(cx, PASS_CALLS);
}

/* CALL_OTHER for rows that are not calls. */
static inline enum call_kind calls_kind(const struct calls *c, const struct trace *t, row_t r)
{
    bool is_call = t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER;
    return is_call ? (enum call_kind)c->kind_of_name[t->name[r]] : CALL_OTHER;
}

#endif
