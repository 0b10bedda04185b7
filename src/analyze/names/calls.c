/* calls.c: verbs looked for in a fixed order, the telling ones first. */
#include "analyze/names/calls.h"

/* A name is of a kind when it holds `verb` and, where given, `also` and not `but`. */
static const struct rule {
    enum call_kind kind;
    const char *verb, *also, *but;
} rules[] = {
    {CALL_SYNC_STREAM, "Synchronize", "Stream", NULL},
    {CALL_SYNC_STREAM, "Synchronize", "Queue", NULL},
    {CALL_SYNC_STREAM, "QueueFinish", NULL, NULL},
    {CALL_SYNC_STREAM, "Synchronize", "CommandList", NULL},
    {CALL_SYNC_EVENT, "Synchronize", "Event", NULL},
    {CALL_SYNC_EVENT, "Synchronize", "Fence", NULL},
    {CALL_SYNC_EVENT, "EventWait", NULL, "Enqueue"},
    {CALL_SYNC_DEVICE, "Synchronize", NULL, NULL},
    {CALL_SYNC_LIBRARY, "block_until_ready", NULL, NULL}, /* JAX's own waits */
    {CALL_SYNC_LIBRARY, "jax.Array.", NULL, NULL},
    {CALL_EVENT_WAIT, "WaitEvent", NULL, NULL},
    {CALL_EVENT_WAIT, "EnqueueEventsWait", NULL, NULL},
    {CALL_EVENT_RECORD, "EventRecord", NULL, NULL},
    {CALL_EVENT_RECORD, "RecordEvent", NULL, NULL},
    {CALL_QUERY, "EventQuery", NULL, NULL},
    {CALL_QUERY, "StreamQuery", NULL, NULL},
    {CALL_GRAPH_LAUNCH, "GraphLaunch", NULL, NULL},
    {CALL_OTHER, "LaunchHostFunc", NULL, NULL},
    {CALL_LAUNCH, "LaunchKernel", NULL, NULL},
    {CALL_LAUNCH, "LaunchCooperativeKernel", NULL, NULL},
    {CALL_LAUNCH, "KernelLaunch", NULL, NULL},
    {CALL_LAUNCH, "LaunchCooperative", NULL, NULL},
    {CALL_LAUNCH, "cuLaunchGrid", NULL, NULL},
    {CALL_COPY, "Memcpy", "Async", NULL},
    {CALL_COPY, "MemcpyBatch", NULL, NULL},
    {CALL_COPY, "AppendMemoryCopy", NULL, NULL},
    {CALL_COPY, "EnqueueUSMMemcpy", NULL, NULL},
    {CALL_COPY, "EnqueueMemBuffer", NULL, "Fill"},
    {CALL_COPY_SYNC, "Memcpy", NULL, NULL},
    {CALL_SET, "Memset", NULL, NULL},
    {CALL_SET, "AppendMemoryFill", NULL, NULL},
    {CALL_SET, "EnqueueUSMFill", NULL, NULL},
    {CALL_HOST_ALLOC, "HostAlloc", NULL, NULL},
    {CALL_HOST_ALLOC, "MallocHost", NULL, NULL},
    {CALL_HOST_ALLOC, "HostMalloc", NULL, NULL},
    {CALL_HOST_ALLOC, "AllocHost", NULL, NULL},
    {CALL_HOST_ALLOC, "HostRegister", NULL, NULL},
    {CALL_HOST_ALLOC, "HostUnregister", NULL, NULL},
    {CALL_HOST_ALLOC, "FreeHost", NULL, NULL},
    {CALL_HOST_ALLOC, "HostFree", NULL, NULL},
    {CALL_FREE, "Free", NULL, "Async"},
    {CALL_FREE, "MemUnmap", NULL, NULL},
    {CALL_FREE, "MemRelease", NULL, NULL},
    {CALL_ALLOC, "Malloc", NULL, "Async"},
    {CALL_ALLOC, "MemAlloc", NULL, "Async"},
    {CALL_ALLOC, "USMDeviceAlloc", NULL, NULL},
    {CALL_ALLOC, "MemCreate", NULL, NULL},
    {CALL_ALLOC, "MemMap", NULL, NULL},
    {CALL_LOAD, "ModuleLoad", NULL, NULL},
    {CALL_LOAD, "LibraryLoad", NULL, NULL},
};

enum call_kind call_kind(struct str name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        if (!str_has(name, r->verb)) continue;
        if (r->also && !str_has(name, r->also)) continue;
        if (r->but && str_has(name, r->but)) continue;
        return r->kind;
    }
    return CALL_OTHER;
}

const char *call_kind_name(enum call_kind k)
{
    static const char *const names[CALL_KINDS] = {
        [CALL_OTHER] = "other call",
        [CALL_LAUNCH] = "launch",
        [CALL_GRAPH_LAUNCH] = "graph launch",
        [CALL_COPY] = "asynchronous copy",
        [CALL_COPY_SYNC] = "copy that waits",
        [CALL_SET] = "fill",
        [CALL_SYNC_STREAM] = "stream sync",
        [CALL_SYNC_DEVICE] = "device sync",
        [CALL_SYNC_EVENT] = "event sync",
        [CALL_SYNC_LIBRARY] = "library sync",
        [CALL_EVENT_WAIT] = "stream waits for event",
        [CALL_EVENT_RECORD] = "event record",
        [CALL_QUERY] = "query",
        [CALL_ALLOC] = "allocation",
        [CALL_FREE] = "free",
        [CALL_HOST_ALLOC] = "host allocation",
        [CALL_LOAD] = "code loading",
    };
    return names[k];
}

int calls_init(struct calls *c, const struct trace *t, struct arena *mem, struct err *e)
{
    enum { UNSEEN = CALL_KINDS };
    uint32_t n = t->strings.n;
    uint8_t *kinds = arena_alloc(mem, n + 1);
    if (!kinds) return err_nomem(e);
    memset(kinds, UNSEEN, n + 1);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_RUNTIME && t->kind[r] != KIND_DRIVER) continue;
        uint8_t *k = &kinds[t->name[r]];
        if (*k == UNSEEN) *k = (uint8_t)call_kind(trace_name(t, r));
    }
    for (uint32_t i = 0; i < n; i++)
        if (kinds[i] == UNSEEN) kinds[i] = CALL_OTHER;
    c->kind_of_name = kinds;
    return 0;
}

static int calls_run_pass(struct context *cx, void *ret, struct err *e)
{
    return calls_init(ret, cx->t, cx->mem, e);
}

const struct pass calls_pass = {
    .id = PASS_CALLS,
    .size = sizeof(struct calls),
    .run = calls_run_pass,
};
