/* native.h: opening .strata files. Columns and strings are used where they lie in the mapping. */
#ifndef STRATA_IMPORT_NATIVE_H
#define STRATA_IMPORT_NATIVE_H

#include "import/importer.h"

/* Costs the same at any size when rows are skipped: then only the table of contents is proved, and
 * of the trace only lanes, processes, devices, metas, categories, counts, damage and times may be
 * used. Otherwise every column is read once, for checksums and trace_verify. */
extern const struct importer import_native;

#endif
