/* test_tracks.c: spans that cross get tracks of their own, spans that nest do not; rows in the
 * order of the file. */
#include "export/tracks.h"

#include "export/export_private.h"
#include "kit.h"

static uint8_t track_of(const struct tracks *k, const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return k->of_row[r];
    return 255;
}

static row_t place_of(const struct tracks *k, const struct trace *t, const char *name)
{
    for (row_t i = 0; i < t->n_rows; i++)
        if (str_is(trace_name(t, k->order[i]), name)) return i;
    return ROW_NONE;
}

TEST(crossing_spans_move)
{
    struct kit k = kit_begin();
    kit_op(&k, "outer", 0, 100);
    kit_op(&k, "inner", 10, 20);
    kit_op(&k, "crosses inner", 25, 20);
    kit_op(&k, "crosses both", 28, 200);
    kit_op(&k, "after", 300, 10);
    kit_op(&k, "touches", 310, 10);
    struct trace *t = kit_end(&k);
    struct tracks tracks = {0};
    REQUIRE(tracks_init(&tracks, t, NULL) == 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "outer"), 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "inner"), 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "crosses inner"), 1);
    CHECK_EQ_UINT(track_of(&tracks, t, "crosses both"), 2);
    CHECK_EQ_UINT(track_of(&tracks, t, "after"), 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "touches"), 0);
    CHECK_EQ_UINT(tracks.n_extra[tracks.thread[0]], 2);
    tracks_done(&tracks);
    trace_free(t);
}

/* Kernels and the device's annotations share a pid and a tid, and so a thread. */
TEST(lanes_of_one_thread_share_tracks)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "kernel", 100, 50);
    kit_work(&k, KIND_GPU_ANNOTATION, "encloses", 99, 52);
    kit_work(&k, KIND_GPU_ANNOTATION, "crosses", 120, 60);
    struct trace *t = kit_end(&k);
    CHECK_EQ_UINT(t->n_lanes, 3);
    struct tracks tracks = {0};
    REQUIRE(tracks_init(&tracks, t, NULL) == 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "kernel"), 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "encloses"), 0);
    CHECK_EQ_UINT(track_of(&tracks, t, "crosses"), 1);
    CHECK(place_of(&tracks, t, "encloses") < place_of(&tracks, t, "kernel"));
    CHECK(place_of(&tracks, t, "kernel") < place_of(&tracks, t, "crosses"));
    tracks_done(&tracks);
    trace_free(t);
}

TEST(tids_of_tracks_are_free)
{
    struct kit k = kit_begin();
    k.tid = 1000000005;
    kit_op(&k, "a", 0, 10);
    kit_op(&k, "b", 5, 10);
    k.tid = 3;
    kit_op(&k, "c", 0, 10);
    kit_op(&k, "d", 5, 10);
    struct trace *t = kit_end(&k);
    struct tracks tracks = {0};
    REQUIRE(tracks_init(&tracks, t, NULL) == 0);
    CHECK(tracks.tid[0] > 1000000005 && tracks.tid[1] > 1000000005);
    CHECK(tracks.tid[0] != tracks.tid[1]);
    tracks_done(&tracks);
    trace_free(t);
}

TEST(more_crossings_than_tracks)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 200; i++) kit_op(&k, "x", i, 1000);
    struct trace *t = kit_end(&k);
    struct tracks tracks = {0};
    REQUIRE(tracks_init(&tracks, t, NULL) == 0);
    CHECK_EQ_UINT(tracks.of_row[0], 0);
    CHECK_EQ_UINT(tracks.of_row[50], 50);
    CHECK_EQ_UINT(tracks.of_row[199], TRACKS_MOST - 1);
    tracks_done(&tracks);
    trace_free(t);
}

TEST(rows_by_place_in_the_file)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 500; i++) kit_op(&k, "x", i, 0.5);
    struct trace *t = kit_end(&k);
    for (row_t r = 0; r < t->n_rows; r++)
        t->src[r] = (uint64_t)(r * 7919 % 500) << (r % 2 ? 33 : 0);
    row_t *rows = order_by_src(t);
    REQUIRE(rows != NULL);
    for (row_t i = 1; i < t->n_rows; i++) {
        CHECK(t->src[rows[i - 1]] <= t->src[rows[i]]);
        if (t->src[rows[i - 1]] == t->src[rows[i]]) CHECK(rows[i - 1] < rows[i]);
    }
    mem_free(rows);
    trace_free(t);
}

static int make_tracks(void *ctx)
{
    struct tracks tracks = {0};
    int rc = tracks_init(&tracks, ctx, NULL);
    tracks_done(&tracks);
    return rc;
}

TEST(out_of_memory)
{
    struct kit k = kit_begin();
    kit_op(&k, "a", 0, 10);
    kit_op(&k, "b", 5, 10);
    struct trace *t = kit_end(&k);
    CHECK_EVERY_ALLOC(make_tracks, t);
    trace_free(t);
}

TEST_MAIN
