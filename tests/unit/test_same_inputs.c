/* test_same_inputs.c: what is computed again from the same inputs (findings/same_inputs.c). A scene
 * is 40 steps of a program that encodes a text and denoises with it; two steps are units in depth,
 * whose operators say which tensors they read. Near misses change one thing each. */
#include <inttypes.h>

#include "diagnosis.h"
#include "format/ring.h"
#include "kernel_kit.h"
#include "trace/cut.h"

enum { STEPS = 40, FIRST_DEEP = 2, AFTER_DEEP = 4, MOST_ARGS = 256 };
enum { TEXT = 1000, WEIGHT = 2000, ENCODED = 3000, NOISE = 4000, MIXED = 5000, OUT = 6000 };

struct texts {
    struct args_source source;
    char *list[MOST_ARGS];
    uint64_t n; /* row n has list[n - 1] */
};

static int texts_read(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    struct texts *x = (struct texts *)self;
    (void)e;
    buf_adds(out, src && src <= x->n ? x->list[src - 1] : "{}");
    return 0;
}

static void texts_free(struct args_source *self)
{
    struct texts *x = (struct texts *)self;
    for (uint64_t i = 0; i < x->n; i++) free(x->list[i]);
    free(x);
}

struct scene {
    struct kernel_kit g;
    struct texts *texts;
    int step;
    bool deep;
    /* what is different */
    bool written, trained, made_anew, dropped_out, quiet_noise, graph, foreign, missed, uploaded,
        twice, spoiled, silent, inference, unknown;
    int64_t text_version, weight_version;
};

static bool in_depth(const struct scene *s)
{
    return s->step >= FIRST_DEEP && s->step < AFTER_DEEP;
}

/* An operator on up to two tensors, which returns a third one; 0: none. */
static void begin_op(struct scene *s, const char *name, int64_t a, int64_t a_version, int64_t b,
                     int64_t b_version, int64_t out, int64_t out_version)
{
    char text[512];
    int n = 0;
    if (!in_depth(s)) {
        s->g.cpu_us += 1;
        return;
    }
    if (s->inference) a_version = b_version = out_version = -1;
    n += snprintf(text + n, sizeof text - (size_t)n, "{\"Input Lists\": 7");
    if (a)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", \"Input Tensors\": [[%" PRId64 ", 5, %" PRId64 "]", a, a_version);
    if (b)
        n += snprintf(text + n, sizeof text - (size_t)n, ", [%" PRId64 ", 5, %" PRId64 "]", b,
                      b_version);
    n += snprintf(text + n, sizeof text - (size_t)n, "%s", a ? "]" : "");
    if (out)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", \"Output Tensors\": [[%" PRId64 ", 5, %" PRId64 "]]", out, out_version);
    snprintf(text + n, sizeof text - (size_t)n, "}");
    REQUIRE(s->texts->n < MOST_ARGS);
    s->texts->list[s->texts->n++] = strdup(s->unknown ? "{}" : text);
    struct op_info op = {ID_NONE,
                         ID_NONE,
                         0,
                         kernel_kit_text(&s->g, "[[64, 64], [64, 64]]"),
                         kernel_kit_text(&s->g, BF16_2),
                         kernel_kit_text(&s->g, "[\"\", \"\"]")};
    struct batch_row row = {
        .ts_ns = kit_ns(s->g.cpu_us),
        .dur_ns = kit_ns(10),
        .name = intern_add(batch_strings(s->g.k.p), str_c(name)),
        .kind = KIND_OP,
        .cat = batch_cat(s->g.k.p, str_c(kind_name(KIND_OP))),
        .phase = 'X',
        .pid = {s->g.k.pid, 0},
        .tid = {s->g.k.tid, 0},
        .src = s->texts->n,
        .aux = &op,
    };
    CHECK_EQ_INT(batch_add(s->g.k.p, &row), 0);
    s->g.cpu_us += 1;
}

static void kernel(struct scene *s, const char *name, double us)
{
    double begin = s->g.cpu_us;
    if (name) kernel_kit_run(&s->g, name, us);
    s->g.cpu_us = begin + 11;
}

static void upload(struct scene *s)
{
    double begin = s->g.cpu_us;
    kit_call(&s->g.k, "cudaMemcpyAsync", begin, 2);
    kit_work(&s->g.k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", s->g.gpu_us, 2);
    s->g.gpu_us += 3;
    s->g.cpu_us = begin + 11;
}

static void encode(struct scene *s)
{
    if (s->made_anew) {
        begin_op(s, "aten::randn", 0, 0, 0, 0, TEXT, 0);
        kernel(s, "random", 5);
    }
    if (s->uploaded) {
        begin_op(s, "aten::copy_", TEXT, 0, 900, 0, TEXT, 0);
        upload(s);
    }
    if (s->written) {
        begin_op(s, "aten::add_", TEXT, s->text_version, 0, 0, TEXT, s->text_version + 1);
        kernel(s, "add", 5);
        s->text_version++;
    }
    if (s->silent) s->text_version++;
    begin_op(s, "aten::mm", TEXT, s->text_version, WEIGHT, s->weight_version, ENCODED, 0);
    kernel(s, "encoder_gemm", 60);
    if (s->dropped_out) {
        begin_op(s, "aten::native_dropout", ENCODED, 0, 0, 0, ENCODED + 1, 0);
        kernel(s, "dropout", 5);
    }
    begin_op(s, "aten::gelu", ENCODED + s->dropped_out, 0, 0, 0, ENCODED + 2, 0);
    kernel(s, "gelu", 40);
}

/* The recorder waits for the device around a unit in depth; the program runs ahead. */
static double scene_wait(struct scene *s)
{
    if (in_depth(s) && s->g.cpu_us < s->g.gpu_us) s->g.cpu_us = s->g.gpu_us + 5;
    return s->g.cpu_us;
}

static void step(struct scene *s)
{
    double begin = scene_wait(s);
    if (in_depth(s)) kit_row(&s->g.k, KIND_INSTANT, RING_DEPTH_BEGINS, begin, 0, NULL);
    s->g.cpu_us += 1;
    encode(s);
    if (s->twice) encode(s);
    if (s->spoiled) {
        begin_op(s, "aten::add_", ENCODED + 2, 0, NOISE, 0, ENCODED + 2, 1);
        kernel(s, "add_noise", 5);
    }
    begin_op(s, s->quiet_noise ? "aten::cos" : "aten::normal_", WEIGHT + 1, 0, 0, 0, NOISE, 0);
    kernel(s, "noise", 10);
    if (s->foreign) {
        begin_op(s, "mine::update", TEXT, s->text_version, 0, 0, 0, 0);
        kernel(s, "update", 5);
    }
    if (s->graph) {
        s->g.cpu_us += 12;
        kernel(s, "of_no_operator", 5);
    }
    begin_op(s, "aten::add", ENCODED + 2, s->spoiled, NOISE, 0, MIXED, 0);
    kernel(s, "add", 10);
    begin_op(s, "aten::bmm", MIXED, 0, WEIGHT + 2, 0, OUT, 0);
    kernel(s, "denoiser_gemm", 100);
    if (s->trained) {
        begin_op(s, "aten::_foreach_add_", WEIGHT, s->weight_version, OUT, 0, 0, 0);
        kernel(s, "update", 5);
        s->weight_version++;
    }
    scene_wait(s);
    if (in_depth(s)) kit_row(&s->g.k, KIND_INSTANT, RING_DEPTH_ENDS, s->g.cpu_us, 0, NULL);
    if (s->missed) s->g.cpu_us += 2000;
    kit_label(&s->g.k, "step", begin, s->g.cpu_us - begin);
    s->g.cpu_us += 0.1;
    s->step++;
}

/* The gain in percent, 0 where nothing is found. */
static double gain_of(struct scene s)
{
    struct diagnosis d;
    double gain = 0;
    s.g = kernel_kit_begin();
    s.texts = calloc(1, sizeof *s.texts);
    if (!CHECK(s.texts != NULL)) return -1;
    s.texts->source = (struct args_source){.read = texts_read, .free = texts_free};
    while (s.step < STEPS) step(&s);
    struct trace *t = kernel_kit_end(&s.g);
    t->args = &s.texts->source;
    CHECK_EQ_INT(trace_cut_deep(&t, NULL), 0);
    CHECK(t->deep != NULL);
    diagnose(&d, t);
    const struct finding *f = found(&d, "repeated_work");
    if (f) {
        gain = f->gain_pct;
        CHECK(strstr(f->why, "from the same inputs") != NULL);
        CHECK(strstr(f->fix, "before the loop") != NULL);
    }
    done(&d);
    return gain;
}

#define QUIET(...) CHECK(gain_of((struct scene){__VA_ARGS__}) == 0)

/* Of 220 us of work per step 100 encode the same text. */
TEST(a_text_is_encoded_in_every_step)
{
    CHECK_NEAR(gain_of((struct scene){.deep = true}), 45, 8);
}

TEST(tensors_of_inference_mode)
{
    CHECK_NEAR(gain_of((struct scene){.inference = true}), 45, 8);
}

TEST(near_miss_the_text_changes)
{
    QUIET(.written = true);
    QUIET(.silent = true);
}

TEST(near_miss_the_weight_is_trained)
{
    QUIET(.trained = true);
}

/* Its storage is where the one before was, and nothing has written that. */
TEST(near_miss_another_text_at_the_same_address)
{
    QUIET(.made_anew = true);
    QUIET(.made_anew = true, .inference = true);
}

TEST(near_miss_a_text_from_the_host)
{
    QUIET(.uploaded = true);
}

/* The product before dropout is the same, what comes after it is not. */
TEST(dropout_ends_what_is_the_same)
{
    CHECK_NEAR(gain_of((struct scene){.dropped_out = true}), 27, 6);
}

TEST(near_miss_all_of_it_runs_again_to_be_measured)
{
    QUIET(.quiet_noise = true);
}

/* Then what is computed twice in one unit still is. */
TEST(twice_in_a_unit_that_is_measured)
{
    CHECK_NEAR(gain_of((struct scene){.quiet_noise = true, .twice = true}), 31, 6);
}

TEST(near_miss_kernels_of_no_operator)
{
    QUIET(.graph = true);
}

TEST(near_miss_an_operator_that_may_write)
{
    QUIET(.foreign = true);
}

TEST(near_miss_something_was_missed_between_units)
{
    QUIET(.missed = true);
}

/* The last result is written over with noise: it cannot be kept, what leads to it can. */
TEST(a_result_that_is_written_over)
{
    CHECK_NEAR(gain_of((struct scene){.spoiled = true}), 26, 6);
}

TEST(near_miss_nothing_is_known_of_tensors)
{
    QUIET(.unknown = true);
}

TEST_MAIN
