/* ring_cframes.c: see ring_process.h. */
#include "import/ring/ring_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/xxh64.h"
#include "import/ring/symbols.h"

/* Files that are looked into; a program maps fewer. Addresses in others are shown as such. */
enum { MOST_LIBRARIES = 1000 };

/* By definition id. */
struct native {
    struct defs_file *defs;
    struct arena *mem;
    struct symbol *symbols; /* of addresses */
    uint32_t *code;         /* of addresses: the first one in the same function */
    uint32_t *least_line;   /* of those: the first line that is known of the function */
    uint8_t *python;        /* of frames: there is Python further out */
};

static bool address_at(const struct defs_file *defs, uint32_t id, struct def_address *ret)
{
    struct str bytes = defs_file_get(defs, id, DEF_ADDRESS, sizeof *ret);
    if (bytes.p) memcpy(ret, bytes.p, sizeof *ret);
    return bytes.p != NULL;
}

static bool ring_cframes_frame_at(const struct defs_file *defs, uint32_t id, struct def_frame *ret)
{
    struct str bytes = defs_file_get(defs, id, DEF_FRAME, sizeof *ret);
    if (bytes.p) memcpy(ret, bytes.p, sizeof *ret);
    return bytes.p != NULL;
}

/* The addresses in one library, looked up together. */
static int ring_cframes_find_library(struct native *x, struct str bytes, const uint32_t *ids,
                                     uint32_t n)
{
    struct def_library l;
    struct def_address a;
    memcpy(&l, bytes.p, sizeof l);
    uint64_t *addresses = arena_alloc(x->mem, n * sizeof *addresses);
    struct symbol *found = arena_zalloc(x->mem, n, sizeof *found);
    char *path = arena_strdup(x->mem, str_from(bytes.p + sizeof l, bytes.n - sizeof l));
    if (!addresses || !found || !path) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) addresses[i] = address_at(x->defs, ids[i], &a) ? a.address : 0;
    struct symbol_file f = {path, l.build_id, l.n_build_id <= DEF_BUILD_ID ? l.n_build_id : 0};
    TRY(symbols_find(&f, addresses, n, x->mem, found));
    for (uint32_t i = 0; i < n; i++) x->symbols[ids[i]] = found[i];
    return 0;
}

/* Addresses by library: those in library l end at `end[l]` of `ids`, where those of l + 1 begin. */
static int sort_addresses(const struct native *x, uint32_t **ret_ids, uint32_t **ret_end)
{
    uint32_t n = x->defs->n;
    uint32_t *ids = arena_alloc(x->mem, n * sizeof *ids);
    uint32_t *end = arena_zalloc(x->mem, (size_t)n + 1, sizeof *end);
    struct def_address a;
    if (!ids || !end) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (address_at(x->defs, i, &a) && a.library < n) end[a.library + 1]++;
    for (uint32_t l = 0; l < n; l++) end[l + 1] += end[l];
    for (uint32_t i = 0; i < n; i++)
        if (address_at(x->defs, i, &a) && a.library < n) ids[end[a.library]++] = i;
    *ret_ids = ids;
    *ret_end = end;
    return 0;
}

static int ring_cframes_find_symbols(struct native *x)
{
    uint32_t *ids, *end, n_libraries = 0;
    TRY(sort_addresses(x, &ids, &end));
    for (uint32_t l = 0; l < x->defs->n && n_libraries < MOST_LIBRARIES; l++) {
        uint32_t first = l ? end[l - 1] : 0;
        struct str bytes = defs_file_get(x->defs, l, DEF_LIBRARY, sizeof(struct def_library));
        if (!bytes.p || first == end[l]) continue;
        TRY(ring_cframes_find_library(x, bytes, ids + first, end[l] - first));
        n_libraries++;
    }
    return 0;
}

/* Addresses in one function share the code of the first. */
static int ring_cframes_unite(struct native *x)
{
    struct map seen;
    struct def_address a;
    map_init(&seen);
    int rc = 0;
    for (uint32_t i = 0; i < x->defs->n && rc == 0; i++) {
        const struct symbol *s = &x->symbols[i];
        x->code[i] = i;
        if (!address_at(x->defs, i, &a)) continue;
        if (!s->function) continue;
        uint64_t key = xxh64(s->function, strlen(s->function)) + a.library;
        if (s->file) key ^= map_mix(xxh64(s->file, strlen(s->file)));
        uint32_t *slot = map_at(&seen, key);
        if (!slot) rc = ERR_NOMEM;
        else if (*slot == MAP_NONE) *slot = i;
        else x->code[i] = *slot;
        uint32_t first = x->code[i];
        if (!x->least_line[first] || s->line < x->least_line[first]) x->least_line[first] = s->line;
    }
    map_done(&seen);
    return rc;
}

static struct str library_name(const struct native *x, uint32_t id)
{
    struct def_library l;
    struct str bytes = defs_file_get(x->defs, id, DEF_LIBRARY, sizeof l);
    if (!bytes.p) return str_c("?");
    struct str path = str_from(bytes.p + sizeof l, bytes.n - sizeof l);
    for (size_t i = path.n; i-- > 0;)
        if (path.p[i] == '/') return str_from(path.p + i + 1, path.n - i - 1);
    return path;
}

static int name_address(struct native *x, uint32_t id, const struct def_address *a)
{
    const struct symbol *s = &x->symbols[id];
    struct str lib = library_name(x, a->library);
    const char *text;
    if (s->file)
        text = arena_printf(x->mem, "%s(%" PRIu32 "): %s", s->file, x->least_line[x->code[id]],
                            s->function ? s->function : "?");
    else if (s->function)
        text = arena_printf(x->mem, "%.*s(0): %s", (int)lib.n, lib.p, s->function);
    else text = arena_printf(x->mem, "%.*s+0x%" PRIx64 "(0): ?", (int)lib.n, lib.p, a->address);
    if (!text) return ERR_NOMEM;
    x->defs->entries[id] = (struct defs_entry){DEF_CODE, str_c(text)};
    return 0;
}

/* The CUDA runtime, which programs have linked in, and what the C library does around main. */
static bool ring_cframes_says_nothing(const struct native *x, uint32_t id,
                                      const struct def_address *a)
{
    static const char *const functions[] = {"cuda",   "__cuda",       "libcudart_static", "cudart",
                                            "_start", "__libc_start", "start_thread",     "clone"};
    static const char *const libraries[] = {"libc.so", "libc-", "ld-linux", "libpthread"};
    const struct symbol *s = &x->symbols[id];
    struct str lib = library_name(x, a->library);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (str_starts(lib, libraries[i])) return true;
    if (s->file) return symbol_hands_on(s->file);
    for (size_t i = 0; s->function && i < sizeof functions / sizeof *functions; i++)
        if (strncmp(s->function, functions[i], strlen(functions[i])) == 0) return true;
    return false;
}

static int ring_cframes_name_frame(struct native *x, uint32_t id, const uint8_t *hidden)
{
    struct def_frame f;
    if (!ring_cframes_frame_at(x->defs, id, &f)) return 0;
    bool inside = f.parent < id && f.parent;
    bool native = f.code < x->defs->n && x->defs->entries[f.code].type == DEF_ADDRESS;
    x->python[id] = inside ? x->python[f.parent] : !native;
    if (!native) return 0;
    if (hidden[f.code] || (x->python[id] && !x->symbols[f.code].file)) {
        x->defs->entries[id] = inside ? x->defs->entries[f.parent] : (struct defs_entry){0};
        return 0;
    }
    struct def_frame *named = arena_alloc(x->mem, sizeof *named);
    if (!named) return ERR_NOMEM;
    *named = (struct def_frame){f.parent, x->code[f.code], 0, x->symbols[f.code].line};
    x->defs->entries[id].bytes = str_from((const char *)named, sizeof *named);
    return 0;
}

static int name_all(struct native *x)
{
    uint32_t n = x->defs->n;
    struct def_address a;
    uint8_t *hidden = arena_zalloc(x->mem, n, sizeof *hidden);
    if (!hidden) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (address_at(x->defs, i, &a)) hidden[i] = ring_cframes_says_nothing(x, i, &a);
    for (uint32_t i = 0; i < n; i++) TRY(ring_cframes_name_frame(x, i, hidden));
    for (uint32_t i = 0; i < n; i++)
        if (address_at(x->defs, i, &a)) TRY(name_address(x, i, &a));
    return 0;
}

static bool has_addresses(const struct defs_file *defs)
{
    for (uint32_t i = 0; i < defs->n; i++)
        if (defs->entries[i].type == DEF_ADDRESS) return true;
    return false;
}

int ring_cframes_resolve(struct ring_process *p, struct arena *mem)
{
    if (!has_addresses(&p->defs)) return 0;
    struct native x = {.defs = &p->defs, .mem = mem};
    x.symbols = arena_zalloc(mem, p->defs.n, sizeof *x.symbols);
    x.code = arena_zalloc(mem, p->defs.n, sizeof *x.code);
    x.least_line = arena_zalloc(mem, p->defs.n, sizeof *x.least_line);
    x.python = arena_zalloc(mem, p->defs.n, sizeof *x.python);
    if (!x.symbols || !x.code || !x.least_line || !x.python) return ERR_NOMEM;
    TRY(ring_cframes_find_symbols(&x));
    TRY(ring_cframes_unite(&x));
    return name_all(&x);
}
