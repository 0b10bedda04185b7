/* activity.c: see activity.h. */
#include "backend/cuda/activity.h"

#include <stdatomic.h>
#include <string.h>

#include "backend/buffers.h"
#include "backend/cuda/records.h"
#include "record/recorder.h"

static const struct cupti_api *api;
static enum clock_source ticks_of;
static atomic_uint_fast64_t n_foreign; /* buffers that came to us and are none of ours */
static bool whole_graphs;
static uint32_t n_lent, most_lent; /* buffers CUPTI holds, and how many it may before we worry */
static bool may_refuse;            /* CUPTI bears a request that gets no buffer */

/* Where records go that nobody reads: older versions crash when they get no buffer. */
enum { N_NOWHERE = 1024, NOWHERE_BYTES = 8192 };
static uint64_t nowhere[N_NOWHERE][NOWHERE_BYTES / sizeof(uint64_t)];
static atomic_bool nowhere_lent[N_NOWHERE];
static atomic_uint_fast64_t n_nowhere; /* records that went there and were not told of yet */

static uint64_t clock_now(void)
{
    return clock_ticks(ticks_of);
}

/* Never one that is lent already; NULL when all are, which is more than a full queue fills. */
static uint8_t *take_nowhere(void)
{
    for (int i = 0; i < N_NOWHERE; i++)
        if (!atomic_exchange(&nowhere_lent[i], true)) return (uint8_t *)nowhere[i];
    return NULL;
}

static bool give_back_nowhere(uint8_t *bytes, size_t n_valid)
{
    ptrdiff_t at = bytes - (uint8_t *)nowhere;
    if (at < 0 || at >= (ptrdiff_t)sizeof nowhere) return false;
    for (void *r = NULL; api->ActivityGetNextRecord(bytes, n_valid, &r) == CUPTI_OK;)
        atomic_fetch_add_explicit(&n_nowhere, 1, memory_order_relaxed);
    memset(nowhere[at / NOWHERE_BYTES], 0, NOWHERE_BYTES);
    atomic_store(&nowhere_lent[at / NOWHERE_BYTES], false);
    return true;
}

static void give_buffer(uint8_t **ret, size_t *ret_size, size_t *ret_max_records)
{
    *ret = buffers_take();
    *ret_size = *ret ? BUFFERS_BYTES : 0;
    *ret_max_records = 0; /* as many as fit */
    if (*ret || may_refuse) return;
    *ret = take_nowhere();
    *ret_size = *ret ? NOWHERE_BYTES : 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *bytes, size_t size, size_t n_valid)
{
    if (!buffers_give_back(bytes, n_valid) && !give_back_nowhere(bytes, n_valid))
        atomic_fetch_add_explicit(&n_foreign, 1, memory_order_relaxed);
}

/* Those that must be had; the others are left out where a version or device has none. */
static const struct {
    enum cupti_kind kind;
    bool needed;
} kinds[] = {
    {CUPTI_KERNEL, true},    {CUPTI_MEMCPY, true},     {CUPTI_MEMSET, true},  {CUPTI_SYNC, false},
    {CUPTI_OVERHEAD, false}, {CUPTI_PEER_COPY, false}, {CUPTI_MEMORY, false},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void set_attribute(enum cupti_attribute attribute)
{
    uint8_t on = 1;
    size_t size = sizeof on;
    api->ActivitySetAttribute(attribute, &size, &on); /* where it is not known nothing changes */
}

static int enable_kinds(struct err *e)
{
    for (int i = 0; i < N_KINDS; i++) {
        uint32_t rc = api->ActivityEnable(kinds[i].kind);
        if (rc != CUPTI_OK && kinds[i].needed)
            return FAIL(e, ERR_UNSUPPORTED, "GPU records: %s", cupti_api_reason(api, rc));
    }
    if (api->ActivityEnableAllSyncRecords) api->ActivityEnableAllSyncRecords(0);
    if (whole_graphs) api->ActivityEnable(CUPTI_GRAPH);
    return 0;
}

int activity_start(const struct cupti_api *a, const struct backend_options *o, struct err *e)
{
    api = a;
    ticks_of = recorder_clock();
    whole_graphs = o->whole_graphs;
    may_refuse = api->version >= CUPTI_12_9;
    most_lent = (uint32_t)(o->most_bytes / BUFFERS_BYTES / 2);
    buffers_init(o->most_bytes);
    buffers_replenish();
    if (api->SetThreadIdType) api->SetThreadIdType(CUPTI_SYSTEM_THREAD_IDS);
    set_attribute(CUPTI_ATTR_ZEROED);
    if (api->version >= CUPTI_12_3) set_attribute(CUPTI_ATTR_PER_THREAD);
    uint32_t rc = api->ActivityRegisterTimestampCallback(clock_now);
    if (rc == CUPTI_OK) rc = api->ActivityRegisterCallbacks(give_buffer, take_buffer);
    if (rc != CUPTI_OK)
        return FAIL(e, ERR_UNSUPPORTED, "GPU records: %s", cupti_api_reason(api, rc));
    return enable_kinds(e);
}

static bool next_record(struct buffer *b, size_t n_valid, void **ret)
{
    *ret = b->last;
    uint32_t rc = api->ActivityGetNextRecord((uint8_t *)b->bytes, n_valid, ret);
    return rc == CUPTI_OK && *ret && *(uint32_t *)*ret != 0;
}

static void read_filled(void)
{
    void *record;
    for (struct buffer *next, *b = buffers_filled(); b; b = next) {
        next = b->next;
        while (next_record(b, b->n_valid, &record)) {
            records_put(record);
            b->last = record;
        }
        buffers_recycle(b);
    }
}

/* CUPTI gives a buffer back only when all work of its time has ended, which with a full queue is
 * seconds later. What it has written there already is whole, but for the last record: that may be
 * half written, and waits for a successor. */
static void read_lent(struct buffer *b)
{
    void *record, *next;
    if (!next_record(b, BUFFERS_BYTES, &record)) return;
    while (records_complete(record)) {
        next = record;
        if (api->ActivityGetNextRecord((uint8_t *)b->bytes, BUFFERS_BYTES, &next) != CUPTI_OK ||
            *(uint32_t *)next == 0)
            break;
        records_put(record);
        b->last = record;
        record = next;
    }
}

/* Buffers that are none of ours: another profiler has registered itself in between. */
static void note_foreign(void)
{
    if (atomic_load_explicit(&n_foreign, memory_order_relaxed))
        backend_note("another profiler uses CUPTI in this process: GPU records may be missing");
}

static void note_dropped(void)
{
    size_t n = 0;
    if (api->ActivityGetNumDroppedRecords(NULL, 0, &n) != CUPTI_OK) n = 0;
    n += atomic_exchange(&n_nowhere, 0);
    if (n) recorder_put((struct ring_record){.kind = RING_DROPPED}, n);
}

/* Every flush makes CUPTI begin new buffers; with many of them out it has to do without. */
static uint32_t look_at_lent(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < buffers_count(); i++) {
        struct buffer *b = buffers_lent(i);
        if (!b) continue;
        read_lent(b);
        n++;
    }
    return n;
}

void activity_fetch(bool all)
{
    if (all || n_lent < most_lent) api->ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
    read_filled();
    n_lent = look_at_lent();
    note_dropped();
    note_foreign();
    buffers_replenish();
}

void activity_pause(bool paused)
{
    if (!paused) (void)(enable_kinds(NULL) == 0);
    for (int i = 0; paused && i < N_KINDS; i++) api->ActivityDisable(kinds[i].kind);
    if (paused && whole_graphs) api->ActivityDisable(CUPTI_GRAPH);
}

void activity_forget(void)
{
    records_reset();
}
