/* rule.h: one thing that can be wrong with a pipeline, and how to detect it.
 *
 * A rule is a const struct in <id>.c, listed once in rules.c, with a page in docs/rules/<id>.md. It
 * looks at the finished passes and adds findings; it never reads the trace for something a pass
 * already knows, never prints, and raises nothing on a healthy trace. */
#ifndef STRATA_ANALYZE_RULES_RULE_H
#define STRATA_ANALYZE_RULES_RULE_H

#include "analyze/gaps/launch_delay.h"
#include "analyze/gaps/launchless.h"
#include "analyze/gaps/wall.h"
#include "analyze/memory/memory.h"
#include "analyze/rules/finding.h"
#include "analyze/stages/stages.h"

struct rule {
    const char *id;      /* file name, page name and JSON value: "sync_in_loop" */
    const char *summary; /* one line for the index */
    int (*run)(const struct context *cx, struct findings *out, struct err *e);
};

extern const struct rule *const rules[]; /* NULL-terminated */

/* A new finding, or NULL with `e` set. */
struct finding *rule_finding(const struct context *cx, struct findings *out, const struct rule *r,
                             struct err *e);

/* Text into the memory of the analysis; "" when out of memory. */
const char *rule_text(const struct context *cx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy of a string of the trace, shortened to `width` columns and free of control characters. */
const char *rule_name(const struct context *cx, struct str s, int width);

/* Fills file, line, function and subject of the finding from the place of a row. */
void rule_place(const struct context *cx, struct finding *f, const struct place *p);

/* A pattern that matches exactly this name, for the edits of a finding. */
const char *rule_exactly(const struct context *cx, struct str name);

#endif
