/* nsys.h: SQLite exports of NVIDIA Nsight Systems (`nsys export -t sqlite`). */
#ifndef STRATA_IMPORT_NSYS_H
#define STRATA_IMPORT_NSYS_H

#include "import/importer.h"

extern const struct importer import_nsys;

#endif
