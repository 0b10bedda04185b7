/* sharing.h: how many processes put work on one device (MPS, or by turns). Only of recordings of
 * ours, in which devices are distinguished by UUID: ranks of other recorders may all call theirs 0.
 */
#ifndef STRATA_ANALYZE_DEVICE_SHARING_H
#define STRATA_ANALYZE_DEVICE_SHARING_H

#include "analyze/context.h"

struct sharing {
    uint32_t n_processes; /* of the device that most of them use; 0 when not known */
    int32_t device;
};

extern const struct pass sharing_pass;

static inline const struct sharing *sharing_of(const struct context *cx)
{
    return context_kept(cx, PASS_SHARING);
}

#endif
