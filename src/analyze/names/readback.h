/* readback.h: operators that bring a value of the device to the CPU, and so wait for it. */
#ifndef STRATA_ANALYZE_NAMES_READBACK_H
#define STRATA_ANALYZE_NAMES_READBACK_H

#include "base/str.h"

enum readback {
    READBACK_NONE,
    READBACK_ONLY, /* does nothing else: gone when its value is not wanted */
    READBACK_PART, /* computes on the device too, and has to know a value: a size, mostly */
};

/* `op` is the name of an operator ("aten::item") or of a call in which a library waits. */
enum readback readback_of(struct str op);

#endif
