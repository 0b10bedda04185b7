/* native_modules.h: the libraries of this process that native frames lie in: what they are called,
 * what a frame in them means to a reader, and how to get from it to its caller. */
#ifndef STRATA_BACKEND_PROGRAM_NATIVE_MODULES_H
#define STRATA_BACKEND_PROGRAM_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* native_cfi.c: how to get from a function to its caller, by the tables that compilers leave for
 * exceptions (.eh_frame). They are read only inside the module they belong to, whatever they say;
 * what is not understood is left alone. x86-64 only: elsewhere there are frame pointers. */

/* Registers that a callee keeps, in the order of `saved`; DWARF's numbers are those of the ABI. */
enum native_register {
    NATIVE_BX,
    NATIVE_BP,
    NATIVE_R12,
    NATIVE_R13,
    NATIVE_R14,
    NATIVE_R15,
    NATIVE_IP,
    NATIVE_SAVED, /* how many */
    NATIVE_SP = NATIVE_SAVED,
    NATIVE_REGISTERS
};

/* The frame of the caller (CFA) is `base` + `offset`; saved registers lie so many words from it, 0
 * where they were not saved. */
struct native_rule {
    int32_t offset;
    uint8_t base; /* enum native_register */
    int8_t saved[NATIVE_SAVED];
};

/* What of a module may be read. */
struct native_image {
    const struct native_segment {
        uintptr_t begin, end;
    } * segments;
    size_t n_segments;
    uintptr_t index; /* .eh_frame_hdr */
};

bool native_cfi_find(const struct native_image *m, uintptr_t ip, struct native_rule *ret);

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
