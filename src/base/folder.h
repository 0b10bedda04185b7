/* folder.h: what a folder holds, in an order that does not depend on the file system. */
#ifndef STRATA_BASE_FOLDER_H
#define STRATA_BASE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct folder_list {
    const char **paths; /* of everything in it but names with a dot first, by name */
    uint32_t n;
};

bool folder_is(const char *path);

/* Memory from `mem`. A folder that cannot be read holds nothing; one with more than 65,536 names is
 * ERR_LIMIT. */
int folder_list_run(const char *folder, struct arena *mem, struct folder_list *ret,
                    struct err *e) MUST_USE;

#endif
