/* test_stack_rows.c: moments at which stacks are known, as spans of functions. The expected rows
 * stand beside them: begin, end, name. */
#include "import/ring/stack_rows.h"

#include "test.h"
#include "trace/batch_private.h"

enum { MS = 1000000, MOST = 128 };

/* Functions a, b, c, d, and paths of them written as "a10>b20": function and running line. */
struct world {
    struct defs_file defs;
    struct defs_entry entries[MOST];
    struct def_frame frames[MOST];
    struct stack_rows rows;
    struct stack_source from;
};

static const char *const names[] = {"x.py(1): a", "x.py(2): b", "x.py(3): c", "x.py(4): d"};
static const char *const modules[] = {"nn.Module: Net_0", "nn.Module: Linear_12"}; /* as m and n */
enum { FIRST_MODULE = 5, FIRST_FRAME = 7 };

static void world_init(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->defs.entries = w->entries;
    w->from = (struct stack_source){&w->defs, 100};
    w->defs.n = FIRST_FRAME;
    for (uint32_t i = 0; i < 4; i++)
        w->entries[i + 1] = (struct defs_entry){DEF_CODE, str_c(names[i])};
    for (uint32_t i = 0; i < 2; i++)
        w->entries[FIRST_MODULE + i] = (struct defs_entry){DEF_MODULE, str_c(modules[i])};
}

static uint32_t frame_of(struct world *w, uint32_t parent, char who, uint32_t line)
{
    struct def_frame f = {parent, 1, 0, line};
    if (who >= 'm') f.module = (uint32_t)(who - 'm') + FIRST_MODULE;
    else f.code = (uint32_t)(who - 'a') + 1;
    for (uint32_t i = FIRST_FRAME; i < w->defs.n; i++)
        if (memcmp(&w->frames[i], &f, sizeof f) == 0) return i;
    uint32_t id = w->defs.n++;
    w->frames[id] = f;
    w->entries[id] = (struct defs_entry){DEF_FRAME, str_from((char *)&w->frames[id], sizeof f)};
    return id;
}

static uint32_t stack_of(struct world *w, const char *path)
{
    uint32_t at = 0;
    while (*path) {
        char *end;
        at = frame_of(w, at, *path, (uint32_t)strtol(path + 1, &end, 10));
        path = *end == '>' ? end + 1 : end;
    }
    return at;
}

static void see(struct world *w, int64_t begin, int64_t end, const char *path)
{
    struct stack_seen s = {.begin_ns = begin,
                           .end_ns = end < 0 ? begin : end,
                           .tid = 7,
                           .stack = stack_of(w, path),
                           .src = w->rows.n_seen,
                           .exact = end >= 0};
    CHECK_EQ_INT(stack_rows_see(&w->rows, &s), 0);
}

static void sample(struct world *w, int64_t at, const char *path)
{
    see(w, at, -1, path);
}

static void add_span(struct world *w, int64_t begin, int64_t end, bool called)
{
    struct stack_span s = {begin, end, 7, 0, called};
    CHECK_EQ_INT(stack_rows_span(&w->rows, &s), 0);
}

/* The call of a module. */
static void call(struct world *w, int64_t begin, int64_t end, const char *class)
{
    struct stack_span s = {begin, end, 7, 0, false, module_token(str_c(class))};
    CHECK_EQ_INT(stack_rows_span(&w->rows, &s), 0);
}

static void op(struct world *w, int64_t begin, int64_t end)
{
    add_span(w, begin, end, true);
}

static void range(struct world *w, int64_t begin, int64_t end)
{
    add_span(w, begin, end, false);
}

struct want {
    double begin_ms, end_ms;
    const char *name; /* with a '=' before it where the row is that of a line */
};

static void check_rows(struct world *w, const struct want *want)
{
    struct batch *part = batch_new();
    struct stack_process p = {0, {1, 0}, MS, &w->from};
    REQUIRE(part != NULL);
    CHECK_EQ_INT(stack_rows_add(&w->rows, &p, part), 0);
    size_t i = 0;
    for (; i < part->rows.n && want[i].name; i++) {
        bool line = want[i].name[0] == '=';
        CHECK_EQ_INT(part->rows.ts_ns[i], (int64_t)(want[i].begin_ms * MS));
        CHECK_EQ_INT(part->rows.ts_ns[i] + part->rows.dur_ns[i], (int64_t)(want[i].end_ms * MS));
        CHECK_EQ_STR(intern_get(&part->strings, part->rows.name[i]).p, want[i].name + line);
        CHECK_EQ_INT((part->rows.flags[i] & ROW_LINE) != 0, line);
        CHECK_EQ_INT(part->rows.kind[i], KIND_PYTHON);
    }
    CHECK_EQ_INT(part->rows.n, i);
    CHECK(want[i].name == NULL);
    batch_free(part);
    stack_rows_done(&w->rows);
}

#define CHECK_ROWS(w, ...) check_rows((w), (const struct want[]){__VA_ARGS__, {0}})

TEST(samples_with_a_common_beginning_are_one_call)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10>b20>c30");
    sample(&w, 2 * MS, "a10>b20>c31");
    sample(&w, 3 * MS, "a10>b21");
    sample(&w, 4 * MS, "a11>d40");
    sample(&w, 5 * MS, "a12");
    CHECK_ROWS(&w, {1, 5.5, "x.py(1): a"}, {1, 3.5, "x.py(2): b"}, {1, 2.5, "x.py(3): c"},
               {3.5, 4.5, "x.py(4): d"});
}

/* The same function from another line of its caller is another call. */
TEST(another_line_of_the_caller_is_another_call)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10>b20");
    sample(&w, 2 * MS, "a11>b20");
    CHECK_ROWS(&w, {1, 2.5, "x.py(1): a"}, {1, 1.5, "x.py(2): b"}, {1.5, 2.5, "x.py(2): b"});
}

/* A sample speaks for half a period on either side, not for all the time to one far away. */
TEST(a_sample_stands_for_its_period)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10");
    sample(&w, 10 * MS, "a11>b20");
    sample(&w, 20 * MS, "a12");
    CHECK_ROWS(&w, {1, 20.5, "x.py(1): a"}, {9.5, 10.5, "x.py(2): b"});
}

/* A wait is exact, and names the line that was running in every function around it. */
TEST(a_wait_has_its_line)
{
    struct world w;
    world_init(&w);
    see(&w, 2 * MS, 5 * MS, "a10>b20");
    CHECK_ROWS(&w, {2, 5, "x.py(1): a"}, {2, 5, "=x.py(10): a"}, {2, 5, "x.py(2): b"},
               {2, 5, "=x.py(20): b"});
}

/* Two waits at one place: the function may have been called twice, so what lies between is its
 * caller's. Further down in the function it has gone on. */
TEST(waits_do_not_claim_the_time_between_them)
{
    struct world w;
    world_init(&w);
    see(&w, 1 * MS, 2 * MS, "a10>b20");
    see(&w, 3 * MS, 4 * MS, "a10>b20");
    see(&w, 5 * MS, 6 * MS, "a10>b25");
    CHECK_ROWS(&w, {1, 6, "x.py(1): a"}, {1, 6, "=x.py(10): a"}, {1, 2, "x.py(2): b"},
               {1, 2, "=x.py(20): b"}, {3, 6, "x.py(2): b"}, {3, 4, "=x.py(20): b"},
               {5, 6, "=x.py(25): b"});
}

/* The row of the line that waited ends with it: what is called from a later line lies beside it. */
TEST(a_function_called_after_a_wait_has_its_time)
{
    struct world w;
    world_init(&w);
    see(&w, 1 * MS, 2 * MS, "a10");
    sample(&w, 4 * MS, "a12>b20>c30");
    sample(&w, 5 * MS, "a13");
    CHECK_ROWS(&w, {1, 5.5, "x.py(1): a"}, {1, 2, "=x.py(10): a"}, {3, 4.5, "x.py(2): b"},
               {3, 4.5, "x.py(3): c"});
}

/* Unless both lie in one operator: the function called that once. */
TEST(two_waits_in_one_operator_are_one_call)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a9");
    op(&w, 3 * MS, 8 * MS);
    see(&w, 4 * MS, 5 * MS, "a10>b20");
    see(&w, 6 * MS, 7 * MS, "a10>b20");
    see(&w, 9 * MS, 10 * MS, "a10>b20");
    CHECK_ROWS(&w, {1, 10, "x.py(1): a"}, {3, 10, "=x.py(10): a"}, {3, 8, "x.py(2): b"},
               {3, 8, "=x.py(20): b"}, {9, 10, "x.py(2): b"}, {9, 10, "=x.py(20): b"});
}

/* The wait lies inside an operator, which the function called. */
TEST(functions_go_around_the_operators_they_call)
{
    struct world w;
    world_init(&w);
    sample(&w, 0, "a10");
    op(&w, 3 * MS, 6 * MS);
    op(&w, 4 * MS, 5 * MS);
    see(&w, 4 * MS, 5 * MS, "a11>b20");
    sample(&w, 9 * MS, "a12");
    CHECK_ROWS(&w, {0, 9.5, "x.py(1): a"}, {3, 6, "=x.py(11): a"}, {3, 6, "x.py(2): b"},
               {3, 6, "=x.py(20): b"});
}

/* By the half period b would reach into the operator before it and end inside the range. */
TEST(borders_cut_through_nothing)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10");
    op(&w, 1 * MS + MS / 4, 1 * MS + 3 * MS / 4);
    range(&w, 1 * MS + 9 * MS / 10, 30 * MS);
    sample(&w, 2 * MS, "a11>b20");
    sample(&w, 4 * MS, "a12>c30");
    sample(&w, 40 * MS, "a13");
    CHECK_ROWS(&w, {1, 40.5, "x.py(1): a"}, {1.9, 3, "x.py(2): b"}, {3, 4.5, "x.py(3): c"});
}

/* One sample is all there is of a long operator: the function that called it lasted as long. */
TEST(a_function_lasts_as_long_as_what_it_called)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10");
    op(&w, 5 * MS, 25 * MS);
    sample(&w, 10 * MS, "a11>b20");
    sample(&w, 40 * MS, "a12");
    CHECK_ROWS(&w, {1, 40.5, "x.py(1): a"}, {5, 25, "x.py(2): b"});
}

/* The samples are alike, but far apart: c began inside the range, so it was over with it, and was
 * called again. What may have begun before the range goes on. */
TEST(a_function_ends_with_the_range_it_began_in)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10");
    range(&w, 2 * MS, 6 * MS);
    sample(&w, 3 * MS, "a10>b20");
    sample(&w, 4 * MS, "a10>b20>c30");
    sample(&w, 5 * MS, "a10>b20>c30");
    range(&w, 19 * MS, 24 * MS);
    sample(&w, 20 * MS, "a10>b20>c30");
    CHECK_ROWS(&w, {1, 24, "x.py(1): a"}, {2, 24, "x.py(2): b"}, {3.5, 5.5, "x.py(3): c"},
               {19, 20.5, "x.py(3): c"});
}

/* Of the second stack the outermost frame was left off: it is the first one, grown by two. */
TEST(a_cut_stack_continues_the_one_before)
{
    struct world w;
    world_init(&w);
    w.from.most_frames = 10;
    sample(&w, 1 * MS, "a1>b1>b2>b3>b4>b5>b6>b7>b8");
    sample(&w, 2 * MS, "b1>b2>b3>b4>b5>b6>b7>b8>c1>d1");
    sample(&w, 3 * MS, "b2>b3>b4>b5>b6>b7>b8>c1>d1>d2");
    sample(&w, 4 * MS, "a1>c1");
    CHECK_ROWS(&w, {1, 4.5, "x.py(1): a"}, {1, 3.5, "x.py(2): b"}, {1, 3.5, "x.py(2): b"},
               {1, 3.5, "x.py(2): b"}, {1, 3.5, "x.py(2): b"}, {1, 3.5, "x.py(2): b"},
               {1, 3.5, "x.py(2): b"}, {1, 3.5, "x.py(2): b"}, {1, 3.5, "x.py(2): b"},
               {1.5, 3.5, "x.py(3): c"}, {1.5, 3.5, "x.py(4): d"}, {2.5, 3.5, "x.py(4): d"},
               {3.5, 4.5, "x.py(3): c"});
}

/* Nothing of the cut stacks was open before: they lie in what is there before and after them. */
TEST(functions_go_on_around_cut_stacks)
{
    struct world w;
    world_init(&w);
    w.from.most_frames = 3;
    sample(&w, 1 * MS, "a10>b20");
    sample(&w, 2 * MS, "c1>c2>c3");
    sample(&w, 3 * MS, "d1>d2>d3");
    sample(&w, 4 * MS, "a11");
    CHECK_ROWS(&w, {1, 4.5, "x.py(1): a"}, {1, 1.5, "x.py(2): b"}, {1.5, 2.5, "x.py(3): c"},
               {1.5, 2.5, "x.py(3): c"}, {1.5, 2.5, "x.py(3): c"}, {2.5, 3.5, "x.py(4): d"},
               {2.5, 3.5, "x.py(4): d"}, {2.5, 3.5, "x.py(4): d"});
}

/* The recording ends inside them: what was open before stays. */
TEST(functions_last_when_only_cut_stacks_follow)
{
    struct world w;
    world_init(&w);
    w.from.most_frames = 3;
    sample(&w, 1 * MS, "a10>b20");
    sample(&w, 2 * MS, "c1>c2>c3");
    sample(&w, 3 * MS, "d1>d2>d3");
    CHECK_ROWS(&w, {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(2): b"}, {1.5, 2.5, "x.py(3): c"},
               {1.5, 2.5, "x.py(3): c"}, {1.5, 2.5, "x.py(3): c"}, {2.5, 3.5, "x.py(4): d"},
               {2.5, 3.5, "x.py(4): d"}, {2.5, 3.5, "x.py(4): d"});
}

/* A sample that shows a generator alone, while it is being resumed. */
TEST(a_torn_sample_ends_nothing)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a1>a2>a3>a4>a5>a6>a7>a8");
    sample(&w, 2 * MS, "b1");
    sample(&w, 3 * MS, "a1>a2>a3>a4>a5>a6>a7>a8");
    CHECK_ROWS(&w, {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(1): a"},
               {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(1): a"},
               {1, 3.5, "x.py(1): a"}, {1, 3.5, "x.py(1): a"}, {1.5, 2.5, "x.py(2): b"});
}

/* A thread that is called from C again and again has no common root. */
TEST(short_stacks_of_another_root_are_no_torn_ones)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a1>a2");
    sample(&w, 2 * MS, "b1");
    sample(&w, 3 * MS, "a1>a2");
    CHECK_ROWS(&w, {1, 1.5, "x.py(1): a"}, {1, 1.5, "x.py(1): a"}, {1.5, 2.5, "x.py(2): b"},
               {2.5, 3.5, "x.py(1): a"}, {2.5, 3.5, "x.py(1): a"});
}

/* A function that calls itself fits in many places: the longest match counts. */
TEST(a_cut_stack_begins_where_most_of_it_matches)
{
    static struct stack_path known, cut;
    known.n = 40;
    cut.n = 30;
    for (int i = 0; i < known.n; i++) known.at[i] = (struct stack_frame){i < 5 ? 1 : 2, 0, 7};
    for (int i = 0; i < cut.n; i++) cut.at[i] = (struct stack_frame){2, 0, 7};
    CHECK_EQ_INT(stack_path_find(&known, &cut), 5);
    known.at[20].line = 9; /* fifteen frames before it, nineteen after it */
    CHECK_EQ_INT(stack_path_find(&known, &cut), 21);
    known.at[20].line = 7;
    cut.n = 10; /* all of it, in the first place of many */
    CHECK_EQ_INT(stack_path_find(&known, &cut), 5);
    cut.n = 30;
    cut.at[8].line = 8;
    CHECK_EQ_INT(stack_path_find(&known, &cut), 5);
    cut.at[7].line = 8; /* seven frames may be chance */
    CHECK_EQ_INT(stack_path_find(&known, &cut), -1);
    stack_path_join(&cut, &known, 5);
    CHECK_EQ_INT(cut.n, 35);
    CHECK_EQ_UINT(cut.at[4].code, 1);
    CHECK_EQ_UINT(cut.at[5].code, 2);
    cut.n = STACK_DEEPEST - 2;
    stack_path_join(&cut, &known, 5);
    CHECK_EQ_INT(cut.n, STACK_DEEPEST);
}

TEST(a_border_moves_to_the_nearest_edge_it_may)
{
    struct world w;
    struct span_tree t = {0};
    world_init(&w);
    op(&w, 100, 200);
    op(&w, 120, 150);
    struct stack_seen who = {.tid = 7};
    REQUIRE(span_tree_build(&t, w.rows.spans, w.rows.n_spans, &who) == 0);
    struct {
        struct border b;
        int64_t want;
    } cases[] = {{{50, 0, 300}, 50},     {{130, 0, 300}, 100},   {{190, 0, 300}, 200},
                 {{130, 110, 300}, 200}, {{130, 0, 180}, 100},   {{130, 110, 180}, 120},
                 {{140, 125, 180}, 150}, {{140, 125, 145}, 140}, {{100, 0, 300}, 100},
                 {{200, 0, 300}, 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) cases[i].b.end = i % 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ_INT(span_tree_border(&t, &cases[i].b), cases[i].want);
    span_tree_done(&t);
    stack_rows_done(&w.rows);
}

/* Two ranges begin shortly after a function was last not seen, and end after it was last seen: it
 * is inside both, not only inside the outer one. What was seen where it cannot have been is moved,
 * but no further than samples are apart. */
TEST(functions_nest_with_all_ranges_around_their_ends)
{
    struct world w;
    struct span_tree t = {0};
    world_init(&w);
    op(&w, 100, 900);
    op(&w, 110, 890);
    struct stack_seen who = {.tid = 7};
    REQUIRE(span_tree_build(&t, w.rows.spans, w.rows.n_spans, &who) == 0);
    struct border begin = {90, 80, 200, false}, end = {850, 840, 860, true};
    span_tree_fit(&t, &begin, &end, 0);
    CHECK_EQ_INT(begin.at_ns, 110);
    CHECK_EQ_INT(end.at_ns, 850);

    struct border seen_early = {90, 80, 95, false};
    span_tree_fit(&t, &seen_early, &end, 5);
    CHECK_EQ_INT(seen_early.at_ns, 90);
    span_tree_fit(&t, &seen_early, &end, 20);
    CHECK_EQ_INT(seen_early.at_ns, 110);

    struct border inside = {850, 840, 860, false}, seen_late = {905, 902, 910, true};
    span_tree_fit(&t, &inside, &seen_late, 4);
    CHECK_EQ_INT(seen_late.at_ns, 905);
    span_tree_fit(&t, &inside, &seen_late, 20);
    CHECK_EQ_INT(seen_late.at_ns, 890);
    span_tree_done(&t);
    stack_rows_done(&w.rows);
}

/* Definitions that are missing or refer to themselves. */
TEST(broken_definitions_are_survived)
{
    struct world w;
    world_init(&w);
    sample(&w, 1 * MS, "a10>b20");
    w.frames[5].parent = 6;
    w.entries[2].type = 0;
    struct stack_seen lost = {.begin_ns = 2 * MS, .end_ns = 2 * MS, .tid = 7, .stack = 999};
    CHECK_EQ_INT(stack_rows_see(&w.rows, &lost), 0);
    CHECK_ROWS(&w, {1, 1.5, "x.py(1): a"}, {1, 1.5, "(name lost)"});
}

TEST(running_out_of_memory)
{
    for (long k = 1; k < 40; k++) {
        struct world w;
        world_init(&w);
        sample(&w, 1 * MS, "a10>b20>c30");
        see(&w, 3 * MS, 4 * MS, "a10>b21");
        op(&w, 2 * MS, 5 * MS);
        struct batch *part = batch_new();
        struct stack_process p = {0, {1, 0}, MS, &w.from};
        mem_fail_at(k);
        int rc = stack_rows_add(&w.rows, &p, part);
        mem_fail_at(0);
        CHECK(rc == 0 || rc == ERR_NOMEM);
        batch_free(part);
        stack_rows_done(&w.rows);
    }
}

/* A thread reads its stack at operators: what it did in between is not in any module that was over
 * by then. */
TEST(functions_of_a_module_last_no_longer_than_its_call)
{
    struct world w;
    world_init(&w);
    sample(&w, 5 * MS, "a11");
    for (int i = 1; i <= 3; i++) {
        call(&w, i * 10 * MS, i * 10 * MS + 2 * MS, "Net");
        call(&w, i * 10 * MS + MS / 2, i * 10 * MS + MS, "Linear");
        sample(&w, i * 10 * MS + MS * 3 / 4, "a10>m1>b20>n1>c30");
        sample(&w, i * 10 * MS + 5 * MS, "a11");
    }
    CHECK_ROWS(&w, {5, 35.5, "x.py(1): a"}, {10, 11.25, "nn.Module: Net_0"},
               {10, 11.25, "x.py(2): b"}, {10.5, 11, "nn.Module: Linear_12"},
               {10.5, 11, "x.py(3): c"}, {20, 21.25, "nn.Module: Net_0"}, {20, 21.25, "x.py(2): b"},
               {20.5, 21, "nn.Module: Linear_12"}, {20.5, 21, "x.py(3): c"},
               {30, 31.25, "nn.Module: Net_0"}, {30, 31.25, "x.py(2): b"},
               {30.5, 31, "nn.Module: Linear_12"}, {30.5, 31, "x.py(3): c"});
}

/* Seen twice in the same module: two calls of it, not one that lasted. */
TEST(a_module_that_was_called_again)
{
    struct world w;
    world_init(&w);
    sample(&w, 0, "a10");
    call(&w, 1 * MS, 2 * MS, "Net");
    call(&w, 3 * MS, 4 * MS, "Net");
    sample(&w, 3 * MS / 2, "a10>m1>b20");
    sample(&w, 7 * MS / 2, "a10>m1>b20");
    CHECK_ROWS(&w, {0, 4, "x.py(1): a"}, {1, 2, "nn.Module: Net_0"}, {1, 2, "x.py(2): b"},
               {3, 4, "nn.Module: Net_0"}, {3, 4, "x.py(2): b"});
}

/* Modules without a range of their own, ranges without a module: nothing is known of them. */
TEST(modules_are_matched_by_their_class)
{
    CHECK_EQ_UINT(module_token(str_c("nn.Module: Net_0")), module_token(str_c("Net")));
    CHECK_EQ_UINT(module_token(str_c("nn.Module: Net_v2_13")), module_token(str_c("Net_v2")));
    CHECK(module_token(str_c("nn.Module: Net_0")) != module_token(str_c("Nets")));
    struct world w;
    world_init(&w);
    call(&w, 1 * MS, 2 * MS, "Other");
    sample(&w, 3 * MS / 2, "a10>m1>b20");
    CHECK_ROWS(&w, {1.5, 2, "x.py(1): a"}, {1.5, 2, "nn.Module: Net_0"}, {1.5, 2, "x.py(2): b"});
}

TEST_MAIN
