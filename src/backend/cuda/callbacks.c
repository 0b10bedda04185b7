/* callbacks.c: see cuda_private.h. */
#include "backend/cuda/cuda_private.h"

#include <stdatomic.h>

#include "backend/program/depth.h"
#include "backend/program/host_stall.h"
#include "backend/program/pystack.h"
#include "backend/program/torch_ops.h"
#include "backend/program/watched.h"
#include "base/str.h"
#include "record/names.h"
#include "record/recorder.h"

/* Launching, and whatever else only goes to a queue, takes some microseconds; longer than this it
 * waited for something. */
#define LAUNCH_WAITS_NS 20000

/* QUEUE: puts something other than a kernel on a stream, and waits for nothing by itself. */
enum class {
    NONE,
    LAUNCH,
    GRAPH,
    QUEUE,
    WAIT,
    BEGIN_CAPTURE,
    END_CAPTURE,
    OTHER,
    END_CONTEXT,
    N_CLASSES
};

/* Driver calls by CUPTI's number: those that put work on a device, wait for it, or take memory. A
 * call of the runtime library shows as the driver call it makes. */
static const struct range {
    uint16_t first, last;
    uint8_t class;
} calls[] = {
    {307, 307, LAUNCH}, /* cuLaunchKernel, _ptsz, cooperative, Ex */
    {442, 442, LAUNCH},
    {477, 478, LAUNCH},
    {480, 480, LAUNCH},
    {652, 653, LAUNCH},
    {514, 515, GRAPH},         /* cuGraphLaunch */
    {495, 496, BEGIN_CAPTURE}, /* cuStreamBeginCapture */
    {539, 540, BEGIN_CAPTURE},
    {720, 721, BEGIN_CAPTURE},
    {497, 498, END_CAPTURE}, /* cuStreamEndCapture: what is launched between them does not run */
    {513, 513, OTHER},       /* cuGraphInstantiate, cuGraphExecUpdate, cuGraphUpload */
    {578, 578, OTHER},
    {643, 643, OTHER},
    {656, 657, OTHER},
    {561, 561, OTHER},
    {696, 696, OTHER},
    {580, 581, OTHER},
    {17, 17, WAIT}, /* cuCtxSynchronize */
    {800, 800, WAIT},
    {121, 121, WAIT}, /* cuEventSynchronize */
    {126, 126, WAIT}, /* cuStreamSynchronize */
    {440, 440, WAIT},
    {295, 295, QUEUE}, /* cuStreamWaitEvent */
    {436, 436, QUEUE},
    {119, 119, QUEUE}, /* cuEventRecord */
    {441, 441, QUEUE},
    {587, 588, QUEUE},
    {276, 280, OTHER}, /* cuMemcpy..., from HtoD_v2 to HtoAAsync_v2 */
    {281, 281, QUEUE}, /* DtoDAsync */
    {282, 293, OTHER},
    {305, 306, OTHER},
    {318, 321, OTHER},
    {397, 410, OTHER},
    {418, 422, OTHER},
    {423, 423, QUEUE}, /* DtoDAsync_ptsz */
    {424, 427, OTHER},
    {776, 779, OTHER},
    {796, 799, OTHER},
    {249, 254, OTHER}, /* cuMemset... */
    {411, 416, OTHER},
    {216, 216, QUEUE},
    {218, 218, QUEUE},
    {220, 220, QUEUE},
    {222, 222, QUEUE},
    {224, 224, QUEUE},
    {226, 226, QUEUE},
    {428, 433, QUEUE},
    {243, 245, OTHER}, /* cuMemAlloc, cuMemFree */
    {38, 38, OTHER},   /* cuMemFreeHost */
    {271, 271, OTHER}, /* cuMemHostAlloc, cuMemAllocHost, registering */
    {294, 294, OTHER},
    {301, 302, OTHER},
    {379, 379, OTHER},
    {371, 371, OTHER}, /* cuMemAllocManaged */
    {549, 552, OTHER}, /* cuMemCreate, Release, Map, Unmap */
    {598, 601, OTHER}, /* cuMemAllocAsync, cuMemFreeAsync */
    {611, 612, OTHER},
    {11, 11, END_CONTEXT}, /* cuCtxDestroy */
    {322, 322, END_CONTEXT},
    {387, 387, END_CONTEXT}, /* cuDevicePrimaryCtxRelease, Reset */
    {389, 389, END_CONTEXT},
    {544, 545, END_CONTEXT},
    {18, 21, OTHER},   /* cuModuleLoad... */
    {678, 679, OTHER}, /* cuLibraryLoad... */
};
enum { N_CALLS = sizeof calls / sizeof *calls, MOST_IDS = 1024 };

static const struct cupti_api *api;
static void *subscriber;
static atomic_bool on;
static atomic_uint_fast64_t on_since; /* ticks */
static enum clock_source ticks_of;
static uint64_t patience[N_CLASSES]; /* ticks, by class: calls that take longer get a stack */
static uint8_t class_of[MOST_IDS];
static void (*at_context_end)(void);
static _Atomic uint16_t name_of[MOST_IDS]; /* string ids, 0 until seen */

/* "cuMemcpyDtoHAsync_v2_ptsz" is cuMemcpyDtoHAsync to every reader. */
static uint16_t name_call(const char *function)
{
    struct str s = str_c(function);
    if (str_ends(s, "_ptsz") || str_ends(s, "_ptds")) s.n -= 5;
    if (s.n > 3 && s.p[s.n - 3] == '_' && s.p[s.n - 2] == 'v') s.n -= 3;
    return (uint16_t)names_id(s);
}

static uint16_t call_name(uint32_t id, const struct cupti_call *c)
{
    uint16_t name = atomic_load_explicit(&name_of[id], memory_order_relaxed);
    if (__builtin_expect(!name, 0)) {
        name = name_call(c->function ? c->function : "cuda call");
        atomic_store_explicit(&name_of[id], name, memory_order_relaxed);
    }
    return name;
}

/* After these nothing runs on the device for this process any more; NULL for others. */
static const char *fatal_error(uint32_t rc)
{
    switch (rc) {
    case 214: return "uncorrectable memory error";
    case 220: return "uncorrectable NVLink error";
    case 700: return "illegal memory access";
    case 702: return "a kernel ran too long";
    case 710: return "device-side assert";
    case 714: return "stack error";
    case 715: return "illegal instruction";
    case 716: return "misaligned address";
    case 717: return "invalid address space";
    case 718: return "invalid program counter";
    case 719: return "launch failed";
    default: return NULL;
    }
}

/* Every call after the first fails, too. */
static void note_failure(const struct cupti_call *c)
{
    static atomic_bool noted;
    uint32_t rc = *(const uint32_t *)c->result;
    const char *what = fatal_error(rc);
    if (what && !atomic_exchange(&noted, true))
        backend_note("%s reported that the GPU failed: CUDA error %u (%s); work that had not ended "
                     "is recorded without times",
                     c->function ? c->function : "a CUDA call", rc, what);
}

/* Calls that failed have launched nothing, but they do end a capture. */
static void callbacks_count_call(enum class class, const struct cupti_call *c)
{
    bool failed = c->result && *(const uint32_t *)c->result != 0;
    if (failed) note_failure(c);
    bool captures = class == BEGIN_CAPTURE || class == END_CAPTURE;
    if (captures && (!failed || class == END_CAPTURE)) {
        pulse_capture(class == BEGIN_CAPTURE);
        torch_ops_capture(class == BEGIN_CAPTURE);
    }
    if (failed) return;
    if (class == LAUNCH || class == GRAPH) depth_launched();
    if (class == LAUNCH || class == GRAPH) pulse_launch(c->correlation);
    else if (class == WAIT) pulse_wait();
}

static void call_ends(uint32_t id, const struct cupti_call *c)
{
    uint64_t begin = *c->own, end = clock_ticks(ticks_of);
    if (begin < atomic_load_explicit(&on_since, memory_order_relaxed) || begin > end)
        return; /* entered before we were on: what is there is not ours */
    struct ring_record slots[2] = {
        {.ticks = end, .kind = RING_CALL, .name = call_name(id, c)},
        ring_with_id((struct ring_record){.ticks = begin, .kind = RING_VALUE}, c->correlation),
    };
    recorder_put_all(slots, 2);
    callbacks_count_call(class_of[id], c);
    host_stall_leaves(begin, end);
    if (end - begin >= patience[class_of[id]] || depth_is_on()) {
        pystack_mark(begin, end);
        watched_was_seen(end);
    } else {
        watched_passes(end);
    }
}

static void on_resource(uint32_t id, const struct cupti_resource *r)
{
    uint64_t node = 0, from = 0;
    if (!r || !r->node || api->GetGraphNodeId(r->node->node, &node) != CUPTI_OK) return;
    if (id == CUPTI_NODE_CREATED) graph_nodes_created(node);
    else if (id == CUPTI_NODE_CLONED &&
             api->GetGraphNodeId(r->node->original_node, &from) == CUPTI_OK)
        graph_nodes_cloned(node, from);
}

static void on_call(void *ours, uint32_t domain, uint32_t id, const void *data)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed)) return;
    if (domain == CUPTI_DOMAIN_STATE) {
        backend_note("CUPTI stopped after a fatal error; GPU records end there");
        return;
    }
    if (domain == CUPTI_DOMAIN_RESOURCE) on_resource(id, data);
    if (domain != CUPTI_DOMAIN_DRIVER || id >= MOST_IDS || depth_is_waiting()) return;
    const struct cupti_call *c = data;
    if (c->site == CUPTI_ENTER && class_of[id] == END_CONTEXT) at_context_end();
    if (c->site == CUPTI_ENTER) {
        watched_enters(*c->own = clock_ticks(ticks_of));
        host_stall_enters(*c->own);
    } else {
        call_ends(id, c);
    }
}

static int callbacks_subscribe(struct err *e)
{
    char holder[80] = "";
    uint32_t rc;
    struct cupti_subscriber_params p = {sizeof p, "Strata", holder, sizeof holder - 1};
    if (api->Subscribe_v2) rc = api->Subscribe_v2(&subscriber, on_call, NULL, &p);
    else rc = api->Subscribe(&subscriber, on_call, NULL);
    if (rc == CUPTI_OK) return 0;
    subscriber = NULL;
    if (rc == CUPTI_OTHER_SUBSCRIBER && holder[0])
        return FAIL(e, ERR_UNSUPPORTED, "another profiler is attached (%s); run without it",
                    holder);
    return FAIL(e, ERR_UNSUPPORTED, "%s (CUPTI error %u)", cupti_api_reason(api, rc), rc);
}

/* A version that does not know a call does not make it either: its refusal does not matter. */
static void enable_calls(bool enable)
{
    for (int i = 0; i < N_CALLS; i++)
        for (uint32_t id = calls[i].first; id <= calls[i].last; id++) {
            api->EnableCallback(enable, subscriber, CUPTI_DOMAIN_DRIVER, id);
        }
    bool nodes = enable && api->GetGraphNodeId;
    api->EnableCallback(nodes, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CREATED);
    api->EnableCallback(nodes, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED);
    api->EnableCallback(1, subscriber, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL);
}

static void callbacks_classify(void)
{
    for (int i = 0; i < N_CALLS; i++)
        for (uint32_t id = calls[i].first; id <= calls[i].last; id++) class_of[id] = calls[i].class;
}

int callbacks_start(const struct cupti_api *a, const struct backend_options *o, struct err *e)
{
    api = a;
    ticks_of = recorder_clock();
    double ticks_per_ns = recorder_ticks_per_second() / 1e9;
    for (int class = 0; class < N_CLASSES; class ++)
        patience[class] = (uint64_t)((double)o->wait_ns * ticks_per_ns);
    patience[LAUNCH] = patience[QUEUE] = (uint64_t)(LAUNCH_WAITS_NS * ticks_per_ns);
    callbacks_classify();
    TRY(callbacks_subscribe(e));
    host_stall_begin();
    atomic_store(&on, true);
    enable_calls(true);
    atomic_store(&on_since, clock_ticks(ticks_of));
    return 0;
}

void callbacks_at_context_end(void (*fn)(void))
{
    at_context_end = fn;
}

void callbacks_pause(bool paused)
{
    atomic_store(&on, !paused);
    enable_calls(!paused);
    if (!paused) host_stall_begin();
    if (!paused) atomic_store(&pulse_capturing, 0); /* one may have ended unseen */
    if (!paused) atomic_store(&on_since, clock_ticks(ticks_of));
}

void callbacks_stop(bool detach)
{
    atomic_store(&on, false);
    if (detach && subscriber) api->Unsubscribe(subscriber);
    subscriber = NULL;
}
