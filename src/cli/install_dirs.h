/* install_dirs.h: where the files of this program are: next to it as built, installed (`make
 * install`) or in a Python environment (a wheel). No path is compiled in, so an installation can be
 * moved. Returned paths live in `mem`. */
#ifndef STRATA_CLI_INSTALL_DIRS_H
#define STRATA_CLI_INSTALL_DIRS_H

#include "base/arena.h"

const char *install_dirs_self(struct arena *mem); /* this program, NULL if unknown */

/* The folder that holds the Python package and the libraries that recorded programs load; NULL if
 * it is not installed. */
const char *install_dirs_package(struct arena *mem);

#endif
