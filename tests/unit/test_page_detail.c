/* test_page_detail.c: rows of a track, which spans are kept, and what a track looks like from afar.
 * Times in microseconds. */
#include "kit.h"
#include "page/page_levels.h"

struct drawn {
    struct trace *t;
    struct arena mem;
    struct page_tracks tracks;
};

static struct drawn draw(struct kit *k)
{
    struct drawn d = {.t = kit_end(k)};
    arena_init(&d.mem);
    CHECK_EQ_INT(page_tracks_run(d.t, &d.mem, &d.tracks, NULL), 0);
    return d;
}

static void done(struct drawn *d)
{
    arena_done(&d->mem);
    trace_free(d->t);
}

static row_t row_named(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    return ROW_NONE;
}

static uint8_t row_of(const struct drawn *d, const char *name)
{
    return d->tracks.row_of[row_named(d->t, name)];
}

TEST(nested_spans_and_crossing_ones_get_rows_of_their_own)
{
    struct kit k = kit_begin();
    kit_op(&k, "outer", 0, 100);
    kit_op(&k, "inner", 10, 50);
    kit_op(&k, "next", 60, 10);     /* starts where the inner one ends */
    kit_op(&k, "crossing", 65, 80); /* and leaves the outer one */
    kit_op(&k, "after", 145, 5);
    struct drawn d = draw(&k);
    CHECK_EQ_UINT(row_of(&d, "outer"), 0);
    CHECK_EQ_UINT(row_of(&d, "inner"), 1);
    CHECK_EQ_UINT(row_of(&d, "next"), 1);
    CHECK_EQ_UINT(row_of(&d, "crossing"), 2);
    CHECK_EQ_UINT(row_of(&d, "after"), 0);
    CHECK_EQ_UINT(d.tracks.list[0].n_rows, 3);
    done(&d);
}

TEST(a_frame_that_ends_a_little_late_does_not_push_a_label_down)
{
    struct kit k = kit_begin();
    kit_python(&k, "a.py(1): enter", 0, 11);
    kit_label(&k, "stage", 10, 1000); /* the frame hangs over by a thousandth */
    kit_op(&k, "inside", 20, 10);
    struct drawn d = draw(&k);
    CHECK_EQ_UINT(row_of(&d, "a.py(1): enter"), 0);
    CHECK_EQ_UINT(row_of(&d, "stage"), 0);
    CHECK_EQ_UINT(row_of(&d, "inside"), 1);
    done(&d);
}

TEST(rows_end_at_the_last_and_spans_go_on)
{
    struct kit k = kit_begin();
    for (int i = 0; i < PAGE_ROWS + 10; i++) kit_op(&k, "deep", i, 1000 - 2 * i);
    struct drawn d = draw(&k);
    CHECK_EQ_UINT(d.tracks.list[0].n_rows, PAGE_ROWS);
    CHECK_EQ_UINT(d.tracks.n_spans, PAGE_ROWS + 10);
    CHECK_EQ_UINT(d.tracks.row_of[d.t->n_rows - 1], PAGE_ROWS - 1);
    done(&d);
}

TEST(devices_come_first_then_the_thread_that_launches)
{
    struct kit k = kit_begin();
    k.tid = 2;
    for (int i = 0; i < 9; i++) kit_op(&k, "busy", 10 * i, 5);
    k.tid = 1;
    kit_launch(&k, 10, "gemm", 20, 50);
    kit_memory(&k, 30, 100, 100, 200); /* no span */
    struct drawn d = draw(&k);
    REQUIRE(CHECK_EQ_UINT(d.tracks.n, 3));
    CHECK_EQ_INT(d.t->lanes[d.tracks.list[0].lane].kind, LANE_STREAM);
    CHECK_EQ_INT(d.t->lanes[d.tracks.list[1].lane].tid, 1);
    CHECK(d.tracks.list[1].main && !d.tracks.list[2].main);
    CHECK_EQ_UINT(d.tracks.n_spans, 11);
    done(&d);
}

TEST(too_many_tracks_are_cut_and_nothing_points_at_them)
{
    struct kit k = kit_begin();
    for (int i = 0; i < PAGE_TRACKS + 5; i++) {
        k.tid = 10 + i;
        kit_op(&k, "op", i, 1);
        if (i > 4) kit_op(&k, "op", i + 2, 1); /* the first five are the least busy */
    }
    struct drawn d = draw(&k);
    struct page_detail all;
    struct page_detail_in in = {.t = d.t, .tracks = &d.tracks, .budget = PAGE_SPANS};
    CHECK_EQ_UINT(d.tracks.n, PAGE_TRACKS);
    CHECK_EQ_UINT(d.tracks.n_left_out, 5);
    CHECK_EQ_INT(page_detail_run(&in, &d.mem, &all, NULL), 0);
    CHECK_EQ_UINT(all.n_kept, 2 * PAGE_TRACKS);
    uint32_t n = 0;
    for (row_t r = 0; r < d.t->n_rows; r++) n += all.span_of[r] == PAGE_NO_SPAN;
    CHECK_EQ_UINT(n, 5);
    done(&d);
}

/* ---- detail */

/* A thousand short ops under ten long ones, a launch at 5005, and its kernel. */
static struct drawn crowd(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "all", 0, 10000);
    for (int i = 0; i < 10; i++) kit_op(&k, "long", 1000 * i, 1000);
    for (int i = 0; i < 1000; i++) kit_op(&k, "short", 10 * i, i % 2 ? 2 : 3);
    kit_launch(&k, 5004, "gemm", 9000, 3);
    return draw(&k);
}

static struct page_detail choose(struct drawn *d, const struct page_detail_in *how)
{
    struct page_detail detail;
    struct page_detail_in in = *how;
    in.t = d->t;
    in.tracks = &d->tracks;
    CHECK_EQ_INT(page_detail_run(&in, &d->mem, &detail, NULL), 0);
    return detail;
}

TEST(everything_is_kept_while_there_is_room)
{
    struct drawn d = crowd();
    struct page_detail all = choose(&d, &(struct page_detail_in){.budget = 1013});
    CHECK(all.complete);
    CHECK_EQ_UINT(all.n_kept, 1013);
    CHECK_EQ_UINT(all.span_of[row_named(d.t, "gemm")], 0); /* the stream is the first track */
    CHECK_EQ_UINT(all.span_of[row_named(d.t, "all")], 1);
    CHECK(!choose(&d, &(struct page_detail_in){.budget = 1012}).complete);
    done(&d);
}

TEST(long_spans_and_wishes_are_kept_with_what_is_around_them)
{
    struct drawn d = crowd();
    struct page_wish wish = {kit_ns(2000), kit_ns(2400), kit_ns(2200), "finding 1"};
    struct page_detail some =
        choose(&d, &(struct page_detail_in){.budget = 200, .wishes = &wish, .n_wishes = 1});
    CHECK(!some.complete);
    CHECK(some.n_kept <= 200);
    REQUIRE(CHECK_EQ_UINT(some.n_ranges, 1));
    CHECK_EQ_STR(some.ranges[0].why, "finding 1");
    CHECK_EQ_INT(some.ranges[0].begin_ns, wish.begin_ns);
    CHECK_EQ_INT(some.ranges[0].end_ns, wish.end_ns);
    uint32_t inside = 0, last = 0;
    for (row_t r = 0; r < d.t->n_rows; r++) {
        bool kept = some.span_of[r] != PAGE_NO_SPAN;
        bool wanted = d.t->ts_ns[r] >= wish.begin_ns && d.t->ts_ns[r] < wish.end_ns;
        inside += kept && wanted;
        if (d.t->dur_ns[r] >= some.long_ns || wanted) CHECK(kept);
        if (kept && d.t->lane[r] == d.t->lane[row_named(d.t, "all")]) {
            CHECK(some.span_of[r] > last || r == row_named(d.t, "all"));
            last = some.span_of[r];
        }
    }
    CHECK_EQ_UINT(inside, 41); /* 40 short ones and the long one that begins there */
    done(&d);
}

TEST(a_wish_that_is_too_large_shrinks_around_its_moment)
{
    struct drawn d = crowd();
    struct page_wish wish = {0, kit_ns(10000), kit_ns(7000), "finding 1"};
    struct page_detail some =
        choose(&d, &(struct page_detail_in){.budget = 200, .wishes = &wish, .n_wishes = 1});
    REQUIRE(CHECK_EQ_UINT(some.n_ranges, 1));
    CHECK(some.ranges[0].begin_ns <= kit_ns(7000) && some.ranges[0].end_ns >= kit_ns(7000));
    CHECK(some.ranges[0].end_ns - some.ranges[0].begin_ns > kit_ns(100));
    CHECK(some.n_kept <= 200);
    done(&d);
}

TEST(rows_that_are_pointed_at_bring_their_launch_and_what_encloses_it)
{
    struct drawn d = crowd();
    row_t gemm = row_named(d.t, "gemm");
    struct page_detail some =
        choose(&d, &(struct page_detail_in){.budget = 20, .rows = &gemm, .n_rows = 1});
    CHECK(some.span_of[gemm] != PAGE_NO_SPAN);
    CHECK(some.span_of[row_named(d.t, "cudaLaunchKernel")] != PAGE_NO_SPAN);
    CHECK(some.span_of[row_named(d.t, "all")] != PAGE_NO_SPAN);
    CHECK_EQ_UINT(page_detail_span(&some, ROW_NONE), PAGE_NO_SPAN);
    done(&d);
}

TEST(ranges_that_overlap_are_one)
{
    struct drawn d = crowd();
    struct page_wish wishes[] = {{kit_ns(2200), kit_ns(2400), kit_ns(2300), "b"},
                                 {kit_ns(2000), kit_ns(2300), kit_ns(2100), "a"},
                                 {kit_ns(6000), kit_ns(6100), kit_ns(6000), "c"}};
    struct page_detail some =
        choose(&d, &(struct page_detail_in){.budget = 900, .wishes = wishes, .n_wishes = 3});
    REQUIRE(CHECK_EQ_UINT(some.n_ranges, 2));
    CHECK_EQ_INT(some.ranges[0].begin_ns, kit_ns(2000));
    CHECK_EQ_INT(some.ranges[0].end_ns, kit_ns(2400));
    CHECK_EQ_STR(some.ranges[1].why, "c");
    done(&d);
}

/* ---- levels */

struct pyramid {
    struct page_block block;
    struct page_names names;
    struct page_levels levels;
};

static struct pyramid build(struct drawn *d, const struct page_detail *detail, uint32_t track)
{
    struct pyramid p = {.block.n_parts = 0};
    CHECK_EQ_INT(page_names_init(&p.names, d->t, NULL), 0);
    struct page_levels_in in = {d->t, &d->tracks, detail, &p.names, &p.block};
    CHECK_EQ_INT(page_levels_run(&in, track, &p.levels, NULL), 0);
    return p;
}

static void raze(struct pyramid *p)
{
    page_levels_done(&p->levels);
    page_names_done(&p->names);
    page_block_done(&p->block);
}

static uint8_t share_at(const struct pyramid *p, uint32_t level, uint32_t bucket)
{
    return (uint8_t)p->block.bytes.p[p->levels.list[level].busy + bucket];
}

TEST(few_spans_need_no_levels)
{
    CHECK_EQ_UINT(page_levels_finest(4095), 0);
    CHECK_EQ_UINT(page_levels_finest(4096), 4096);
    CHECK_EQ_UINT(page_levels_finest(1000000), 65536);
    struct drawn d = crowd();
    struct page_detail all = choose(&d, &(struct page_detail_in){.budget = 2000});
    struct pyramid p = build(&d, &all, 1);
    CHECK_EQ_UINT(p.levels.n, 0);
    raze(&p);
    done(&d);
}

/* Half of every 65.536 us bucket is covered on row 1, by one name or the other. */
TEST(levels_say_how_much_is_covered_and_by_what)
{
    struct kit k = kit_begin();
    double bucket = 65.536;
    kit_label(&k, "all", 0, 65536 * bucket / 16 - 0.001);
    for (int i = 0; i < 4096; i++) {
        kit_op(&k, i % 4 == 0 ? "a" : "b", i * bucket, bucket / 4);
        kit_op(&k, "b", i * bucket + bucket / 2, bucket / 4);
    }
    struct drawn d = draw(&k);
    struct page_detail all = choose(&d, &(struct page_detail_in){.budget = 10000});
    struct pyramid p = build(&d, &all, 0);
    REQUIRE(CHECK_EQ_UINT(p.levels.n, 2)); /* of row 1; row 0 has one span */
    CHECK_EQ_UINT(p.levels.list[0].n, 4096);
    CHECK_EQ_INT(p.levels.list[0].width_ns, kit_ns(bucket));
    CHECK_EQ_UINT(p.levels.list[1].n, 1024);
    CHECK_EQ_INT(p.levels.list[1].width_ns, 4 * kit_ns(bucket));
    CHECK_EQ_UINT(share_at(&p, 0, 0), 127);
    CHECK_EQ_UINT(share_at(&p, 0, 4095), 127);
    CHECK_EQ_UINT(share_at(&p, 1, 1023), 127);
    const uint8_t *names = (const uint8_t *)p.block.bytes.p + p.levels.list[1].name;
    CHECK_EQ_BYTES(trace_str(d.t, p.names.list[names[0]]), "b");
    names = (const uint8_t *)p.block.bytes.p + p.levels.list[0].name;
    CHECK_EQ_BYTES(trace_str(d.t, p.names.list[names[0]]), "a");
    CHECK_EQ_BYTES(trace_str(d.t, p.names.list[names[1]]), "b");
    raze(&p);
    done(&d);
}

TEST(what_is_not_kept_is_in_the_levels_and_next_to_nothing_still_shows)
{
    struct drawn d = crowd();
    struct page_detail some = choose(&d, &(struct page_detail_in){.budget = 100});
    struct pyramid p = build(&d, &some, 1);
    REQUIRE(CHECK(p.levels.n > 0));
    const struct page_level *l = &p.levels.list[p.levels.n - 1];
    CHECK_EQ_UINT(l->n, PAGE_BUCKETS_LEAST);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < l->n; i++) shown += share_at(&p, p.levels.n - 1, i) > 0;
    CHECK(shown > 900); /* a short op in nearly every bucket */
    raze(&p);
    done(&d);
}

TEST(every_allocation_may_fail)
{
    struct drawn d = crowd();
    for (long k = 1; k < 100; k++) {
        struct arena mem;
        struct page_detail detail;
        struct page_detail_in in = {.t = d.t, .tracks = &d.tracks, .budget = 100};
        arena_init(&mem);
        mem_fail_at(k);
        int rc = page_detail_run(&in, &mem, &detail, NULL);
        struct page_block block = {.n_parts = 0};
        struct page_names names = {0};
        struct page_levels levels = {0};
        if (rc == 0) rc = page_names_init(&names, d.t, NULL);
        struct page_levels_in level_in = {d.t, &d.tracks, &detail, &names, &block};
        if (rc == 0) rc = page_levels_run(&level_in, 1, &levels, NULL);
        if (rc == 0) rc = page_names_put(&names, &block, NULL);
        bool reached = mem_count() >= k;
        mem_fail_at(0);
        CHECK(rc == 0 || rc == ERR_NOMEM);
        CHECK(!reached || rc < 0 || !buf_ok(&block.bytes));
        page_levels_done(&levels);
        page_names_done(&names);
        page_block_done(&block);
        arena_done(&mem);
        if (!reached) break;
    }
    done(&d);
}

TEST_MAIN
