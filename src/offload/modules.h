/* modules.h: the modules of a model from a file: a list that `python -m strata.offload list` wrote,
 * or the header of a .safetensors file, which is all of it that is read. */
#ifndef STRATA_OFFLOAD_MODULES_H
#define STRATA_OFFLOAD_MODULES_H

#include "offload/facts.h"

/* Appends the modules in `path` to f->modules, which stand in `mem`. A list may also say how long
 * modules compute and how often a step runs them; a safetensors file knows names and bytes, and
 * the order is guessed from the names. */
int modules_read(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

#endif
