/* event.h: one trace event, as far as we decode it. Everything is a range of the text or a number;
 * `have` says which fields were written, the others are not set. */
#ifndef STRATA_IMPORT_JSON_EVENT_H
#define STRATA_IMPORT_JSON_EVENT_H

#include "import/json/json_scan.h"

/* Keys of an event and of its args that we read: bits of event.have and event.args.have. */
enum event_key {
    EVENT_PH,
    EVENT_CAT,
    EVENT_NAME,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_ID,
    EVENT_ARGS,
};

enum event_arg {
    ARG_EXTERNAL_ID,
    ARG_SEQUENCE,
    ARG_FWD_THREAD,
    ARG_DIMS,
    ARG_TYPES,
    ARG_CONCRETE,
    ARG_CORRELATION,
    ARG_DEVICE,
    ARG_IN_DEVICE,
    ARG_STREAM,
    ARG_CONTEXT,
    ARG_BYTES,
    ARG_SIZE,
    ARG_GRAPH_ID,
    ARG_GRAPH_NODE,
    ARG_GRID,
    ARG_BLOCK,
    ARG_SHARED,
    ARG_REGISTERS,
    ARG_BLOCKS_PER_SM,
    ARG_WARPS_PER_SM,
    ARG_OCCUPANCY,
    ARG_PY_ID,
    ARG_PY_PARENT,
    ARG_PY_MODULE,
    ARG_ADDR,
    ARG_MEM_BYTES,
    ARG_ALLOCATED,
    ARG_RESERVED,
    ARG_DEVICE_TYPE,
    ARG_DEVICE_ID,
    ARG_FINISHED,
    ARG_NAME,
    ARG_WHAT, /* what the device did, in traces of AMD without categories */
    ARG_LABELS,
    ARG_SORT_INDEX,
    ARG_COUNT
};

/* The value of an arg; which member is set follows from the key. */
union event_value {
    int64_t number;
    double real;
    uint32_t dim3[3];
    struct scan_text text; /* raw JSON of arrays, the inside of strings */
};

struct event_id {
    int64_t number; /* ID_NONE when it is a text */
    struct scan_text text;
};

struct event {
    const char *begin;
    uint32_t have;
    char phase;
    struct scan_text cat, name;
    struct event_id pid, tid;
    int64_t ts_ns, dur_ns, id;
    uint64_t have_args;
    union event_value args[ARG_COUNT];
    const void *filled_by; /* event_fast's: the template whose constants stand here, or NULL */
};

static inline bool event_has(const struct event *ev, enum event_key key)
{
    return ev->have >> key & 1;
}

static inline bool event_has_arg(const struct event *ev, enum event_arg arg)
{
    return ev->have_args >> arg & 1;
}

static inline int64_t event_arg(const struct event *ev, enum event_arg arg, int64_t otherwise)
{
    return event_has_arg(ev, arg) ? ev->args[arg].number : otherwise;
}

/* Args we read, by the length of their key; a row of each length ends with an empty key. */
enum event_arg_type { ARG_INTEGER, ARG_REAL, ARG_DIM3, ARG_RAW, ARG_TEXT, ARG_BOOLEAN };
enum { LONGEST_ARG_KEY = 25, MOST_ARG_KEYS = 6 };

struct event_arg_key {
    char key[LONGEST_ARG_KEY + 1];
    uint8_t arg, type; /* enum event_arg, enum event_arg_type */
};

extern const struct event_arg_key event_arg_keys[LONGEST_ARG_KEY + 1][MOST_ARG_KEYS];

static inline const struct event_arg_key *event_find_arg(const char *key, size_t n)
{
    if (n == 0 || n > LONGEST_ARG_KEY) return NULL;
    for (const struct event_arg_key *k = event_arg_keys[n]; k->key[0]; k++) {
        size_t i = 0;
        if (k->key[0] != key[0] || k->key[n - 1] != key[n - 1]) continue;
        /* eight bytes at a time: keys are too short for a call to pay */
        for (uint64_t a, b; i + 8 <= n; i += 8) {
            memcpy(&a, key + i, 8);
            memcpy(&b, k->key + i, 8);
            if (a != b) break;
        }
        while (i < n && k->key[i] == key[i]) i++;
        if (i == n) return k;
    }
    return NULL;
}

/* The event's own key of that name, or -1. */
int event_find_key(const char *key, size_t n);

/* A text that is a number counts as one: "1213" is the same process as 1213. */
void event_id_from_text(struct event_id *id, struct scan_text text);

/* From an opening bracket or brace to after its closing one; NULL when it is damaged or cut. */
const char *event_skip_nested(const char *p, const char *end);

/* Reads the event whose opening brace is at the cursor, which ends after the closing one. */
enum scan_result event_scan(struct scan *s, struct event *ev);

/* The next place from `p` on that looks like the start of an event, or `end`. */
const char *event_find(const char *p, const char *end);

#endif
