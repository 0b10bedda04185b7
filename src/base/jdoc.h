/* jdoc.h: a small JSON document in memory, for settings and reports. Strict: anything that is not
 * JSON fails with its byte offset. Traces, which are large and often broken, have their own reader
 * (import/json/json_scan.h). */
#ifndef STRATA_BASE_JDOC_H
#define STRATA_BASE_JDOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum jdoc_kind { JDOC_NULL, JDOC_BOOL, JDOC_NUMBER, JDOC_STRING, JDOC_ARRAY, JDOC_OBJECT };

struct jdoc {
    enum jdoc_kind kind;
    bool yes;                 /* JDOC_BOOL */
    double number;            /* JDOC_NUMBER */
    struct str text;          /* JDOC_STRING: decoded, terminated */
    uint32_t n;               /* JDOC_ARRAY, JDOC_OBJECT */
    const struct jdoc *items; /* n of them, in the order they are written */
    const struct str *keys;   /* JDOC_OBJECT: of the items; terminated */
};

#define JDOC_MOST_BYTES ((size_t)256 << 20)
#define JDOC_DEEPEST    100

/* Everything in `ret` lives in `mem`. */
int jdoc_parse(struct str text, struct arena *mem, struct jdoc *ret, struct err *e) MUST_USE;

/* The item called `key`, or NULL: also when `d` is NULL or no object, so that calls chain. */
const struct jdoc *jdoc_get(const struct jdoc *d, const char *key);

/* The same as a number or a terminated text; `otherwise` when it is not there or another kind. */
double jdoc_number(const struct jdoc *d, const char *key, double otherwise);
const char *jdoc_text(const struct jdoc *d, const char *key, const char *otherwise);

#endif
