/* demangle.c: see demangle.h. */
#include "base/demangle.h"

#include <dlfcn.h>

#include "base/mem.h"

#define LONGEST 2048 /* longer names are left alone: their readable form may be of any size */

void demangler_init(struct demangler *d)
{
    *d = (struct demangler){0};
}

void demangler_done(struct demangler *d)
{
    if (d->library) dlclose(d->library);
    *d = (struct demangler){0};
}

static void demangle_load(struct demangler *d)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    d->tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && !d->fn; i++) {
        if (d->library) dlclose(d->library);
        d->library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = d->library ? dlsym(d->library, "__cxa_demangle") : NULL;
        memcpy(&d->fn, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
    }
}

bool demangle(struct demangler *d, struct str name, struct buf *out)
{
    if (!str_starts(name, "_Z") || name.n > LONGEST) return false;
    if (!d->tried) demangle_load(d);
    if (!d->fn) return false;
    char copy[LONGEST + 1];
    memcpy(copy, name.p, name.n);
    copy[name.n] = '\0';
    int status = 0;
    char *text = d->fn(copy, NULL, NULL, &status);
    bool ok = text && status == 0;
    if (ok) buf_adds(out, text);
    mem_free(text); /* malloc made it: mem_free is free */
    return ok;
}
