/* pftrace_args.h: the args of an event of a Perfetto trace, read again when somebody asks. */
#ifndef STRATA_IMPORT_PFTRACE_ARGS_H
#define STRATA_IMPORT_PFTRACE_ARGS_H

#include "import/pftrace_state.h"
#include "import/plain.h"

/* Holds the file, its text and what its packets refer to for as long as the trace lives. */
struct pf_args {
    struct args_source base;
    struct file_map file;
    struct import_options options;
    struct plain *plain; /* NULL before it is opened */
    bool cut;            /* compressed, and its end is missing */
    struct pf_survey survey;
};

/* Takes the file over, also on failure, which is NULL: out of memory. */
struct pf_args *pf_args_new(struct file_map *file, const struct import_options *o);

#endif
