/* pftrace.h: Perfetto traces (.pftrace), plain or compressed. */
#ifndef STRATA_IMPORT_PFTRACE_H
#define STRATA_IMPORT_PFTRACE_H

#include "import/importer.h"

extern const struct importer import_pftrace;

#endif
