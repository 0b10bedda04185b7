/* export.c: the one list of formats a trace can be written in, and finding one by file name. */
#include "export/export.h"

#include <string.h>

/* One per line: to_<name>.c defines `const struct exporter to_<name>`. */
#define EXPORTERS(X) \
    X(chrome)        \
    X(strata)        \
    X(pftrace)       \
    X(csv)           \
    X(sqlite)

#define DECLARE(name) extern const struct exporter to_##name;
EXPORTERS(DECLARE)

#define LIST(name) &to_##name,
const struct exporter *const exporters[] = {EXPORTERS(LIST) NULL};

const struct exporter *export_find(const char *name)
{
    for (int i = 0; exporters[i]; i++)
        if (strcmp(exporters[i]->name, name) == 0) return exporters[i];
    return NULL;
}

const struct exporter *export_for_path(const char *path)
{
    for (int i = 0; exporters[i]; i++)
        if (str_ends_in_one_of(str_c(path), exporters[i]->extensions)) return exporters[i];
    return NULL;
}
