/* torch_ops.h: PyTorch's operators, record_function ranges, autograd nodes and compiled regions, by
 * the callback that torch's own profiler uses (at::RecordFunction), called from C by its mangled
 * name. Nothing of torch is linked.
 *
 * The callback, once given to torch, stays: taking it away is not safe while operators run. Off
 * means that it returns at once, or, for operators that were wanted in captures only, that torch
 * does not call it. */
#ifndef STRATA_BACKEND_PROGRAM_TORCH_OPS_H
#define STRATA_BACKEND_PROGRAM_TORCH_OPS_H

#include <stdbool.h>

#include "base/err.h"

enum torch_ops_level {
    TORCH_OPS_OFF,
    TORCH_OPS_USER,   /* record_function ranges */
    TORCH_OPS_ALL,    /* and every operator, autograd node and compiled region */
    TORCH_OPS_SHAPES, /* and what each was called with, where torch can be asked */
};

/* Finds libtorch_cpu in this process and installs the callback. 0 and false from torch_ops_on when
 * torch is not loaded yet: call again. ERR_UNSUPPORTED for a torch whose layout is not known. */
int torch_ops_start(enum torch_ops_level level, struct err *e) MUST_USE;
bool torch_ops_on(void);
void torch_ops_stop(void);

/* Less is recorded: record_function ranges at most. */
void torch_ops_rest(void);

/* A graph begins to be captured, or is done: between the two every operator is recorded, whatever
 * the level, for nothing of it runs again when the graph is launched. */
void torch_ops_capture(bool begins);
bool torch_ops_captures(void);

/* A unit in depth (depth.h) begins, or is done: between the two every operator is recorded, with
 * what it was called with. */
void torch_ops_depth(bool begins);

/* Before the first start, when units in depth will come: where torch keeps what is recorded in them
 * is found out in the first operators. The chore ends that. */
void torch_ops_learn(bool wanted);
void torch_ops_chore(void);

/* String id of the operator the calling thread is in; 0 for none, or when they are not recorded. */
uint32_t torch_ops_innermost(void);

/* What that was called with (DEF_SHAPES), 0 when it is not known; *ret_call tells its calls apart.
 */
uint32_t torch_ops_inputs_of(uint64_t *ret_call);

/* torch_inputs.c: what an operator of torch was called with: shapes and types of its inputs, the
 * values of its numbers, and its number in autograd.
 *
 * torch itself says shapes and types (the functions that its emit_nvtx uses), so that no
 * layout of a tensor has to be known. Numbers are read from the arguments; where those stand in
 * at::RecordFunction differs between versions, so the place is found by comparing some calls with
 * what torch says of them, reading through the kernel, and without it there are no numbers.
 * Everything is absent where a function is. */

/* Whether the libtorch_cpu behind that handle can be asked. */
bool torch_inputs_find(void *library);

enum torch_inputs_of_what {
    TORCH_INPUTS_PLAIN,    /* an operator */
    TORCH_INPUTS_TENSORS,  /* and which tensors they are (torch_tensors.h) */
    TORCH_INPUTS_BACKWARD, /* a node of autograd */
};

/* Writes the inputs of what begins (RING_SHAPES), directly after its RING_BEGIN. From the start
 * callback of a RecordFunction that needs inputs. */
void torch_inputs_put(const void *function, const char *name, enum torch_inputs_of_what what);

/* The same without writing: only to find out where torch keeps arguments and tensors; whether there
 * is nothing more to find. */
void torch_inputs_learn(const void *function);
void torch_inputs_learn_outputs(const void *function);
bool torch_inputs_settled(void);

/* Writes which tensors the operator that ends returns, directly before its RING_END. */
void torch_inputs_put_outputs(const void *function);

#endif
