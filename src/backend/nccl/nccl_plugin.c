/* nccl_plugin.c: NCCL's profiler interface. NCCL loads our library by NCCL_PROFILER_PLUGIN and
 * describes every collective and every message after it has launched the kernel: communicator,
 * number, count, type, algorithm, protocol, channels. The kernel is timed by CUPTI.
 *
 * It is where programs that use NCCL without torch say what they send. Nothing here fails: NCCL
 * would go on without a profiler, but with a warning. */
#include <inttypes.h>
#include <stdio.h>

#include "backend/nccl/nccl_abi.h"
#include "backend/nccl/nccl_notes.h"
#include "backend/parts.h"
#include "backend/recording.h"
#include "base/mem.h"

#define EXPORT __attribute__((visibility("default")))

static struct nccl_comm nameless = {.rank = -1, .ranks = -1};

/* ---- words */

static const char *nccl_plugin_at(const char *const *words, size_t n, unsigned i)
{
    return i < n ? words[i] : "";
}

#define AT(words, i) nccl_plugin_at(words, sizeof(words) / sizeof *(words), i)

static const char *const funcs[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                    "AllReduce", "SendRecv", "Send",      "Recv"};
static const char *const types[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
                                    "ncclUint32",   "ncclInt64",      "ncclUint64",
                                    "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
                                    "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
static const char *const algorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protocols[] = {"LL", "LL128", "SIMPLE"};

static int nccl_plugin_note(const void *context, const struct nccl_facts *f)
{
    if (f->func) nccl_notes_put(context ? context : &nameless, f);
    return 0;
}

/* ---- what each version says */

static int start_v1(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v1 *c = &w->collective_v1;
    const struct nccl_pair_v1 *p = &w->pair_v1;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return nccl_plugin_note(
            context, &(struct nccl_facts){c->hash, AT(funcs, c->func), AT(types, c->type),
                                          AT(algorithms, c->algorithm), AT(protocols, c->protocol),
                                          c->count, (int64_t)c->seq, c->channels, -1});
    if (w->type == NCCL_PAIR)
        return nccl_plugin_note(context, &(struct nccl_facts){p->hash, AT(funcs, p->func),
                                                              AT(types, p->type), NULL, NULL,
                                                              p->count, -1, -1, p->peer});
    return 0;
}

static int note_pair_v2(const void *context, const struct nccl_pair_v2 *p)
{
    return nccl_plugin_note(context, &(struct nccl_facts){p->hash, p->func, p->type, NULL, NULL,
                                                          p->count, -1, -1, p->peer});
}

static int start_v2(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v2 *c = &w->collective_v2;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return nccl_plugin_note(context, &(struct nccl_facts){c->hash, c->func, c->type,
                                                              c->algorithm, c->protocol, c->count,
                                                              (int64_t)c->seq, c->channels, -1});
    return w->type == NCCL_PAIR ? note_pair_v2(context, &w->pair_v2) : 0;
}

static int start_v3(void *context, void **ret_event, const struct nccl_start *w)
{
    const struct nccl_collective_v3 *c = &w->collective_v3;
    *ret_event = NULL;
    if (w->type == NCCL_COLLECTIVE)
        return nccl_plugin_note(context, &(struct nccl_facts){c->hash, c->func, c->type,
                                                              c->algorithm, c->protocol, c->count,
                                                              (int64_t)c->seq, c->channels, -1});
    return w->type == NCCL_PAIR ? note_pair_v2(context, &w->pair_v2) : 0;
}

static int start_later(void *context, const struct nccl_start *w, uint64_t type)
{
    const struct nccl_collective_v4 *c = &w->collective_v4;
    const struct nccl_pair_v4 *p = &w->pair_v4;
    if (type == NCCL_COLLECTIVE)
        return nccl_plugin_note(context,
                                &(struct nccl_facts){0, c->func, c->type, c->algorithm, c->protocol,
                                                     c->count, (int64_t)c->seq, c->channels, -1});
    if (type == NCCL_PAIR)
        return nccl_plugin_note(context, &(struct nccl_facts){0, p->func, p->type, NULL, NULL,
                                                              p->count, -1, p->channels, p->peer});
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
    if (nccl_notes_state() == NCCL_NOTES_NEVER_SET && !parts_wanted() && recording_prepare())
        nccl_notes_switch(true);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is stored to, atomically */
static int init_v1(void **ret_context, int *ret_events)
{
    wake_up();
    *ret_context = &nameless;
    __atomic_store_n(ret_events, NCCL_COLLECTIVE | NCCL_PAIR, __ATOMIC_RELAXED);
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's parameters */
static int init_v5(void **ret_context, uint64_t hash, int *ret_events, const char *name, int nodes,
                   int ranks, int rank, void *log)
{
    (void)nodes;
    (void)log;
    init_v1(ret_context, ret_events);
    struct nccl_comm *c = mem_zalloc(1, sizeof *c);
    if (!c) return 0;
    snprintf(c->group, sizeof c->group, "0x%" PRIx64, hash);
    snprintf(c->name, sizeof c->name, "%s", name ? name : "");
    c->rank = rank;
    c->ranks = ranks;
    *ret_context = c;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size) */
static int init_v4(void **ret_context, int *ret_events, const char *name, uint64_t hash, int nodes,
                   int ranks, int rank, void *log)
{
    return init_v5(ret_context, hash, ret_events, name, nodes, ranks, rank, log);
}

/* No event has a handle, so these come for nothing. */
static int nccl_plugin_stop(void *event)
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

static int nccl_plugin_finalize(void *context)
{
    if (context != &nameless) mem_free(context);
    return 0;
}

EXPORT extern const struct nccl_profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5, ncclProfiler_v6;

const struct nccl_profiler ncclProfiler_v1 = {
    "strata", {.init_v1 = init_v1}, start_v1, nccl_plugin_stop, change_state, nccl_plugin_finalize};
const struct nccl_profiler ncclProfiler_v2 = {
    "strata", {.init_v1 = init_v1}, start_v2, nccl_plugin_stop, change_state, nccl_plugin_finalize};
const struct nccl_profiler ncclProfiler_v3 = {
    "strata", {.init_v1 = init_v1}, start_v3, nccl_plugin_stop, change_state, nccl_plugin_finalize};
const struct nccl_profiler ncclProfiler_v4 = {
    "strata", {.init_v4 = init_v4}, start_v4, nccl_plugin_stop, change_state, nccl_plugin_finalize};
const struct nccl_profiler ncclProfiler_v5 = {
    "strata", {.init_v5 = init_v5}, start_v5, nccl_plugin_stop, change_state, nccl_plugin_finalize};
const struct nccl_profiler ncclProfiler_v6 = {
    "strata", {.init_v5 = init_v5}, start_v5, nccl_plugin_stop, change_state, nccl_plugin_finalize};
