/* rule.h: one thing that can be wrong with a pipeline, and how to detect it.
 *
 * A rule is a const struct in <id>.c, listed once in rules.h, with a page in docs/rules/<id>.md. It
 * looks at the finished passes and adds findings; it never reads the trace for something a pass
 * already knows, never prints, and raises nothing on a healthy trace.
 *
 * Two rules may see the same time. Then one declares that it yields to the other: it runs later and
 * asks claims.h what the findings of that one hold. It sees nothing of rules that it does not name,
 * directly or through those it names, so the order of the list has no meaning. */
#ifndef STRATA_ANALYZE_FINDINGS_RULE_H
#define STRATA_ANALYZE_FINDINGS_RULE_H

#include "analyze/findings/finding.h"
#include "analyze/gaps/launch_delay.h"
#include "analyze/gaps/wall.h"
#include "analyze/memory/memory.h"
#include "analyze/stages/stages.h"
#include "base/buf.h"

/* What holds a program up. */
enum limit {
    LIMIT_NONE, /* of a rule: it is about no time */
    LIMIT_GPU,
    LIMIT_CPU,
    LIMIT_LAUNCH,
    LIMIT_TRANSFER,
    LIMIT_SYNC,
    LIMIT_COMM,
    LIMIT_DATA, /* the next batch */
    LIMIT_MIXED
};

const char *limit_name(enum limit l); /* "gpu", "cpu" ...: the JSON value; NULL for none */

/* What the two costs of a finding are. A blocked CPU waits; a busy one works. Exposed is GPU idle
 * time that follows; a transfer keeps the device busy, and costs what nothing overlaps. */
enum rule_cost { COST_WORK, COST_WAIT, COST_TRANSFER };

/* What the findings of a rule hold, so that rules which yield to it leave that alone. It is read
 * from the edits of a finding. */
enum rule_claims {
    CLAIM_KERNELS = 1, /* device work whose time EDIT_SET_WORK sets */
    CLAIM_WAITS = 2,   /* calls that EDIT_DROP_SYNC no longer makes wait */
    CLAIM_CALLS = 4,   /* calls in spans of EDIT_DROP_SPANS, which are in order */
    CLAIM_TIME = 8,    /* CPU time in spans of EDIT_DROP_SPANS, which are in order */
};

struct rule {
    const char *id;                      /* file name, page name and JSON value: "sync_in_loop" */
    const char *summary;                 /* one line for the index */
    unsigned claims;                     /* of enum rule_claims; 0: no rule needs to know */
    const struct rule *const *yields_to; /* NULL-terminated; NULL: to none */
    const struct rule *const *silent_after; /* says nothing where one of these has a finding */
    enum limit limit;                       /* that its findings are about */
    enum rule_cost cost;                    /* of `blocked_ns` and `exposed_ns` */
    const char *tries; /* the fix of `strata try` for it, "compile:%s" with the module; or NULL */
    int (*run)(const struct context *cx, struct findings *out, struct err *e);
};

/* A list of rules for the declarations: `.yields_to = RULE_LIST(&rule_graph_break)`. */
#define RULE_LIST(...) ((const struct rule *const[]){__VA_ARGS__, NULL})

/* Whether `r` yields to `other`, directly or through those it yields to. */
bool rule_yields(const struct rule *r, const struct rule *other);

/* A new finding, or NULL with `e` set. */
struct finding *rule_finding(const struct context *cx, struct findings *out, const struct rule *r,
                             struct err *e);

/* Text into the memory of the analysis; "" when out of memory. */
const char *rule_text(const struct context *cx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy of a string of the trace, shortened to `width` columns and free of control characters. */
const char *rule_name(const struct context *cx, struct str s, int width);

/* The name of a row, shortened in the same way; that of a kernel in its short form. */
const char *rule_row_name(const struct context *cx, row_t r, int width);

/* Fills file, line, function and subject of the finding from the place of a row. */
void rule_place(const struct context *cx, struct finding *f, const struct place *p);

/* Whether the program uses no device at all: then what its threads do is its time. */
bool rule_cpu_only(const struct context *cx);

/* Idle time below which a candidate is not worth a replay: half of the share of the wall clock that
 * a reported gain needs. A fix can gain a little more than the idle time it was measured by. */
int64_t rule_least_idle_ns(const struct context *cx);

/* The first sentence of a text that a rule wrote. */
struct str rule_sentence(const char *text);

/* Both costs of a finding about the CPU or a transfer: "blocked 565 ms, exposed 10.3 ms". */
void rule_print_cost(struct buf *out, const struct finding *f);

/* The fix of `strata try` that a finding asks for: that of its rule, unless the finding has its
 * own. Prints nothing where there is none. */
void rule_print_try(struct buf *out, const struct finding *f);

/* Fills brief, fix_brief and try_fix. */
int rule_sum_up(const struct context *cx, struct finding *f, struct err *e) MUST_USE;

/* A pattern that matches exactly this name, for the edits of a finding. */
const char *rule_exactly(const struct context *cx, struct str name);

#endif
