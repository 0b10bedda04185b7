/* csv.h: records of comma-separated text (RFC 4180: quoted fields, doubled quotes, line breaks
 * inside quotes). Rows may have any number of fields. Broken quoting never fails: a field that is
 * not closed ends with the text. */
#ifndef STRATA_DIVE_CSV_H
#define STRATA_DIVE_CSV_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

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

/* number.c: numbers as tools print them in the user's locale.
 *
 *     1,234.56   1.234,56   1 234,56   1'234.56   2.4e+06   12 (4; 4; 4)   n/a
 *
 * Whether "1,234" is a thousand or a bit more than one cannot be decided from it alone: the style
 * is voted for by all numbers of a file. */

struct number_style {
    long point, comma; /* numbers that can only be read with this one as the decimal sign */
};

/* Adds the evidence of one field; what is not a number has none. */
void number_vote(struct number_style *style, struct str text);

/* NaN for what is not a number. A list of values behind the number is left out. */
double number_parse(struct number_style style, struct str text);

#endif
