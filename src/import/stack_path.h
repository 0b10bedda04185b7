/* stack_path.h: a stack as a path of frames, outermost first.
 *
 * A recorder takes so many frames and leaves off those further out. Such a stack is cut: where it
 * continues has to be found by comparing it with the one before.
 *
 *     known   main > run > step > trace > inline > inline > call
 *     cut                         trace > inline > inline > inline > guard
 *     joined  main > run > step > trace > inline > inline > inline > guard */
#ifndef STRATA_IMPORT_STACK_PATH_H
#define STRATA_IMPORT_STACK_PATH_H

#include <stdbool.h>

#include "base/buf.h"
#include "import/defs_file.h"

enum {
    STACK_DEEPEST = 1024,  /* Python ends a recursion of 1,000 frames */
    STACK_LEAST_MATCH = 8, /* so many equal frames in a row are not a coincidence */
};

struct stack_frame {
    uint32_t code, module, line; /* as in def_frame */
};

struct stack_path {
    int n;
    bool cut;
    struct stack_frame at[STACK_DEEPEST];
};

/* Definitions of a process, and how many frames of a stack its recorder took. */
struct stack_source {
    const struct defs_file *defs;
    int most_frames; /* at most STACK_DEEPEST */
};

void stack_path_read(const struct stack_source *from, uint32_t stack, struct stack_path *ret);

bool stack_path_is_cut(const struct stack_source *from, uint32_t stack);

/* "FILE(LINE): FUNCTION" with the line that ran, or "nn.Module: NAME", behind what is in `out`. */
void stack_frame_print(const struct defs_file *defs, const struct stack_frame *f, struct buf *out);

/* The same with the line that the function starts at. */
struct str stack_frame_text(const struct defs_file *defs, const struct stack_frame *f);

/* What the class of a module is known by, from "nn.Module: Linear_0" or "Linear"; never 0. */
uint64_t module_token(struct str name);

bool stack_frame_same_function(const struct stack_frame *a, const struct stack_frame *b);

/* How many outer frames are the same in both, line included. */
int stack_path_common(const struct stack_path *a, const struct stack_path *b);

/* The place in `known` at which `cut` begins: that of the longest match, -1 where none is long
 * enough to be no coincidence. */
int stack_path_find(const struct stack_path *known, const struct stack_path *cut);

/* Puts the first `n` frames of `outer` before those of `p`; as many as there is room for. */
void stack_path_join(struct stack_path *p, const struct stack_path *outer, int n);

#endif
