/* gap_cause.h: why devices had nothing to do: kinds of reason, and the table that adds up what each
 * single reason costs. A cause is identified by kind, name, device, sync site and the user's
 * function around it; names are interned or literals, so their address is their identity. */
#ifndef STRATA_ANALYZE_GAPS_GAP_CAUSE_H
#define STRATA_ANALYZE_GAPS_GAP_CAUSE_H

#include "base/map.h"
#include "trace/trace.h"

enum gap_cause_kind {
    CAUSE_PYTHON,     /* a Python function */
    CAUSE_OP,         /* an operator: dispatch, shapes, autograd */
    CAUSE_DYNAMO,     /* torch.compile looks up the code to run */
    CAUSE_SYNC,       /* the CPU waits for the device */
    CAUSE_ALLOCATION, /* getting or returning device or pinned memory */
    CAUSE_CALL,       /* any other runtime call */
    CAUSE_LABEL,      /* inside a label, nothing deeper recorded */
    CAUSE_UNTRACED,   /* nothing recorded on the thread */
    CAUSE_PROFILER,   /* the recorder's own cost */
    CAUSE_LOADING,    /* code is loaded on its first use */
    CAUSE_LAUNCH,     /* from the launch to the start */
    CAUSE_COPY,       /* pageable memory is staged for a copy */
    CAUSE_DEPENDENCY, /* launched in time, but waits for another stream */
    CAUSE_GRAPH,      /* between the nodes of a graph */
    CAUSE_DEVICE,     /* launched in time, same stream: the device itself */
    CAUSE_UNKNOWN,    /* the launch is not in the trace */
    CAUSE_SHORT,      /* gaps too short to be examined one by one */
    CAUSE_CORE,       /* the thread could run and had no core */
    CAUSE_CGROUP,     /* ... because its cgroup had used up its share */
    CAUSE_FAULTS,     /* page faults */
    CAUSE_GIL,        /* another thread held Python's lock */
    CAUSE_KINDS
};

/* "python", "op", "dynamo_lookup", "sync", ...: stable, for JSON. */
const char *gap_cause_kind_name(enum gap_cause_kind k);  /* in JSON: "launch_latency" */
const char *gap_cause_kind_words(enum gap_cause_kind k); /* for people: "launch latency" */
/* Nothing of the cause was recorded: its name alone says so. */
bool gap_cause_is_missing(enum gap_cause_kind k);

#define CAUSE_NO_SITE UINT32_MAX
#define CAUSE_NONE    UINT32_MAX

struct gap_cause {
    enum gap_cause_kind kind;
    uint32_t device;    /* index in the timeline's devices */
    struct str name;    /* function, operator, call, label ... */
    row_t row;          /* one row of it, or ROW_NONE */
    row_t frame;        /* innermost frame of the user's code around that row, or ROW_NONE */
    uint32_t site;      /* CAUSE_SYNC: index of the site, else SYNCS_NO_SITE */
    uint32_t count;     /* gaps it has a part in */
    uint32_t in_steps;  /* different steps of the loop among them */
    uint32_t last_step; /* for counting those */
    int64_t idle_ns;
};

/* What one cause takes of one gap. */
struct gap_share {
    uint32_t cause; /* index in causes.all */
    int64_t ns;
};

/* A function inside a CAUSE_PYTHON that is not the user's own: torch's, the library's. */
struct gap_cause_inner {
    uint32_t cause;
    struct str name;
    row_t row;
    int64_t idle_ns;
};

struct gap_causes {
    const struct trace *t;
    struct gap_cause *all;
    size_t n, cap;
    struct map by_key;
    struct gap_share *parts; /* of the gap at hand: each cause once */
    size_t n_parts, cap_parts;
    struct gap_cause_inner *inner;
    size_t n_inner, cap_inner;
    struct map inner_by_key;
    uint32_t *part_of; /* by cause: its index in parts, if that part is still its own */
    size_t cap_part_of;
};

void gap_causes_init(struct gap_causes *c, const struct trace *t);
void gap_causes_done(struct gap_causes *c);

/* Starts a gap: no parts yet. */
void gap_causes_begin(struct gap_causes *c);

/* The number of the cause that is like `like`, whose sums do not matter; CAUSE_NONE when out of
 * memory. The number stays. */
uint32_t gap_causes_find(struct gap_causes *c, const struct gap_cause *like);

/* The same for a function inside a cause. */
uint32_t gap_causes_find_inner(struct gap_causes *c, const struct gap_cause_inner *like);

/* Adds `ns` of the gap at hand to a cause. */
int gap_causes_add(struct gap_causes *c, uint32_t cause, int64_t ns) MUST_USE;

/* Ends the gap, which lay in `step` (UINT32_MAX: in none): sorts the parts, most first, and adds
 * them to their causes. */
void gap_causes_end(struct gap_causes *c, uint32_t step);

#endif
