/* copy.h: what a copy on the device was, from its name: "Memcpy HtoD (Pageable -> Device)". The one
 * place that knows the words of CUDA, HIP, Level Zero, Ascend, XLA and Nsight Systems for it. */
#ifndef STRATA_ANALYZE_NAMES_COPY_H
#define STRATA_ANALYZE_NAMES_COPY_H

#include "trace/trace.h"

enum copy_way {
    COPY_INSIDE,    /* between places of devices */
    COPY_TO_DEVICE, /* host to device */
    COPY_TO_HOST,   /* device to host */
    COPY_UNKNOWN
};

/* The memory of its host side. Not every vendor says: HIP only writes "Host". */
enum copy_memory {
    MEMORY_UNKNOWN,
    MEMORY_PAGEABLE, /* pageable memory: the driver has to stage it */
    MEMORY_PINNED
};

struct copy {
    enum copy_way way;
    enum copy_memory memory;
};

struct copy copy_parse(struct str name);

/* The same of a row; unknown for ROW_NONE and rows that are not copies. */
struct copy copy_of(const struct trace *t, row_t r);

/* Whether it goes over the bus between host and device. */
static inline bool copy_crosses(struct copy c)
{
    return c.way == COPY_TO_DEVICE || c.way == COPY_TO_HOST;
}

#endif
