/* test_thread_slices.c: the deepest row at every moment. */
#include "analyze/device/thread_slices.h"

#include "kit.h"

/* Writes "name@begin-end " for every piece, in microseconds. */
static const char *pieces(const struct trace *t, double begin, double end)
{
    static char text[1024];
    struct thread_slices d;
    struct thread_slice p;
    size_t n = 0;
    text[0] = '\0';
    thread_slices_init(&d, t, 0, kit_ns(begin), kit_ns(end));
    while (thread_slices_next(&d, &p))
        n += (size_t)snprintf(text + n, sizeof text - n, "%s@%g-%g ",
                              p.row == ROW_NONE ? "none" : trace_name(t, p.row).p,
                              (double)p.begin_ns / 1e3, (double)p.end_ns / 1e3);
    return text;
}

static struct trace *nested(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 10, 90);
    kit_op(&k, "mm", 20, 30);
    kit_call(&k, "call", 30, 10);
    kit_row(&k, KIND_INSTANT, "mark", 45, 0, NULL);
    kit_op(&k, "add", 50, 10); /* touches mm */
    kit_op(&k, "late", 120, 10);
    return kit_end(&k);
}

TEST(pieces_cover_the_time_exactly)
{
    struct trace *t = nested();
    CHECK_EQ_STR(pieces(t, 0, 140),
                 "none@0-10 forward@10-20 mm@20-30 call@30-40 mm@40-50 add@50-60 forward@60-100 "
                 "none@100-120 late@120-130 none@130-140 ");
    trace_free(t);
}

TEST(starts_in_the_middle)
{
    struct trace *t = nested();
    CHECK_EQ_STR(pieces(t, 35, 52), "call@35-40 mm@40-50 add@50-52 ");
    CHECK_EQ_STR(pieces(t, 46, 48), "mm@46-48 ");
    CHECK_EQ_STR(pieces(t, 70, 80), "forward@70-80 ");
    CHECK_EQ_STR(pieces(t, 110, 120), "none@110-120 ");
    CHECK_EQ_STR(pieces(t, 30, 30), "");
    CHECK_EQ_STR(pieces(t, 500, 510), "none@500-510 ");
    trace_free(t);
}

TEST(rows_that_cross_are_told_apart_by_their_start)
{
    struct kit k = kit_begin();
    kit_python(&k, "frame", 0, 50);
    kit_op(&k, "op", 40, 30); /* outlives the frame it started in */
    struct trace *t = kit_end(&k);
    CHECK_EQ_STR(pieces(t, 0, 80), "frame@0-40 op@40-70 none@70-80 ");
    CHECK_EQ_STR(pieces(t, 60, 80), "op@60-70 none@70-80 ");
    trace_free(t);
}

TEST_MAIN
