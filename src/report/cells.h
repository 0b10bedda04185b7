/* cells.h: numbers in the cells of a table: three significant digits, the unit in the head of the
 * table, "-" for nothing, so that what matters stands out. */
#ifndef STRATA_REPORT_CELLS_H
#define STRATA_REPORT_CELLS_H

#include <stdint.h>

#include "base/str.h"

struct cell {
    char s[160];
};

/* A unit that all times of a column are in. */
struct cell_unit {
    const char *name; /* "us" */
    double ns;
};

struct cell_unit cell_unit_total(double largest_ns); /* for sums: us below 10 ms */
struct cell_unit cell_unit_each(double largest_ns);  /* for single calls: us below 100 ms */

struct cell cell_time(double ns, struct cell_unit unit);
struct cell cell_number(double v); /* "<0.01" for next to nothing; "-" for 0 and for no number */
struct cell cell_pct(double pct);  /* one decimal */
struct cell cell_count(uint64_t n);
struct cell cell_bytes(int64_t bytes);
struct cell cell_scaled(double v);              /* "5.57 T": powers of a thousand */
struct cell cell_text(struct str s, int width); /* cut in the middle, safe for a terminal */

#endif
