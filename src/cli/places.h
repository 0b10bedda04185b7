/* places.h: where the files that belong to this program lie: beside it as it was built, installed
 * (`make install`) or in a Python environment (a wheel). Nothing is compiled in, so an installation
 * may be moved. What is returned lives in `mem`. */
#ifndef STRATA_CLI_PLACES_H
#define STRATA_CLI_PLACES_H

#include "base/arena.h"

const char *places_self(struct arena *mem); /* this program, NULL when that cannot be told */

/* The folder in which the Python package is, with the libraries that programs are made to load in
 * it; NULL where it is not installed. */
const char *places_package(struct arena *mem);

#endif
