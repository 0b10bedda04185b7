/* event_fast.h: the same as event_scan, for events as they are usually written.
 *
 * A recorder writes events of one kind alike: the same keys, blanks and constants, with a few
 * values in between. The first event of a kind becomes a template, a text with holes; the next
 * ones are read by comparing the text around the holes and reading what is in them.
 *
 *     {"ph": "X", "cat": "cpu_op", "name": "|", "pid": 7, "tid": 7, "ts": |, "dur": |}
 */
#ifndef STRATA_IMPORT_JSON_EVENT_FAST_H
#define STRATA_IMPORT_JSON_EVENT_FAST_H

#include "import/json/event.h"

enum { TEMPLATES = 16, TEMPLATE_HOLES = 32, TEMPLATE_TEXT = 768 };

enum hole_type {
    HOLE_NAME,
    HOLE_TS,
    HOLE_DUR,
    HOLE_ID,
    HOLE_ARG_INTEGER,
    HOLE_ARG_REAL,
    HOLE_ARG_DIM3,
    HOLE_ARG_RAW,
    HOLE_ARG_TEXT,
    HOLE_STRING, /* not decoded, like the next two */
    HOLE_NUMBER,
    HOLE_ARRAY,
    HOLE_END /* no hole: the end of the event */
};

/* A hole and the text before it. */
struct event_hole {
    uint16_t text_at, text_n;
    uint8_t type, arg;
};

struct event_template {
    uint32_t have;
    uint64_t have_args;
    char phase;
    struct scan_text cat;
    struct event_id pid, tid;
    int64_t finished;
    int next;    /* the template that came after this one last time */
    int n_holes; /* 0 when not in use */
    bool used;   /* lately */
    struct event_hole holes[TEMPLATE_HOLES];
    char text[TEMPLATE_TEXT + SCAN_PADDING];
};

/* What a reader remembers from one event to the next. Zero at first. */
struct event_memory {
    struct event_template templates[TEMPLATES];
    int last;   /* used for the last event */
    int oldest; /* to be replaced next */
};

/* Reads the event whose opening brace is at `p`. Returns the place after its closing brace, or
 * NULL when it meets anything out of the ordinary: damage, but also rare ways to write a number.
 * The caller then uses event_scan, which gives the same answer where both have one. `ev` must be
 * left alone between calls with the same memory. */
typedef const char *event_fast_fn(struct event_memory *m, const char *p, const char *end,
                                  struct event *ev);

/* The fastest version this processor can run. */
event_fast_fn *event_fast(void);

/* The versions by name, for tests; NULL where this processor or build has none. */
event_fast_fn *event_fast_named(const char *name);

#endif
