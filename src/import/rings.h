/* rings.h: a run folder, or the rings folder in it, as a trace. */
#ifndef STRATA_IMPORT_RINGS_H
#define STRATA_IMPORT_RINGS_H

#include "import/import.h"

/* Whether `folder` holds recordings: itself, or in rings/. */
bool rings_in(const char *folder);

int rings_open(const char *folder, const struct import_options *o, struct trace **ret,
               struct err *e) MUST_USE;

#endif
