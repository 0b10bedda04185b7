/* foreign.h: formats that are not read, recognized so that the error says what the file is and
 * which command makes something of it that is. */
#ifndef STRATA_IMPORT_FOREIGN_H
#define STRATA_IMPORT_FOREIGN_H

#include "base/err.h"
#include "base/str.h"

/* ERR_UNSUPPORTED with the words for it, or 0 where the file is none of these. `head` is how it
 * begins, unpacked if need be; `path` counts only where the content says nothing. */
int foreign_check(struct str head, const char *path, struct err *e) MUST_USE;

#endif
