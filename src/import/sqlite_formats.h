/* sqlite_formats.h: formats that are databases of SQLite; sqlite_formats.c asks which one it is. */
#ifndef STRATA_IMPORT_SQLITE_FORMATS_H
#define STRATA_IMPORT_SQLITE_FORMATS_H

#include "import/rocm/rocm_rows.h"
#include "import/sqlite_in.h"
#include "trace/build.h"

/* nsys.c: SQLite exports of NVIDIA Nsight Systems (`nsys export -t sqlite`). */

/* Fills the builder. */
int nsys_read(struct sqlite_in *db, struct builder *b, struct err *e) MUST_USE;

/* rocpd.c: the SQLite databases of AMD's rocprofv3 and rocprof-sys (rocpd). */

/* Whether the database has tables of rocpd. */
bool rocpd_is(struct sqlite_in *d);

/* Fills the builder. */
int rocpd_read(struct sqlite_in *d, struct builder *b, struct err *e) MUST_USE;

/* rpd.c: the SQLite databases of rocmProfileData (.rpd). */

/* Whether the database has tables of rocmProfileData. */
bool rpd_is(struct sqlite_in *d);

/* Fills the builder. */
int rpd_read(struct sqlite_in *d, struct builder *b, struct err *e) MUST_USE;

#endif
