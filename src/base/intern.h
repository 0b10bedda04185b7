/* intern.h: every distinct string once, named by a 32-bit id. Id 0 is the empty string. */
#ifndef STRATA_BASE_INTERN_H
#define STRATA_BASE_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef uint32_t str_id;

#define STR_NONE UINT32_MAX /* "no string": also what intern_add returns when out of memory */

/* A finished table in memory that the table does not own, such as a mapped file. String i is
 * bytes[offsets[i]] up to its terminator at bytes[offsets[i + 1] - 1]; `order` lists all ids sorted
 * by str_cmp. Nothing in it is trusted: a string that does not fit reads as empty. */
struct intern_view {
    const uint64_t *offsets; /* n + 1 of them */
    const uint32_t *order;   /* n of them */
    const char *bytes;
    uint64_t n_bytes;
};

struct intern {
    struct arena bytes;
    struct str *strs; /* by id; each terminated */
    uint64_t *hashes; /* by id */
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* id + 1, 0 = empty */
    uint32_t mask;
    struct intern_view view; /* .offsets is NULL unless the table is borrowed */
};

/* True on failure. */
bool intern_init(struct intern *t);
bool intern_reset(struct intern *t); /* no strings but "", tables kept */
void intern_done(struct intern *t);

/* Makes `t` the `n` strings of `view`, at no cost. Nothing can be added to such a table. */
void intern_borrow(struct intern *t, const struct intern_view *view, uint32_t n);

uint64_t intern_hash(struct str s);

/* The same for names that count: "step_1" and "step_2" have one hash. */
uint64_t intern_hash_words(struct str s);
str_id intern_add(struct intern *t, struct str s);
str_id intern_add_hashed(struct intern *t, struct str s, uint64_t hash);

/* A new id, also for a string that is there already, whose first id intern_find returns: for a copy
 * of a table that keeps its ids. */
str_id intern_append(struct intern *t, struct str s);

str_id intern_find(const struct intern *t, struct str s); /* STR_NONE when it is not there */

struct str intern_view_get(const struct intern_view *v, str_id id);

static inline struct str intern_get(const struct intern *t, str_id id)
{
    if (id >= t->n) return (struct str){"", 0};
    return t->view.offsets ? intern_view_get(&t->view, id) : t->strs[id];
}

#endif
