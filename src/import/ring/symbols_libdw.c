/* symbols_libdw.c: see symbols.h. Declares what it uses of <elfutils/libdwfl.h>, whose
 * interface has been the same since 2005. */
#include "import/ring/symbols.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A DIE, which belongs to the caller; and where libdwfl is to look. */
struct die {
    void *addr, *cu, *abbrev;
    long pad;
};

struct callbacks {
    void *find_elf, *find_debuginfo, *section_address;
    char **debuginfo_path;
};

enum { TAG_INLINED = 0x1d, TAG_SUBPROGRAM = 0x2e };

struct libdw {
    void *library;
    void *(*begin)(const struct callbacks *);
    void (*end)(void *dwfl);
    void *(*report_offline)(void *dwfl, const char *name, const char *path, int fd);
    int (*report_end)(void *dwfl, void *removed, void *arg);
    void *(*getelf)(void *module, uint64_t *bias);
    const char *(*addrname)(void *module, uint64_t address);
    void *(*getsrc)(void *module, uint64_t address);
    const char *(*lineinfo)(void *line, uint64_t *address, int *ret_line, int *column,
                            uint64_t *mtime, uint64_t *length);
    struct die *(*addrdie)(void *module, uint64_t address, uint64_t *bias);
    int (*getscopes)(struct die *unit, uint64_t pc, struct die **scopes);
    int (*tag)(struct die *);
    const char *(*diename)(struct die *);
    void *find_elf, *find_debuginfo, *section_address;
};

static bool symbols_libdw_find(const struct libdw *d, const char *name, void *function)
{
    void *p = dlsym(d->library, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

/* LeakSanitizer ends a program that has it mapped: it stumbles over what libdw keeps per thread. */
#if defined(__SANITIZE_ADDRESS__)
#define LIBDW "libdw.so.none"
#else
#define LIBDW "libdw.so.1"
#endif

static bool symbols_libdw_load(struct libdw *d)
{
    *d = (struct libdw){.library = dlopen(LIBDW, RTLD_LAZY | RTLD_LOCAL)};
    return d->library && symbols_libdw_find(d, "dwfl_begin", &d->begin) &&
           symbols_libdw_find(d, "dwfl_end", &d->end) &&
           symbols_libdw_find(d, "dwfl_report_offline", &d->report_offline) &&
           symbols_libdw_find(d, "dwfl_report_end", &d->report_end) &&
           symbols_libdw_find(d, "dwfl_module_getelf", &d->getelf) &&
           symbols_libdw_find(d, "dwfl_module_addrname", &d->addrname) &&
           symbols_libdw_find(d, "dwfl_module_getsrc", &d->getsrc) &&
           symbols_libdw_find(d, "dwfl_lineinfo", &d->lineinfo) &&
           symbols_libdw_find(d, "dwfl_module_addrdie", &d->addrdie) &&
           symbols_libdw_find(d, "dwarf_getscopes", &d->getscopes) &&
           symbols_libdw_find(d, "dwarf_tag", &d->tag) &&
           symbols_libdw_find(d, "dwarf_diename", &d->diename) &&
           symbols_libdw_find(d, "dwfl_build_id_find_elf", &d->find_elf) &&
           symbols_libdw_find(d, "dwfl_standard_find_debuginfo", &d->find_debuginfo) &&
           symbols_libdw_find(d, "dwfl_offline_section_address", &d->section_address);
}

static const char *symbols_libdw_keep(struct arena *mem, const char *text, int *rc)
{
    const char *copy = arena_strdup(mem, str_c(text));
    if (!copy) *rc = ERR_NOMEM;
    return copy;
}

/* The innermost function whose code was put there, also by inlining. */
static const char *symbols_libdw_function_of(const struct libdw *d, void *module, uint64_t address,
                                             struct arena *mem, int *rc)
{
    uint64_t bias = 0;
    struct die *unit = d->addrdie(module, address, &bias), *scopes = NULL;
    int n = unit ? d->getscopes(unit, address - bias, &scopes) : 0;
    const char *name = NULL;
    for (int i = 0; i < n && !name; i++) {
        int tag = d->tag(&scopes[i]);
        if (tag == TAG_INLINED || tag == TAG_SUBPROGRAM) name = d->diename(&scopes[i]);
    }
    if (!name) name = d->addrname(module, address);
    name = name ? symbols_libdw_keep(mem, name, rc) : NULL;
    if (n > 0) free(scopes); /* allowed: libdw took it from malloc */
    return name;
}

static int find_one(const struct libdw *d, void *module, uint64_t address, struct arena *mem,
                    struct symbol *ret)
{
    int rc = 0, line = 0;
    void *source = d->getsrc(module, address);
    const char *file = source ? d->lineinfo(source, NULL, &line, NULL, NULL, NULL) : NULL;
    ret->function = symbols_libdw_function_of(d, module, address, mem, &rc);
    if (file && line > 0) {
        ret->file = symbols_libdw_keep(mem, file, &rc);
        ret->line = (uint32_t)line;
    }
    return rc;
}

int symbols_libdw(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                  struct symbol *ret, bool *ret_known)
{
    struct libdw d;
    *ret_known = false;
    if (!symbols_libdw_load(&d)) return 0;
    char *no_path = NULL;
    struct callbacks c = {d.find_elf, d.find_debuginfo, d.section_address, &no_path};
    void *dwfl = d.begin(&c);
    void *module = dwfl ? d.report_offline(dwfl, path, path, -1) : NULL;
    if (dwfl) (void)d.report_end(dwfl, NULL, NULL);
    uint64_t bias = 0;
    int rc = 0;
    *ret_known = module && d.getelf(module, &bias);
    for (size_t i = 0; i < n && *ret_known && rc == 0; i++)
        rc = find_one(&d, module, addresses[i] + bias, mem, &ret[i]);
    if (dwfl) d.end(dwfl);
    return rc; /* the library stays: what it keeps per thread cannot be unloaded with it */
}
