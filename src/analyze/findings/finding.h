/* finding.h: what a rule found, and the list a report is made from.
 *
 * A finding carries its evidence, both costs (blocked: time the CPU spent; exposed: time the device
 * was idle because of it) and the edits that would fix it. The rule does not compute what the fix
 * gains in wall time: findings_rank replays the edits, one finding after another, each as if those
 * above it had been fixed already, because fixes mask each other. If two findings
 * claim the same time, the one with the cheaper fix comes first. */
#ifndef STRATA_ANALYZE_FINDINGS_FINDING_H
#define STRATA_ANALYZE_FINDINGS_FINDING_H

#include "analyze/simulate/undistort.h"
#include "analyze/thresholds.h"

enum severity { SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };

/* One step of the reasoning. */
struct evidence {
    int64_t ts_ns; /* moment to look at, or ID_NONE */
    row_t row;     /* row to look at, or ROW_NONE */
    const char *text;
};

/* What a fix takes; the cheapest first. */
enum effort {
    EFFORT_UNKNOWN,
    EFFORT_ONE_LINE,      /* a flag, a mode, a call that goes */
    EFFORT_LOCAL,         /* some lines in one place */
    EFFORT_RESTRUCTURING, /* the program has to be built another way */
};

#define FINDING_EVIDENCE 16
#define FINDING_EDITS    4
#define FINDING_OPTIONS  3

/* One of several ways to fix the same thing, each priced by itself. */
struct finding_option {
    const char *name; /* stable, for JSON: "cuda_graph" */
    const char *what; /* a few words: "CUDA graphs" */
    const char *note; /* what it does or needs, a sentence */
    enum effort effort;
    struct sim_edit edit, also; /* also: together with the first; no rows: nothing */
    bool no_headline;           /* may not be possible, for reasons that are not in the trace */
    uint32_t times;  /* the work it does at once, of today's: the gain is per unit of work */
    double gain_pct; /* set by findings_rank: if only this were done */
};

struct rule;

struct finding {
    const struct rule *rule;
    uint32_t place;          /* in the order that rules_run makes: ties go by it */
    const char *title;       /* what is wrong, a few words */
    const char *subject;     /* function, stage, kernel or op it is about */
    const char *file;        /* NULL when not known */
    int32_t line;            /* 0 when not known */
    const char *function;    /* NULL when not known */
    const char *why;         /* what happens, in a newcomer's words */
    const char *fix;         /* what to change */
    const char *not_fixed;   /* what the change will not do, or NULL */
    const char *tries;       /* fix of `strata try`, where it is not that of the rule */
    const char *brief;       /* first sentence of `why`; these four are set by rule_sum_up */
    const char *fix_brief;   /* of `fix` */
    const char *try_fix;     /* of `strata try`; NULL where there is none */
    const char *try_command; /* "strata try --fix tf32 -- python train.py"; NULL likewise */
    const char *show; /* arguments of the strata command that shows it: "syncs %s --site 1" */
    int64_t blocked_ns, exposed_ns;
    int64_t device_ns; /* kernels it is about; 0 where it is about the CPU. exposed_ns is then what
                          they would take less */
    struct evidence evidence[FINDING_EVIDENCE];
    uint32_t n_evidence;
    struct sim_edit edits[FINDING_EDITS]; /* none: the finding predicts no gain */
    uint32_t n_edits;
    enum threshold thresholds[3];
    uint32_t n_thresholds;
    bool notable; /* looks terrible in a viewer: reported even if it gains next to nothing */
    double doubt; /* share of the gain that may not come, for reasons that are not in the trace: the
                     memory it takes; 0 to 1 */
    bool advice;  /* reported although no gain is predicted: memory growth, distortion */
    enum severity severity; /* set by the rule for advice, by findings_rank otherwise */
    enum effort effort;     /* local unless the rule says otherwise */
    struct finding_option options[FINDING_OPTIONS]; /* where there is a choice; best known first */
    uint32_t n_options;

    /* set by findings_rank */
    struct forecast alone;  /* if only this were fixed */
    int64_t first_guess_ns; /* gain if only this were fixed */
    int64_t gain_ns;        /* wall clock, after the findings above it are fixed */
    double gain_pct, low_pct, high_pct;
    bool together;                  /* gains nothing alone: it and others like it hide each other */
    bool needed;                    /* one of those, and without it the others gain little */
    const struct finding *ahead_of; /* claims the same time, gains more and takes more; or NULL */
};

struct findings {
    struct finding **items; /* ranked: what gains most first, advice last */
    uint32_t n;
    size_t cap;
    uint32_t n_minor; /* found, but worth less than the threshold: not in items */
    int64_t minor_blocked_ns;
    int64_t minor_gain_ns; /* all of them together */
    int64_t all_fixed_ns;  /* wall clock with every listed finding fixed */
    bool unpriced;         /* the replay misses the trace by too much: no gain is computed, and
                              what costs most comes first */
    struct {
        const struct rule *by; /* the rule that runs: what those it yields to hold, see claims.h */
        uint8_t *kernels;      /* by index into trace->gpu */
        uint8_t *waits;        /* by call of the model */
    } claims;
};

/* A new finding of the rule in `mem`, listed; NULL when out of memory. */
struct finding *findings_add(struct findings *f, const struct rule *rule, struct arena *mem);
void findings_done(struct findings *f);

extern const struct pass findings_pass; /* in rules.c: every rule, then the ranking */

static inline const struct findings *findings_of(const struct context *cx)
{
    return context_kept(cx, PASS_FINDINGS);
}

/* What it gains if only this is fixed. */
int64_t finding_alone_ns(const struct finding *f);

/* Whether that differs so much from its gain after the others that both are said. */
bool finding_differs_alone(const struct finding *f);

/* Appends evidence; text is formatted into `mem`. More than FINDING_EVIDENCE is dropped. */
void finding_note(struct finding *f, struct arena *mem, int64_t ts_ns, row_t row, const char *fmt,
                  ...) __attribute__((format(printf, 5, 6)));

/* Predicts, ranks, and splits off what is not worth listing. */
int findings_rank(struct findings *f, const struct context *cx, struct err *e) MUST_USE;

/* The ranking by cost, for a trace that the replay misses: no finding predicts a gain. */
void findings_rank_unpriced(struct findings *f, const struct context *cx);

const char *severity_name(enum severity s);
const char *effort_name(enum effort e);  /* "one line", "local", "restructuring" */
const char *effort_words(enum effort e); /* the same for people: "some lines" */

#endif
