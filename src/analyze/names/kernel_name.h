/* kernel_name.h: names of kernels for people, and what kind of work a name stands for.
 *
 *   void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>,
 *   std::array<char*, 3ul> >(int, ...)           ->  vectorized_elementwise_kernel<CUDAFunctor_add>
 *
 * Of a C++ template what tells kernels apart is kept: its own name and the functor it applies;
 * namespaces, sizes, element types, parameters and lambda paths go. Other names stay as they are.
 */
#ifndef STRATA_ANALYZE_NAMES_KERNEL_NAME_H
#define STRATA_ANALYZE_NAMES_KERNEL_NAME_H

#include <stdint.h>

#include "analyze/context.h"
#include "analyze/names/frame.h"
#include "analyze/names/number_type.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/demangle.h"
#include "base/str.h"
#include "trace/cat.h"

/* Appends the short form of a readable (not mangled) name. */
void kernel_name_short(struct str name, struct buf *out);

/* Makes a kernel's name readable in place and gives its short form, both in `mem`. True when out of
 * memory. */
bool kernel_name_read(struct demangler *d, struct str *name, struct str *ret_short,
                      struct arena *mem);

enum kernel_family {
    FAMILY_OTHER,
    FAMILY_GEMM,
    FAMILY_CONV,
    FAMILY_ATTENTION,
    FAMILY_ELEMENTWISE,
    FAMILY_REDUCTION,
    FAMILY_NORM,
    FAMILY_COPY,
    FAMILY_MEMSET,
    FAMILY_TRITON,
    FAMILY_COMMUNICATION,
    FAMILY_COUNT
};

/* By the row's kind and the words in its name; FAMILY_OTHER when no word is known. */
enum kernel_family kernel_family(enum row_kind kind, struct str name);

/* Whether a kernel computes gradients, as far as its name says so. */
bool kernel_is_backward(struct str name);

const char *kernel_family_name(enum kernel_family f); /* "gemm" ... */

/* kernel_source.c: the line of the program that a compiler made a kernel of, where it says so: XLA
 * keeps it with every operation, and Inductor beside the code it generates (TRACE_META_SOURCES).
 * Some torch.profiler traces say it of each kernel (kernel_stack.h). */

struct kernel_source {
    struct str module, kernel; /* the compiled function or the file of its code; the kernel in it */
    struct str op; /* "jit(step)/jvp()/dot_general", "layer_norm + cast"; may be empty */
    struct frame
        place; /* file as shown (frame_path); empty where several lines have such a kernel */
};

struct kernel_sources {
    const struct kernel_source *list;     /* by kernel, then by module */
    const struct kernel_source *unplaced; /* the same without places */
    uint32_t n;
    const struct kernel_source *said;        /* by kernels of the trace themselves, or NULL */
    const struct kernel_source *said_of_all; /* without places where kernels of a name differ */
    const uint32_t *said_of;                 /* by index into trace->gpu: + 1, 0 for nothing */
};

extern const struct pass kernel_sources_pass;

static inline const struct kernel_sources *kernel_sources_of(const struct context *cx)
{
    return context_kept(cx, PASS_KERNEL_SOURCES);
}

/* Of the device row `r`; where several compiled functions have a kernel of that name, that of the
 * one it was launched in. NULL when none is known. */
const struct kernel_source *kernel_source_find(const struct context *cx, row_t r);

/* The same for all rows of that name: without a line where graphs of Inductor differ in it. */
const struct kernel_source *kernel_source_of_all(const struct context *cx, row_t r);

/* kernel_traits.c: what the name of a kernel tells about how it works, and with its launch about
 * how much: for traces that have no shapes, and kernels replayed from a graph. */

struct kernel_traits {
    bool plain_float;     /* multiplies float32 numbers without tensor cores */
    bool converts_layout; /* from NCHW to NHWC or back */
    bool softmax;         /* not of logarithms */
    bool softmax_backward;
    bool strided; /* element by element over tensors that are not contiguous */
    bool library; /* torch's own elementwise kernel, not one of a compiler */
    bool
        many_tensors; /* works on a list of tensors at once: an optimizer's foreach or fused step */
    int per_thread;   /* elements for each thread, at least; 0 when the name does not say */
    bool exact;       /* not more either */
    int instructions; /* for an element, roughly: elementwise kernels only */
    int tensors;      /* read and written; 0 when not known */
    enum number_type type; /* of the first numbers in its name */
};

struct kernel_traits kernel_traits_of(struct str name);

/* Elements an elementwise kernel was launched for, up to the last block; 0 when not known. Threads
 * take `least` elements where the name does not say (4 before torch 2.9, then 8). */
double kernel_elements(const struct kernel_traits *k, const uint32_t grid[3],
                       const uint32_t block[3], int least);

#endif
