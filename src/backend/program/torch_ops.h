/* torch_ops.h: PyTorch's operators, record_function ranges, autograd nodes and compiled regions, by
 * the callback that torch's own profiler uses (at::RecordFunction), called from C by its mangled
 * name. Nothing of torch is linked.
 *
 * The callback, once given to torch, stays: taking it away is not safe while operators run. Off
 * means that it returns at once, or, for operators that were wanted in captures only, that torch
 * does not call it. */
#ifndef STRATA_BACKEND_TORCH_OPS_H
#define STRATA_BACKEND_TORCH_OPS_H

#include <stdbool.h>

#include "base/err.h"

enum torch_ops_level {
    TORCH_OPS_OFF,
    TORCH_OPS_USER, /* record_function ranges */
    TORCH_OPS_ALL,  /* and every operator, autograd node and compiled region */
};

/* Finds libtorch_cpu in this process and installs the callback. 0 and false from torch_ops_on when
 * torch is not loaded yet: call again. ERR_UNSUPPORTED for a torch whose layout is not known. */
int torch_ops_start(enum torch_ops_level level, struct err *e) MUST_USE;
bool torch_ops_on(void);
void torch_ops_stop(void);

/* A graph begins to be captured, or is done: between the two every operator is recorded, whatever
 * the level, for nothing of it runs again when the graph is launched. */
void torch_ops_capture(bool begins);

/* String id of the operator the calling thread is in; 0 for none, or when they are not recorded. */
uint32_t torch_ops_innermost(void);

#endif
