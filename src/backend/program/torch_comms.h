/* torch_comms.h: what a collective carries, as torch has it while it hands it over to NCCL and
 * others (its own profiler reads the same): a ParamCommsDebugInfo of the calling thread. It is
 * there when the range of the collective begins, also where operators are not recorded, and costs
 * no call of Python or the device. Only memory is read, and only where the class is known. */
#ifndef STRATA_BACKEND_TORCH_COMMS_H
#define STRATA_BACKEND_TORCH_COMMS_H

#include <stdbool.h>

#include "backend/program/collective_note.h"

/* `library` is torch's; its version is 2.`minor`. Nothing is read before. */
void torch_comms_init(void *library, long minor);

/* False when the calling thread hands nothing over. The texts hold until it has. */
bool torch_comms_now(struct collective_note *ret);

#endif
