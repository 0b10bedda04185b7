/* nccl_plugin.c: see nccl_plugin.h. */
#include "backend/nccl/nccl_plugin.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/nccl/nccl_abi.h"
#include "backend/parts.h"
#include "backend/program/collective_note.h"
#include "backend/recording.h"
#include "base/mem.h"
#include "record/recorder.h"

#define DOOR __attribute__((visibility("default")))

/* A communicator: NCCL's context. */
struct comm {
    char group[20]; /* its hash, the same on all ranks */
    char name[64];
    int rank, ranks; /* -1 when not known */
};

enum { SWITCH_NEVER, SWITCH_OFF, SWITCH_ON };
static atomic_int state;
static struct comm nameless = {.rank = -1, .ranks = -1};

void nccl_plugin_switch(bool on)
{
    atomic_store(&state, on ? SWITCH_ON : SWITCH_OFF);
}

/* What an event says, in the words of any version. */
struct event {
    uint64_t hash; /* 0: that of the communicator */
    const char *func, *type, *algorithm, *protocol;
    uint64_t count;
    int64_t seq, channels, peer; /* -1 when not known */
};

/* ---- words */

static const char *at(const char *const *words, size_t n, unsigned i)
{
    return i < n ? words[i] : "";
}

#define AT(words, i) at(words, sizeof(words) / sizeof *(words), i)

static const char *const funcs[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                    "AllReduce", "SendRecv", "Send",      "Recv"};
static const char *const types[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
                                    "ncclUint32",   "ncclInt64",      "ncclUint64",
                                    "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
                                    "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
static const char *const algorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protocols[] = {"LL", "LL128", "SIMPLE"};

/* torch's name of a type. */
static struct str dtype_of(const char *type)
{
    static const char *const names[] = {"Char", "Byte",  "Int",    "Int",      "Long",   "Long",
                                        "Half", "Float", "Double", "BFloat16", "Float8", "Float8"};
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0) return str_c(names[i]);
    return str_c("");
}

static struct str text_of(const char *text)
{
    return str_c(text ? text : "");
}

/* ---- notes */

/* Counts are those of one rank: what all of them have together is what the larger side holds. */
static void set_sizes(struct collective_note *n, const struct event *e, const struct comm *c)
{
    bool gathers = strcmp(e->func, "AllGather") == 0,
         scatters = strcmp(e->func, "ReduceScatter") == 0;
    bool both = strcmp(e->func, "AlltoAll") == 0;
    int64_t count = e->count < INT64_MAX / 65536 ? (int64_t)e->count : -1;
    if ((gathers || scatters || both) && (c->ranks < 1 || count < 0 || c->ranks > 65536)) return;
    n->in = scatters || both ? count * c->ranks : count;
    n->out = gathers || both ? count * c->ranks : count;
}

static void put(const struct comm *c, const struct event *e)
{
    char label[48], group[20];
    snprintf(label, sizeof label, "nccl:%s", e->func);
    if (e->hash) snprintf(group, sizeof group, "0x%" PRIx64, e->hash);
    struct collective_note n = collective_note_of(str_c(label));
    n.group = str_c(e->hash ? group : c->group);
    n.description = str_c(c->name);
    n.dtype = dtype_of(e->type);
    n.algorithm = text_of(e->algorithm);
    n.protocol = text_of(e->protocol);
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

static int note(const void *context, const struct event *e)
{
    if (e->func && atomic_load_explicit(&state, memory_order_relaxed) == SWITCH_ON)
        put(context ? context : &nameless, e);
    return 0;
}

/* ---- what each version says */

static int start_v1(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v1 *c = &w->collective_v1;
    const struct nccl_pair_v1 *p = &w->pair_v1;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return note(context,
                    &(struct event){c->hash, AT(funcs, c->func), AT(types, c->type),
                                    AT(algorithms, c->algorithm), AT(protocols, c->protocol),
                                    c->count, (int64_t)c->seq, c->channels, -1});
    if (w->type == NCCL_PAIR)
        return note(context, &(struct event){p->hash, AT(funcs, p->func), AT(types, p->type), NULL,
                                             NULL, p->count, -1, -1, p->peer});
    return 0;
}

static int note_pair_v2(const void *context, const struct nccl_pair_v2 *p)
{
    return note(context,
                &(struct event){p->hash, p->func, p->type, NULL, NULL, p->count, -1, -1, p->peer});
}

static int start_v2(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v2 *c = &w->collective_v2;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return note(context, &(struct event){c->hash, c->func, c->type, c->algorithm, c->protocol,
                                             c->count, (int64_t)c->seq, c->channels, -1});
    return w->type == NCCL_PAIR ? note_pair_v2(context, &w->pair_v2) : 0;
}

static int start_v3(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v3 *c = &w->collective_v3;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return note(context, &(struct event){c->hash, c->func, c->type, c->algorithm, c->protocol,
                                             c->count, (int64_t)c->seq, c->channels, -1});
    return w->type == NCCL_PAIR ? note_pair_v2(context, &w->pair_v2) : 0;
}

static int start_later(void *context, const struct nccl_start *w, uint64_t type)
{
    const struct nccl_collective_v4 *c = &w->collective_v4;
    const struct nccl_pair_v4 *p = &w->pair_v4;
    if (type == NCCL_COLLECTIVE)
        return note(context, &(struct event){0, c->func, c->type, c->algorithm, c->protocol,
                                             c->count, (int64_t)c->seq, c->channels, -1});
    if (type == NCCL_PAIR)
        return note(context, &(struct event){0, p->func, p->type, NULL, NULL, p->count, -1,
                                             p->channels, p->peer});
    return 0;
}

static int start_v4(void *context, void **ret_event, const struct nccl_start *w)
{
    *ret_event = NULL;
    return start_later(context, w, w->type);
}

static int start_v5(void *context, void **ret_event, const struct nccl_start *w)
{
    *ret_event = NULL;
    return start_later(context, w, w->wide_type);
}

/* ---- communicators */

/* Loaded by NCCL before CUDA has loaded us, or by NCCL alone. */
static void wake_up(void)
{
    if (atomic_load(&state) != SWITCH_NEVER || parts_wanted()) return;
    int never = SWITCH_NEVER;
    if (recording_prepare()) atomic_compare_exchange_strong(&state, &never, SWITCH_ON);
}

static int init_v1(void **ret_context, int *ret_events)
{
    wake_up();
    *ret_context = &nameless;
    __atomic_store_n(ret_events, NCCL_COLLECTIVE | NCCL_PAIR, __ATOMIC_RELAXED);
    return 0;
}

static int init_v5(void **ret_context, uint64_t hash, int *ret_events, const char *name, int nodes,
                   int ranks, int rank, void *log)
{
    (void)nodes;
    (void)log;
    init_v1(ret_context, ret_events);
    struct comm *c = mem_zalloc(1, sizeof *c);
    if (!c) return 0;
    snprintf(c->group, sizeof c->group, "0x%" PRIx64, hash);
    snprintf(c->name, sizeof c->name, "%s", name ? name : "");
    c->rank = rank;
    c->ranks = ranks;
    *ret_context = c;
    return 0;
}

static int init_v4(void **ret_context, int *ret_events, const char *name, uint64_t hash, int nodes,
                   int ranks, int rank, void *log)
{
    return init_v5(ret_context, hash, ret_events, name, nodes, ranks, rank, log);
}

/* No event has a handle, so these come for nothing. */
static int stop(void *event)
{
    (void)event;
    return 0;
}

static int change_state(void *event, int new_state, const void *details)
{
    (void)event;
    (void)new_state;
    (void)details;
    return 0;
}

static int finalize(void *context)
{
    if (context != &nameless) mem_free(context);
    return 0;
}

DOOR extern const struct nccl_profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5, ncclProfiler_v6;

const struct nccl_profiler ncclProfiler_v1 = {"strata", {.init_v1 = init_v1}, start_v1,
                                              stop,     change_state,         finalize};
const struct nccl_profiler ncclProfiler_v2 = {"strata", {.init_v1 = init_v1}, start_v2,
                                              stop,     change_state,         finalize};
const struct nccl_profiler ncclProfiler_v3 = {"strata", {.init_v1 = init_v1}, start_v3,
                                              stop,     change_state,         finalize};
const struct nccl_profiler ncclProfiler_v4 = {"strata", {.init_v4 = init_v4}, start_v4,
                                              stop,     change_state,         finalize};
const struct nccl_profiler ncclProfiler_v5 = {"strata", {.init_v5 = init_v5}, start_v5,
                                              stop,     change_state,         finalize};
const struct nccl_profiler ncclProfiler_v6 = {"strata", {.init_v5 = init_v5}, start_v5,
                                              stop,     change_state,         finalize};
