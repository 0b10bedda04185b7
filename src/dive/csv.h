/* csv.h: records of comma-separated text (RFC 4180: quoted fields, doubled quotes, line breaks
 * inside quotes). Rows may have any number of fields. Broken quoting never fails: a field that is
 * not closed ends with the text. */
#ifndef STRATA_DIVE_CSV_H
#define STRATA_DIVE_CSV_H

#include "base/arena.h"
#include "base/err.h"

#define CSV_MOST_FIELDS 65536u

struct csv {
    struct str text;
    size_t at;          /* of the next record */
    size_t begin;       /* of the record in `fields` */
    struct arena *mem;  /* of fields that had to be put together */
    struct str *fields; /* of the current record; until the next one */
    size_t n, cap;
};

void csv_init(struct csv *c, struct str text, struct arena *mem);
void csv_done(struct csv *c);

/* 1 with the next record in `fields`, 0 at the end. Empty lines are not records. */
int csv_next(struct csv *c, struct err *e) MUST_USE;

#endif
