/* cat.h: the kinds of row we tell apart, and the one table that maps the category names of every
 * PyTorch release and vendor onto them. Unknown categories are kept as KIND_OTHER. */
#ifndef STRATA_TRACE_CAT_H
#define STRATA_TRACE_CAT_H

#include <stdbool.h>

#include "base/str.h"

enum row_kind {
    KIND_OTHER,
    KIND_OP,         /* framework operator on the CPU */
    KIND_ANNOTATION, /* record_function, ProfilerStep#, NVTX range */
    KIND_PYTHON,     /* Python frame */
    KIND_RUNTIME,    /* CUDA/HIP/XPU ... runtime call */
    KIND_DRIVER,     /* driver call */
    KIND_KERNEL,
    KIND_MEMCPY,
    KIND_MEMSET,
    KIND_GPU_ANNOTATION, /* the recorder's projection of an annotation onto a stream */
    KIND_GPU_SYNC,       /* device-side record of a synchronisation: never busy time */
    KIND_GPU_EVENT,      /* event record on a stream */
    KIND_OVERHEAD,       /* the profiler's own cost */
    KIND_MEMORY,         /* allocator instant */
    KIND_INSTANT,        /* any other instant */
    KIND_COUNTER,
    KIND_WINDOW, /* the profiler's span over its own recording */
    KIND_ASYNC,  /* begin, end or point of something that belongs to no thread */
    KIND_COUNT
};

enum kind_table { TABLE_NONE, TABLE_OP, TABLE_CALL, TABLE_GPU, TABLE_PY, TABLE_MEM, TABLE_ASYNC };

/* Category of annotations that our recorder made by itself (module calls, backward): the user has
 * not written them, and where the user has labels of their own, those count. */
#define CAT_DERIVED "strata_derived"

/* Categories of notes on collectives (KIND_OTHER): what they carry, in arguments named as Kineto's.
 * The range it is about begins next, or its kernel was launched last. */
#define CAT_COLLECTIVE "collective"
#define CAT_LAUNCHED   "collective_kernel"

/* The kind of a category as written; KIND_OTHER when it is not known. */
enum row_kind cat_kind(struct str cat);

/* What we know of a kind. Asked for every row, hence the inline functions below. */
struct kind_info {
    const char *name;
    enum kind_table table;
    bool device, nests;
};
extern const struct kind_info kind_infos[KIND_COUNT];

/* "kernel", "cpu_op" ...: our name of the kind, which is today's Kineto name of it. */
static inline const char *kind_name(enum row_kind kind)
{
    return kind_infos[kind].name;
}

/* Which side table rows of the kind use. */
static inline enum kind_table kind_table(enum row_kind kind)
{
    return kind_infos[kind].table;
}

/* Vendor of the device a category belongs to: "cuda", "xpu", "mtia", "hpu", "privateuse1", NULL. */
const char *cat_device_type(struct str cat);

/* Lives on a device lane. */
static inline bool kind_is_device(enum row_kind kind)
{
    return kind_infos[kind].device;
}

/* Takes part in the CPU nesting of a thread. */
static inline bool kind_nests(enum row_kind kind)
{
    return kind_infos[kind].nests;
}

#endif
