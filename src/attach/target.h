/* target.h: a process that was not prepared for it, seen from outside: whether it may be entered,
 * what is mapped in it, where its functions are. Nothing here stops or changes it. */
#ifndef STRATA_ATTACH_TARGET_H
#define STRATA_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct target_map {
    uintptr_t begin, end;
    bool readable, writable, executable;
    const char *path; /* "" for memory without a file */
};

/* A file that is mapped, from its first mapping to its last. */
struct target_module {
    const char *path;
    uintptr_t begin, end;
    uintptr_t bias;                   /* address = address in the file + this */
    uintptr_t symbols, strings, hash; /* addresses; 0 where it has none */
    bool is_elf;
};

struct target {
    long pid;
    int mem; /* /proc/PID/mem */
    struct arena *arena;
    struct target_map *maps;
    size_t n_maps;
    struct target_module *modules;
    size_t n_modules;
};

struct target_function {
    uintptr_t begin, end;
};

/* Why the process must not be entered, before anything of it is touched: it is another user's, in
 * another container, static, traced, stopped, fenced in, or made for another machine. */
int target_check(long pid, struct err *e) MUST_USE;

/* Reads what is mapped. `t` is usable with target_close in any case. */
int target_open(struct target *t, long pid, struct arena *arena, struct err *e) MUST_USE;
void target_close(struct target *t);

/* Reads the mappings again: threads have come since. */
int target_refresh(struct target *t, struct err *e) MUST_USE;

bool target_read(const struct target *t, uintptr_t at, void *ret, size_t n);
bool target_write(const struct target *t, uintptr_t at, const void *data, size_t n);

const struct target_map *target_map_at(const struct target *t, uintptr_t at);
const struct target_module *target_module_at(const struct target *t, uintptr_t at);

/* By the begin of its file's name ("libc.so"); NULL when none is mapped. */
const struct target_module *target_module_named(const struct target *t, const char *name);

/* All functions of that name that the module defines (versions); how many. */
size_t target_functions(const struct target *t, const struct target_module *m, const char *name,
                        struct target_function *ret, size_t cap);

/* The first that any module defines, in the order of the mappings; begin is 0 for none. */
struct target_function target_function(const struct target *t, const char *name,
                                       const struct target_module **ret_module);

#endif
