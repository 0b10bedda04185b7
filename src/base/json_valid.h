/* json_valid.h: may this raw text out of a trace go into a JSON file that others must read? */
#ifndef STRATA_BASE_JSON_VALID_H
#define STRATA_BASE_JSON_VALID_H

#include "base/str.h"

enum { JSON_VALID_DEPTH = 64 };

static inline bool json_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The first character that is not blank, or `end`. */
static inline const char *json_past_blanks(const char *p, const char *end)
{
    while (p < end && json_is_blank(*p)) p++;
    return p;
}

/* Whether `s` is exactly one JSON value in UTF-8, nested at most JSON_VALID_DEPTH deep. */
bool json_valid(struct str s);

/* A member of an object that is valid: its key as written, without quotes, and its value. */
struct json_member {
    struct str key, value;
};

/* The next member. `rest` begins as the whole object and shrinks; false when there are no more. */
bool json_next_member(struct str *rest, struct json_member *ret);

/* The same for the items of an array. */
bool json_next_item(struct str *rest, struct str *ret);

#endif
