/* autostart.c: starts recording when the library is loaded into a program whose environment asks
 * for it. Not part of the Python extension, which decides for itself. */
#include <stdlib.h>
#include <strings.h>

#include "strata/strata.h"

/* Only words that clearly mean yes: a program must not begin to write files by mistake. */
static int asked_for(void)
{
    static const char *const yes[] = {"on", "1", "true", "yes", "stages", "timeline"};
    const char *value = getenv("STRATA");
    for (size_t i = 0; value && i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(value, yes[i]) == 0) return 1;
    return 0;
}

__attribute__((constructor)) static void autostart(void)
{
    if (asked_for()) (void)strata_start(NULL);
}
