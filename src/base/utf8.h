/* utf8.h: just enough UTF-8 to print other people's strings safely. */
#ifndef STRATA_BASE_UTF8_H
#define STRATA_BASE_UTF8_H

#include "base/str.h"

/* Length in bytes of the well-formed sequence at `i`, or 0 when there is none. */
size_t utf8_len(struct str s, size_t i);

/* The same, but 0 also for what could move the cursor or turn the text around on a terminal:
 * control characters (the C1 ones too) and bidirectional overrides. */
size_t utf8_safe_len(struct str s, size_t i);

/* Columns the string takes on a terminal: one a code point, two for wide East Asian and emoji. */
int utf8_width(struct str s);

#endif
