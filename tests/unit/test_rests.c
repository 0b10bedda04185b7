/* test_rests.c: recordings of a recorder that rests in a long run. */
#include "analyze/rests.h"

#include "format/ring.h"
#include "kit.h"

static void mark(struct kit *k, const char *name, double us)
{
    kit_row(k, KIND_INSTANT, name, us, 0, NULL);
}

static uint32_t count(const struct trace *t, const char *name)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += str_is(trace_name(t, r), name);
    return n;
}

static row_t last(const struct trace *t, const char *name)
{
    row_t found = ROW_NONE;
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name) && (found == ROW_NONE || t->ts_ns[r] > t->ts_ns[found]))
            found = r;
    return found;
}

/* Units of 100 us, whose kernel runs `lag` behind; recorded from 0 to 350 us and from 1150 us on.
 * What was launched between was not recorded; the units were. */
static struct trace *program(double lag, bool around)
{
    struct kit k = kit_begin();
    if (around) kit_label(&k, "train", 0, 2000);
    for (int i = 0; i < 20; i++) {
        double at = 100 * i + 1;
        bool off = (at >= 350 && at + 20 < 1150) || i == 3;
        kit_label(&k, "unit", at, i == 8 ? 98 : 90);
        if (!off || i == 3) kit_launch(&k, at + 10, "gemm", at + 10 + lag, 60);
    }
    mark(&k, RING_RESTS, 350);
    mark(&k, RING_RESTING, 351);
    mark(&k, RING_WAKES, 1149);
    mark(&k, RING_AWAKE, 1150);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    return kit_end(&k);
}

TEST(a_rest_is_no_idle_time_and_cut_units_are_left_out)
{
    struct trace *t = program(5, false);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(t->part.rests.n_parts, 2);
    CHECK_EQ_INT(t->part.rests.recorded_ns, 1190000);
    CHECK_EQ_INT(count(t, "unit"), 3 + 8); /* those that the borders cut are gone */
    CHECK_EQ_INT(count(t, "gemm"), 3 + 8);
    row_t first = trace_lower_bound(t, 0, 0);
    CHECK(t->end_ns - t->ts_ns[first] < 1200000);
    trace_free(t);
}

/* The device runs two units behind: its work moves with its launches, and none is lost or idle. */
TEST(work_that_runs_behind_goes_with_its_launch)
{
    struct trace *t = program(200, false);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(count(t, "gemm"), 3 + 8);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL) continue;
        CHECK_EQ_INT(t->dur_ns[r], 60000);
        CHECK_EQ_INT(t->ts_ns[r] - t->ts_ns[trace_launch_of(t, r)], 200000);
    }
    trace_free(t);
}

/* What is around all units is no unit: it gets shorter. */
TEST(what_is_around_the_loop_stays)
{
    struct trace *t = program(5, true);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(count(t, "train"), 1);
    CHECK_EQ_INT(count(t, "unit"), 3 + 8);
    CHECK(t->dur_ns[last(t, "train")] < 1300000);
    trace_free(t);
}

TEST(units_are_counted_throughout)
{
    struct trace *t = program(5, false);
    REQUIRE(rests_cut(&t, NULL) == 0);
    const struct trace_rests *r = &t->part.rests;
    CHECK(str_is(trace_str(t, r->unit), "unit"));
    CHECK_EQ_INT(r->n_units, 19);
    CHECK_EQ_INT(r->usual_ns, 100000);
    CHECK_EQ_INT(r->rest_usual_ns, 100000);
    CHECK_EQ_INT(r->n_slow, 0);
    trace_free(t);
}

/* Only slow ones at the start, which compile, were recorded before the rest. */
TEST(the_cold_ones_at_the_start_are_not_usual)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < 12; i++) {
        double us = i < 2 ? 3000 : 100;
        kit_label(&k, "unit", at, us - 10);
        if (i < 3) kit_launch(&k, at + 10, "gemm", at + 15, 60);
        at += us;
    }
    mark(&k, RING_RESTS, 6001);
    mark(&k, RING_AWAKE, 7200);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct trace *t = kit_end(&k);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(t->part.rests.usual_ns, 0);
    CHECK_EQ_INT(t->part.rests.rest_usual_ns, 100000);
    trace_free(t);
}

/* A pause in a rest, where nothing but the units was recorded, has its share. */
TEST(a_pause_in_a_rest_is_counted)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < 40; i++) {
        kit_label(&k, "unit", at, 90);
        if (at < 950 || at > 3050) kit_launch(&k, at + 10, "gemm", at + 15, 60);
        at += i == 15 ? 400 : 100;
    }
    mark(&k, RING_RESTS, 950);
    mark(&k, RING_AWAKE, 3050);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct trace *t = kit_end(&k);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(t->part.rests.n_slow, 1);
    CHECK_EQ_INT(t->part.rests.slow_ns, 300000);
    trace_free(t);
}

TEST(without_rests_nothing_changes)
{
    struct kit k = kit_begin();
    kit_label(&k, "unit", 0, 90);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct trace *t = kit_end(&k), *same = t;
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK(t == same);
    CHECK_EQ_INT(t->part.rests.n_parts, 0);
    trace_free(t);
}

/* A program that ends while the recorder rests. */
TEST(the_last_rest_has_no_end)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) {
        kit_label(&k, "unit", 100 * i, 90);
        if (i < 9) kit_launch(&k, 100 * i + 10, "gemm", 100 * i + 15, 60);
    }
    mark(&k, RING_RESTS, 950);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct trace *t = kit_end(&k);
    REQUIRE(rests_cut(&t, NULL) == 0);
    CHECK_EQ_INT(t->part.rests.n_parts, 1);
    CHECK_EQ_INT(count(t, "unit"), 9);
    trace_free(t);
}

TEST_MAIN
