/* xplane_private.h: planes of an XSpace, and rows made of them. */
#ifndef STRATA_IMPORT_XPLANE_XPLANE_PRIVATE_H
#define STRATA_IMPORT_XPLANE_XPLANE_PRIVATE_H

#include "base/err.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "import/ring/source_list.h"
#include "trace/build.h"
#include "trace/trace.h"

/* xplane_planes.c: the planes of an XSpace, and the tables of names that each has for itself.
 *
 *     XSpace ─> planes ─> lines ─> events ─> stats
 *                 └─> names of events and stats, by number
 */

/* Stats we read. */
enum xstat {
    XSTAT_OTHER,
    XSTAT_CORRELATION,
    XSTAT_KERNEL_DETAILS,
    XSTAT_MEMCPY_DETAILS,
    XSTAT_HLO_OP,
    XSTAT_HLO_MODULE,
    XSTAT_STEP,
    XSTAT_DEVICE,
    XSTAT_CONTEXT,
    XSTAT_ALLOCATOR,
    XSTAT_ADDRESS,
    XSTAT_BYTES,
    XSTAT_ALLOCATED,
    XSTAT_RESERVED,
    XSTAT_CORES,
    XSTAT_MEMORY_SIZE,
    XSTAT_MAJOR,
    XSTAT_MINOR,
    XSTAT_DEVICE_NAME,
    XSTAT_VENDOR,
    XSTAT_START_TIME,
    XSTAT_GRAPH_ID,
    XSTAT_COUNT
};

struct xname {
    struct str text;
    enum xstat stat; /* of the name of a stat */
    struct str more; /* of the name of an event: its metadata, which may hold stats too */
};

struct xplane {
    struct str bytes, name;
    struct map events, stats; /* by number: index into names */
};

struct xplanes {
    const char *text;
    struct xplane *list;
    size_t n, cap;
    struct xname *names;
    size_t n_names, cap_names;
    uint64_t n_bad; /* messages that cannot be read to their end */
};

int xplanes_read(struct xplanes *x, struct str text) MUST_USE; /* 0 or ERR_NOMEM */
void xplanes_done(struct xplanes *x);

const struct xname *xplane_event_name(const struct xplanes *x, const struct xplane *p, uint64_t id);
const struct xname *xplane_stat_name(const struct xplanes *x, const struct xplane *p, uint64_t id);

/* One stat of an event or a plane. */
struct xvalue {
    const struct xname *name; /* NULL where its number has none */
    enum { XVALUE_NONE, XVALUE_INT, XVALUE_UINT, XVALUE_REAL, XVALUE_TEXT } kind;
    uint64_t number;
    struct str text;
};
struct xvalue xplane_value(const struct xplanes *x, const struct xplane *p, struct str bytes);

/* The value as an integer; `otherwise` for texts that are not numbers. */
int64_t xvalue_int(const struct xvalue *v, int64_t otherwise);

/* xplane_rows.c: events of an XSpace as rows, named and sorted into kinds as PyTorch's recorder
 * would. */

struct xrows {
    const struct xplanes *planes;
    const struct xplane *plane;
    struct batch *part;
    struct buf scratch;
    struct map known;      /* long names of the file, by address, as the part's ids */
    uint64_t src;          /* of the event at hand: where its field begins in the file */
    struct batch_key host; /* process of the plane's threads */
};

/* All lines of a plane. 0 or ERR_NOMEM. */
int xrows_add_plane(struct xrows *r, const struct xplane *p) MUST_USE;

/* The number of "/device:GPU:3", or -1 where the plane is not a device. */
int xplane_device(const struct xplane *p);

/* xplane_threads.c: which thread of the host makes the calls that ROCm puts on a line of their own.
 *
 * The recorder of calls knows threads by other numbers than that of TraceMe, so that one thread has
 * two lines. XLA says around each call which part of the program it runs, and the call says that
 * too: where nearly all calls of a line lie inside such events of one other line, both are one. */

/* Lines by their place in the plane: 1 + the place of the line they belong to, 0 for themselves. */
struct xthreads {
    uint32_t *same_as;
    uint32_t n;
};

/* 0 or ERR_NOMEM. */
int xthreads_find(struct xthreads *t, const struct xplanes *x, const struct xplane *p) MUST_USE;
void xthreads_done(struct xthreads *t);

/* hlo.c: which line of a program each kernel of XLA comes from, out of the HLO that profiles of JAX
 * and TensorFlow carry. */

/* `proto` is an HloModuleProto. A fusion without a line has that of its result; what is inside one
 * is not a kernel. 0 or ERR_NOMEM; what cannot be read is left out. */
int hlo_sources(struct str proto, struct source_list *out) MUST_USE;

#endif
