/* host_messages.h: collectives that threads of the CPU carry out ("gloo:all_reduce"): which, of
 * which group, how many bytes. See messages.h for those of devices. */
#ifndef STRATA_ANALYZE_COMM_HOST_MESSAGES_H
#define STRATA_ANALYZE_COMM_HOST_MESSAGES_H

#include "analyze/comm/messages.h"

struct host_message {
    row_t row;
    enum collective what;
    uint32_t group; /* index in groups */
    int64_t bytes;  /* -1 when not known */
    int64_t seq;    /* number in its group, or -1 when not recorded */
};

struct host_messages {
    struct host_message *list; /* by begin */
    uint32_t n;
    struct message_group *groups; /* without times */
    uint32_t n_groups;
};

extern const struct pass host_messages_pass;

static inline const struct host_messages *host_messages_of(const struct context *cx)
{
    return context_kept(cx, PASS_HOST_MESSAGES);
}

/* A library's annotation of one. */
bool host_message_is(const struct trace *t, row_t r);

#endif
