/* backends.c: the one list of backends. */
#include <string.h>

#include "backend/cuda/cuda.h"

const struct backend *const backends[] = {&backend_cuda, NULL};

const struct backend *backend_find(const char *name)
{
    for (int i = 0; backends[i]; i++)
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}
