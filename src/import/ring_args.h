/* ring_args.h: the recordings a trace was made from, kept open to answer what its rows' args are.
 */
#ifndef STRATA_IMPORT_RING_ARGS_H
#define STRATA_IMPORT_RING_ARGS_H

#include "import/ring_rows.h"

struct ring_set {
    struct args_source args; /* first: this is one */
    struct arena mem;
    struct ring_process *processes;
    size_t n_processes, cap_processes;
    struct ring_file *rings; /* by ring number */
    uint32_t *owner;         /* index of the ring's process */
    size_t n_rings, cap_rings, cap_owner;
};

struct ring_set *ring_set_new(void);
void ring_set_free(struct ring_set *s);

#endif
