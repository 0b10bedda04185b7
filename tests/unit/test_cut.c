/* test_cut.c: a part of a trace is what a recorder would have seen between two moments. */
#include "trace/cut.h"

#include "base/mem.h"
#include "kit.h"

/* A label around everything; two launches before the border, two after it. */
static struct trace *four_launches(void)
{
    struct kit k = kit_begin();
    kit_meta(&k, "some_key", "\"kept\"");
    kit_label(&k, "program", 0, 1000);
    kit_memory(&k, 10, 4096, -1, -1);
    kit_launch(&k, 100, "early", 110, 50);
    kit_launch(&k, 180, "across", 190, 40);
    kit_launch(&k, 300, "late", 310, 50);
    kit_launch(&k, 480, "last", 520, 100);
    return kit_end(&k);
}

static row_t find(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_eq(trace_name(t, r), str_c(name))) return r;
    return ROW_NONE;
}

TEST(spans_of_threads_are_cut_at_the_borders)
{
    struct trace *t = four_launches();
    REQUIRE(trace_cut(&t, 200000, 500000, NULL) == 0);
    row_t label = find(t, "program");
    REQUIRE(label != ROW_NONE);
    CHECK_EQ_INT(t->ts_ns[label], 200000);
    CHECK_EQ_INT(t->dur_ns[label], 300000);
    CHECK_EQ_INT(t->parent[find(t, "cudaLaunchKernel")], label);
    trace_free(t);
}

TEST(device_work_counts_where_it_starts)
{
    struct trace *t = four_launches();
    REQUIRE(trace_cut(&t, 200000, 525000, NULL) == 0);
    CHECK(find(t, "early") == ROW_NONE);
    CHECK(find(t, "across") == ROW_NONE);
    row_t late = find(t, "late"), last = find(t, "last");
    REQUIRE(late != ROW_NONE && last != ROW_NONE);
    CHECK_EQ_INT(t->dur_ns[last], 100000);
    row_t launch = trace_launch_of(t, late);
    REQUIRE(launch != ROW_NONE);
    uint32_t n;
    CHECK_EQ_INT(trace_launched(t, launch, &n)[0], late);
    CHECK_EQ_UINT(n, 1);
    trace_free(t);
}

TEST(memory_allocated_before_is_there_at_the_begin)
{
    struct trace *t = four_launches();
    REQUIRE(trace_cut(&t, 200000, 500000, NULL) == 0);
    row_t r = find(t, "[memory]");
    REQUIRE(r != ROW_NONE);
    CHECK_EQ_INT(t->ts_ns[r], 200000);
    CHECK_EQ_INT(trace_mem(t, r)->bytes, 4096);
    trace_free(t);
}

TEST(facts_stay_and_the_whole_is_remembered)
{
    struct trace *t = four_launches();
    int64_t begin = t->begin_ns, end = t->end_ns;
    REQUIRE(trace_cut(&t, 200000, 500000, NULL) == 0);
    CHECK_EQ_STR(trace_meta(t, "some_key").p, "\"kept\"");
    CHECK_EQ_INT(t->part.whole_begin_ns, begin);
    CHECK_EQ_INT(t->part.whole_end_ns, end);
    CHECK_EQ_UINT(t->part.name, STR_NONE);
    trace_free(t);
}

TEST(cutting_nothing_off_changes_nothing)
{
    struct trace *whole = four_launches(), *t = four_launches();
    REQUIRE(trace_cut(&t, INT64_MIN, INT64_MAX, NULL) == 0);
    REQUIRE(t->n_rows == whole->n_rows);
    for (row_t r = 0; r < t->n_rows; r++) {
        CHECK(str_eq(trace_name(t, r), trace_name(whole, r)));
        CHECK_EQ_INT(t->ts_ns[r], whole->ts_ns[r]);
        CHECK_EQ_INT(t->dur_ns[r], whole->dur_ns[r]);
        CHECK_EQ_UINT(t->parent[r], whole->parent[r]);
        CHECK_EQ_UINT(trace_launch_of(t, r), trace_launch_of(whole, r));
    }
    trace_free(whole);
    trace_free(t);
}

/* As in a file that does not use some of its strings. */
TEST(a_table_that_holds_a_string_twice_is_copied)
{
    struct trace *t = four_launches();
    str_id last = t->strings.n;
    REQUIRE(CHECK_EQ_UINT(intern_append(&t->strings, str_c("")), last));
    REQUIRE(CHECK_EQ_UINT(intern_append(&t->strings, str_c("late")), last + 1));
    t->name[find(t, "last")] = last + 1;
    REQUIRE(CHECK_EQ_INT(trace_cut(&t, 200000, 600000, NULL), 0));
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += str_is(trace_name(t, r), "late");
    CHECK_EQ_UINT(n, 2);
    trace_free(t);
}

/* What rows say of themselves is read from the file later. */
TEST(the_file_stays_open_for_args)
{
    struct trace *t = four_launches();
    char path[512];
    snprintf(path, sizeof path, "%s/../unit/test_cut.c", TEST_DATA);
    REQUIRE(file_map(&t->mapping, path, NULL) == 0);
    const char *at = t->mapping.p;
    REQUIRE(trace_cut(&t, 200000, 525000, NULL) == 0);
    CHECK(t->mapping.p == at && at[0] == '/');
    trace_free(t);
}

TEST(a_failed_cut_leaves_the_trace)
{
    for (long i = 1;; i++) {
        struct trace *t = four_launches(), *before = t;
        mem_fail_at(i);
        int rc = trace_cut(&t, 200000, 500000, NULL);
        mem_fail_at(0);
        if (rc < 0) CHECK(t == before && find(t, "early") != ROW_NONE);
        trace_free(t);
        if (rc == 0) break;
    }
}

TEST_MAIN
