/* test_held.c: who holds the memory, from events written by hand. */
#include "analyze/memory/held.h"

#include "base/file.h"
#include "base/mem.h"
#include "import/snapshot/snapshot_read.h"
#include "test.h"

static struct arena mem;
static struct held h;
static struct err e;

/* A snapshot of `n` events on device 0 and one segment of 100 with the given blocks. */
static struct snapshot make(struct snap_event *events, size_t n, struct snap_block *blocks,
                            uint32_t n_blocks)
{
    static struct snap_segment segment;
    static struct snap_stack stacks[4];
    static struct snap_frame frames[1];
    static uint32_t stack_frames[1];
    struct snapshot s = {0};
    CHECK(!intern_init(&s.strings));
    frames[0] = (struct snap_frame){intern_add(&s.strings, str_c("/srv/a.py")),
                                    intern_add(&s.strings, str_c("f")), 3};
    for (int i = 1; i < 4; i++) stacks[i] = (struct snap_stack){0, 1};
    segment = (struct snap_segment){.addr = 1000, .size = 100, .n_blocks = n_blocks};
    s.stacks = stacks, s.n_stacks = 4;
    s.frames = frames, s.n_frames = 1;
    s.stack_frames = stack_frames, s.n_stack_frames = 1;
    s.segments = &segment, s.n_segments = n_blocks ? 1 : 0;
    s.blocks = blocks, s.n_blocks = n_blocks;
    s.events = events, s.n_events = n;
    s.n_devices = 1;
    err_init(&e);
    CHECK_EQ_INT(held_run(&s, &mem, &h, &e), 0);
    return s;
}

static void done(struct snapshot *s)
{
    intern_done(&s->strings);
    arena_done(&mem);
}

#define ALLOC(a, n, k)                                               \
    {                                                                \
        .addr = (a), .size = (n), .stack = (k), .action = SNAP_ALLOC \
    }
#define FREE(a, n)                                              \
    {                                                           \
        .addr = (a), .size = (n), .action = SNAP_FREE_COMPLETED \
    }

TEST(the_peak_and_who_holds_it)
{
    struct snap_event events[] = {ALLOC(1000, 10, 1), ALLOC(1010, 30, 2), FREE(1010, 30),
                                  ALLOC(1010, 20, 3), ALLOC(1030, 5, 3),  FREE(1000, 10)};
    struct snap_block blocks[] = {{1000, 10, 0, 0, 0, SNAP_INACTIVE},
                                  {1010, 20, 18, 0, 3, SNAP_ACTIVE},
                                  {1030, 5, 5, 0, 3, SNAP_ACTIVE},
                                  {1035, 65, 0, 0, 0, SNAP_INACTIVE}};
    struct snapshot s = make(events, 6, blocks, 4);
    REQUIRE(h.n_devices == 1);
    const struct held_device *d = &h.devices[0];
    CHECK_EQ_UINT(d->peak.event, 1);
    CHECK_EQ_INT(d->peak.live_bytes, 40);
    REQUIRE(d->peak.n == 2);
    CHECK_EQ_UINT(d->peak.by[0].stack, 2);
    CHECK_EQ_INT(d->peak.by[0].bytes, 30);
    CHECK_EQ_INT(d->now.live_bytes, 25);
    REQUIRE(d->now.n == 1);
    CHECK_EQ_UINT(d->now.by[0].blocks, 2);
    CHECK_EQ_INT(d->before_bytes, 0);
    CHECK_EQ_INT(d->space.free_bytes, 75);
    CHECK_EQ_INT(d->space.empty_bytes, 0);
    CHECK_EQ_INT(d->space.largest_free, 65);
    CHECK_EQ_INT(d->space.requested_bytes, 23);
    CHECK_EQ_UINT(d->space.n_stuck, 1);
    CHECK(!d->growth.found);
    done(&s);
}

TEST(what_was_there_before)
{
    /* 1010 is freed without having been made; 1030 is there at the end without having been made */
    struct snap_event events[] = {ALLOC(1000, 10, 1), FREE(1010, 20), FREE(1000, 10)};
    struct snap_block blocks[] = {{1030, 5, 5, 0, 2, SNAP_ACTIVE},
                                  {1035, 7, 7, 0, 0, SNAP_AWAITING_FREE}};
    struct snapshot s = make(events, 3, blocks, 2);
    const struct held_device *d = &h.devices[0];
    CHECK_EQ_INT(d->before_bytes, 32);
    CHECK_EQ_INT(d->peak.live_bytes, 42);
    CHECK_EQ_UINT(d->peak.event, 0);
    CHECK_EQ_INT(d->peak.categories[HELD_BEFORE], 27);
    CHECK_EQ_INT(d->now.live_bytes, 12);
    done(&s);
}

TEST(contradictions_do_no_harm)
{
    /* made twice without a free, freed twice */
    struct snap_event events[] = {ALLOC(1000, 10, 1), ALLOC(1000, 12, 2), FREE(1000, 12),
                                  FREE(1000, 12), FREE(1000, 12)};
    struct snapshot s = make(events, 5, NULL, 0);
    const struct held_device *d = &h.devices[0];
    CHECK_EQ_INT(d->peak.live_bytes, 12);
    CHECK_EQ_INT(d->now.live_bytes, 0);
    CHECK_EQ_INT(d->before_bytes, 0);
    done(&s);
}

/* Rounds of two layers on one line, each with `keeps` bytes that stay. */
static size_t rounds(struct snap_event *ev, int n_rounds, int64_t keeps)
{
    size_t n = 0;
    for (int i = 0; i < n_rounds; i++) {
        ev[n++] = (struct snap_event)ALLOC(1000, 40, 1);
        ev[n++] = (struct snap_event)ALLOC(1040, 40, 1);
        if (keeps) ev[n++] = (struct snap_event)ALLOC(5000 + 100 * (uint64_t)i, keeps, 2);
        ev[n++] = (struct snap_event)FREE(1040, 40);
        ev[n++] = (struct snap_event)FREE(1000, 40);
    }
    return n;
}

#define GROWTH (&h.devices[0].growth)

TEST(growth_from_round_to_round)
{
    struct snap_event ev[64];
    struct snapshot s = make(ev, rounds(ev, 8, 3), NULL, 0);
    CHECK(GROWTH->found && GROWTH->grows);
    CHECK_EQ_UINT(GROWTH->n_rounds, 8);
    CHECK_EQ_INT(GROWTH->per_round_bytes, 3);
    REQUIRE(GROWTH->n == 1);
    CHECK_EQ_UINT(GROWTH->by[0].stack, 2);
    CHECK_EQ_INT(GROWTH->by[0].bytes, 18);
    done(&s);
    s = make(ev, rounds(ev, 8, 0), NULL, 0);
    CHECK(GROWTH->found && !GROWTH->grows);
    CHECK_EQ_UINT(GROWTH->n_rounds, 8);
    done(&s);
    s = make(ev, rounds(ev, 3, 3), NULL, 0); /* too few to tell */
    CHECK(!GROWTH->found);
    done(&s);
}

/* One pass over eight layers, which keeps `keeps` of every layer, and then frees it. */
static size_t layers(struct snap_event *ev, int64_t keeps, bool and_backward)
{
    size_t n = 0;
    for (int i = 0; i < 8; i++) {
        ev[n++] = (struct snap_event)ALLOC(1000, 40, 1);
        ev[n++] = (struct snap_event)ALLOC(5000 + 100 * (uint64_t)i, keeps, 2);
        ev[n++] = (struct snap_event)FREE(1000, 40);
    }
    for (int i = 0; and_backward && i < 8; i++) {
        ev[n++] = (struct snap_event)ALLOC(9000, 30, 3);
        ev[n++] = (struct snap_event)FREE(9000, 30);
        ev[n++] = (struct snap_event)FREE(5000 + 100 * (uint64_t)i, keeps);
    }
    return n;
}

TEST(layers_of_one_pass_are_no_rounds)
{
    struct snap_event ev[64];
    struct snapshot s = make(ev, layers(ev, 3, true), NULL, 0);
    CHECK(!GROWTH->found || !GROWTH->grows); /* the loop does not go on to the end */
    done(&s);
    s = make(ev, layers(ev, 40, false), NULL, 0); /* half of what is allocated stays */
    CHECK(GROWTH->found && GROWTH->as_layers);
    done(&s);
    s = make(ev, layers(ev, 3, false), NULL, 0); /* as a leak does */
    CHECK(GROWTH->found && GROWTH->grows && !GROWTH->as_layers);
    done(&s);
}

static int whole(void *ctx)
{
    const struct file_map *f = ctx;
    struct snapshot *s = NULL;
    struct held got;
    struct arena own;
    arena_init(&own);
    int rc = snapshot_read_bytes(str_from(f->p, f->n), &s, NULL);
    if (rc == 0) rc = held_run(s, &own, &got, NULL);
    snapshot_free(s);
    arena_done(&own);
    return rc;
}

TEST(memory_runs_out)
{
    struct file_map f;
    REQUIRE(file_map(&f, TEST_DATA "/memory/growing.pickle", NULL) == 0);
    CHECK_EVERY_ALLOC(whole, &f);
    file_unmap(&f);
}

TEST(cut_at_every_byte)
{
    struct file_map f;
    REQUIRE(file_map(&f, TEST_DATA "/memory/growing.pickle", NULL) == 0);
    for (size_t n = 0; n < f.n; n++) {
        struct snapshot *s;
        char *copy = mem_alloc(n + 1);
        REQUIRE(copy != NULL);
        memcpy(copy, f.p, n);
        CHECK(snapshot_read_bytes(str_from(copy, n), &s, NULL) == ERR_FORMAT);
        mem_free(copy);
    }
    file_unmap(&f);
}

TEST_MAIN
