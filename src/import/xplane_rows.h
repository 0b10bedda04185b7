/* xplane_rows.h: events of an XSpace as rows, named and sorted into kinds as PyTorch's recorder
 * would. */
#ifndef STRATA_IMPORT_XPLANE_ROWS_H
#define STRATA_IMPORT_XPLANE_ROWS_H

#include "import/xplane_planes.h"
#include "trace/build.h"

struct xrows {
    const struct xplanes *planes;
    const struct xplane *plane;
    struct part *part;
    struct buf scratch;
    uint64_t src;         /* of the event at hand: where its field begins in the file */
    struct part_key host; /* process of the plane's threads */
};

/* All lines of a plane. 0 or ERR_NOMEM. */
int xrows_add_plane(struct xrows *r, const struct xplane *p) MUST_USE;

/* The number of "/device:GPU:3", or -1 where the plane is not a device. */
int xplane_device(const struct xplane *p);

#endif
