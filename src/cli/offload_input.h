/* offload_input.h: the command line of `strata offload`, as facts and wishes. */
#ifndef STRATA_CLI_OFFLOAD_INPUT_H
#define STRATA_CLI_OFFLOAD_INPUT_H

#include "cli/cli.h"
#include "offload/scene.h"

extern const struct opt offload_opts[];

/* Numbers that apply with and without a trace; they override what `f` has already. `f->modules` is
 * read from --modules. Memory from `mem`. */
int offload_read_facts(const struct opts *o, struct arena *mem, struct facts *f,
                       struct err *e) MUST_USE;

int offload_read_wish(const struct opts *o, struct wish *ret, struct err *e) MUST_USE;

/* The --measured runs, with room for `more` others. */
int offload_read_runs(const struct opts *o, uint32_t more, struct arena *mem, struct plan *p,
                      struct err *e) MUST_USE;

int offload_read_hints(const struct opts *o, struct scene_hints *ret, struct err *e) MUST_USE;

#endif
