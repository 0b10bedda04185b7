/* intern.h: every distinct string once, named by a 32-bit id. Id 0 is the empty string. */
#ifndef STRATA_BASE_INTERN_H
#define STRATA_BASE_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef uint32_t str_id;

#define STR_NONE UINT32_MAX /* "no string": also what intern_add returns when memory is out */

struct intern {
    struct arena bytes;
    struct str *strs; /* by id; each terminated */
    uint64_t *hashes; /* by id */
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* id + 1, 0 = empty */
    uint32_t mask;
};

/* Both return true on failure. */
bool intern_init(struct intern *t);
void intern_done(struct intern *t);

uint64_t intern_hash(struct str s);
str_id intern_add(struct intern *t, struct str s);
str_id intern_add_hashed(struct intern *t, struct str s, uint64_t hash);
str_id intern_find(const struct intern *t, struct str s); /* STR_NONE when it is not there */

static inline struct str intern_get(const struct intern *t, str_id id)
{
    return id < t->n ? t->strs[id] : (struct str){"", 0};
}

#endif
