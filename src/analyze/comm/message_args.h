/* message_args.h: what the arguments of one row say about a collective. Kernels, operators,
 * annotations and notes of all recorders use the names of torch's profiler. */
#ifndef STRATA_ANALYZE_COMM_MESSAGE_ARGS_H
#define STRATA_ANALYZE_COMM_MESSAGE_ARGS_H

#include "analyze/context.h"
#include "analyze/names/collective.h"
#include "base/intern.h"
#include "base/jdoc.h"

struct message_args {
    enum collective what;                     /* COLLECTIVE_OTHER when they do not say */
    bool sized;                               /* they say how many elements there are */
    int64_t bytes;                            /* of the whole message; -1 when not known */
    int64_t seq;                              /* number in its group, or -1 */
    int64_t ranks;                            /* of the group, 0 when not known */
    bool grouped;                             /* they name the group */
    const char *name, *description, *members; /* of the group; "" when not known */
    int64_t from, to;                         /* of a message between two ranks, else -1 */
};

/* The texts live as long as the document. */
void message_args_take(const struct jdoc *d, struct message_args *ret);

/* The same of a row, in the context's scratch memory; nothing is known where it has no arguments.
 */
int message_args_read(struct context *cx, row_t row, struct message_args *ret) MUST_USE;

/* Its group in `groups`, STR_NONE when out of memory: name, description and members, a line each.
 * The members of a message from one rank to another are these two, which both name so; `rank` is
 * the one that says it. */
str_id message_args_group(struct intern *groups, const struct message_args *a, int64_t rank);

/* Takes a group apart: three texts in `mem`. */
int message_args_split(struct str group, struct arena *mem, struct str ret[3]) MUST_USE;

/* The rank of the trace or -1, and the size of the only group there is, else 0. */
void message_args_world(struct context *cx, int64_t *ret_rank, int64_t *ret_world);

#endif
