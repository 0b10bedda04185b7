/* nccl_notes.c: see nccl_notes.h. */
#include "backend/nccl/nccl_notes.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/program/collective_note.h"
#include "record/recorder.h"

static atomic_int state; /* enum nccl_switch */

void nccl_notes_switch(bool on)
{
    atomic_store(&state, on ? NCCL_NOTES_ON : NCCL_NOTES_OFF);
}

enum nccl_switch nccl_notes_state(void)
{
    return (enum nccl_switch)atomic_load_explicit(&state, memory_order_relaxed);
}

/* torch's name of a type. */
static struct str dtype_of(const char *type)
{
    static const char *const names[] = {"Char", "Byte",  "Int",    "Int",      "Long",   "Long",
                                        "Half", "Float", "Double", "BFloat16", "Float8", "Float8"};
    static const char *const types[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
                                        "ncclUint32",   "ncclInt64",      "ncclUint64",
                                        "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
                                        "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0) return str_c(names[i]);
    return str_c("");
}

static struct str nccl_notes_text_of(const char *text)
{
    return str_c(text ? text : "");
}

/* Counts are those of one rank: what all of them have together is what the larger side holds. */
static void set_sizes(struct collective_note *n, const struct nccl_facts *e,
                      const struct nccl_comm *c)
{
    bool gathers = strcmp(e->func, "AllGather") == 0,
         scatters = strcmp(e->func, "ReduceScatter") == 0;
    bool both = strcmp(e->func, "AlltoAll") == 0;
    int64_t count = e->count < INT64_MAX / 65536 ? (int64_t)e->count : -1;
    if ((gathers || scatters || both) && (c->ranks < 1 || count < 0 || c->ranks > 65536)) return;
    n->in = scatters || both ? count * c->ranks : count;
    n->out = gathers || both ? count * c->ranks : count;
}

static void nccl_notes_do_put(const struct nccl_comm *c, const struct nccl_facts *e)
{
    char label[48], group[20];
    snprintf(label, sizeof label, "nccl:%s", e->func);
    if (e->hash) snprintf(group, sizeof group, "0x%" PRIx64, e->hash);
    struct collective_note n = collective_note_of(str_c(label));
    n.group = str_c(e->hash ? group : c->group);
    n.description = str_c(c->name);
    n.dtype = dtype_of(e->type);
    n.algorithm = nccl_notes_text_of(e->algorithm);
    n.protocol = nccl_notes_text_of(e->protocol);
    n.seq = e->seq;
    n.size = c->ranks;
    n.channels = e->channels;
    if (e->peer >= 0 && c->rank >= 0) {
        bool sends = strcmp(e->func, "Send") == 0;
        n.from = sends ? c->rank : e->peer;
        n.to = sends ? e->peer : c->rank;
    }
    set_sizes(&n, e, c);
    n.ticks = clock_ticks(recorder_clock());
    n.launched = true;
    collective_note_put(&n);
}

void nccl_notes_put(const struct nccl_comm *c, const struct nccl_facts *f)
{
    if (nccl_notes_state() == NCCL_NOTES_ON) nccl_notes_do_put(c, f);
}
