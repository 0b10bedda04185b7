/* pickle.h: Python's pickle format, protocols 2 to 5, as plain values and nothing else.
 *
 * A pickle is a program for a small machine with a stack and a memo. Ours knows the instructions
 * that make numbers, texts, lists, tuples and dicts; those that name, call or build anything else
 * are refused with their place. Nothing is imported, called or executed.
 *
 * A value may stand in several places, also inside itself: code that walks them has to bound that.
 */
#ifndef STRATA_IMPORT_SNAPSHOT_PICKLE_H
#define STRATA_IMPORT_SNAPSHOT_PICKLE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,  /* integer: 0 or 1 */
    PICKLE_INT,   /* what does not fit into 64 bits is cut off at the nearest value that does */
    PICKLE_FLOAT, /* number */
    PICKLE_TEXT,  /* text, of `n` bytes, in the input; not terminated. Bytes are texts as well. */
    PICKLE_LIST,  /* list; tuples and sets as well */
    PICKLE_DICT   /* list: key, value, key, value ... */
};

struct pickle_list;

struct pickle_value {
    uint32_t kind; /* enum pickle_kind */
    uint32_t n;
    union {
        int64_t integer;
        double number;
        const char *text;
        struct pickle_list *list;
    };
};

struct pickle_list {
    struct pickle_value *items;
    uint32_t n, cap;
    uint32_t seen; /* 0 at first; for the code that walks the values */
};

/* The value that the pickle `bytes` makes, which must outlive it; the rest lives in `mem`. What
 * comes after the end of the pickle is not examined. */
int pickle_read(struct str bytes, struct arena *mem, struct pickle_value *ret,
                struct err *e) MUST_USE;

/* The value of a key, or NULL: also when `d` is NULL or not a dict. */
const struct pickle_value *pickle_get(const struct pickle_value *d, const char *key);

/* The same as a number, of one that is an integer or a float, or as a text. */
int64_t pickle_int(const struct pickle_value *d, const char *key, int64_t otherwise);
struct str pickle_text(const struct pickle_value *d, const char *key);

/* The items of a list; *ret_n is 0 when `v` is NULL or not one. */
const struct pickle_value *pickle_items(const struct pickle_value *v, uint32_t *ret_n);

#endif
