/* fake_cupti.c: libcupti.so.12 or .13 as far as a profiler sees it: one subscriber, callbacks only
 * for the calls that were asked for, buffers per thread, records that get their times when the work
 * has ended, the user's clock. FAKE_CUPTI misbehaves as its words say:
 *
 *     error=N,at=FUNCTION  that function answers N
 *     held=NAME            another subscriber is there
 *     zero                 every tenth record never gets a time
 *     fault=N              the device fails after N calls: kernels never get a time, and copies
 *                          keep that of its own clock; those that wait report it
 *     late=MS              CUPTI learns of the end of work so much later
 *     shuffle              buffers come back newest first
 *     drop=N               N records were dropped
 *     stray                hands back a buffer of others
 *     fatal                a fatal error after the first thousand records
 *     refuse=KIND          does not know that kind of record
 *     last_moment          a kernel is launched just before its kind is switched off
 *     slow                 flushing takes 60 ms, with a lock that the library takes at its end
 *     stuck                the third flush takes seven seconds
 *     replay=FILE          hands over buffers that a real CUPTI filled (recorded.h) */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/cupti_abi.h"
#include "fake_cuda.h"
#include "recorded.h"

#define API __attribute__((visibility("default")))
enum { MOST_BUFFERS = 256, MOST_CALLS = 1024, KERNEL_BYTES = 216 };

/* A buffer that records go to: one a thread, until it is full. */
struct filling {
    uint8_t *bytes;
    size_t size, used;
    uint64_t *ends; /* of its records, by number: when the GPU is done with each */
    size_t n;
    int open; /* the thread still writes to it */
};

static struct filling buffers[MOST_BUFFERS];
static __thread struct filling *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cupti_request_fn request;
static cupti_complete_fn complete;
static cupti_clock_fn user_clock;
static cupti_callback_fn callback;
static uint8_t call_on[MOST_CALLS], resource_on[64], kind_on[64];
static uint64_t first_ns, first_ticks;
static size_t n_records, n_dropped;

static const char *word(const char *w)
{
    const char *all = getenv("FAKE_CUPTI"), *at = all ? strstr(all, w) : NULL;
    return at ? at + strlen(w) : NULL;
}

/* What the function is to answer: 0, or the error of error=N,at=FUNCTION. */
static uint32_t answer(const char *function)
{
    const char *error = word("error="), *at = word("at=");
    if (!error || !at || strncmp(at, function, strlen(function)) != 0) return CUPTI_OK;
    return (uint32_t)strtoul(error, NULL, 10);
}

#define ANSWER()                         \
    do {                                 \
        uint32_t rc_ = answer(__func__); \
        if (rc_) return rc_;             \
    } while (0)

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* GPU time on the user's clock, by two moments at which both were read. */
static uint64_t convert(uint64_t ns)
{
    if (!user_clock) return ns;
    uint64_t ticks = user_clock(), now = now_ns();
    double rate =
        now > first_ns + 1000000 ? (double)(ticks - first_ticks) / (double)(now - first_ns) : 0;
    if (rate <= 0) return ticks;
    return first_ticks + (uint64_t)((double)(int64_t)(ns - first_ns) * rate);
}

static size_t record_bytes(uint32_t kind)
{
    switch (kind) {
    case CUPTI_KERNEL: return FAKE_VERSION >= 130000 ? KERNEL_BYTES : 208;
    case CUPTI_MEMCPY: return FAKE_VERSION >= 130000 ? 96 : 88;
    case CUPTI_MEMSET: return FAKE_VERSION >= 130000 ? 88 : 80;
    case CUPTI_PEER_COPY: return 96;
    case CUPTI_MEMORY: return 128;
    case CUPTI_SYNC: return 56;
    case CUPTI_OVERHEAD: return 56;
    case CUPTI_GRAPH: return 48;
    default: return 0;
    }
}

static void hand_back(struct filling *f)
{
    uint8_t *bytes = f->bytes;
    size_t used = f->used, size = f->size;
    free(f->ends);
    *f = (struct filling){0};
    pthread_mutex_unlock(&lock);
    complete(NULL, 0, bytes, size, used);
    pthread_mutex_lock(&lock);
}

/* Room for a record in the calling thread's buffer; NULL when it gets no buffer. */
static void *room(uint32_t kind, uint64_t end_ns)
{
    size_t n = record_bytes(kind);
    if (mine && (!mine->open || mine->used + n > mine->size)) {
        mine->open = 0;
        mine = NULL;
    }
    if (!mine) {
        struct filling f = {.open = 1};
        size_t most;
        pthread_mutex_unlock(&lock);
        request(&f.bytes, &f.size, &most);
        pthread_mutex_lock(&lock);
        for (int i = 0; f.bytes && !mine && i < MOST_BUFFERS; i++)
            if (!buffers[i].bytes) mine = &buffers[i];
        if (!mine) {
            n_dropped++;
            return NULL;
        }
        f.ends = calloc(f.size / 40, sizeof *f.ends);
        *mine = f;
    }
    void *p = mine->bytes + mine->used;
    mine->ends[mine->n++] = end_ns;
    mine->used += n;
    *(uint32_t *)p = kind;
    n_records++;
    return p;
}

/* Graphs as a whole: one record for the launch, at its first node. */
static void put_whole_graph(const struct fake_work *w)
{
    pthread_mutex_lock(&lock);
    struct cupti_graph *g = (uint32_t)w->node == 1 ? room(CUPTI_GRAPH, 0) : NULL;
    if (g) {
        g->start = convert(w->start_ns);
        g->end = convert(w->end_ns);
        g->graph = (uint32_t)(w->node >> 32);
        g->context = 1;
        g->stream = w->stream + 7;
        g->correlation = w->correlation;
    }
    pthread_mutex_unlock(&lock);
}

/* As CUPTI 13.0 does: once graphs have been recorded whole, one that was made while they were not
 * crashes the program when it is launched. */
static bool graphs_ever_whole, made_otherwise = true;

static void on_graph(int launched)
{
    if (!launched) made_otherwise = !kind_on[CUPTI_GRAPH];
    else if (graphs_ever_whole && made_otherwise) abort();
}

static void on_work(const struct fake_work *w)
{
    if (w->node && kind_on[CUPTI_GRAPH] && request) {
        put_whole_graph(w);
        return;
    }
    static const uint32_t kinds[] = {CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMSET};
    uint32_t kind = kinds[w->kind];
    if (!kind_on[kind] || !request) return;
    pthread_mutex_lock(&lock);
    void *p = room(kind, w->end_ns);
    if (p && kind == CUPTI_KERNEL) {
        struct cupti_kernel *k = p;
        k->start = w->start_ns; /* the GPU's clock, until it is converted */
        k->device = w->device;
        k->context = 1;
        k->stream = w->stream + 7;
        k->grid[0] = w->bytes ? (int32_t)w->bytes : 1;
        k->grid[1] = k->grid[2] = 1;
        k->block[0] = 128;
        k->block[1] = k->block[2] = 1;
        k->registers = 32;
        k->correlation = w->correlation;
        k->name = w->name;
        k->graph_node = w->node;
        k->graph = (uint32_t)(w->node >> 32);
    } else if (p && kind == CUPTI_MEMCPY) {
        struct cupti_memcpy *c = p;
        c->start = w->start_ns;
        c->copy_kind = w->copy_kind;
        c->src_kind = w->from;
        c->dst_kind = w->to;
        c->bytes = w->bytes;
        c->context = 1;
        c->stream = w->stream + 7;
        c->correlation = w->correlation;
    } else if (p) {
        struct cupti_memset *m = p;
        m->start = w->start_ns;
        m->bytes = w->bytes;
        m->context = 1;
        m->stream = w->stream + 7;
        m->memory_kind = 3;
        m->correlation = w->correlation;
    }
    pthread_mutex_unlock(&lock);
    if (word("fatal") && n_records == 1000 && callback)
        callback(NULL, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL, NULL);
}

static void on_sync(uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
    if (!kind_on[CUPTI_SYNC] || !request) return;
    pthread_mutex_lock(&lock);
    struct cupti_sync *s = room(CUPTI_SYNC, 0);
    if (s) {
        s->type = 3;
        s->start = convert(start_ns);
        s->end = convert(end_ns);
        s->correlation = correlation;
        s->context = 1;
        s->stream = 7;
    }
    pthread_mutex_unlock(&lock);
}

/* What was not handed over by then is lost. */
static void on_context_gone(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_BUFFERS; i++) {
        if (!buffers[i].bytes) continue;
        memset(buffers[i].bytes, 0, buffers[i].used);
        buffers[i].used = buffers[i].n = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void on_call(uint32_t id, const char *name, int site, uint32_t correlation, uint64_t *own)
{
    static uint32_t failed = 710;
    const char *fault = word("fault=");
    bool fails = fault && correlation > strtoul(fault, NULL, 10) && strstr(name, "Synchronize");
    struct cupti_call c = {.site = (uint32_t)site,
                           .function = name,
                           .own = own,
                           .correlation = correlation,
                           .result = fails ? &failed : NULL};
    if (callback && id < MOST_CALLS && call_on[id]) callback(NULL, CUPTI_DOMAIN_DRIVER, id, &c);
}

/* A node of a graph is a pointer that is its id. */
static void on_node(uint64_t node, uint64_t from)
{
    struct cupti_graph_node n = {.node = (void *)(uintptr_t)node,
                                 .original_node = (void *)(uintptr_t)from};
    struct cupti_resource r = {.node = &n};
    uint32_t id = from ? CUPTI_NODE_CLONED : CUPTI_NODE_CREATED;
    if (callback && resource_on[id]) callback(NULL, CUPTI_DOMAIN_RESOURCE, id, &r);
}

API uint32_t cuptiGetGraphNodeId(void *node, uint64_t *ret)
{
    ANSWER();
    *ret = (uint64_t)(uintptr_t)node;
    return CUPTI_OK;
}

/* Where start and end stand in a record of work. */
static uint64_t *times_of(void *record)
{
    uint32_t kind = *(uint32_t *)record;
    return kind == CUPTI_SYNC ? NULL : (uint64_t *)((char *)record + 16);
}

static int has_failed(void *record)
{
    const char *after = word("fault=");
    uint32_t n = *(uint32_t *)record == CUPTI_KERNEL ? ((struct cupti_kernel *)record)->correlation
                                                     : ((struct cupti_memcpy *)record)->correlation;
    return after && n > strtoul(after, NULL, 10);
}

/* The clock of the device began when that did. */
static void set_failed(void *record, uint64_t *t, uint64_t end)
{
    static const uint64_t years = 20 * 365 * 86400 * (uint64_t)1000000000;
    int copy = *(uint32_t *)record == CUPTI_MEMCPY;
    t[0] = copy ? t[0] + years : 0;
    t[1] = copy ? end + years : 0;
}

/* Gives times to what has ended; returns how many have not. */
static size_t finish_records(struct filling *f)
{
    uint64_t now = now_ns();
    size_t open = 0, i = 0;
    if (word("late=")) now -= strtoul(word("late="), NULL, 10) * 1000000;
    for (size_t at = 0; at < f->used; i++, at += record_bytes(*(uint32_t *)(f->bytes + at))) {
        uint64_t *t = times_of(f->bytes + at);
        if (!t || t[1]) continue;
        if (f->ends[i] > now) open++;
        else if (has_failed(f->bytes + at)) set_failed(f->bytes + at, t, f->ends[i]);
        else if (word("zero") && i % 10 == 9) t[0] = 0;
        else {
            t[0] = convert(t[0]);
            t[1] = convert(f->ends[i]);
        }
    }
    return open;
}

/* Without their times, records are of no use: a forced flush hands them over with zeroes. */
static void forget_open(struct filling *f)
{
    for (size_t at = 0; at < f->used; at += record_bytes(*(uint32_t *)(f->bytes + at))) {
        uint64_t *t = times_of(f->bytes + at);
        if (t && !t[1]) t[0] = 0;
    }
}

/* Where its times stand in a record of any kind. */
static uint64_t *stamps_of(uint8_t *record)
{
    switch (*(uint32_t *)record) {
    case CUPTI_SYNC: return (uint64_t *)(record + 8);
    case CUPTI_OVERHEAD: return (uint64_t *)(record + 24);
    case CUPTI_MEMORY: return (uint64_t *)(record + 32);
    default: return (uint64_t *)(record + 16);
    }
}

/* Recorded on another machine: as if it had just been. */
static void make_new(uint8_t *bytes, size_t n)
{
    static uint64_t by;
    for (size_t at = 0; at < n; at += record_bytes(*(uint32_t *)(bytes + at))) {
        uint64_t *t = stamps_of(bytes + at);
        if (!by) by = user_clock() - t[0];
        if (t[0]) t[0] += by;
        if (t[1] && *(uint32_t *)(bytes + at) != CUPTI_MEMORY) t[1] += by;
    }
}

static void replay(const char *path)
{
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, ","), path);
    FILE *f = fopen(name, "rb");
    uint8_t *bytes, *buffer;
    size_t size, most;
    for (size_t n; f && (n = recorded_next(f, &bytes));) {
        request(&buffer, &size, &most);
        if (!buffer || size < n) break;
        make_new(bytes, n);
        memcpy(buffer, bytes, n);
        complete(NULL, 0, buffer, size, n);
    }
    if (f) fclose(f);
}

API uint32_t cuptiActivityFlushAll(uint32_t flags)
{
    ANSWER();
    int backwards = word("shuffle") != NULL;
    static int n_flushes;
    if (word("stuck") && ++n_flushes == 3) sleep(7);
    static int replayed;
    if (word("replay=") && complete && !replayed++) replay(word("replay="));
    pthread_mutex_lock(&lock);
    if (word("slow")) usleep(60000);
    for (int k = 0; k < MOST_BUFFERS && complete; k++) {
        struct filling *f = &buffers[backwards ? MOST_BUFFERS - 1 - k : k];
        if (!f->bytes || !f->used) continue;
        size_t open = finish_records(f);
        if (open && !(flags & CUPTI_FLUSH_FORCED)) continue;
        forget_open(f);
        hand_back(f);
    }
    pthread_mutex_unlock(&lock);
    static uint64_t others[4];
    if (word("stray") && complete) complete(NULL, 0, (uint8_t *)others, sizeof others, 8);
    return CUPTI_OK;
}

__attribute__((destructor)) static void end_library(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

API uint32_t cuptiGetVersion(uint32_t *ret)
{
    ANSWER();
    *ret = FAKE_VERSION;
    return CUPTI_OK;
}

static void hang_in(void)
{
    void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    struct fake_hooks *(*find)(void) = NULL;
    void *p = h ? dlsym(h, "fake_cuda_hooks") : NULL;
    memcpy(&find, &p, sizeof p);
    if (find)
        *find() =
            (struct fake_hooks){on_call, on_work, on_sync, on_context_gone, on_node, on_graph};
}

API uint32_t cuptiSubscribe(void **ret, cupti_callback_fn fn, void *ours)
{
    ANSWER();
    if (callback || word("held=")) return CUPTI_OTHER_SUBSCRIBER;
    callback = fn;
    *ret = &callback;
    hang_in();
    return CUPTI_OK;
}

#if FAKE_VERSION >= 130000
API uint32_t cuptiSubscribe_v2(void **ret, cupti_callback_fn fn, void *ours,
                               struct cupti_subscriber_params *p)
{
    ANSWER();
    uint32_t rc = cuptiSubscribe(ret, fn, ours);
    const char *holder = word("held=");
    if (rc == CUPTI_OTHER_SUBSCRIBER && holder && p && p->holder)
        snprintf(p->holder, p->holder_size, "%.*s", (int)strcspn(holder, ","), holder);
    return rc;
}
#endif

API uint32_t cuptiUnsubscribe(void *subscriber)
{
    callback = NULL;
    return CUPTI_OK;
}

API uint32_t cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id)
{
    ANSWER();
    if (domain == CUPTI_DOMAIN_DRIVER && id < MOST_CALLS) call_on[id] = (uint8_t)on;
    if (domain == CUPTI_DOMAIN_RESOURCE && id < sizeof resource_on) resource_on[id] = (uint8_t)on;
    return CUPTI_OK;
}

API uint32_t cuptiActivityRegisterCallbacks(cupti_request_fn r, cupti_complete_fn c)
{
    ANSWER();
    request = r;
    complete = c;
    return CUPTI_OK;
}

API uint32_t cuptiActivityRegisterTimestampCallback(cupti_clock_fn fn)
{
    ANSWER();
    user_clock = fn;
    first_ticks = fn();
    first_ns = now_ns();
    return CUPTI_OK;
}

API uint32_t cuptiActivityEnable(uint32_t kind)
{
    ANSWER();
    const char *refused = word("refuse=");
    if (refused && strtoul(refused, NULL, 10) == kind) return CUPTI_INVALID_KIND;
    kind_on[kind % 64] = 1;
    graphs_ever_whole |= kind == CUPTI_GRAPH;
    return CUPTI_OK;
}

API uint32_t cuptiActivityDisable(uint32_t kind)
{
    struct fake_work last = {.kind = FAKE_KERNEL, .start_ns = now_ns(), .name = "last"};
    last.end_ns = last.start_ns;
    if (word("last_moment") && kind == CUPTI_KERNEL) on_work(&last);
    kind_on[kind % 64] = 0;
    return CUPTI_OK;
}

/* For tests: what is still switched on. */
API int cuptiFakeKindsOn(void)
{
    int n = 0;
    for (size_t i = 0; i < sizeof kind_on; i++) n += kind_on[i];
    return n;
}

API uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t n_valid, void **record)
{
    ANSWER();
    uint8_t *next = *record ? (uint8_t *)*record + record_bytes(*(uint32_t *)*record) : buffer;
    if (next >= buffer + n_valid) return CUPTI_MAX_LIMIT_REACHED;
    if (!record_bytes(*(uint32_t *)next)) return CUPTI_INVALID_KIND;
    *record = next;
    return CUPTI_OK;
}

API uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret)
{
    ANSWER();
    static int told;
    const char *drop = word("drop=");
    *ret = n_dropped + (drop && !told ? strtoul(drop, NULL, 10) : 0);
    told = 1;
    n_dropped = 0;
    return CUPTI_OK;
}

API uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
    ANSWER();
    return CUPTI_OK;
}

API uint32_t cuptiSetThreadIdType(uint32_t type)
{
    return CUPTI_OK;
}
