/* xplane_planes.h: the planes of an XSpace, and the tables of names that each has for itself.
 *
 *     XSpace ─> planes ─> lines ─> events ─> stats
 *                 └─> names of events and stats, by number
 */
#ifndef STRATA_IMPORT_XPLANE_PLANES_H
#define STRATA_IMPORT_XPLANE_PLANES_H

#include "base/map.h"
#include "base/protobuf.h"
#include "trace/trace.h"

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

#endif
