/* test_native_frames.c: native frames: how to get to a caller, from tables that are sound, cut and
 * broken; the walk through functions of all kinds; and what stands at an address. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "backend/program/native_modules.h"
#include "backend/program/native_stack.h"
#include "base/file.h"
#include "base/mem.h"
#include "import/ring/defs_file.h"
#include "import/ring/ring_process.h"
#include "import/ring/symbols.h"
#include "record/defs.h"
#include "record/recorder.h"
#include "recording.h"

/* This program's own tables: the segment that holds them, and where its code is. */
struct tables {
    uintptr_t base, begin, end, index, code_begin, code_end;
};

static int find_tables(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct tables *t = ctx;
    (void)size;
    t->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            t->index = t->base + info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = t->base + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type != PT_LOAD) continue;
        if (t->index >= from && t->index < to) t->begin = from, t->end = to;
        if (p->p_flags & PF_X) t->code_begin = from, t->code_end = to;
    }
    return 1; /* the program itself is the first */
}

static struct tables own_tables(void)
{
    struct tables t = {0};
    dl_iterate_phdr(find_tables, &t);
    return t;
}

#if defined(__x86_64__)
TEST(rules_are_found_for_code)
{
    struct tables t = own_tables();
    struct native_segment all = {t.begin, t.end};
    struct native_image m = {&all, 1, t.index};
    struct native_rule rule;
    int found = 0, asked = 0;
    for (uintptr_t ip = t.code_begin; ip < t.code_end; ip += 97, asked++) {
        if (!native_cfi_find(&m, ip, &rule)) continue;
        found++;
        CHECK_EQ_INT(rule.saved[NATIVE_IP], -1); /* where a call puts it */
        CHECK(rule.base == NATIVE_SP || rule.base == NATIVE_BP || rule.base <= NATIVE_R15);
    }
    CHECK(found * 10 > asked * 8);
    CHECK(!native_cfi_find(&m, 1, &rule) && !native_cfi_find(&m, UINTPTR_MAX, &rule));
}

/* The segment also holds variables, between which a sanitizer allows nobody to read. */
__attribute__((no_sanitize("address"))) static void copy_bytes(unsigned char *to, uintptr_t from,
                                                               size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = ((const volatile unsigned char *)from)[i];
}

/* A copy of the tables, which a sanitizer guards, cut and overwritten. Addresses in them are
 * relative, so the code of a copy is as far from it. */
TEST(broken_tables_are_survived)
{
    struct tables t = own_tables();
    size_t n = t.end - t.begin;
    uint64_t random = 88172645463325252u;
    int n_same = 0, n_asked = 0;
    struct native_segment own = {t.begin, t.end};
    struct native_image whole = {&own, 1, t.index};
    struct native_rule rule, sound;
    for (int round = 0; round < 60; round++) {
        size_t kept = round % 3 ? n : n * (size_t)(round + 1) / 61;
        unsigned char *copy = mem_alloc(kept ? kept : 1);
        copy_bytes(copy, t.begin, kept);
        uintptr_t shift = (uintptr_t)copy - t.begin;
        struct native_segment all = {(uintptr_t)copy, (uintptr_t)copy + kept};
        struct native_image m = {&all, 1, t.index + shift};
        for (int i = 40; i < round * 40 && kept; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % kept] = (unsigned char)(random >> 40);
        }
        for (uintptr_t ip = t.code_begin; ip < t.code_end; ip += 1009) {
            bool found = native_cfi_find(&m, ip + shift, &rule);
            if (round != 1) continue; /* all of it, and nothing wrong */
            bool is = native_cfi_find(&whole, ip, &sound);
            n_same += found == is && (!is || memcmp(&rule, &sound, sizeof rule) == 0);
            n_asked++;
        }
        mem_free(copy);
    }
    CHECK(n_asked > 0);
    CHECK_EQ_INT(n_same, n_asked);
}
#endif

/* Functions that keep their caller in different ways. */
static uint32_t seen;

__attribute__((noinline)) static void innermost(void)
{
    seen = native_stack_on(0);
    __asm__ volatile("");
}

__attribute__((noinline)) static void with_much_room(size_t n)
{
    char *room = __builtin_alloca(n);
    memset(room, 1, n);
    __asm__ volatile("" : : "r"(room) : "memory");
    innermost();
    __asm__ volatile("");
}

__attribute__((noinline)) static int recursive(int depth)
{
    if (depth == 0) with_much_room((size_t)depth + 600);
    else recursive(depth - 1);
    __asm__ volatile("");
    return depth;
}

static void *on_a_thread(void *unused)
{
    recursive(3);
    return unused;
}

static void record_natively(const char *dir)
{
    struct recorder_options o = {.where.dir = dir, .os_clock = true};
    if (recorder_start(&o, NULL) < 0 || recorder_open(NULL) < 0) abort();
    uint32_t first = 0;
    for (int i = 0; i < 3; i++) {
        recursive(4);
        CHECK(seen != 0 && (!first || seen == first));
        first = seen;
    }
    pthread_t t;
    if (pthread_create(&t, NULL, on_a_thread, NULL)) abort();
    pthread_join(t, NULL);
    CHECK(seen != first && seen != 0);
}

static int names_on_stack(const struct defs_file *f, uint32_t id, char *out, size_t cap)
{
    int n = 0;
    out[0] = 0;
    for (struct def_frame x; id; id = x.parent, n++) {
        struct str bytes = defs_file_get(f, id, DEF_FRAME, sizeof x);
        if (!bytes.p) break;
        memcpy(&x, bytes.p, sizeof x);
        struct str code = defs_file_get(f, x.code, DEF_CODE, 1);
        size_t used = strlen(out);
        snprintf(out + used, cap - used, "%.*s|", (int)code.n, code.p);
    }
    return n;
}

TEST(a_walk_through_our_own_functions)
{
    struct folder f = folder_new();
    char path[512], names[4096];
    CHECK_EQ_INT(in_child(record_natively, f.path), 0);
    REQUIRE(folder_count(&f, ".defs", path) == 1);
    struct ring_process p = {0};
    REQUIRE(defs_file_open(&p.defs, path, NULL) == 0);
    struct arena mem;
    arena_init(&mem);
    CHECK_EQ_INT(ring_cframes_resolve(&p, &mem), 0);
    uint32_t last = 0;
    for (uint32_t i = 0; i < p.defs.n; i++)
        if (p.defs.entries[i].type == DEF_FRAME) last = i;
    int n = names_on_stack(&p.defs, last, names, sizeof names);
    CHECK(n >= 4);
    CHECK(strstr(names, "innermost") != NULL);
    CHECK(strstr(names, "with_much_room") != NULL);
    CHECK(strstr(names, "recursive") != NULL);
    CHECK(strstr(names, "on_a_thread") != NULL);
    CHECK(strstr(names, "start_thread") == NULL);
    CHECK(strstr(names, "native_stack_on") == NULL || strstr(names, "innermost") != NULL);
    arena_done(&mem);
    defs_file_close(&p.defs);
    folder_done(&f);
}

static int line_here;
__attribute__((noinline)) static uintptr_t address_here(void)
{
    line_here = __LINE__ + 1;
    return (uintptr_t)__builtin_return_address(0);
}

TEST(addresses_get_their_names)
{
    uint64_t address = address_here() - 1 - own_tables().base;
    char self[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    REQUIRE(n > 0);
    self[n] = 0;
    struct arena mem;
    struct symbol by_libdw = {0}, by_addr2line = {0};
    bool known = false;
    arena_init(&mem);
    CHECK_EQ_INT(symbols_libdw(self, &address, 1, &mem, &by_libdw, &known), 0);
    CHECK_EQ_INT(symbols_addr2line(self, &address, 1, &mem, &by_addr2line), 0);
    const struct symbol *both[] = {known ? &by_libdw : &by_addr2line, &by_addr2line};
    for (int i = 0; i < 2; i++) {
        if (!both[i]->function) continue; /* neither is installed */
        CHECK(strstr(both[i]->function, "addresses_get_their_names") != NULL);
        CHECK(both[i]->file && strstr(both[i]->file, "test_native_frames.c") != NULL);
        CHECK(both[i]->line > (uint32_t)line_here);
    }
    /* a file that is gone, one that is another now, and one that is not to be looked into */
    struct symbol none[1];
    uint8_t id[4] = {1, 2, 3, 4};
    struct symbol_file gone = {"/nowhere/at/all", id, 0}, other = {self, id, sizeof id};
    CHECK_EQ_INT(symbols_find(&gone, &address, 1, &mem, none), 0);
    CHECK(!none[0].function && !none[0].file);
    CHECK_EQ_INT(symbols_find(&other, &address, 1, &mem, none), 0);
    CHECK(!none[0].function && !none[0].file);
    struct symbol_file own = {self, id, 0};
    REQUIRE(setenv("STRATA_NATIVE", "off", 1) == 0);
    CHECK_EQ_INT(symbols_find(&own, &address, 1, &mem, none), 0);
    CHECK(!none[0].function && !none[0].file);
    unsetenv("STRATA_NATIVE");
    arena_done(&mem);
}

TEST_MAIN
