/* target.c: see target.h. Symbols are read from the memory of the process, not from files: what is
 * mapped may have been replaced on disk. Every address in it may be wrong; reading one that is
 * not there fails. */
#include "attach/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { MOST_MAPS = 1 << 17, MOST_CHAIN = 1 << 16, NAME_BYTES = 64 };

bool target_read(const struct target *t, uintptr_t at, void *ret, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(t->mem, (char *)ret + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

bool target_write(const struct target *t, uintptr_t at, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(t->mem, (const char *)data + done, n - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

static bool target_parse_map(char *line, struct target_map *m, uint64_t *offset)
{
    char perms[8];
    unsigned long long begin, end, at;
    int path = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &begin, &end, perms, &at, &path) != 4)
        return false;
    line[strcspn(line, "\n")] = 0;
    *m = (struct target_map){
        begin, end, perms[0] == 'r', perms[1] == 'w', perms[2] == 'x', path > 0 ? line + path : ""};
    *offset = at;
    return true;
}

/* Where the tables of its symbols are. */
static void target_read_elf(const struct target *t, struct target_module *m)
{
    Elf64_Ehdr h;
    if (!target_read(t, m->begin, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(Elf64_Phdr))
        return;
    uintptr_t dynamic = 0, lowest = UINTPTR_MAX;
    for (int i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        if (!target_read(t, m->begin + h.e_phoff + (size_t)i * sizeof p, &p, sizeof p)) return;
        if (p.p_type == PT_LOAD && p.p_vaddr < lowest) lowest = p.p_vaddr & ~(uintptr_t)4095;
        if (p.p_type == PT_DYNAMIC) dynamic = p.p_vaddr;
    }
    if (lowest == UINTPTR_MAX) return;
    m->is_elf = true;
    m->bias = m->begin - lowest;
    for (int i = 0; dynamic && i < 256; i++) {
        Elf64_Dyn d;
        if (!target_read(t, m->bias + dynamic + (size_t)i * sizeof d, &d, sizeof d)) return;
        uintptr_t at = d.d_un.d_ptr; /* the loader makes addresses of them, in most libraries */
        if (at < m->bias) at += m->bias;
        if (d.d_tag == DT_SYMTAB) m->symbols = at;
        else if (d.d_tag == DT_STRTAB) m->strings = at;
        else if (d.d_tag == DT_GNU_HASH) m->hash = at;
        else if (d.d_tag == DT_NULL) return;
    }
}

static int target_add_map(struct target *t, struct target_map m, uint64_t offset, struct err *e)
{
    if (t->n_maps >= MOST_MAPS)
        return FAIL(e, ERR_LIMIT, "process %ld has too many mappings", t->pid);
    if ((t->n_maps & (t->n_maps - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        size_t cap = t->n_maps ? 2 * t->n_maps : 1;
        struct target_map *maps = arena_alloc(t->arena, cap * sizeof *maps);
        struct target_module *modules = arena_alloc(t->arena, cap * sizeof *modules);
        if (!maps || !modules) return err_nomem(e);
        if (t->n_maps) memcpy(maps, t->maps, t->n_maps * sizeof *maps);
        if (t->n_modules) memcpy(modules, t->modules, t->n_modules * sizeof *modules);
        t->maps = maps;
        t->modules = modules;
    }
    m.path = arena_printf(t->arena, "%s", m.path);
    if (!m.path) return err_nomem(e);
    t->maps[t->n_maps++] = m;
    struct target_module *last = t->n_modules ? &t->modules[t->n_modules - 1] : NULL;
    if (m.path[0] != '/') return 0;
    if (last && offset && strcmp(last->path, m.path) == 0) last->end = m.end;
    else if (!offset)
        t->modules[t->n_modules++] =
            (struct target_module){m.path, m.begin, m.end, 0, 0, 0, 0, false};
    return 0;
}

int target_refresh(struct target *t, struct err *e)
{
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%ld/maps", t->pid);
    FILE *f = fopen(path, "re");
    if (!f) return FAIL(e, ERR_IO, "cannot look into process %ld: %s", t->pid, strerror(errno));
    t->n_maps = t->n_modules = 0;
    int rc = 0;
    while (rc == 0 && fgets(line, sizeof line, f)) {
        struct target_map m;
        uint64_t offset;
        if (target_parse_map(line, &m, &offset)) rc = target_add_map(t, m, offset, e);
    }
    fclose(f);
    for (size_t i = 0; rc == 0 && i < t->n_modules; i++) target_read_elf(t, &t->modules[i]);
    return rc;
}

int target_open(struct target *t, long pid, struct arena *arena, struct err *e)
{
    char path[64];
    *t = (struct target){.pid = pid, .mem = -1, .arena = arena};
    snprintf(path, sizeof path, "/proc/%ld/mem", pid);
    t->mem = fd_open(path, O_RDWR, 0);
    if (t->mem < 0)
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld cannot be looked into (%s): it keeps others from that (prctl "
                    "PR_SET_DUMPABLE, a program with more rights), or the system does",
                    pid, strerror(errno));
    return target_refresh(t, e);
}

void target_close(struct target *t)
{
    if (t->mem >= 0) close(t->mem);
    t->mem = -1;
}

const struct target_map *target_map_at(const struct target *t, uintptr_t at)
{
    for (size_t i = 0; i < t->n_maps; i++)
        if (at >= t->maps[i].begin && at < t->maps[i].end) return &t->maps[i];
    return NULL;
}

const struct target_module *target_module_at(const struct target *t, uintptr_t at)
{
    for (size_t i = 0; i < t->n_modules; i++)
        if (at >= t->modules[i].begin && at < t->modules[i].end) return &t->modules[i];
    return NULL;
}

const struct target_module *target_module_named(const struct target *t, const char *name)
{
    for (size_t i = 0; i < t->n_modules; i++) {
        const char *slash = strrchr(t->modules[i].path, '/');
        if (t->modules[i].is_elf && strncmp(slash + 1, name, strlen(name)) == 0)
            return &t->modules[i];
    }
    return NULL;
}

static uint32_t target_hash(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++) h = h * 33 + (unsigned char)*name;
    return h;
}

static bool target_is_named(const struct target *t, const struct target_module *m, uint32_t name,
                            const char *wanted)
{
    char text[NAME_BYTES];
    size_t n = strlen(wanted) + 1;
    return n <= sizeof text && target_read(t, m->strings + name, text, n) &&
           memcmp(text, wanted, n) == 0;
}

size_t target_functions(const struct target *t, const struct target_module *m, const char *name,
                        struct target_function *ret, size_t cap)
{
    struct {
        uint32_t n_buckets, first, n_bloom, shift;
    } head;
    uint32_t hash = target_hash(name), i = 0, h = 0;
    size_t n = 0;
    if (!m->hash || !m->symbols || !m->strings || !target_read(t, m->hash, &head, sizeof head) ||
        !head.n_buckets)
        return 0;
    uintptr_t buckets = m->hash + sizeof head + (uintptr_t)head.n_bloom * 8;
    uintptr_t chain = buckets + (uintptr_t)head.n_buckets * 4;
    if (!target_read(t, buckets + (uintptr_t)(hash % head.n_buckets) * 4, &i, sizeof i)) return 0;
    for (int k = 0; k < MOST_CHAIN && i >= head.first && n < cap && !(h & 1); k++, i++) {
        Elf64_Sym s;
        if (!target_read(t, chain + (uintptr_t)(i - head.first) * 4, &h, sizeof h)) return n;
        if ((h | 1) != (hash | 1) ||
            !target_read(t, m->symbols + (uintptr_t)i * sizeof s, &s, sizeof s) || !s.st_shndx ||
            ELF64_ST_TYPE(s.st_info) != STT_FUNC || !target_is_named(t, m, s.st_name, name))
            continue;
        ret[n++] = (struct target_function){m->bias + s.st_value, m->bias + s.st_value + s.st_size};
    }
    return n;
}

struct target_function target_function(const struct target *t, const char *name,
                                       const struct target_module **ret_module)
{
    struct target_function f = {0, 0};
    for (size_t i = 0; i < t->n_modules; i++)
        if (t->modules[i].is_elf && target_functions(t, &t->modules[i], name, &f, 1)) {
            if (ret_module) *ret_module = &t->modules[i];
            return f;
        }
    return f;
}
