/* strip.h: what goes into a file that will be shown to others. */
#ifndef STRATA_EXPORT_STRIP_H
#define STRATA_EXPORT_STRIP_H

#include "export/export.h"

/* Whether `m` goes into the file: all do, unless it is to be stripped. Then unknown keys do not:
 * whole environments with access tokens have been seen there. */
bool strip_keeps(const struct trace *t, const struct meta *m, const struct export_options *o);

/* By string id: whether something that goes into the file refers to it, so that the texts of what
 * is left out are left out too. The caller's to mem_free; NULL when out of memory. */
bool *strip_strings(const struct trace *t, const struct export_options *o);

#endif
