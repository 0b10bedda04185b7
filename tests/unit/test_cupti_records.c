/* test_cupti_records.c: which times of CUPTI's records are believed, for every kind of record, and
 * what is recorded of those that have none. */
#include "backend/cuda/cupti_abi.h"
#include "backend/cuda/records.h"
#include "record/recorder.h"
#include "recording.h"

enum { EARLIEST = 1000000, LATEST = 2000000 };

union record {
    uint32_t kind;
    struct cupti_kernel kernel;
    struct cupti_memcpy copy;
    struct cupti_peer_copy peer;
    struct cupti_memset set;
    struct cupti_sync sync;
    struct cupti_overhead overhead;
    struct cupti_memory memory;
    struct cupti_graph graph;
};

static const enum cupti_kind work[] = {CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_PEER_COPY,
                                       CUPTI_MEMSET, CUPTI_SYNC,   CUPTI_GRAPH};
enum { N_WORK = sizeof work / sizeof *work };

static union record record(enum cupti_kind kind, uint64_t start, uint64_t end)
{
    union record r;
    memset(&r, 0, sizeof r);
    r.kind = kind;
    switch (kind) {
    case CUPTI_KERNEL: r.kernel.start = start, r.kernel.end = end; break;
    case CUPTI_MEMCPY: r.copy.start = start, r.copy.end = end; break;
    case CUPTI_PEER_COPY: r.peer.start = start, r.peer.end = end; break;
    case CUPTI_MEMSET: r.set.start = start, r.set.end = end; break;
    case CUPTI_SYNC: r.sync.start = start, r.sync.end = end; break;
    case CUPTI_OVERHEAD: r.overhead.start = start, r.overhead.end = end; break;
    case CUPTI_MEMORY: r.memory.timestamp = start; break;
    case CUPTI_GRAPH: r.graph.start = start, r.graph.end = end; break;
    }
    return r;
}

static enum record_times judge(enum cupti_kind kind, uint64_t start, uint64_t end)
{
    union record r = record(kind, start, end);
    return records_times(&r, EARLIEST, LATEST);
}

static void check_two_times(enum cupti_kind kind)
{
    static const struct {
        uint64_t start, end;
        enum record_times times;
    } all[] = {
        {1500000, 1500010, TIMES_GOOD},
        {EARLIEST, LATEST, TIMES_GOOD},
        {0, 0, TIMES_NONE},                  /* never ran, or its end is not known */
        {1500000, 0, TIMES_NONE},            /* still runs */
        {0, 1500000, TIMES_NONE},            /* half written */
        {1500000, 9000000, TIMES_NONE},      /* one of them is on our clock */
        {900000, 1500000, TIMES_NONE},       /* the same */
        {9000010, 9000000, TIMES_NONE},      /* no clock runs backwards */
        {9000000, 900000000, TIMES_NONE},    /* longer than all of the recording */
        {9000000, UINT64_MAX, TIMES_NONE},   /* no time at all */
        {900000, 9000000, TIMES_NONE},       /* around all of it */
        {9000000, 9000010, TIMES_ELSEWHERE}, /* a clock that is ahead */
        {5000, 5010, TIMES_ELSEWHERE},       /* one that is behind */
        {EARLIEST - 9, EARLIEST - 1, TIMES_ELSEWHERE},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_EQ_INT(judge(kind, all[i].start, all[i].end), all[i].times);
}

TEST(a_record_whose_times_are_being_written_is_not_settled)
{
    for (int i = 0; i < N_WORK; i++) {
        union record now = record(work[i], 1500000, 1500000),
                     half = record(work[i], 1500010, 1500000);
        CHECK(records_settled(&now, EARLIEST, LATEST));
        CHECK(!records_settled(&half, EARLIEST, LATEST)); /* the end of the one before */
        CHECK_EQ_INT(judge(work[i], 1500010, 1500000), TIMES_GOOD);
    }
    union record memory = record(CUPTI_MEMORY, 1500000, 0);
    CHECK(records_settled(&memory, EARLIEST, LATEST));
}

TEST(times_of_every_kind_of_record)
{
    for (int i = 0; i < N_WORK; i++) check_two_times(work[i]);
    check_two_times(CUPTI_OVERHEAD);
    CHECK_EQ_INT(judge(CUPTI_MEMORY, 1500000, 0), TIMES_GOOD);
    CHECK_EQ_INT(judge(CUPTI_MEMORY, 0, 0), TIMES_NONE);
    CHECK_EQ_INT(judge(CUPTI_MEMORY, 9000000, 0), TIMES_ELSEWHERE);
}

static void put(enum cupti_kind kind, uint64_t start, uint64_t end)
{
    uint64_t now = clock_mono_ns(), minute = (uint64_t)60 * 1000000000;
    union record r = record(kind, start, end);
    if (kind == CUPTI_MEMORY) r.memory.memory_kind = 3, r.memory.operation = 1;
    records_put(&r, records_times(&r, now > minute ? now - minute : 1, now + minute));
}

/* Each kind three times: well timed, never timed, and by the time of day. */
static void record_all(const char *dir)
{
    static const uint64_t day = (uint64_t)1700000000 * 1000000000;
    struct recorder_options o = {.where.dir = dir, .os_clock = true};
    CHECK_EQ_INT(recorder_start(&o, NULL), 0);
    for (int i = 0; i < N_WORK + 2; i++) {
        enum cupti_kind kind = i < N_WORK ? work[i] : i == N_WORK ? CUPTI_OVERHEAD : CUPTI_MEMORY;
        uint64_t now = clock_mono_ns();
        put(kind, now, now + 1000);
        put(kind, 0, 0);
        put(kind, day, day + 1000);
    }
}

TEST(work_without_good_times_is_recorded_without_times)
{
    struct folder f;
    struct trace *t = record_in_child(record_all, &f);
    uint32_t timed = 0, untimed = 0, memory = 0, overhead = 0;
    REQUIRE(t != NULL);
    for (row_t r = 0; r < t->n_rows; r++) {
        bool none = t->flags[r] & ROW_NO_TIME;
        if (trace_gpu(t, r)) timed += !none, untimed += none;
        memory += t->kind[r] == KIND_MEMORY;
        overhead += t->kind[r] == KIND_OVERHEAD;
        CHECK(none || t->dur_ns[r] <= 1000);
    }
    CHECK_EQ_UINT(timed, N_WORK);
    CHECK_EQ_UINT(untimed, 2 * N_WORK);
    CHECK_EQ_UINT(memory, 1);
    CHECK_EQ_UINT(overhead, 1);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_LOST_RECORDS], 0);
    CHECK(t->end_ns - t->begin_ns < 1000000000);
    trace_free(t);
    folder_done(&f);
}

TEST_MAIN
