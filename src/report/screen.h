/* screen.h: what the text views share: where they print to, times in one unit down a column, and
 * the last line that says which command goes deeper. */
#ifndef STRATA_REPORT_SCREEN_H
#define STRATA_REPORT_SCREEN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/human.h"
#include "base/text.h"

struct screen {
    struct buf *out;
    const char *path; /* the trace, as the user named it */
    int width;        /* of sentences: at most 100 */
    bool color;
    uint32_t limit; /* rows of a table that are shown */
    bool whole;   /* the whole recording is shown, as the user asked; suggested commands get --whole
                     too */
    bool limited; /* the user gave the limit: it alone says how many rows are shown */
    int columns;  /* of tables: as wide as the terminal; 0: as sentences */
};

/* Rows until this share of a table's total are shown; the others are counted in a line below. */
#define SCREEN_ENOUGH_PCT 99.0

/* The unit (of human_time_in) in which a column with this largest value reads best. */
int screen_unit(int64_t largest_ns);

/* A time cell in the column's unit; "-" for 0, "<0.01 ms" for what would read as nothing. */
void screen_time(struct text_table *t, int col, int64_t ns, int unit);
struct human screen_time_text(int64_t ns, int unit); /* the same outside a table */
/* The same for a figure that may not be reliable: "?" unless `trusted`. */
void screen_time_if(struct text_table *t, int col, int64_t ns, int unit, bool trusted);
void screen_count(struct text_table *t, int col, uint64_t n); /* "-" for 0 */
void screen_bytes(struct text_table *t, int col, int64_t bytes);

void screen_table(const struct screen *s, const struct text_table *t);

/* "... and 12 more (--limit 0 shows all)" when there are more rows than were shown. */
void screen_more(const struct screen *s, uint32_t n_rows);
/* Whether a table that lists its largest rows first has enough of them: `sum` of `total`, where 0
 * means that there is no total. */
bool screen_full(const struct screen *s, uint32_t shown, double sum, double total);
/* The rows shown of `n`, `enough` of which are: no line says that a single one is missing. */
uint32_t screen_rows(const struct screen *s, uint32_t enough, uint32_t n);
/* "12 more rows hold the other 0.8 % (--limit 0 shows all)" */
void screen_rest(const struct screen *s, uint32_t shown, uint32_t n_rows, double sum, double total);

/* "next: strata stages run.json    what it shows", aligned under each other after the first. */
struct screen_next {
    const char *command; /* with %s where the trace goes */
    const char *why;
};
void screen_next(const struct screen *s, const struct screen_next *list, int n);

/* All that a view of the device can say of a trace without any, and where to look instead. */
void screen_no_device(const struct screen *s);

#endif
