/* test_deep.c: units in depth are taken out of a trace, and what they show is carried to the other
 * launches, as far as these agree. A letter is a kernel; a unit in depth has an operator of its own
 * around each. */
#include "analyze/deep/deep_match.h"

#include "analyze/names/graph_origin.h"
#include "analyze/steps/steps.h"
#include "format/ring.h"
#include "kit.h"
#include "trace/cut.h"
#include "trace/snapshot_mark.h"

#define LAUNCH_US 20 /* between two launches; each takes 5, and its kernel 10 */

struct deep_kit {
    struct kit k;
    double at_us;
    const char *dims;  /* of operators in depth */
    const char *frame; /* the function they stand in */
};

static struct deep_kit deep_begin(void)
{
    struct deep_kit d = {
        .k = kit_begin(), .at_us = 100, .dims = "[[8, 8]]", .frame = "train.py(12): forward"};
    d.k.grid = 4;
    return d;
}

static void deep_op(struct deep_kit *d, char name)
{
    char text[] = {'a', 't', 'e', 'n', ':', ':', name, 0};
    struct op_info op = {ID_NONE,
                         ID_NONE,
                         0,
                         intern_add(batch_strings(d->k.p), str_c(d->dims)),
                         intern_add(batch_strings(d->k.p), str_c("[\"float\"]")),
                         STR_NONE};
    kit_row(&d->k, KIND_OP, text, d->at_us - 2, 12, &op);
}

static void deep_put(struct deep_kit *d, const char *kernels, bool deep)
{
    for (; *kernels; kernels++) {
        char name[] = {*kernels, 0};
        if (deep) kit_python(&d->k, d->frame, d->at_us - 3, 15);
        if (deep) deep_op(d, *kernels);
        kit_launch(&d->k, d->at_us, name, d->at_us + 2, 10);
        d->at_us += LAUNCH_US;
    }
}

static void deep_unit(struct deep_kit *d, const char *kernels)
{
    kit_row(&d->k, KIND_INSTANT, RING_DEPTH_BEGINS, d->at_us - 5, 0, NULL);
    deep_put(d, kernels, true);
    kit_row(&d->k, KIND_INSTANT, RING_DEPTH_ENDS, d->at_us - 5, 0, NULL);
}

static uint32_t deep_kernels(const struct trace *t)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += t->kind[r] == KIND_KERNEL;
    return n;
}

/* For each kernel of the trace, in its order: the twin's letter, capital where it did the same
 * work; '.' for none. */
static const char *deep_twins(struct deep_kit *d, struct arena *mem)
{
    struct trace *t = kit_end(&d->k);
    struct context cx;
    CHECK(trace_cut_deep(&t, NULL) == 0);
    context_init(&cx, t, mem);
    CHECK(context_need(&cx, &deep_match_pass, NULL) == 0);
    const struct deep_match *m = deep_match_of(&cx);
    char *text = arena_zalloc(mem, t->n_rows + (size_t)1, 1), *to = text;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL) continue;
        row_t twin = deep_match_twin(m, t, r);
        char c = twin == ROW_NONE ? '.' : trace_name(m->deep, twin).p[0];
        *to++ = deep_match_alike(m, t, r) == ROW_NONE ? c : (char)(c - 'a' + 'A');
    }
    context_done(&cx);
    trace_free(t);
    return text;
}

TEST(units_are_taken_out)
{
    struct deep_kit d = deep_begin();
    deep_put(&d, "abcd", false);
    deep_unit(&d, "abcdef");
    deep_put(&d, "abcd", false);
    struct trace *t = kit_end(&d.k);
    int64_t before = t->end_ns - t->begin_ns;
    REQUIRE(trace_cut_deep(&t, NULL) == 0);
    REQUIRE(t->deep != NULL);
    CHECK_EQ_UINT(deep_kernels(t), 8);
    CHECK_EQ_UINT(deep_kernels(t->deep), 6);
    CHECK_EQ_INT(t->end_ns - t->begin_ns, before - 6 * LAUNCH_US * 1000);
    CHECK_EQ_INT(t->part.whole_end_ns, 0); /* it is not a part of anything */
    trace_free(t);
}

/* A call of a network, after its mark if it is in depth. */
static void deep_call(struct deep_kit *d, const char *layer, int layers, bool deep)
{
    double begin = d->at_us;
    if (deep) kit_row(&d->k, KIND_INSTANT, RING_DEPTH_BEGINS, begin - 5, 0, NULL);
    for (int i = 0; i < layers; i++) deep_put(d, layer, deep);
    kit_derived(&d->k, "nn.Module: Net", begin - 4, d->at_us - begin);
    if (deep) kit_row(&d->k, KIND_INSTANT, RING_DEPTH_ENDS, d->at_us - 1, 0, NULL);
    d->at_us += 100;
}

struct deep_found {
    uint32_t n_steps;
    bool may_be_layers;
};

static struct deep_found deep_steps(const char *layer, int layers, const bool *deep, uint32_t n)
{
    struct deep_kit d = deep_begin();
    for (uint32_t i = 0; i < n; i++) deep_call(&d, layer, layers, deep[i]);
    struct trace *t = kit_end(&d.k);
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    CHECK(trace_cut_deep(&t, NULL) == 0);
    context_init(&cx, t, &mem);
    CHECK(context_need(&cx, &steps_pass, NULL) == 0);
    struct deep_found found = {steps_of(&cx)->n_steps, steps_may_be_layers(steps_of(&cx))};
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return found;
}

TEST(the_layers_of_the_only_unit_left_are_no_steps)
{
    CHECK_EQ_UINT(deep_steps("abcd", 12, (const bool[]){false, true, true}, 3).n_steps, 1);
    CHECK_EQ_UINT(deep_steps("abcd", 12, (const bool[]){false, true, false, false}, 4).n_steps, 3);
}

TEST(rounds_that_are_the_units_are_no_layers)
{
    const char *kernels = "abcdefghijklmnopqrstuvwxyzabdcfehgjilknmporqtsvuxwzy";
    struct deep_found with = deep_steps(kernels, 1, (const bool[]){false, true, false, false}, 4);
    struct deep_found without = deep_steps(kernels, 1, (const bool[]){false, false, false}, 3);
    CHECK_EQ_UINT(with.n_steps, 3);
    CHECK(!with.may_be_layers);
    CHECK_EQ_UINT(without.n_steps, 3);
}

TEST(the_marks_of_parts_stay)
{
    struct deep_kit d = deep_begin();
    struct recorded_parts parts;
    struct arena mem;
    kit_row(&d.k, KIND_INSTANT, RECORDED_PART_BEGINS, 50, 0, NULL);
    deep_put(&d, "abcd", false);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_BEGINS, d.at_us - 5, 0, NULL);
    kit_row(&d.k, KIND_INSTANT, RECORDED_PART_ENDS, d.at_us + 1, 0, NULL);
    kit_row(&d.k, KIND_INSTANT, RECORDED_PART_BEGINS, d.at_us + 2, 0, NULL);
    deep_put(&d, "abcd", true);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_ENDS, d.at_us - 5, 0, NULL);
    deep_put(&d, "abcd", false);
    struct trace *t = kit_end(&d.k);
    arena_init(&mem);
    REQUIRE(trace_cut_deep(&t, NULL) == 0);
    CHECK_EQ_UINT(deep_kernels(t), 8);
    CHECK_EQ_INT(recorded_parts_find(t, &mem, &parts, NULL), 0);
    CHECK_EQ_UINT(parts.n, 2);
    arena_done(&mem);
    trace_free(t);
}

TEST(the_mark_of_a_snapshot_stays)
{
    struct deep_kit d = deep_begin();
    struct snapshot_mark shot = {0};
    deep_put(&d, "abcd", false);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_BEGINS, d.at_us - 5, 0, NULL);
    kit_row(&d.k, KIND_INSTANT, RING_SNAPSHOT "1000: asked for", d.at_us + 1, 0, NULL);
    deep_put(&d, "abcd", true);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_ENDS, d.at_us - 5, 0, NULL);
    deep_put(&d, "abcd", false);
    struct trace *t = kit_end(&d.k);
    CHECK(trace_cut_deep(&t, NULL) == 0);
    CHECK_EQ_UINT(deep_kernels(t), 8);
    CHECK(snapshot_mark_find(t, &shot));
    CHECK(str_is(shot.why, "asked for"));
    trace_free(t);
}

TEST(a_unit_beside_other_work_stays)
{
    struct deep_kit d = deep_begin();
    d.k.stream = 9;
    kit_launch(&d.k, 60, "other", 70, 900);
    d.k.stream = 7;
    deep_put(&d, "abcd", false);
    deep_unit(&d, "abcd");
    struct trace *t = kit_end(&d.k);
    REQUIRE(trace_cut_deep(&t, NULL) == 0);
    REQUIRE(t->deep != NULL);
    CHECK_EQ_UINT(deep_kernels(t), 9);
    CHECK_EQ_UINT(deep_kernels(t->deep), 4);
    trace_free(t);
}

TEST(a_unit_without_its_end_does_not_count)
{
    struct deep_kit d = deep_begin();
    deep_put(&d, "abcd", false);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_BEGINS, d.at_us - 5, 0, NULL);
    deep_put(&d, "abcd", true);
    struct trace *t = kit_end(&d.k);
    REQUIRE(trace_cut_deep(&t, NULL) == 0);
    CHECK(t->deep == NULL);
    CHECK_EQ_UINT(deep_kernels(t), 8);
    trace_free(t);
}

TEST(launches_that_agree_have_twins)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_put(&d, "abcbcd", false);
    deep_unit(&d, "abcbcd");
    deep_put(&d, "abcbcdabcbcd", false);
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABCBCDABCBCDABCBCD");
    arena_done(&mem);
}

TEST(strangers_have_none_and_what_follows_them_has)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcdefghijklmnop");
    deep_put(&d, "abcdxyefghijklmnop", false);
    deep_put(&d, "abcdefijklmnop", false); /* g and h were left out */
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABCD..EFGHIJKLMNOPABCDEFIJKLMNOP");
    arena_done(&mem);
}

TEST(more_rounds_of_a_loop_are_known)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "pqrsefghefghtuvwxyza");
    deep_put(&d, "pqrsefghefghefghefghtuvwxyza", false);
    deep_put(&d, "pqrsefghefghefghtuvwxyza", false); /* one more: too few to say so */
    CHECK_EQ_STR(deep_twins(&d, &mem), "PQRSEFGHEFGHEFGHEFGHTUVWXYZAPQRSEFGHEFGH....TUVWXYZA");
    arena_done(&mem);
}

TEST(short_agreements_say_nothing)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcdefghij");
    deep_put(&d, "xxabcxxxxdefxxxx", false);
    CHECK_EQ_STR(deep_twins(&d, &mem), "................");
    arena_done(&mem);
}

TEST(a_short_unit_is_matched_as_a_whole)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "ab");
    deep_put(&d, "ababxab", false);
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABAB.AB");
    arena_done(&mem);
}

TEST(other_sizes_do_other_work)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcdef");
    deep_put(&d, "ab", false);
    d.k.grid = 5;
    deep_put(&d, "cd", false);
    d.k.grid = 4;
    deep_put(&d, "ef", false);
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABcdEF");
    arena_done(&mem);
}

TEST(what_units_disagree_on_is_not_carried)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcd");
    deep_put(&d, "abcd", false);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_BEGINS, d.at_us - 5, 0, NULL);
    deep_put(&d, "ab", true);
    d.dims = "[[9, 8]]"; /* a cache that grows */
    deep_put(&d, "c", true);
    d.dims = "[[8, 8]]";
    deep_put(&d, "d", true);
    kit_row(&d.k, KIND_INSTANT, RING_DEPTH_ENDS, d.at_us - 5, 0, NULL);
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABcD");
    arena_done(&mem);
}

TEST(of_two_branches_each_has_its_own)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcdef");
    deep_unit(&d, "abcxyz");
    deep_put(&d, "abcxyzabcdef", false);
    CHECK_EQ_STR(deep_twins(&d, &mem), "ABCXYZABCDEF");
    arena_done(&mem);
}

TEST(origins_come_from_twins)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcd");
    deep_put(&d, "abcdx", false);
    struct trace *t = kit_end(&d.k);
    REQUIRE(trace_cut_deep(&t, NULL) == 0);
    context_init(&cx, t, &mem);
    REQUIRE(context_need(&cx, &graph_origin_pass, NULL) == 0);
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct graph_origin_node *o = graph_origin_find(graph_origin_of(&cx), t, r);
        if (t->kind[r] != KIND_KERNEL) continue;
        CHECK_EQ_INT(o != NULL, trace_name(t, r).p[0] != 'x');
        if (!o) continue;
        n++;
        CHECK(o->deep);
        CHECK_EQ_INT(o->op.p[6], trace_name(t, r).p[0]);
        CHECK(str_is(o->place, "train.py(12): forward"));
    }
    CHECK_EQ_UINT(n, 4);
    context_done(&cx);
    trace_free(t);
    arena_done(&mem);
}

/* For each kernel of the trace, in its order: 'l' where its line is known, 'd' where units differ
 * in it, '.' for no origin. */
static const char *deep_lines(struct deep_kit *d, struct arena *mem)
{
    struct trace *t = kit_end(&d->k);
    struct context cx;
    CHECK(trace_cut_deep(&t, NULL) == 0);
    context_init(&cx, t, mem);
    CHECK(context_need(&cx, &graph_origin_pass, NULL) == 0);
    char *text = arena_zalloc(mem, t->n_rows + (size_t)1, 1), *to = text;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL) continue;
        const struct graph_origin_node *o = graph_origin_find(graph_origin_of(&cx), t, r);
        *to++ = !o ? '.' : o->place.n ? 'l' : o->differs ? 'd' : '?';
        CHECK(!o || o->op.n);
    }
    context_done(&cx);
    trace_free(t);
    return text;
}

/* One of two functions, by a condition that nothing shows: both launch the same. */
static void deep_branch(struct deep_kit *d, const char *branch)
{
    const char *before = d->frame;
    kit_row(&d->k, KIND_INSTANT, RING_DEPTH_BEGINS, d->at_us - 5, 0, NULL);
    deep_put(d, "abcde", true);
    d->frame = branch;
    deep_put(d, "fgfg", true);
    d->frame = before;
    deep_put(d, "hijkl", true);
    kit_row(&d->k, KIND_INSTANT, RING_DEPTH_ENDS, d->at_us - 5, 0, NULL);
}

TEST(a_line_in_which_units_differ_is_not_carried)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_branch(&d, "train.py(30): one");
    deep_put(&d, "abcdefgfghijkl", false);
    deep_branch(&d, "train.py(40): other");
    deep_put(&d, "abcdefgfghijkl", false);
    CHECK_EQ_STR(deep_lines(&d, &mem), "lllllddddllllllllllddddlllll");
    arena_done(&mem);
}

TEST(units_of_other_kinds_say_nothing_of_each_other)
{
    struct arena mem;
    arena_init(&mem);
    struct deep_kit d = deep_begin();
    deep_unit(&d, "abcdefghijklmn");
    d.frame = "train.py(90): other";
    deep_unit(&d, "opqrstuvwxyzabcd");
    deep_put(&d, "abcdefghijklmn", false);
    deep_put(&d, "opqrstuvwxyzabcd", false);
    CHECK_EQ_STR(deep_lines(&d, &mem), "llllllllllllllllllllllllllllll");
    arena_done(&mem);
}

TEST_MAIN
