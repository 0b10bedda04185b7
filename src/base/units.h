/* units.h: sizes, times and rates as people write them: "22GB", "4.5 GiB", "110s", "250 ms". */
#ifndef STRATA_BASE_UNITS_H
#define STRATA_BASE_UNITS_H

#include <stdint.h>

#include "base/err.h"

/* `what` names the value in the message when the text is not one: "--resident". Nothing negative
 * and nothing beyond 2^60 is taken. */

/* B, kB, MB, GB, TB, in any case, are powers of ten, KiB, MiB ... powers of two; a bare number is
 * bytes. */
int units_bytes(const char *text, const char *what, int64_t *ret, struct err *e) MUST_USE;

/* ns, us, ms, s, m or min, h; a bare number is seconds. */
int units_time_ns(const char *text, const char *what, int64_t *ret, struct err *e) MUST_USE;

#endif
