/* python.h: the strata package for the Python programs we start. */
#ifndef STRATA_CLI_PYTHON_H
#define STRATA_CLI_PYTHON_H

#include <stdbool.h>

#include "base/arena.h"

/* Makes every Python started from here find the package, and this program through STRATA_BIN, by
 * setting our own environment. False if the package is not next to this program. */
bool python_prepare(struct arena *mem);

#endif
