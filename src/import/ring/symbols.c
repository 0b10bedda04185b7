/* symbols.c: see symbols.h. */
#include "import/ring/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/file.h"

/* The build id in a file's notes, compared with the one that was recorded. */
static bool note_is(const char *p, uint64_t n, const struct symbol_file *f)
{
    for (uint64_t at = 0; n - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr h;
        memcpy(&h, p + at, sizeof h);
        uint64_t name = ((uint64_t)h.n_namesz + 3) & ~(uint64_t)3;
        uint64_t desc = ((uint64_t)h.n_descsz + 3) & ~(uint64_t)3;
        if (name + desc > n - at - sizeof h) return false;
        const char *text = p + at + sizeof h;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(text, "GNU", 4) == 0)
            return h.n_descsz == f->n_build_id && memcmp(text + name, f->build_id, h.n_descsz) == 0;
        at += sizeof h + name + desc;
        if (n < at) return false;
    }
    return false;
}

static bool has_build_id(const struct file_map *m, const struct symbol_file *f)
{
    Elf64_Ehdr h;
    if (m->n < sizeof h) return false;
    memcpy(&h, m->p, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64) return false;
    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        uint64_t at = h.e_phoff + (uint64_t)i * sizeof p;
        if (h.e_phentsize != sizeof p || at > m->n || m->n - at < sizeof p) return false;
        memcpy(&p, m->p + at, sizeof p);
        if (p.p_type != PT_NOTE || p.p_offset > m->n || p.p_filesz > m->n - p.p_offset) continue;
        if (note_is(m->p + p.p_offset, p.p_filesz, f)) return true;
    }
    return false;
}

/* Whether the file is still the one that was recorded. Without a build id its owner decides. */
static bool symbols_is_same(const struct symbol_file *f)
{
    struct stat st;
    struct file_map m;
    if (f->path[0] != '/' || stat(f->path, &st) < 0 || !S_ISREG(st.st_mode)) return false;
    if (!f->n_build_id) return st.st_uid == 0 || st.st_uid == geteuid();
    if (file_map_found(&m, f->path, NULL) < 0) return false;
    bool same = has_build_id(&m, f);
    file_unmap(&m);
    return same;
}

/* Without its parameters: "ns::f<int>(float*, int)" is ns::f<int>. */
static void drop_parameters(struct buf *b)
{
    struct str s = buf_str(b);
    int depth = 0;
    for (size_t i = s.n; i-- > 0;) {
        if (s.p[i] == ')') depth++;
        if (s.p[i] == '(' && --depth == 0 && i > 0) {
            b->n = i;
            b->p[i] = 0;
            return;
        }
        if (depth < 0) return;
    }
}

static int make_readable(struct symbol *s, size_t n, struct arena *mem)
{
    struct demangler d;
    struct buf b;
    int rc = 0;
    demangler_init(&d);
    buf_init(&b);
    for (size_t i = 0; i < n && rc == 0; i++) {
        buf_reset(&b);
        if (!s[i].function || !demangle(&d, str_c(s[i].function), &b)) continue;
        drop_parameters(&b);
        s[i].function = arena_strdup(mem, buf_str(&b));
        if (!s[i].function) rc = ERR_NOMEM;
    }
    buf_done(&b);
    demangler_done(&d);
    return rc;
}

int symbols_find(const struct symbol_file *f, const uint64_t *addresses, size_t n,
                 struct arena *mem, struct symbol *ret)
{
    memset(ret, 0, n * sizeof *ret);
    const char *native = getenv("STRATA_NATIVE");
    if (!n || (native && strcmp(native, "off") == 0) || !symbols_is_same(f)) return 0;
    const char *debuginfod = getenv("STRATA_TEST_DEBUGINFOD");
    if (!debuginfod || strcmp(debuginfod, "on") != 0) unsetenv("DEBUGINFOD_URLS");
    bool known = false;
    int rc = symbols_libdw(f->path, addresses, n, mem, ret, &known);
    if (rc == 0 && !known) rc = symbols_addr2line(f->path, addresses, n, mem, ret);
    return rc == 0 ? make_readable(ret, n, mem) : rc;
}
