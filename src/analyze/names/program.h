/* program.h: what kind of program a trace is of, from the names in it: what advice applies. */
#ifndef STRATA_ANALYZE_NAMES_PROGRAM_H
#define STRATA_ANALYZE_NAMES_PROGRAM_H

#include "trace/trace.h"

/* Whether torch runs it, from its operators or its kernels: then there is a compiler to ask. */
bool program_is_torch(const struct trace *t);

/* Whether torch's profiler recorded it: then there are its options to advise on. */
bool program_has_torch_profiler(const struct trace *t);

/* Whether JAX runs it. */
bool program_is_jax(const struct trace *t);

/* Whether a call is one of the runtime below JAX, which no line of the program can leave out: a
 * callback in its queue, its dispatch of a compiled function. */
bool program_is_jax_runtime(struct str name);

/* A call of a compiled function of JAX; an operation outside of jax.jit is one, too. */
bool program_is_jax_call(struct str name);

/* The script that was started, as its frame names it: the outermost module that runs a file of
 * Python. Empty where the stacks do not say, as with `python -m`. */
struct str program_script(const struct trace *t);

/* Whether it runs a diffusers pipeline: then there is a scheduler of denoising steps. */
bool program_is_diffusion(const struct trace *t);

#endif
