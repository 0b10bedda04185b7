/* answer.h: the one decision that every report is a rendering of: what limits the program, what to
 * do first, what that gains, what looks slow and is not, and how sure all of it is. Times are
 * without the profiler. Headline, checklist, markdown, page, JSON and the server for assistants
 * print this; none of them decides again. */
#ifndef STRATA_ANALYZE_ANSWER_ANSWER_H
#define STRATA_ANALYZE_ANSWER_ANSWER_H

#include "analyze/answer/answer_constants.h"
#include "analyze/findings/rule.h"

enum answer_kind {
    ANSWER_FASTER,       /* fixes with a gain are known */
    ANSWER_ALREADY_FAST, /* the device works all the time, at the rates it can reach */
    ANSWER_NO_GPU_WORK,  /* nothing ran on a device */
    ANSWER_CANNOT_TELL,  /* no fix is known, and yet time is lost, or records are missing */
};

enum opportunity { OPPORTUNITY_NONE, OPPORTUNITY_SOME, OPPORTUNITY_LARGE, OPPORTUNITY_UNKNOWN };
enum sure { SURE_LOW, SURE_MEDIUM, SURE_HIGH };

#define ANSWER_NOT_SLOW 4

/* Looks slow in a viewer of traces; fixing it gains next to nothing. */
struct not_slow {
    const struct finding *finding;
    const char *what; /* the call that waits, or the title of the finding */
    int64_t gain_ns;  /* alone, or with the other waits that hide it, if that is more */
    bool shared;      /* it is more with the others */
};

struct answer {
    enum answer_kind kind;
    const char *headline; /* the result, one or two lines */
    const char *detail;   /* what has to be known beside it; NULL: nothing */
    enum limit limit;     /* LIMIT_NONE where not known */
    int64_t wall_ns;
    int64_t after_ns; /* with the first `fixes` findings fixed; wall_ns where there are none */
    double gain_pct;
    uint32_t fixes;
    double worth_pct; /* findings that gain less are counted, not shown in full */
    uint32_t worth;   /* findings that gain at least that; they come first */
    bool cold; /* nothing is warm: findings are about kernels, and what they gain is not known */
    enum opportunity opportunity;
    enum sure sure;
    struct not_slow not_slow[ANSWER_NOT_SLOW];
    uint32_t n_not_slow;
    const char
        *state; /* "GPU busy 98 %, CPU never waits, eager, 68 kernels per step, trace good" */
};

extern const struct pass answer_pass;

static inline const struct answer *answer_of(const struct context *cx)
{
    return context_kept(cx, PASS_ANSWER);
}

/* Whether a finding gains enough, alone or after those above it, to be shown in full. Where the
 * headline says that no fix gains so many percent, no finding of fewer is shown below it. */
bool answer_is_worth(const struct answer *a, const struct finding *f);

/* How the kernels of a program come to the device. */
struct kernel_modes {
    uint64_t kernels;
    uint64_t fused;    /* made by Inductor */
    uint64_t replayed; /* from CUDA graphs */
    uint64_t compiled; /* fused, or launched by compiled code */
    uint64_t launched; /* whose launch is in the trace */
    uint64_t regions;  /* calls of compiled code */
};
struct kernel_modes answer_modes(const struct context *cx);
bool answer_is_compiled(const struct kernel_modes *m); /* a good part of its kernels */

const char *answer_kind_name(enum answer_kind k);        /* "faster" ...: the JSON value */
const char *answer_opportunity_name(enum opportunity o); /* "large", "some", "none", "unknown" */
const char *answer_sure_name(enum sure s);               /* "high", "medium", "low" */

/* "156 -> 11.2 ms", "1.29 s -> 864 ms" */
struct human_change {
    char s[72];
};
struct human_change answer_change(int64_t before_ns, int64_t after_ns);

#endif
