/* native_modules.h: the libraries of this process that native frames lie in: what they are called,
 * what a frame in them means to a reader, and how to get from it to its caller. */
#ifndef STRATA_BACKEND_NATIVE_MODULES_H
#define STRATA_BACKEND_NATIVE_MODULES_H

#include "backend/program/native_cfi.h"

enum native_kind {
    NATIVE_UNKNOWN, /* no module has it: code that was made at run time */
    NATIVE_PROGRAM, /* the program and its libraries */
    NATIVE_DEVICE,  /* ours, CUPTI's and CUDA's, and ctypes: the way of a call, not who called */
    NATIVE_PYTHON,  /* the interpreter: its own frames are known better */
};

struct native_place {
    enum native_kind kind;
    bool shown; /* frames of it say something: it is in no package, and in a process with Python its
                   file has line tables */
    bool has_rule;
    uint32_t library; /* DEF_LIBRARY */
    uintptr_t base;   /* address in the file = address - this */
    struct native_rule rule;
};

/* Where `ip` lies; false when another thread is just asking. Microseconds; callers remember the
 * answer until native_modules_epoch changes, which it does when a library was unloaded. */
bool native_modules_find(uintptr_t ip, struct native_place *ret);
uint64_t native_modules_epoch(void);

/* A forked child has none of the definitions that its parent made. */
void native_modules_forget(void);

#endif
