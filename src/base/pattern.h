/* pattern.h: regular expressions (POSIX, extended) that names are matched with.
 *
 * They may come from an assistant that was misled, and names from strangers. The library takes all
 * memory for some of 35 bytes, its stack for others, and never ends with back-references. So what
 * is too much is refused before, and of a very long name only the beginning is matched. */
#ifndef STRATA_BASE_PATTERN_H
#define STRATA_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct pattern {
    regex_t re;
};

/* ERR_USAGE where the text is not a regular expression, or is too large a one. */
int pattern_init(struct pattern *p, const char *text, struct err *e) MUST_USE;
void pattern_done(struct pattern *p);

/* Whether any part of `s` matches. */
bool pattern_matches(const struct pattern *p, struct str s);

#endif
