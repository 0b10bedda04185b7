/* json.h: Chrome/Kineto JSON, plain or compressed, to a trace. */
#ifndef STRATA_IMPORT_JSON_H
#define STRATA_IMPORT_JSON_H

#include "import/importer.h"

extern const struct importer import_json;

#endif
