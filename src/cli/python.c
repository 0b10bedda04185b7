/* python.c: see python.h. The package comes with a sitecustomize that Python loads first; it adds
 * the package to the path and then loads the program's own. */
#include "cli/python.h"

#include <stdlib.h>

#include "cli/places.h"

bool python_prepare(struct arena *mem)
{
    const char *self = places_self(mem), *package = places_package(mem);
    if (!self || !package) return false;
    setenv("STRATA_BIN", self, 1);
    const char *old = getenv("PYTHONPATH");
    const char *path =
        arena_printf(mem, "%s/strata/_inject%s%s", package, old && *old ? ":" : "", old ? old : "");
    if (path) setenv("PYTHONPATH", path, 1);
    return path != NULL;
}
