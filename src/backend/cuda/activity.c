/* activity.c: see cuda_private.h.
 *
 * Another profiler may take the records over (cuda_private.h). It is not disturbed then: nothing is
 * flushed, switched off or registered again, for it is unknown here whether it has ended,
 * and what it has gathered would be lost. We say so, and go on with the calls. Only where a
 * caller reports that it has ended (activity_meet_other, activity_pause) we take the place again.
 */
#include "backend/cuda/cuda_private.h"

#include <stdatomic.h>
#include <string.h>

#include "backend/buffers.h"
#include "backend/cuda/records.h"
#include "record/recorder.h"

static const struct cupti_api *api;
static enum clock_source ticks_of;
static atomic_uint_fast64_t n_foreign; /* buffers handed to us that belong to another profiler */
static bool sync_records;
static bool whole_graphs; /* graphs are recorded whole, for as long as the process lives */
static atomic_uint_fast64_t unwanted_from, unwanted_to; /* ticks of the last pause */
static bool inherited;             /* by fork: what is remembered of records is the parent's */
static uint32_t n_lent, most_lent; /* buffers CUPTI holds, and how many it may before we worry */
static bool may_refuse;            /* this CUPTI survives a request that is refused a buffer */

static atomic_uint_fast64_t n_signs; /* whatever CUPTI did with buffers of ours */
static uint64_t n_seen;              /* records found in buffers that are lent */
static struct pulse pulse;
static atomic_bool taken, paused; /* another profiler has the records; recording is paused */
static uint64_t signs_taken;
static atomic_uint_fast64_t lost_at_takeover; /* launches that are counted as lost, or not lost */

/* Times of our clock are between these. */
#define CLOCK_SLACK_S 60
static uint64_t first_ticks, earliest, latest, slack;
static bool met_elsewhere; /* records with times of another clock, not reported yet */

/* Records that are not wanted go here: older versions of CUPTI crash when they get no buffer. */
enum { N_NOWHERE = 1024, NOWHERE_BYTES = 8192 };
static uint64_t nowhere[N_NOWHERE][NOWHERE_BYTES / sizeof(uint64_t)];
static atomic_bool nowhere_lent[N_NOWHERE];
static atomic_uint_fast64_t n_nowhere; /* records that went there and were not reported yet */

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
    atomic_fetch_add_explicit(&n_signs, 1, memory_order_relaxed);
    *ret = buffers_take();
    *ret_size = *ret ? BUFFERS_BYTES : 0;
    *ret_max_records = 0; /* as many as fit */
    if (*ret || may_refuse) return;
    *ret = take_nowhere();
    *ret_size = *ret ? NOWHERE_BYTES : 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *bytes, size_t size, size_t n_valid)
{
    bool ours = buffers_give_back(bytes, n_valid) || give_back_nowhere(bytes, n_valid);
    atomic_fetch_add_explicit(ours ? &n_signs : &n_foreign, 1, memory_order_relaxed);
}

/* Those that must be had; the others are left out where a version or device has none. Waits are
 * known from their calls: records of them cost every launch 0.2 us and say nothing more. */
static const struct {
    enum cupti_kind kind;
    enum { NEEDED, WELCOME, ON_REQUEST } need;
} kinds[] = {
    {CUPTI_KERNEL, NEEDED},    {CUPTI_MEMCPY, NEEDED},     {CUPTI_MEMSET, NEEDED},
    {CUPTI_OVERHEAD, WELCOME}, {CUPTI_PEER_COPY, WELCOME}, {CUPTI_MEMORY, WELCOME},
    {CUPTI_SYNC, ON_REQUEST},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void set_attribute(enum cupti_attribute attribute, uint8_t value)
{
    size_t size = sizeof value;
    api->ActivitySetAttribute(attribute, &size, &value); /* where it is not known nothing changes */
}

static uint32_t register_ourselves(void)
{
    set_attribute(CUPTI_ATTR_ZEROED, 1);
    if (api->version >= CUPTI_12_3) set_attribute(CUPTI_ATTR_PER_THREAD, 1);
    uint32_t rc = api->ActivityRegisterTimestampCallback(clock_now);
    return rc == CUPTI_OK ? api->ActivityRegisterCallbacks(give_buffer, take_buffer) : rc;
}

static int enable_kinds(struct err *e)
{
    for (int i = 0; i < N_KINDS; i++) {
        if (kinds[i].need == ON_REQUEST && !sync_records) continue;
        uint32_t rc = api->ActivityEnable(kinds[i].kind);
        if (rc != CUPTI_OK && kinds[i].need == NEEDED)
            return FAIL(e, ERR_UNSUPPORTED, "GPU records: %s", cupti_api_reason(api, rc));
    }
    if (sync_records && api->ActivityEnableAllSyncRecords) api->ActivityEnableAllSyncRecords(0);
    return 0;
}

/* Where graphs have ever been recorded whole, CUPTI (13.0) crashes at the launch of one that was
 * instantiated while they were not: before they were, or after. So this is switched on before there
 * can be any, or not at all, and never off again. */
static void enable_graphs(const struct backend_options *o)
{
    if (!o->whole_graphs || whole_graphs) return;
    if (o->from_the_start) whole_graphs = api->ActivityEnable(CUPTI_GRAPH) == CUPTI_OK;
    else
        backend_note("CUDA graphs are recorded by node: only a program that is recorded from its "
                     "start (strata run --level timeline) can have them whole");
}

static void begin_clock(void)
{
    first_ticks = clock_now();
    slack = (uint64_t)(recorder_ticks_per_second() * CLOCK_SLACK_S);
    earliest = first_ticks > slack ? first_ticks - slack : 0;
}

int activity_start(const struct cupti_api *a, const struct backend_options *o, struct err *e)
{
    api = a;
    ticks_of = recorder_clock();
    sync_records = o->sync_records;
    may_refuse = api->version >= CUPTI_12_9;
    most_lent = (uint32_t)(o->most_bytes / BUFFERS_BYTES / 2);
    if (inherited) records_reset();
    inherited = false;
    pulse = (struct pulse){0};
    atomic_store(&taken, false);
    atomic_store(&paused, false);
    begin_clock();
    atomic_store(&unwanted_to, first_ticks);
    buffers_init(o->most_bytes);
    buffers_replenish();
    if (api->SetThreadIdType) api->SetThreadIdType(CUPTI_SYSTEM_THREAD_IDS);
    uint32_t rc = register_ourselves();
    if (rc != CUPTI_OK)
        return FAIL(e, ERR_UNSUPPORTED, "GPU records: %s", cupti_api_reason(api, rc));
    TRY(enable_kinds(e));
    enable_graphs(o);
    return 0;
}

/* Launches of graphs come while nothing is to be recorded, too. */
static bool is_unwanted(const void *record)
{
    uint64_t at = records_start(record);
    return *(const uint32_t *)record == CUPTI_GRAPH && at && at >= atomic_load(&unwanted_from) &&
           at < atomic_load(&unwanted_to);
}

static void activity_put(const void *record)
{
    if (is_unwanted(record)) return;
    enum record_times times = records_times(record, earliest, latest);
    met_elsewhere |= times == TIMES_ELSEWHERE;
    records_put(record, times);
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
            activity_put(record);
            b->last = record;
        }
        buffers_recycle(b);
    }
}

/* CUPTI writes a record in steps: its start and end may still be on the device's clock, and may be
 * written at different moments. After the last flush (`last`) nothing changes any more. */
static bool is_whole(const void *record, bool last)
{
    return records_complete(record) && (last || records_settled(record, earliest, latest));
}

/* CUPTI gives a buffer back only when all work of its time has ended, which with a full queue is
 * seconds later. What it has written there already is whole, but for the last record: that may be
 * half written, and waits for a successor. */
static void read_lent(struct buffer *b, bool last)
{
    void *record, *next;
    if (!next_record(b, BUFFERS_BYTES, &record)) return;
    while (is_whole(record, last)) {
        next = record;
        if (api->ActivityGetNextRecord((uint8_t *)b->bytes, BUFFERS_BYTES, &next) != CUPTI_OK ||
            *(uint32_t *)next == 0)
            break;
        activity_put(record);
        b->last = record;
        record = next;
    }
}

/* Also what has not ended: where CUPTI writes it works for us, however long the GPU takes. */
static void count_written(struct buffer *b)
{
    void *next = b->seen;
    while (api->ActivityGetNextRecord((uint8_t *)b->bytes, BUFFERS_BYTES, &next) == CUPTI_OK &&
           next && *(uint32_t *)next != 0) {
        b->seen = next;
        n_seen++;
    }
}

/* Nothing writes to it any more, so its last record is whole; and it may be freed by others. */
static void activity_give_up(struct buffer *b)
{
    void *record;
    while (next_record(b, BUFFERS_BYTES, &record) && records_complete(record)) {
        activity_put(record);
        b->last = record;
    }
    b->given_up = true;
}

/* Buffers that are not ours: another profiler has registered itself in between. */
static void note_foreign(void)
{
    if (atomic_load_explicit(&n_foreign, memory_order_relaxed))
        backend_note("another profiler uses CUPTI in this process; GPU records may be missing");
}

static void note_dropped(void)
{
    size_t n = 0;
    if (atomic_load(&taken) || api->ActivityGetNumDroppedRecords(NULL, 0, &n) != CUPTI_OK) n = 0;
    n += atomic_exchange(&n_nowhere, 0);
    if (n) recorder_put((struct ring_record){.kind = RING_DROPPED}, n);
}

/* Times of another clock have no place among the rest. CUPTI has them by mistake, too, as where the
 * device has failed: only what shows another profiler makes the reason certain. */
static void note_elsewhere(void)
{
    bool other = atomic_load(&taken) || atomic_load_explicit(&n_foreign, memory_order_relaxed);
    if (met_elsewhere && other)
        backend_note("another profiler changed CUPTI's clock; GPU work that has its times is "
                     "recorded without times");
    else if (met_elsewhere)
        backend_note("CUPTI gave GPU work times outside the recording (its clock was changed, or "
                     "the GPU has failed); such work is recorded without times");
    met_elsewhere = false;
}

/* Every flush makes CUPTI begin new buffers; with many of them out it has to do without. */
static uint32_t look_at_lent(bool last)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < buffers_count(); i++) {
        struct buffer *b = buffers_lent(i);
        if (!b) continue;
        read_lent(b, last);
        count_written(b);
        n++;
    }
    return n;
}

static double seconds_in(uint64_t ns)
{
    uint64_t now = clock_mono_ns(), ago = now > ns ? now - ns : 0;
    double since = (double)(clock_now() - first_ticks) / recorder_ticks_per_second();
    return since - (double)ago / 1e9;
}

/* Leaves CUPTI as the other would have found it without Strata: buffers need not be zeroed, and no
 * records come that only we have asked for. */
static void activity_make_room(void)
{
    set_attribute(CUPTI_ATTR_ZEROED, 0);
    api->ActivityDisable(CUPTI_PEER_COPY);
    api->ActivityDisable(CUPTI_MEMORY);
}

static void lose_place(uint64_t signs)
{
    for (uint32_t i = 0; i < buffers_count(); i++) {
        struct buffer *b = buffers_lent(i);
        if (b) activity_give_up(b);
    }
    activity_make_room();
    signs_taken = signs;
    atomic_store(&lost_at_takeover, pulse.launched_alive);
    atomic_store(&taken, true);
    backend_note(
        "another profiler (perhaps torch.profiler) took over CUPTI's records %.1f s into the "
        "recording; GPU work is missing after that. Run without it for a complete timeline",
        seconds_in(pulse.alive_ns));
}

static void regain_place(const struct pulse_look *look)
{
    pulse = (struct pulse){0};
    set_attribute(CUPTI_ATTR_ZEROED, 1);
    (void)(enable_kinds(NULL) == 0);
    atomic_store(&taken, false);
    backend_note("Strata receives CUPTI's records again from %.1f s on", seconds_in(look->now_ns));
}

/* Every launch has left a record that another profiler has. */
static void count_taken(const struct pulse_look *look)
{
    uint64_t n = look->launched - atomic_exchange(&lost_at_takeover, look->launched);
    if (n) recorder_put((struct ring_record){.kind = RING_DROPPED}, n);
}

static void feel_pulse(const struct pulse_look *look)
{
    uint64_t signs = atomic_load_explicit(&n_signs, memory_order_relaxed);
    if (atomic_load(&paused)) return;
    if (!atomic_load(&taken) && pulse_is_lost(&pulse, look)) lose_place(signs);
    else if (atomic_load(&taken) && signs != signs_taken) regain_place(look);
    if (atomic_load(&taken)) count_taken(look);
}

/* Not while another profiler gathers: it would be handed what it has not asked for. */
static bool may_flush(bool all)
{
    if (all || atomic_load(&taken)) return !atomic_load(&taken);
    return atomic_load(&paused) ? n_lent > 0 : n_lent < most_lent;
}

static struct pulse_look activity_do_fetch(bool all)
{
    struct pulse_look look = pulse_count();
    if (may_flush(all))
        look.last = api->ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0) == CUPTI_OK && all;
    latest = clock_now() + slack;
    read_filled();
    n_lent = look_at_lent(all);
    note_dropped();
    note_foreign();
    buffers_replenish();
    look.signs = atomic_load_explicit(&n_signs, memory_order_relaxed) + n_seen;
    return look;
}

void activity_fetch(bool all)
{
    struct pulse_look look = activity_do_fetch(all);
    feel_pulse(&look);
    note_elsewhere();
}

static void switch_off(void)
{
    for (int i = 0; i < N_KINDS; i++) api->ActivityDisable(kinds[i].kind);
}

void activity_pause(bool pause)
{
    bool changes = pause != atomic_load(&paused);
    if (changes && pause) atomic_store(&unwanted_from, clock_now());
    if (changes) atomic_store(&unwanted_to, pause ? UINT64_MAX : clock_now());
    if (changes && pause && atomic_load(&taken)) { /* what comes later is not wanted, so not lost */
        struct pulse_look look = pulse_count();
        count_taken(&look);
    }
    if (pause && !atomic_load(&taken)) {
        switch_off();
        api->ActivityFlushAll(0); /* the next profiler has another clock */
    }
    if (!pause) {
        (void)register_ourselves(); /* if it is refused the place is still ours */
        (void)(enable_kinds(NULL) == 0);
        atomic_fetch_add(&n_signs, 1);
    }
    atomic_store(&paused, pause);
}

bool activity_is_taken(void)
{
    return atomic_load(&taken);
}

void activity_meet_other(bool begins)
{
    static struct pulse_look before;
    if (atomic_load(&paused)) return;
    struct pulse_look now = activity_do_fetch(false);
    now.last = !begins; /* it has ended, and waited for its work */
    feel_pulse(&now);
    note_elsewhere();
    if (begins) {
        before = now;
        return;
    }
    (void)register_ourselves();
    (void)(enable_kinds(NULL) == 0);
    if (atomic_load(&taken)) regain_place(&now);
    else if (now.launched > before.launched && now.signs != before.signs)
        backend_note(
            "the program ran torch.profiler while Strata used CUPTI, so its trace has no GPU "
            "rows; to get them, run without --level timeline");
}

void activity_forget(void)
{
    buffers_forget();
    inherited = true;
}
