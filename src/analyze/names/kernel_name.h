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

const char *kernel_family_name(enum kernel_family f); /* "gemm" ... */

#endif
