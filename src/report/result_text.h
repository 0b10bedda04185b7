/* result_text.h: rows of results as a table for people: the same table goes to the screen and into
 * markdown. Times of a column are in one unit; "-" is nothing, "?" what cannot be trusted. */
#ifndef STRATA_REPORT_RESULT_TEXT_H
#define STRATA_REPORT_RESULT_TEXT_H

#include "report/screen.h"
#include "results/result.h"

struct result_text {
    struct text_table table;
    const struct result *of;
    const struct field *fields[TEXT_COLS];
    const struct field *outer[TEXT_COLS]; /* the object that the field is in, or NULL */
    int units[TEXT_COLS];                 /* of human_time_in */
    int64_t most[TEXT_COLS];
    int widths[TEXT_COLS]; /* of texts; 0: as long as they are */
};

/* A table with these columns of `of`, a NULL-terminated list of keys; "cost.total_us" is one inside
 * an object. The first one is what rows are called by, under the heading `first` unless that is
 * NULL. */
void result_text_begin(struct result_text *t, const struct result *of, const char *first,
                       const char *const *keys);
void result_text_done(struct result_text *t);

/* The rows decide the units of the columns: all of them, also those that are not shown. */
void result_text_fit(struct result_text *t, const struct rows *r);

/* One row. Columns that the rows have no field for stay "-", so that rows of another result with
 * the same keys can be added; `name` is its first cell, or NULL: the value itself. */
/* Cells of columns that were added to the table by hand are the caller's. */
void result_text_add(struct result_text *t, const struct rows *r, uint32_t i, const char *name,
                     enum text_style style);

/* The first `most` rows, printed. */
void result_text_show(const struct screen *s, const struct rows *r, const char *const *keys,
                      uint32_t most);

void result_text_print(const struct result_text *t, const struct screen *s);

#endif
