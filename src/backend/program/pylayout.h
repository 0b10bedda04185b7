/* pylayout.h: where CPython keeps what a stack walk needs, by version. Offsets in bytes, 64-bit
 * release builds; a field a version does not have is PYLAYOUT_NONE. */
#ifndef STRATA_BACKEND_PROGRAM_PYLAYOUT_H
#define STRATA_BACKEND_PROGRAM_PYLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define PYLAYOUT_NONE UINT16_MAX

struct pylayout {
    uint8_t minor;
    /* thread state */
    uint16_t tstate_frame; /* the innermost frame, or what holds it */
    uint16_t cframe_frame; /* in what tstate_frame points to, where that is not the frame */
    /* frame */
    uint16_t frame_code, frame_back, frame_instr, frame_owner, frame_self;
    uint16_t frame_state; /* a byte that says whether it runs: frames are objects, used again */
    uint8_t owner_skip;   /* frames of this owner and beyond are the interpreter's own */
    bool rooted;          /* a frame of the interpreter's own is around all others */
    bool instr_is_index;  /* a number of instructions, not an address */
    bool tagged;          /* object pointers carry a mark in their low bits */
    uint16_t frame_bytes; /* of a frame, as far as we read it, `self` not counted */
    /* code */
    uint16_t code_instr, code_file, code_name, code_first_line, code_lines;
    uint16_t code_first; /* the first instruction that is the function's, counted in instructions */
    uint16_t code_bytes; /* of a code object, as far as we read it */
    /* str: where the text of a compact ASCII one begins */
    uint16_t str_ascii;
    /* words of the interpreter's own list of these, from 3.13 on (pylayout.c) */
    struct {
        uint8_t tstate_frame, frame, code;
    } listed;
};

/* Functions and objects of the interpreter in this process. */
struct pyapi {
    const struct pylayout *layout;
    void *(*this_thread_state)(void);    /* no lock, no GIL */
    void *(*running_thread_state)(void); /* this thread's only while it has the GIL */
    int (*is_initialized)(void);
    int (*add_pending_call)(int (*)(void *), void *);
    /* with the GIL only */
    void *(*frame)(void);
    void *(*frame_back)(void *);
    void *(*frame_code)(void *);
    int (*frame_line)(void *);
    const char *(*as_utf8)(void *);
    void (*drop)(void *);
    const void *code_type;
};

/* The interpreter in this process. ERR_USAGE when there is none (yet), ERR_UNSUPPORTED for one we
 * do not know, with its version in the message. */
int pylayout_find(struct pyapi *ret, struct err *e) MUST_USE;

/* The calling thread has the GIL. */
static inline bool pylayout_has_gil(const struct pyapi *api)
{
    void *mine = api->this_thread_state();
    return mine && api->running_thread_state() == mine;
}

/* By version, for tests; NULL when it is not known. */
const struct pylayout *pylayout_of(int major, int minor);

#endif
