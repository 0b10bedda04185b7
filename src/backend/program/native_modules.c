/* native_modules.c: see native_modules.h. Tables of a module are read while the loader is kept from
 * unloading it. */
#include "backend/program/native_modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/ring.h"
#include "record/defs.h"

enum { MOST_MODULES = 512, MOST_SEGMENTS = 16, MOST_SECTIONS = 256 };

struct module {
    uintptr_t base, begin, end;
    char path[256];
    enum native_kind kind;
    bool has_lines, shown;
    uint32_t library;
};

static struct module modules[MOST_MODULES];
static int n_modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint_fast64_t epoch;
static const void *python; /* a function of the interpreter, if there is one */

/* One question, on its way through the loader's list. */
struct question {
    uintptr_t ip;
    struct native_place *ret;
};

/* Whether the file has .debug_line: an answer by the names of its sections. */
static bool reads_lines(int fd)
{
    Elf64_Ehdr h;
    Elf64_Shdr sections[MOST_SECTIONS];
    static char names[1 << 14];
    if (pread(fd, &h, sizeof h, 0) != sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_shentsize != sizeof *sections || !h.e_shnum || h.e_shnum > MOST_SECTIONS ||
        h.e_shstrndx >= h.e_shnum)
        return false;
    ssize_t size = (ssize_t)(h.e_shnum * sizeof *sections);
    if (pread(fd, sections, (size_t)size, (off_t)h.e_shoff) != size) return false;
    const Elf64_Shdr *s = &sections[h.e_shstrndx];
    ssize_t n = pread(fd, names, s->sh_size < sizeof names ? s->sh_size : sizeof names - 1,
                      (off_t)s->sh_offset);
    names[n > 0 ? n : 0] = 0;
    for (int i = 0; i < h.e_shnum && n > 0; i++)
        if (sections[i].sh_name < (size_t)n &&
            (strncmp(names + sections[i].sh_name, ".debug_line", 11) == 0 ||
             strcmp(names + sections[i].sh_name, ".zdebug_line") == 0))
            return true;
    return false;
}

static bool has_lines(const char *path)
{
    int fd = fd_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) return false;
    bool yes = reads_lines(fd);
    close(fd);
    return yes;
}

static bool native_modules_holds(const struct module *m, const void *address)
{
    return (uintptr_t)address >= m->begin && (uintptr_t)address < m->end;
}

static enum native_kind native_modules_kind_of(const struct module *m)
{
    static const char *const device[] = {"/libcuda.so", "/libcudart.so",    "/libcupti.so",
                                         "/libnvcuda",  "/libcudadebugger", "/libstrata_inject",
                                         "/libnvperf_"};
    const char *name = strrchr(m->path, '/');
    for (size_t i = 0; name && i < sizeof device / sizeof *device; i++)
        if (strncmp(name, device[i], strlen(device[i])) == 0) return NATIVE_DEVICE;
    if (python && native_modules_holds(m, python)) return NATIVE_PYTHON;
    /* Python's own modules, by which programs call others: not theirs either */
    bool bridge = strstr(m->path, "/lib-dynload/") || (name && strncmp(name, "/libffi", 7) == 0);
    return python && bridge ? NATIVE_DEVICE : NATIVE_PROGRAM;
}

/* The build id of a mapped module, as its notes have it; how many bytes. */
static uint32_t find_build_id(const struct dl_phdr_info *info, uint8_t out[DEF_BUILD_ID])
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE) continue;
        uintptr_t at = info->dlpi_addr + p->p_vaddr, end = at + p->p_memsz;
        while (end - at >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *n = (const void *)at;
            size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;
            if (name > end - at || desc > end - at - sizeof *n - name) break;
            const char *text = (const char *)(n + 1);
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(text, "GNU", 4) == 0 &&
                n->n_descsz <= DEF_BUILD_ID) {
                memcpy(out, text + name, n->n_descsz);
                return n->n_descsz;
            }
            at += sizeof *n + name + desc;
        }
    }
    return 0;
}

static uint32_t native_modules_define(const struct module *m, const struct dl_phdr_info *info)
{
    struct {
        struct def_library library;
        char path[sizeof m->path];
    } d = {.library = {.n_build_id = 0}};
    d.library.n_build_id = find_build_id(info, d.library.build_id);
    d.library.has_lines = m->has_lines;
    size_t n = strlen(m->path);
    memcpy(d.path, m->path, n);
    return defs_id(DEF_LIBRARY, str_from((const char *)&d, sizeof d.library + n));
}

static void native_modules_find_path(const struct dl_phdr_info *info, char *out, size_t cap)
{
    if (info->dlpi_name && *info->dlpi_name) {
        snprintf(out, cap, "%s", info->dlpi_name);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", out, cap - 1);
    out[n > 0 ? n : 0] = 0;
}

/* Of a library that was installed: what called it is of interest, not what it does. */
static bool is_package(const char *path)
{
    return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

/* With the lock held. NULL when there are too many. */
static const struct module *native_modules_know(const struct dl_phdr_info *info, uintptr_t begin,
                                                uintptr_t end)
{
    for (int i = 0; i < n_modules; i++)
        if (modules[i].base == info->dlpi_addr && modules[i].begin == begin) return &modules[i];
    if (n_modules == MOST_MODULES) return NULL;
    struct module *m = &modules[n_modules];
    *m = (struct module){.base = info->dlpi_addr, .begin = begin, .end = end};
    native_modules_find_path(info, m->path, sizeof m->path);
    m->kind = native_modules_kind_of(m);
    m->has_lines = m->kind == NATIVE_PROGRAM && has_lines(m->path);
    m->shown = m->kind == NATIVE_PROGRAM && (!python || (m->has_lines && !is_package(m->path)));
    m->library = m->shown ? native_modules_define(m, info) : 0;
    n_modules++;
    return m;
}

/* A library was unloaded: addresses may mean something else now. */
static void notice_unloading(unsigned long long n_unloaded)
{
    static unsigned long long last;
    if (n_unloaded == last) return;
    last = n_unloaded;
    n_modules = 0;
    atomic_fetch_add(&epoch, 1);
}

static int native_modules_look(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct question *q = ctx;
    struct native_segment segments[MOST_SEGMENTS];
    struct native_image image = {.segments = segments};
    uintptr_t begin = UINTPTR_MAX, end = 0;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        notice_unloading(info->dlpi_subs);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type == PT_GNU_EH_FRAME) image.index = from;
        if (p->p_type != PT_LOAD || image.n_segments == MOST_SEGMENTS) continue;
        if (p->p_flags & PF_R) segments[image.n_segments++] = (struct native_segment){from, to};
        if (from < begin) begin = from;
        if (to > end) end = to;
    }
    if (q->ip < begin || q->ip >= end) return 0;
    const struct module *m = native_modules_know(info, begin, end);
    if (!m) return 1;
    *q->ret = (struct native_place){
        .kind = m->kind, .shown = m->shown, .library = m->library, .base = m->base};
    q->ret->has_rule = image.index && native_cfi_find(&image, q->ip, &q->ret->rule);
    return 1;
}

/* The loader's locks are taken in one order only: nothing inside `look` may ask for a symbol. */
bool native_modules_find(uintptr_t ip, struct native_place *ret)
{
    struct question q = {.ip = ip, .ret = ret};
    *ret = (struct native_place){.kind = NATIVE_UNKNOWN};
    const void *interpreter = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    if (pthread_mutex_trylock(&lock) != 0) return false;
    python = interpreter;
    dl_iterate_phdr(native_modules_look, &q);
    pthread_mutex_unlock(&lock);
    return true;
}

uint64_t native_modules_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void native_modules_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    n_modules = 0;
    atomic_fetch_add(&epoch, 1);
}
