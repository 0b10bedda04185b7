/* json_valid.h: may this raw text out of a trace go into a JSON file that others must read? */
#ifndef STRATA_EXPORT_JSON_VALID_H
#define STRATA_EXPORT_JSON_VALID_H

#include "base/str.h"

enum { JSON_VALID_DEPTH = 64 };

/* Whether `s` is exactly one JSON value in UTF-8, nested at most JSON_VALID_DEPTH deep. */
bool json_valid(struct str s);

#endif
