/* problems.h: what can be wrong with a trace: one list, declared once in problems.c.
 *
 *     struct problem_kind   a problem in any trace: what it means, which figures it takes away,
 *                           what to record instead
 *     struct problem        such a problem in one trace: how grave, how often, where, in words
 *
 * The integrity pass looks for all of them once. Every view renders from its result. */
#ifndef STRATA_ANALYZE_QUALITY_PROBLEMS_H
#define STRATA_ANALYZE_QUALITY_PROBLEMS_H

#include "trace/trace.h"

enum quality {
    QUALITY_GOOD,     /* a note: it changes no conclusion */
    QUALITY_USABLE,   /* some figures are wrong, slightly or in places that are named */
    QUALITY_DOUBTFUL, /* whole kinds of figures are wrong */
    QUALITY_UNUSABLE, /* record again */
};

const char *quality_name(enum quality q); /* "good", "usable", "doubtful", "unusable" */

/* Kinds of figures that a problem can take away. */
enum figures {
    FIGURES_IDLE = 1,  /* idle time of devices */
    FIGURES_TIMES = 2, /* durations and starts of device work */
    FIGURES_LINKS = 4, /* which call, operator and stage device work belongs to */
};
enum { N_FIGURES = 3 };
struct figures_word {
    uint8_t flag;
    const char *name;
};
extern const struct figures_word figures_words[N_FIGURES];

/* In the order in which problems of one severity are listed. */
enum problem_id {
    PROBLEM_ONLY_STAGES,
    PROBLEM_EMPTY,
    PROBLEM_NO_DEVICE_RECORDS,
    PROBLEM_TRUNCATED,
    PROBLEM_EVENTS_LOST,
    PROBLEM_RECORDS_DROPPED,
    PROBLEM_RECORDS_BEGIN_LATE,
    PROBLEM_RECORDS_STOP_EARLY,
    PROBLEM_GRAPH_REPLAYS,
    PROBLEM_WAITS_WITHOUT_WORK,
    PROBLEM_GPU_SHARED,
    PROBLEM_WORK_WITHOUT_LAUNCH,
    PROBLEM_ONLY_DEVICE,
    PROBLEM_ZERO_TIMES,
    PROBLEM_IMPOSSIBLE_TIMES,
    PROBLEM_CLOCK_SKEW,
    PROBLEM_SYNC_RETURNED_EARLY,
    PROBLEM_STEPS_WITHOUT_WORK,
    PROBLEM_FIRST_COLLECTIVE,
    PROBLEM_RECORDING_COST,
    PROBLEM_PROFILER_BUFFERS,
    PROBLEM_CODE_LOADING,
    PROBLEM_GRAPHS_BY_NODE,
    PROBLEM_NESTED_DEEP,
    PROBLEM_IDS_TWICE,
    PROBLEM_OVERLAP_ON_STREAM,
    PROBLEM_CROSSING,
    PROBLEM_UNFINISHED,
    PROBLEM_OUTSIDE_WINDOW,
    PROBLEM_IDS_REUSED,
    PROBLEM_IDS_ARE_COPIES,
    PROBLEM_SAME_THREAD_NAMES,
    N_PROBLEMS
};

struct problem_kind {
    const char *id;           /* "records_dropped": stable, for JSON */
    const char *title;        /* "launches without a device record" */
    const char *note;         /* what it means as a note; "": it is never one */
    const char *means;        /* what it does to the figures otherwise; "": it is a note always */
    const char *instead;      /* what to record or do instead where it is more than a note, or "" */
    const char *instead_ours; /* the same for a recording of ours, where it differs */
    const char *instead_else; /* ... and for one that is not of torch's profiler either */
    uint8_t takes;            /* enum figures: cannot be trusted ... */
    uint8_t takes_from;       /* ... where it is at least this grave (enum quality) */
    bool handled;             /* figures allow for it: for those who read the file otherwise */
};

extern const struct problem_kind problem_kinds[N_PROBLEMS];

#define PROBLEM_EXAMPLES 3

struct problem {
    const struct problem_kind *kind;
    enum quality level;
    uint8_t takes;                    /* enum figures: of this trace */
    uint64_t count, of;               /* how many of how many; of is 0 when that makes no sense */
    int64_t worst_ns;                 /* the largest error; 0 if it is not a time */
    row_t examples[PROBLEM_EXAMPLES]; /* the first ones, or the worst */
    uint32_t n_examples;
    const char *what; /* what was seen, with numbers */
    const char *means, *instead;
};

#endif
