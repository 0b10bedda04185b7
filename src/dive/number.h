/* number.h: numbers as tools print them in the user's locale.
 *
 *     1,234.56   1.234,56   1 234,56   1'234.56   2.4e+06   12 (4; 4; 4)   n/a
 *
 * Whether "1,234" is a thousand or a bit more than one cannot be decided from it alone: the style
 * is voted for by all numbers of a file. */
#ifndef STRATA_DIVE_NUMBER_H
#define STRATA_DIVE_NUMBER_H

#include "base/str.h"

struct number_style {
    long point, comma; /* numbers that can only be read with this one as the decimal sign */
};

/* Adds the evidence of one field; what is not a number has none. */
void number_vote(struct number_style *style, struct str text);

/* NaN for what is not a number. A list of values behind the number is left out. */
double number_parse(struct number_style style, struct str text);

#endif
