/* rocpd.h: the SQLite databases of AMD's rocprofv3 and rocprof-sys (rocpd). */
#ifndef STRATA_IMPORT_ROCPD_H
#define STRATA_IMPORT_ROCPD_H

#include "import/nsys_db.h"
#include "import/rocm_rows.h"

/* Whether the database has tables of rocpd. */
bool rocpd_is(struct nsys_db *d);

/* Fills the builder. */
int rocpd_read(struct nsys_db *d, struct builder *b, struct err *e) MUST_USE;

#endif
