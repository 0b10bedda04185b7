/* native_cfi.h: how to get from a function to its caller, by the tables that compilers leave for
 * exceptions (.eh_frame). They are read only inside the module they belong to, whatever they say;
 * what is not understood is left alone. x86-64 only: elsewhere there are frame pointers. */
#ifndef STRATA_BACKEND_NATIVE_CFI_H
#define STRATA_BACKEND_NATIVE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
