/* rpd.h: the SQLite databases of rocmProfileData (.rpd). */
#ifndef STRATA_IMPORT_RPD_H
#define STRATA_IMPORT_RPD_H

#include "import/nsys_db.h"
#include "import/rocm_rows.h"

/* Whether the database has tables of rocmProfileData. */
bool rpd_is(struct nsys_db *d);

/* Fills the builder. */
int rpd_read(struct nsys_db *d, struct builder *b, struct err *e) MUST_USE;

#endif
