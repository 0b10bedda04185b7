/* copy.h: what a copy on the device was, from its name: "Memcpy HtoD (Pageable -> Device)". */
#ifndef STRATA_ANALYZE_NAMES_COPY_H
#define STRATA_ANALYZE_NAMES_COPY_H

#include "base/str.h"

enum copy_way {
    COPY_INSIDE,    /* between places of devices */
    COPY_TO_DEVICE, /* host to device */
    COPY_TO_HOST,   /* device to host */
    COPY_UNKNOWN
};

struct copy {
    enum copy_way way;
    bool pageable; /* the host side is ordinary memory: the driver has to stage it */
};

struct copy copy_parse(struct str name);

#endif
