/* waits.h: every time the CPU waited for a device, one by one.
 *
 * A copy and the synchronize after it under one operator (`.item()`, `torch.tensor(..., device)`)
 * are one wait. Calls that only put work on a stream are none, however long they take: when the
 * queue is full a launch takes long too, and that is the healthy case, counted apart.
 *
 *     thread    ...[copy call][synchronize-----------------]....
 *                  begin                                   end
 *     device    ##queued##queued##queued##queued##[copy]
 *                  |---------- waited -----------|
 *
 * `waited` is the part spent on work queued earlier: the CPU was that far ahead. A wait with a lot
 * of it drains the queue, and the device then idles until the CPU has caught up. */
#ifndef STRATA_ANALYZE_WAITS_WAITS_H
#define STRATA_ANALYZE_WAITS_WAITS_H

#include "analyze/steps/steps.h"
#include "analyze/waits/waits_constants.h"

enum wait_kind {
    WAIT_READBACK,   /* a few bytes to the CPU */
    WAIT_UPLOAD,     /* a few bytes to the device, from pageable memory */
    WAIT_COPY,       /* many bytes, while the CPU waits */
    WAIT_ALLOCATION, /* getting or returning memory */
    WAIT_EXPLICIT,   /* the program asked to wait */
    WAIT_KINDS
};

/* "readback", "constant_upload", "copy", "allocation", "explicit". */
const char *wait_kind_name(enum wait_kind k);

struct wait {
    row_t call;      /* the last of its calls: when it returns, the wait is over */
    row_t copy_call; /* the copy it waits for, or ROW_NONE */
    row_t copy;      /* device record of the copy, or ROW_NONE */
    int64_t begin_ns, end_ns;
    int64_t blocked_ns; /* CPU time in the calls that wait */
    int64_t cost_ns;    /* CPU time in all its calls: what the thread loses to it */
    int64_t waited_ns;  /* see above */
    int64_t bytes;      /* of the copy, -1 when there is none */
    uint32_t depth;     /* work queued on the device when it began */
    int32_t device;     /* -1 when not known */
    enum wait_kind kind;
    bool drains;   /* waited_ns >= waits_drain_ns */
    bool profiler; /* the recorder's own: not the user's */
};

struct waits {
    struct wait *all; /* by thread, then by time */
    size_t n;
    uint32_t pressed;   /* launches that waited because the queue was full */
    int64_t pressed_ns; /* and how long */
};

extern const struct pass waits_pass;

static inline const struct waits *waits_of(const struct context *cx)
{
    return context_kept(cx, PASS_WAITS);
}

#endif
