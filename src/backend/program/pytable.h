/* pytable.h: raw frames to the numbers of stacks (DEF_FRAME in format/ring.h).
 *
 * Code objects and nodes seen before are found without a lock; new ones are read, named and
 * written under one. A code object may be freed and another take its address: an entry is believed
 * only while the object's pointers are those it was made from. */
#ifndef STRATA_BACKEND_PROGRAM_PYTABLE_H
#define STRATA_BACKEND_PROGRAM_PYTABLE_H

#include <string.h>

#include "backend/program/pylayout.h"

/* pycode.c: a code object by its address: whose function it is, and which line an instruction
 * belongs to. Everything is read through the kernel (pyread.h) and copied; only pycode_same, which
 * the walk of a running thread asks for every frame, reads directly. */

/* What tells code objects apart that have lived at one address, one after the other. */
struct pycode {
    uintptr_t file, name, lines; /* objects */
    int32_t first_line;
    uint32_t first;       /* offset of the first instruction that is the function's */
    uint64_t n_lines;     /* bytes of the line table */
    uint64_t lines_begin; /* the first of them */
};

enum { PYCODE_BYTES_SIZE = 16, PYCODE_BYTES_DATA = 32 }; /* of a bytes object, in all versions */

/* False if what is at `address` is not a code object. */
bool pycode_read(const struct pyapi *api, uintptr_t address, struct pycode *ret);

/* Whether the code object at `address`, which is alive, is still the one `c` was read from. */
static inline bool pycode_same(const struct pylayout *l, uintptr_t address, const struct pycode *c)
{
    const char *p = (const char *)address;
    return memcmp(p + l->code_file, &c->file, sizeof c->file) == 0 &&
           memcmp(p + l->code_name, &c->name, sizeof c->name) == 0 &&
           memcmp(p + l->code_lines, &c->lines, sizeof c->lines) == 0 &&
           memcmp(p + l->code_first_line, &c->first_line, sizeof c->first_line) == 0 &&
           memcmp((const char *)c->lines + PYCODE_BYTES_SIZE, &c->n_lines, sizeof c->n_lines) ==
               0 &&
           memcmp((const char *)c->lines + PYCODE_BYTES_DATA, &c->lines_begin,
                  sizeof c->lines_begin) == 0;
}

/* Whether a frame of this code at `offset` is a call of the function. One that has not come to the
 * function's first instruction does not count, neither here nor in a traceback: it is being set up,
 * or is the interpreter's own around an __init__ (3.13 on), which never gets there. */
static inline bool pycode_counts(const struct pycode *c, uint32_t offset)
{
    return offset >= c->first;
}

/* The line of the instruction at `offset`; 0 when it has none or the table cannot be read. */
int pycode_line(const struct pyapi *api, const struct pycode *c, uint32_t offset);

/* The text of a str as UTF-8, cut to fit and terminated; its length, 0 if it is not one. */
size_t pycode_text(const struct pyapi *api, uintptr_t str, char *out, size_t cap);

/* The line of `offset` by a line table of Python 3.`minor`. */
int pycode_find_line(int minor, const uint8_t *table, size_t n, int first_line, uint32_t offset);

/* pywalk.c: the raw frames of a thread: addresses, as they lie in the interpreter's memory.
 * pycode.c knows what they mean. */

#define PYWALK_DEEPEST 256 /* frames further out are left off */

struct pyframe {
    uintptr_t code;
    uintptr_t self;  /* the first local variable, which of a method is its object; 0 unread */
    uint32_t offset; /* of the instruction that runs, in bytes */
};

/* The frames of the calling thread, innermost first; how many there are. Reads them directly, so
 * the thread must be in a call, not in the middle of the interpreter's own work: never from a
 * signal handler. `tstate` is its own thread state. */
int pywalk_here(const struct pyapi *api, const void *tstate, struct pyframe *ret, int cap);

/* The same for any thread at any moment, through the kernel: what comes out may be wrong where the
 * thread was moving, but nothing can crash; 0 where that shows. `memo` is where the frames were
 * last time: they lie close together, and those places are read in one go. */
enum { PYWALK_REGIONS = 16, PYWALK_REGION_BYTES = 16384, PYWALK_CODES = 512 };

struct pywalk_memo {
    uintptr_t outermost; /* the frame that ended the last walk; 0 when it did not get there */
    uintptr_t holder;    /* of the pointer to the innermost frame, 0 at first */
    int n;
    struct pywalk_region {
        uintptr_t begin, end;
    } at[PYWALK_REGIONS];
    uintptr_t pointers[2];           /* what is there now, one after the other */
    char bytes[PYWALK_REGION_BYTES]; /* of the regions */
    uintptr_t codes[PYWALK_CODES];   /* code objects seen, by address */
};
int pywalk_any(const struct pyapi *api, uintptr_t tstate, struct pywalk_memo *memo,
               struct pyframe *ret, int cap);

/* The stack a thread had last, outermost first: most of it is still there next time. */
struct pytable_memo {
    int n;
    struct {
        struct pyframe frame;
        const struct pytable_code *code;
        uint32_t node;
    } at[PYWALK_DEEPEST];
};

/* Before the first use, by those who have locks of their own and call this while they hold one. */
void pytable_prepare(void);

/* The number of the stack `frames`, innermost first; 0 when there is none. `alive` says that the
 * frames are the calling thread's own and do not change, so that their code objects may be examined
 * directly. Not in a signal handler. */
uint32_t pytable_find(const struct pyapi *api, struct pytable_memo *memo,
                      const struct pyframe *frames, int n, bool alive);

#endif
