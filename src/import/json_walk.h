/* json_walk.h: going over the members of a JSON value where it stands, for documents that are not
 * lists of events. Values are ranges of the text. */
#ifndef STRATA_IMPORT_JSON_WALK_H
#define STRATA_IMPORT_JSON_WALK_H

#include "import/json_scan.h"

struct walk {
    struct scan scan;
    char close; /* '}' or ']'; 0 where there is nothing to go over */
    bool first;
};

/* Over the members of an object or the items of a list; over nothing where it is neither. */
struct walk walk_open(struct str value);

/* The next one; false after the last, and where the text is damaged. `key` is empty for items. */
bool walk_next(struct walk *w, struct str *ret_key, struct str *ret_value);

/* The value of one member, empty when there is none. */
struct str walk_find(struct str object, const char *key);

/* The value as an integer, or `otherwise`. */
int64_t walk_int(struct str value, int64_t otherwise);

/* A string without its quotes, escapes as they are; empty where it is not a string. */
struct str walk_text(struct str value);

#endif
