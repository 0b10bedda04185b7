/* source_list.h: what compilers say their kernels were made of, gathered for TRACE_META_SOURCES. */
#ifndef STRATA_IMPORT_RING_SOURCE_LIST_H
#define STRATA_IMPORT_RING_SOURCE_LIST_H

#include "base/jout.h"
#include "trace/build.h"

struct source_list {
    struct buf text;
    struct jout j;
    uint32_t n;
};

struct source {
    struct str module, kernel, op; /* compiled function, kernel, operation */
    struct str place;              /* FILE(LINE): FUNCTION */
};

void source_list_init(struct source_list *l);

/* The names are copied. Beyond a million bytes nothing is added. */
void source_list_add(struct source_list *l, const struct source *s);

/* Adds the meta if there is anything to say, and frees the list. 0 or ERR_NOMEM. */
int source_list_end(struct source_list *l, struct builder *b) MUST_USE;

#endif
