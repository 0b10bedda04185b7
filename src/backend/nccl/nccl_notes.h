/* nccl_notes.h: notes on what NCCL describes (collective_note.h), while recording is on. */
#ifndef STRATA_BACKEND_NCCL_NCCL_NOTES_H
#define STRATA_BACKEND_NCCL_NCCL_NOTES_H

#include <stdbool.h>
#include <stdint.h>

/* A communicator. */
struct nccl_comm {
    char group[20]; /* its hash, the same on all ranks */
    char name[64];
    int rank, ranks; /* -1 when not known */
};

/* What an event says, in the words of any version. */
struct nccl_facts {
    uint64_t hash;                                  /* 0: that of the communicator */
    const char *func, *type, *algorithm, *protocol; /* func is not NULL */
    uint64_t count;
    int64_t seq, channels, peer; /* -1 when not known */
};

enum nccl_switch { NCCL_NOTES_NEVER_SET, NCCL_NOTES_OFF, NCCL_NOTES_ON };

void nccl_notes_switch(bool on);
enum nccl_switch nccl_notes_state(void);

/* Below a microsecond; nothing while recording is off. */
void nccl_notes_put(const struct nccl_comm *c, const struct nccl_facts *f);

#endif
