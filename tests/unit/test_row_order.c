/* test_row_order.c: the order of the rows of a trace is that of the program, not that of the file.
 */
#include "kit.h"

enum { MOST = 16 };

/* Rows as they may stand in a file. */
struct line {
    enum row_kind kind;
    const char *name;
    double us, dur_us;
    int64_t id;
};

static void put_line(struct kit *k, const struct line *l)
{
    struct op_info op = {l->id, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    struct py_info py = {(int32_t)l->id, -1, -1};
    struct call_info call = {l->id, ID_NONE, 0, 0};
    struct gpu_info gpu = {.correlation = l->id, .external_id = ID_NONE, .bytes = -1, .stream = 7};
    gpu.launch = ROW_NONE;
    const void *aux = l->kind == KIND_PYTHON    ? (const void *)&py
                      : l->kind == KIND_RUNTIME ? (const void *)&call
                      : l->kind == KIND_KERNEL  ? (const void *)&gpu
                                                : (const void *)&op;
    kit_row(k, l->kind, l->name, l->us, l->dur_us, aux);
}

/* The names of the rows in the trace of these lines, taken in the order `at`. */
static void names_of(const struct line *lines, const int *at, int n, const char **ret)
{
    static char kept[8][MOST][32];
    static int turn;
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) put_line(&k, &lines[at[i]]);
    struct trace *t = kit_end(&k);
    turn = (turn + 1) % 8;
    for (int i = 0; i < n; i++) {
        struct str s = trace_name(t, (row_t)i);
        snprintf(kept[turn][i], sizeof kept[turn][i], "%.*s", (int)s.n, s.p);
        ret[i] = kept[turn][i];
    }
    trace_free(t);
}

static void check_any_order(const struct line *lines, int n)
{
    static const int steps[] = {1, 3, 5, 7, 11, 13};
    const char *first[MOST], *other[MOST];
    int at[MOST];
    for (int i = 0; i < n; i++) at[i] = i;
    names_of(lines, at, n, first);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        for (int i = 0; i < n; i++) at[i] = (n - 1 - i) * steps[s] % n;
        bool all = true; /* a permutation where the step has no factor of n */
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++) all &= at[i] != at[k];
        if (!all) continue;
        names_of(lines, at, n, other);
        for (int i = 0; i < n; i++) CHECK_EQ_STR(other[i], first[i]);
    }
}

TEST(what_encloses_what_does_not_depend_on_the_file)
{
    static const struct line lines[] = {
        {KIND_ANNOTATION, "label", 10, 50, ID_NONE},
        {KIND_PYTHON, "outer", 10, 50, 1},
        {KIND_PYTHON, "inner", 10, 50, 2},
        {KIND_OP, "aten::mm", 10, 50, 3},
        {KIND_OP, "aten::mm_", 10, 50, 4},
        {KIND_RUNTIME, "cudaLaunchKernel", 10, 50, 5},
        {KIND_PYTHON, "next", 60, 5, 6},
    };
    check_any_order(lines, sizeof lines / sizeof *lines);
    const char *names[MOST];
    static const int backwards[] = {6, 5, 4, 3, 2, 1, 0};
    names_of(lines, backwards, 7, names);
    CHECK_EQ_STR(names[0], "label");
    CHECK_EQ_STR(names[1], "outer");
    CHECK_EQ_STR(names[2], "inner");
    CHECK_EQ_STR(names[3], "aten::mm");
    CHECK_EQ_STR(names[4], "aten::mm_");
    CHECK_EQ_STR(names[5], "cudaLaunchKernel");
}

TEST(work_of_the_same_span_does_not_depend_on_the_file)
{
    static const struct line lines[] = {
        {KIND_KERNEL, "b", 10, 5, ID_NONE}, {KIND_KERNEL, "a", 10, 5, ID_NONE},
        {KIND_KERNEL, "c", 10, 5, 9},       {KIND_KERNEL, "d", 10, 5, 8},
        {KIND_KERNEL, "e", 40, 5, 10},
    };
    check_any_order(lines, sizeof lines / sizeof *lines);
}

/* Frames without ids: the file says which is outside, in whichever direction it goes. */
TEST(a_file_that_goes_back_in_time_is_read_backwards)
{
    const char *names[MOST];
    struct line lines[14] = {{KIND_PYTHON, "outer", 10, 50, -1},
                             {KIND_PYTHON, "inner", 10, 50, -1}};
    int forwards[14], backwards[14];
    for (int i = 2; i < 14; i++) lines[i] = (struct line){KIND_PYTHON, "later", 60 + i, 1, -1};
    for (int i = 0; i < 14; i++) forwards[i] = i, backwards[i] = 13 - i;
    names_of(lines, forwards, 14, names);
    CHECK_EQ_STR(names[0], "outer");
    CHECK_EQ_STR(names[1], "inner");
    names_of(lines, backwards, 14, names);
    CHECK_EQ_STR(names[0], "outer");
    CHECK_EQ_STR(names[1], "inner");
}

TEST(processes_are_numbered_by_their_names)
{
    for (int turn = 0; turn < 2; turn++) {
        struct builder *b = builder_new(NULL);
        struct batch *p = batch_new();
        for (int i = 0; i < 2; i++) {
            struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
            struct batch_row row = {.dur_ns = 5,
                                    .name = intern_add(batch_strings(p), str_c("aten::mm")),
                                    .kind = KIND_OP,
                                    .cat = batch_cat(p, str_c("cpu_op")),
                                    .phase = 'X',
                                    .pid = {i == turn ? 100 : 200, 0},
                                    .tid = {1, 0},
                                    .aux = &op};
            CHECK_EQ_INT(batch_add(p, &row), 0);
        }
        struct trace *t = NULL;
        CHECK_EQ_INT(builder_add_part(b, p, NULL), 0);
        REQUIRE(builder_freeze(b, 1, &t, NULL) == 0);
        CHECK_EQ_INT(t->processes[0].pid, 100);
        CHECK_EQ_INT(t->processes[t->lanes[0].process].pid, 100);
        CHECK_EQ_INT(t->processes[t->lanes[1].process].pid, 200);
        trace_free(t);
    }
}

TEST_MAIN
