/* rocprof.h: the JSON of AMD's rocprofv3 (--output-format json). */
#ifndef STRATA_IMPORT_ROCPROF_H
#define STRATA_IMPORT_ROCPROF_H

#include "import/importer.h"

extern const struct importer import_rocprof;

#endif
