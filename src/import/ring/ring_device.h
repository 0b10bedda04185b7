/* ring_device.h: what a recording says of devices, as rows of a trace: kernels, copies, fills,
 * syncs and driver calls, named and placed as PyTorch's own profiler does it, so that everything
 * downstream treats both alike. */
#ifndef STRATA_IMPORT_RING_RING_DEVICE_H
#define STRATA_IMPORT_RING_RING_DEVICE_H

#include "base/demangle.h"
#include "import/ring/ring_process.h"

/* One ring's device records on their way into one part. */
struct ring_device {
    struct batch *part;
    struct ring_process *p;
    struct batch_key pid; /* of the process */
    uint32_t ring;
    uint64_t n_dropped; /* records that the device's library says it dropped */
    str_id *names;      /* by definition, in the part; STR_NONE until met */
    struct map named;   /* devices and streams that have their names */
    struct demangler demangler;
    struct buf scratch;

    /* Work whose further records may still come. */
    bool pending;
    struct batch_row row;
    struct gpu_info gpu;
    struct mem_info mem;
};

int ring_device_init(struct ring_device *d, struct batch *part, struct ring_process *p,
                     uint32_t ring) MUST_USE;
void ring_device_done(struct ring_device *d);

/* Whether records of this kind are for ring_device_add. */
bool ring_device_takes(enum ring_kind kind);

/* The last moment of such a record, in trace time; INT64_MIN when it has none. */
int64_t ring_device_end_ns(const struct ring_process *p, const struct ring_entry *e);

/* `tid`: the thread whose ring it is. */
int ring_device_add(struct ring_device *d, const struct ring_entry *e,
                    struct batch_key tid) MUST_USE;

/* After the last record. */
int ring_device_end(struct ring_device *d) MUST_USE;

#endif
