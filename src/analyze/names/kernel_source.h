/* kernel_source.h: the line of the program that a compiler made a kernel of, where it says so: XLA
 * keeps it with every operation (TRACE_META_SOURCES). */
#ifndef STRATA_ANALYZE_NAMES_KERNEL_SOURCE_H
#define STRATA_ANALYZE_NAMES_KERNEL_SOURCE_H

#include "analyze/context.h"
#include "analyze/names/frame.h"

struct kernel_source {
    struct str module, kernel; /* the compiled function, and the kernel in it */
    struct str op;             /* "jit(step)/jvp()/dot_general"; may be empty */
    struct frame place;        /* file as shown (frame_path) */
};

struct kernel_sources {
    const struct kernel_source *list; /* by kernel, then by module */
    uint32_t n;
};

extern const struct pass kernel_sources_pass;

static inline const struct kernel_sources *kernel_sources_of(const struct context *cx)
{
    return context_kept(cx, PASS_KERNEL_SOURCES);
}

/* Of the device row `r`; where several compiled functions have a kernel of that name, that of the
 * one it was launched in. NULL when none is known. */
const struct kernel_source *kernel_source_find(const struct context *cx, row_t r);

#endif
