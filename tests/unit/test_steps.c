/* test_steps.c: the loop found from every kind of evidence, and what its steps cost. */
#include "analyze/steps/steps.h"
#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static struct found find(struct kit *k)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (f.t) CHECK_EQ_INT(context_need(&f.cx, &steps_pass, NULL), 0);
    return f;
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static const char *found_by(const struct found *f)
{
    return origin_name(steps_of(&f->cx)->found_by);
}

TEST(profiler_steps)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i + 2);
        kit_label(&k, name, i * 1000, 900);
        kit_label(&k, "matmul_add", i * 1000 + 10, 800);
        /* runs after the step has ended on the CPU */
        kit_launch(&k, i * 1000 + 50, "gemm", i * 1000 + 950, 30);
        kit_launch(&k, i * 1000 + 60, "add", i * 1000 + 980, 20);
    }
    kit_call(&k, "cudaStreamSynchronize", 2500, 300);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_STR(found_by(&f), "profiler_steps");
    const struct step *s = &steps_of(&f.cx)->steps[0];
    CHECK_EQ_INT(s->number, 2);
    CHECK_EQ_INT(s->cpu.begin_ns, 0);
    CHECK_EQ_INT(s->cpu.end_ns, 900000);
    CHECK_EQ_UINT(s->gpu.kernels, 2);
    CHECK_EQ_INT(s->gpu.union_ns, 50000);
    CHECK_EQ_INT(s->gpu.extent.begin_ns, 950000);
    CHECK_EQ_UINT(s->syncs, 0);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[2].syncs, 1);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[2].blocked_ns, 300000);
    CHECK_EQ_INT(steps_of(&f.cx)->median_ns, 900000);
    done(&f);
}

/* encode, then two forwards (guidance) and a scheduler step a round, then decode. */
static struct kit diffusion(int rounds)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 1000 + rounds * 1000 + 300);
    kit_label(&k, "encode_prompt", 100, 50);
    kit_label(&k, "encode_prompt", 200, 50);
    for (int i = 0; i < rounds; i++) {
        double at = 1000 + i * 1000;
        kit_label(&k, "transformer_forward", at, 400);
        kit_launch(&k, at + 10, "gemm", at + 20, 300);
        kit_label(&k, "transformer_forward", at + 450, 400);
        kit_launch(&k, at + 460, "gemm", at + 470, 300);
        kit_label(&k, "scheduler_step", at + 900, 50);
        kit_launch(&k, at + 910, "add", at + 920, 5);
    }
    kit_label(&k, "vae_decode", 1000 + rounds * 1000, 200);
    return k;
}

TEST(two_forwards_and_a_scheduler_step_are_one_step)
{
    struct kit k = diffusion(4);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4));
    CHECK_EQ_STR(found_by(&f), "annotations");
    CHECK_EQ_UINT(steps_of(&f.cx)->period, 3);
    for (uint32_t i = 0; i < 4; i++) {
        const struct step *s = &steps_of(&f.cx)->steps[i];
        CHECK_EQ_INT(s->cpu.begin_ns, 1000000 + i * 1000000);
        CHECK_EQ_INT(s->cpu_ns, 950000);
        CHECK_EQ_UINT(s->gpu.kernels, 3);
        CHECK_EQ_INT(s->gpu.sum_ns, 605000);
    }
    /* steps tile the loop; the last ends with its last label */
    CHECK_EQ_INT(steps_of(&f.cx)->steps[0].cpu.end_ns, 2000000);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[3].cpu.end_ns, 4950000);
    CHECK_EQ_UINT(steps_at(steps_of(&f.cx), 999999), UINT32_MAX);
    CHECK_EQ_UINT(steps_at(steps_of(&f.cx), 1000000), 0);
    CHECK_EQ_UINT(steps_at(steps_of(&f.cx), 1999999), 0);
    CHECK_EQ_UINT(steps_at(steps_of(&f.cx), 4950000), UINT32_MAX);
    done(&f);
}

TEST(two_steps_are_enough)
{
    struct kit k = diffusion(2);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 2);
    done(&f);
}

TEST(one_round_with_guidance_is_one_step_not_two)
{
    struct kit k = diffusion(1);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 1));
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 3);
    done(&f);
}

/* Labels of 10 us each, one a letter, inside a pipeline call. */
static struct found labelled(const char *letters)
{
    static const char *const names[128] = {
        ['e'] = "encode_prompt",
        ['t'] = "transformer_forward",
        ['u'] = "transformer_2_forward",
        ['s'] = "scheduler_step",
        ['c'] = "callback",
        ['v'] = "vae_decode",
    };
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 20 * (double)strlen(letters) + 20);
    for (int i = 0; letters[i]; i++) kit_label(&k, names[(int)letters[i]], 20 + i * 20, 10);
    return find(&k);
}

static void check_rounds(const char *letters, uint32_t n, int first_label)
{
    struct found f = labelled(letters);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, n);
    if (steps_of(&f.cx)->n_steps)
        CHECK_EQ_INT(steps_of(&f.cx)->steps[0].cpu.begin_ns, (20 + first_label * 20) * 1000);
    done(&f);
}

TEST(rounds_that_do_not_repeat_exactly)
{
    check_rounds("eetstststsususv", 6, 2);  /* another model for the second half */
    check_rounds("eusustststststsv", 7, 1); /* and the other way round */
    check_rounds("ettsttststtsttsv", 5, 1); /* one step with a single forward */
    check_rounds("etstcststcstsv", 5, 1);   /* a callback now and then */
    check_rounds("ettststtststv", 4, 1);    /* guidance in every other step */
    check_rounds("etsv", 0, 0);
}

TEST(only_the_end_of_a_round_is_labelled)
{
    struct kit k = kit_begin();
    kit_label(&k, "pipeline_call", 0, 6000);
    for (int i = 0; i < 4; i++) {
        kit_launch(&k, 1100 + i * 1000, "compiled forward", 1200 + i * 1000, 700);
        kit_label(&k, "scheduler_step", 1900 + i * 1000, 100);
        kit_launch(&k, 1910 + i * 1000, "add", 1920 + i * 1000, 5);
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4));
    CHECK_EQ_INT(steps_of(&f.cx)->steps[0].cpu.begin_ns, 1000000);
    for (int i = 0; i < 4; i++) CHECK_EQ_UINT(steps_of(&f.cx)->steps[i].gpu.kernels, 2);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[3].cpu.end_ns, 5000000);
    done(&f);
}

TEST(several_calls_of_a_pipeline_are_not_the_steps)
{
    struct kit k = kit_begin();
    for (int call = 0; call < 3; call++) {
        double at = call * 10000;
        kit_label(&k, "pipeline_call", at, 9000);
        for (int i = 0; i < 4; i++) {
            kit_label(&k, "unet", at + 1000 + i * 1000, 800);
            kit_label(&k, "scheduler_step", at + 1850 + i * 1000, 50);
        }
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 12));
    /* the last step of a call does not reach into the next call */
    CHECK_EQ_INT(steps_of(&f.cx)->steps[3].cpu.end_ns, 4900000);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[4].cpu.begin_ns, 11000000);
    done(&f);
}

/* The loop is in the longest of the labels, which is not the first. */
TEST(the_loop_is_looked_for_in_the_widest_label)
{
    struct kit k = kit_begin();
    kit_label(&k, "load", 0, 100);
    kit_label(&k, "open", 10, 20);
    kit_label(&k, "read", 40, 20);
    kit_label(&k, "generate_call", 200, 5000);
    for (int i = 0; i < 4; i++) kit_label(&k, "denoise_step", 300 + i * 1000, 900);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4));
    CHECK_EQ_INT(steps_of(&f.cx)->steps[1].cpu.begin_ns, kit_ns(1300));
    done(&f);
}

TEST(layers_inside_a_forward_are_not_steps)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        kit_label(&k, "transformer_forward", i * 1000, 900);
        for (int m = 0; m < 20; m++) kit_label(&k, "load_module", i * 1000 + m * 40, 30);
    }
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);

    k = kit_begin(); /* one forward alone: there is no loop */
    kit_label(&k, "transformer_forward", 0, 900);
    for (int m = 0; m < 20; m++) kit_label(&k, "block", m * 40, 30);
    f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 0);
    CHECK_EQ_STR(found_by(&f), "none");
    done(&f);
}

TEST(numbered_labels_are_the_same_label)
{
    struct kit k = kit_begin();
    kit_label(&k, "generate", 0, 6000);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "decode step %d", i);
        kit_label(&k, name, 100 + i * 1000, 900);
    }
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 5);
    done(&f);
}

TEST(a_window_that_opens_inside_a_round)
{
    struct kit k = kit_begin();
    kit_label(&k, "scheduler_step", 0, 50);
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "transformer_forward", 100 + i * 1000, 800);
        kit_label(&k, "scheduler_step", 950 + i * 1000, 50);
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_INT(steps_of(&f.cx)->steps[0].cpu.begin_ns, 100000);
    done(&f);
}

/* Rounds that nothing but torch's own labels mark; `stacks`: in functions of their own. */
static struct kit optimizer_labels(bool stacks)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 5; i++) {
        if (stacks) kit_python(&k, "train.py(7): train_step", i * 1000 - 5, 990);
        kit_label(&k, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 1000, 90);
        kit_label(&k, "Optimizer.zero_grad#AdamW.zero_grad", i * 1000 + 100, 50);
        if (stacks) kit_launch(&k, i * 1000 + 300, "gemm", i * 1000 + 320, 100);
        kit_label(&k, "Optimizer.step#AdamW.step", i * 1000 + 800, 150);
    }
    return k;
}

TEST(optimizer_labels_alone_find_a_training_loop)
{
    for (int stacks = 0; stacks < 2; stacks++) {
        struct kit k = optimizer_labels(stacks);
        struct found f = find(&k);
        REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 5));
        CHECK_EQ_INT(steps_of(&f.cx)->steps[1].cpu.begin_ns, kit_ns(stacks ? 995 : 1000));
        done(&f);
    }
}

/* A model of `layers` layers, `rounds` times, launched without any labels. */
static struct kit unlabelled(int rounds, int layers, const char *region)
{
    static const char *const layer[] = {"norm", "qkv", "attention", "proj", "mlp"};
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < 7; i++, at += 10) kit_launch(&k, at, "warm", at + 5, 2);
    for (int i = 0; i < rounds; i++) {
        kit_launch(&k, at, "embed", at + 5, 2), at += 10;
        for (int l = 0; l < layers; l++) {
            if (region) kit_op(&k, region, at, 48);
            for (int n = 0; n < 5; n++, at += 10) kit_launch(&k, at, layer[n], at + 5, 4);
        }
        kit_launch(&k, at, "head", at + 5, 2), at += 10;
        kit_launch(&k, at, "euler", at + 5, 2), at += 10;
    }
    kit_launch(&k, at, "decode", at + 5, 20);
    return k;
}

TEST(period_of_the_kernels_without_labels)
{
    struct kit k = unlabelled(3, 12, NULL);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_STR(found_by(&f), "kernel_sequence");
    CHECK_EQ_UINT(steps_of(&f.cx)->period, 63);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 63);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[0].cpu.begin_ns, 70000);
    done(&f);
}

/* Calls of a model without labels, each after operators on the CPU of these names. */
static struct kit prepared(const char *const *before, uint32_t n_before, int calls)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < calls; call++) {
        for (uint32_t i = 0; i < n_before; i++, at += 2000)
            if (before[call * n_before + i]) kit_op(&k, before[call * n_before + i], at, 1990);
        kit_op(&k, "aten::to", at, 100);
        kit_launch(&k, at + 10, "upload", at + 20, 60);
        at += 110;
        for (int n = 0; n < 60; n++, at += 10) {
            char name[16];
            snprintf(name, sizeof name, "kernel_%c", 'a' + n % 20);
            kit_op(&k, "aten::mm", at, 9);
            kit_launch(&k, at + 1, name, at + 2, 7);
        }
        at += 50;
    }
    return k;
}

TEST(a_step_begins_with_what_prepares_it)
{
    const char *const before[] = {"aten::stft", "aten::log", "aten::stft", "aten::log"};
    struct kit k = prepared(before, 2, 2);
    struct found f = find(&k);
    const struct steps *s = steps_of(&f.cx);
    REQUIRE(CHECK_EQ_UINT(s->n_steps, 2));
    CHECK_EQ_INT(s->steps[0].cpu.begin_ns, 0);
    CHECK_EQ_INT(s->steps[1].cpu.begin_ns, 4760000);
    CHECK_EQ_INT(s->steps[0].cpu.end_ns, 4760000);
    CHECK_EQ_UINT(s->steps[0].flags, 0);
    CHECK_EQ_UINT(s->steps[1].flags, 0);
    done(&f);
}

TEST(what_precedes_one_step_alone_is_not_part_of_it)
{
    const char *const before[] = {"aten::load", "aten::log", "aten::rand", "aten::log"};
    struct kit k = prepared(before, 2, 2);
    struct found f = find(&k);
    const struct steps *s = steps_of(&f.cx);
    REQUIRE(CHECK_EQ_UINT(s->n_steps, 2));
    CHECK_EQ_INT(s->steps[0].cpu.begin_ns, 2000000); /* aten::log is before both */
    CHECK_EQ_INT(s->steps[1].cpu.begin_ns, 6760000);
    done(&f);
}

TEST(nothing_precedes_the_first_step)
{
    const char *const before[] = {NULL, NULL, "aten::stft", "aten::log"};
    struct kit k = prepared(before, 2, 2);
    struct found f = find(&k);
    const struct steps *s = steps_of(&f.cx);
    REQUIRE(CHECK_EQ_UINT(s->n_steps, 2));
    CHECK_EQ_INT(s->steps[0].cpu.begin_ns, 4000000); /* with its first launch */
    done(&f);
}

TEST(a_sync_tells_steps_of_equal_layers_apart)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int step = 0; step < 4; step++) {
        for (int layer = 0; layer < 10; layer++)
            for (int n = 0; n < 5; n++, at += 10)
                kit_launch(&k, at, (const char *[]){"q", "k", "v", "a", "o"}[n], at + 5, 4);
        kit_call(&k, "cudaDeviceSynchronize", at, 50);
        at += 60;
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4));
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 50);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].syncs, 1);
    done(&f);
}

/* An engine's frames: an upload, then kernels with a wait after every eighth. */
static double frames(struct kit *k, double at, int n)
{
    for (int i = 0; i < n; i++) {
        kit_call(k, "cudaMemcpy", at, 30);
        kit_work(k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", at + 5, 20);
        at += 35;
        for (int j = 0; j < 24; j++, at += 10) {
            kit_launch(k, at, "filter", at + 3, 4);
            if (j % 8 != 7) continue;
            kit_call(k, "cudaDeviceSynchronize", at + 5, 4);
        }
    }
    return at;
}

TEST(a_warm_up_and_the_loop_are_not_two_steps)
{
    struct kit k = kit_begin();
    double at = frames(&k, 100, 20);
    kit_call(&k, "cudaDeviceSynchronize", at, 4);
    at = frames(&k, at + 10, 100);
    kit_call(&k, "cudaDeviceSynchronize", at, 4);
    struct found f = find(&k);
    CHECK(steps_of(&f.cx)->n_steps >= 118 && steps_of(&f.cx)->n_steps <= 120);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[50].gpu.kernels, 24);
    done(&f);
}

TEST(compiled_regions_without_labels)
{
    /* regional compile: one region a layer, so regions alone would count layers */
    struct kit k = unlabelled(2, 12, "Torch-Compiled Region: 0/0");
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 2));
    CHECK_EQ_STR(found_by(&f), "compiled_regions");
    CHECK_EQ_UINT(steps_of(&f.cx)->period, 15);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[1].gpu.kernels, 63);
    done(&f);
}

TEST(graph_replays_without_labels)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 6; i++) {
        kit_call(&k, "cudaGraphLaunch", i * 1000, 20);
        for (int n = 0; n < 30; n++) kit_work(&k, KIND_KERNEL, "node", i * 1000 + 50 + n * 10, 9);
        kit_launch(&k, i * 1000 + 700, "argmax", i * 1000 + 710, 5);
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 6));
    CHECK_EQ_STR(found_by(&f), "compiled_regions");
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[5].gpu.kernels, 31);
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[5].launches, 2);
    done(&f);
}

TEST(device_records_alone)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < 10; n++) {
            char name[16];
            snprintf(name, sizeof name, "k%d", n);
            kit_orphan(&k, name, i * 1000 + n * 50, 40);
        }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4));
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 10);
    done(&f);
}

TEST(no_loop_is_invented)
{
    struct kit k = kit_begin();
    static const char *const once[] = {"a", "b", "c", "d", "b", "e", "f", "a", "g", "h"};
    for (int i = 0; i < 10; i++) kit_launch(&k, i * 100, once[i], i * 100 + 10, 50);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 0);
    CHECK_EQ_STR(found_by(&f), "none");
    CHECK_EQ_UINT(steps_of(&f.cx)->lane, LANE_NONE);
    CHECK_EQ_INT(steps_of(&f.cx)->median_ns, 0);
    done(&f);

    k = kit_begin();
    f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 0);
    done(&f);
}

/* `rounds` calls of an operator that launches `n` kernels. */
static struct found operators(int rounds, int n)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct kit k = kit_begin();
    for (int r = 0; r < rounds; r++) {
        kit_op(&k, "aten::lstm", r * 200, 150);
        for (int i = 0; i < n; i++)
            kit_launch(&k, r * 200 + 5 + 12 * i, names[i], r * 200 + 20 + 12 * i, 8);
    }
    return find(&k);
}

TEST(a_few_launches_make_a_loop_when_they_come_often)
{
    struct found f = operators(3, 3);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 0);
    done(&f);
    f = operators(3, 9);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3);
    done(&f);
    f = operators(4, 3);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);
}

TEST(one_kernel_over_and_over_is_no_step)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) kit_launch(&k, i * 100, "gemm", i * 100 + 10, 50);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 0);
    done(&f);

    k = kit_begin();
    for (int i = 0; i < 50; i++) {
        kit_call(&k, "cudaGraphLaunch", i * 100, 10);
        for (int n = 0; n < 5; n++) kit_work(&k, KIND_KERNEL, "node", i * 100 + 20 + n * 10, 9);
    }
    f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 50);
    done(&f);
}

/* "3 > 24 > 16": rounds of each level in one of the level around it. */
static void check_levels(const struct found *f, const char *want)
{
    const struct steps *s = steps_of(&f->cx);
    char text[128] = "";
    for (uint32_t i = 0; i < s->n_levels; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%u%s", i ? " > " : "", s->levels[i].per_outer,
                 i == s->level         ? " steps"
                 : s->levels[i].layers ? " layers"
                                       : "");
    }
    CHECK_EQ_STR(text, want);
}

static void check_name(const struct found *f, uint32_t level, const char *want)
{
    const struct steps *s = steps_of(&f->cx);
    if (!CHECK(level < s->n_levels)) return;
    struct str name = s->levels[level].name;
    CHECK(str_is(name, want));
    if (!str_is(name, want)) fprintf(stderr, "  name is " STR_FMT "\n", STR_ARG(name));
}

/* A network of blocks with an operator each for norm, product and activation. */
static double blocks(struct kit *k, double at, int n)
{
    static const char *const ops[] = {"aten::layer_norm", "aten::linear", "aten::gelu",
                                      "aten::linear", "aten::add"};
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 5; i++, at += 20) {
            kit_op(k, ops[i], at, 15);
            kit_launch(k, at + 5, "kernel", at + 12, 5);
        }
    return at;
}

TEST(calls_of_a_network_are_steps_its_blocks_are_not)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < 6; call++) {
        kit_op(&k, "aten::embedding", at, 15);
        kit_launch(&k, at + 5, "embed", at + 12, 5);
        at = blocks(&k, at + 20, 12);
    }
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 6);
    CHECK_EQ_STR(found_by(&f), "operator_sequence");
    check_levels(&f, "6 steps > 12 layers");
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 61);
    done(&f);
}

TEST(nothing_but_a_pause_tells_the_calls_of_a_network_apart)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < 6; call++) at = blocks(&k, at, 12) + 15;
    struct found f = find(&k);
    check_levels(&f, "6 steps > 12 layers");
    done(&f);
}

TEST(one_pass_through_a_network_is_one_step)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::embedding", 0, 15);
    kit_launch(&k, 5, "embed", 12, 5);
    double at = blocks(&k, 20, 12);
    kit_op(&k, "aten::cross_entropy_loss", at, 15);
    kit_launch(&k, at + 5, "loss", at + 12, 5);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 1);
    check_levels(&f, "1 steps > 12 layers");
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[0].gpu.kernels, 62);
    done(&f);
}

static void launch_op(struct kit *k, const char *name, double *at)
{
    kit_op(k, name, *at, 15);
    kit_launch(k, *at + 5, "kernel", *at + 12, 5);
    *at += 20;
}

/* A recording that begins with a round has nothing before it, whatever comes after: rounds. So has
 * one in which the program only waits before. */
TEST(rounds_with_something_after_them_are_no_layers)
{
    for (int wait = 0; wait < 2; wait++) {
        struct kit k = kit_begin();
        if (wait) kit_call(&k, "cudaDeviceSynchronize", 0, 10);
        double at = blocks(&k, 20, 12);
        launch_op(&k, "aten::cross_entropy_loss", &at);
        struct found f = find(&k);
        CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 12);
        check_levels(&f, "12 steps");
        done(&f);
    }
}

/* Projections in a row, inside of every layer. */
TEST(what_repeats_inside_of_layers_is_left_out)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < 4; call++) {
        launch_op(&k, "aten::embedding", &at);
        for (int layer = 0; layer < 6; layer++) {
            launch_op(&k, "aten::layer_norm", &at);
            for (int i = 0; i < 4; i++) {
                launch_op(&k, "aten::linear", &at);
                launch_op(&k, "aten::relu", &at);
            }
        }
    }
    struct found f = find(&k);
    check_levels(&f, "4 steps > 6 layers");
    done(&f);
}

/* Two calls with other work between them, as much as a round is: two of four rounds, not eight. */
TEST(rounds_with_other_work_between_them_are_two_calls)
{
    static const char *const other[] = {"aten::sort", "aten::topk", "aten::cumsum", "aten::gather"};
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < 2; call++) {
        for (int i = 0; call && i < 4; i++) launch_op(&k, other[i], &at);
        for (int i = 0; i < 4; i++) {
            launch_op(&k, "aten::embedding", &at);
            at = blocks(&k, at, 1);
            kit_item(&k, at, at + 30, 2);
            at += 60;
        }
    }
    struct found f = find(&k);
    check_levels(&f, "2 steps > 4");
    done(&f);
}

/* Calls of a generator: a longer first pass, then one a token, each read back. */
static struct kit generator(int calls, int tokens)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int c = 0; c < calls; c++) {
        kit_op(&k, "aten::to", at, 15);
        kit_launch(&k, at + 5, "prompt", at + 12, 5);
        at += 20;
        for (int i = 0; i < tokens; i++) {
            kit_op(&k, "aten::embedding", at, 15);
            kit_launch(&k, at + 5, "embed", at + 12, 5);
            at = blocks(&k, at + 20, 16);
            if (i == 0) {
                kit_op(&k, "aten::copy_", at, 15);
                kit_launch(&k, at + 5, "fill the cache", at + 12, 5);
                at += 20;
            }
            kit_op(&k, "aten::argmax", at, 15);
            kit_launch(&k, at + 5, "argmax", at + 12, 5);
            kit_item(&k, at + 20, at + 30, 2);
            at += 60;
        }
    }
    return k;
}

TEST(calls_of_a_generator_hold_tokens_which_hold_layers)
{
    struct kit k = generator(3, 24);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 72);
    check_levels(&f, "3 > 24 steps > 16 layers");
    done(&f);
}

TEST(two_calls_of_a_generator_are_two)
{
    struct kit k = generator(2, 24);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 48);
    check_levels(&f, "2 > 24 steps > 16 layers");
    done(&f);
}

TEST(a_single_call_of_a_generator)
{
    struct kit k = generator(1, 24);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 24);
    check_levels(&f, "24 steps > 16 layers");
    done(&f);
}

/* Rounds that share nothing but a call which takes most of the time, among ever different code. */
TEST(one_heavy_call_among_other_code)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i <= (step * 3) % 4; i++, at += 20) {
            char name[48];
            snprintf(name, sizeof name, "aten::code%d_%d", step, i);
            kit_op(&k, name, at, 15);
            kit_launch(&k, at + 5, name, at + 10, 2);
        }
        kit_op(&k, "Torch-Compiled Region: 0/0", at, 90);
        for (int i = 0; i < 4; i++) kit_launch(&k, at + 5 + i * 20, "fused", at + 10 + i * 20, 15);
        at += 100;
    }
    struct found f = find(&k);
    static const double begin_us[] = {20, 200, 360, 500, 620};
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 5));
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQ_INT(steps_of(&f.cx)->steps[i].cpu.begin_ns, kit_ns(begin_us[i]));
        CHECK_EQ_UINT(steps_of(&f.cx)->steps[i].gpu.kernels, 8 - i);
    }
    CHECK_EQ_STR(found_by(&f), "compiled_regions");
    CHECK_EQ_UINT(steps_of(&f.cx)->period, 5); /* the first: the region and four more */
    done(&f);
}

TEST(a_compiled_model_with_eager_code_around_it)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < 5; i++, at += 20) kit_launch(&k, at, "encode", at + 5, 40);
    for (int step = 0; step < 4; step++) {
        kit_op(&k, "Torch-Compiled Region: 0/0", at, 90);
        for (int i = 0; i < 4; i++) kit_launch(&k, at + 5 + i * 20, "fused", at + 10 + i * 20, 15);
        at += 100;
        if (step < 3) kit_launch(&k, at, "euler", at + 5, 2);
        else kit_launch(&k, at, "euler, the last", at + 5, 2);
        at += 20;
    }
    kit_launch(&k, at, "decode", at + 5, 100);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    CHECK_EQ_STR(found_by(&f), "compiled_regions");
    done(&f);
}

/* Four rounds of layers on the CPU. In a network each stage has weights of its own; in a loop only
 * the batch is longer. */
static struct found on_the_cpu(bool other_weights)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int round = 0; round < 4; round++) {
        for (int layer = 0; layer < 3; layer++) {
            char dims[64];
            int n = other_weights ? 16 << round : 16;
            snprintf(dims, sizeof dims, "[[%d, %d], [%d, %d], []]", round + 8, n, n, n);
            kit_shaped_op(&k, "aten::mkldnn_convolution", dims, at, 90);
            kit_shaped_op(&k, "aten::native_batch_norm", dims, at + 100, 20);
            kit_op(&k, "aten::empty", at + 130, 2);
            kit_op(&k, "aten::add_", at + 140, 2);
            at += 150;
        }
        kit_shaped_op(&k, "aten::max_pool2d", "[[8, 8]]", at, 50);
        kit_op(&k, "aten::relu_", at + 55, 20);
        at += 80;
    }
    return find(&k);
}

TEST(stages_of_a_network_on_the_cpu_are_no_steps)
{
    struct found f = on_the_cpu(false);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);
    f = on_the_cpu(true);
    CHECK(steps_of(&f.cx)->n_steps <= 1);
    done(&f);
}

static struct found two_regions(const char *first, const char *second)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 8; i++) {
        kit_op(&k, i % 2 ? second : first, i * 100, 90);
        for (int n = 0; n < 4; n++)
            kit_launch(&k, i * 100 + 5 + n * 20, "fused", i * 100 + 10 + n * 20, 15);
    }
    return find(&k);
}

TEST(a_region_compiled_again_is_the_same_code)
{
    struct found f = two_regions("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 0/13");
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 8);
    done(&f);
    f = two_regions("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 1/0");
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);
    f = two_regions("CompiledFunction/f", "CompiledFunction/g"); /* not a number: not a version */
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 4);
    done(&f);
}

/* What runs eagerly inside of a region has operators of its own. */
TEST(layers_inside_a_compiled_region)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int step = 0; step < 4; step++) {
        double end = blocks(&k, at + 5, 12);
        kit_op(&k, "Torch-Compiled Region: 0/0", at, end - at);
        at = end + 20;
    }
    struct found f = find(&k);
    check_levels(&f, "4 steps > 12 layers");
    done(&f);
}

/* `layers` modules of a class inside one of another, all of them inside Python functions. */
static double network(struct kit *k, double at, int layers)
{
    kit_python(k, "nn.Module: Net_0", at, layers * 50 + 10);
    kit_python(k, "torch/nn/modules/module.py(1783): _call_impl", at + 1, layers * 50 + 8);
    kit_python(k, "net.py(10): forward", at + 2, layers * 50 + 6);
    for (int i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "nn.Module: Block_%d", i);
        kit_python(k, name, at + 5 + i * 50, 45);
        kit_op(k, "aten::linear", at + 10 + i * 50, 30);
        kit_launch(k, at + 15 + i * 50, "gemm", at + 25 + i * 50, 10);
    }
    return at + layers * 50 + 10;
}

TEST(modules_tell_layers_from_steps)
{
    struct kit k = kit_begin();
    kit_python(&k, "main.py(1): <module>", 0, 10000);
    kit_python(&k, "main.py(5): main", 1, 9990);
    double at = 10;
    for (int i = 0; i < 4; i++) at = network(&k, at, 8) + 20;
    struct found f = find(&k);
    CHECK_EQ_STR(found_by(&f), "modules");
    check_levels(&f, "4 steps > 8 layers");
    check_name(&f, 0, "Net");
    check_name(&f, 1, "Block");
    done(&f);
}

TEST(one_call_of_a_module_is_one_step)
{
    struct kit k = kit_begin();
    kit_python(&k, "main.py(1): <module>", 0, 10000);
    network(&k, 10, 8);
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 1);
    check_levels(&f, "1 steps > 8 layers");
    check_name(&f, 0, "Net");
    done(&f);
}

TEST(functions_around_the_same_module_again)
{
    struct kit k = kit_begin();
    kit_python(&k, "main.py(1): <module>", 0, 100000);
    double at = 10;
    for (int call = 0; call < 3; call++) {
        double end = at + 5 * 460 + 20;
        kit_python(&k, "lib/generation.py(7): generate", at, end - at);
        kit_python(&k, "lib/generation.py(90): _sample", at + 1, end - at - 2);
        at += 5;
        for (int i = 0; i < 5; i++) {
            double next = network(&k, at, 8);
            kit_op(&k, "aten::argmax", next + 5, 10);
            kit_launch(&k, next + 8, "argmax", next + 10, 2);
            at += 460;
        }
        at = end + 10;
    }
    struct found f = find(&k);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 15);
    check_levels(&f, "3 > 5 steps > 8 layers");
    check_name(&f, 0, "generate");
    check_name(&f, 1, "Net");
    done(&f);
}

/* Functions that call the next one twice, to so many levels. */
static double calls_within(struct kit *k, double at, int left)
{
    char name[32];
    double begin = at;
    if (!left) {
        kit_launch(k, at, "gemm", at + 5, 3);
        return at + 10;
    }
    for (int i = 0; i < 2; i++) at = calls_within(k, at + 1, left - 1);
    snprintf(name, sizeof name, "deep.py(%d): level%d", left, left);
    kit_python(k, name, begin, at + 1 - begin);
    return at + 2;
}

TEST(endless_levels_stop_somewhere)
{
    struct kit k = kit_begin();
    calls_within(&k, 0, 12);
    struct found f = find(&k);
    CHECK(steps_of(&f.cx)->n_levels > 4 && steps_of(&f.cx)->n_levels <= LEVELS_MOST);
    done(&f);
}

TEST(layers_inside_labelled_steps)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < 4; i++) {
        double end = blocks(&k, at + 10, 12);
        kit_label(&k, "denoise_step", at, end - at);
        at = end + 10;
    }
    struct found f = find(&k);
    CHECK_EQ_STR(found_by(&f), "annotations");
    check_levels(&f, "4 steps > 12 layers");
    check_name(&f, 0, "denoise_step");
    done(&f);
}

/* Calls of a network in which only one part of each block is labelled. */
static struct found labelled_parts(const char *label, double share)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int call = 0; call < 6; call++) {
        kit_op(&k, "aten::embedding", at, 15);
        kit_launch(&k, at + 5, "embed", at + 12, 5);
        at += 20;
        for (int b = 0; b < 12; b++) {
            double next = blocks(&k, at, 1);
            kit_label(&k, label, at, (next - at) * share);
            at = next;
        }
    }
    return find(&k);
}

TEST(labels_inside_of_layers_are_not_steps)
{
    struct found f = labelled_parts("attn", 0.2);
    check_levels(&f, "6 steps > 12 layers");
    done(&f);
    f = labelled_parts("block", 0.99);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 6);
    done(&f);
    /* a label that holds everything and says nothing is believed */
    f = labelled_parts("unet", 0.99);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 72);
    done(&f);
    f = labelled_parts("token", 0.99);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 72);
    done(&f);
}

TEST(the_parameters_of_an_optimizer_are_not_steps)
{
    struct kit k = kit_begin();
    kit_label(&k, "Optimizer.step#AdamW.step", 0, 2000);
    for (int p = 0; p < 20; p++)
        for (int i = 0; i < 4; i++) {
            double at = 10 + p * 80 + i * 20;
            kit_op(&k, (const char *[]){"aten::mul_", "aten::add_", "aten::sqrt", "aten::div"}[i],
                   at, 15);
            kit_launch(&k, at + 5, "kernel", at + 12, 5);
        }
    struct found f = find(&k);
    CHECK(steps_of(&f.cx)->n_steps <= 1);
    done(&f);
}

TEST(slow_first_step_outlier_and_step_without_work)
{
    struct kit k = kit_begin();
    static const double dur[] = {500, 100, 105, 240, 95, 100};
    double at = 0;
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        kit_label(&k, name, at, dur[i]);
        if (i < 5) kit_launch(&k, at + 5, "gemm", at + 10, 50);
        at += dur[i] + 5;
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 6));
    static const uint8_t flags[] = {STEP_SLOW_FIRST, 0, 0, STEP_OUTLIER, 0, STEP_NO_WORK};
    for (int i = 0; i < 6; i++) CHECK_EQ_UINT(steps_of(&f.cx)->steps[i].flags, flags[i]);
    CHECK_EQ_INT(steps_of(&f.cx)->median_ns, 100000);
    done(&f);
}

TEST(even_steps_have_no_flags)
{
    struct kit k = diffusion(6);
    struct found f = find(&k);
    for (uint32_t i = 0; i < steps_of(&f.cx)->n_steps; i++)
        CHECK_EQ_UINT(steps_of(&f.cx)->steps[i].flags, 0);
    CHECK_EQ_UINT(steps_of(&f.cx)->n_dead, 0);
    done(&f);
}

static struct found first_op_after(const double *us, int n)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        kit_label(&k, "matmul_add", i * 1000, 400);
        kit_op(&k, "aten::matmul", i * 1000 + us[i], 50);
    }
    return find(&k);
}

TEST(dead_window_of_a_cold_start)
{
    struct found f = first_op_after((const double[]){227.757, 5.521, 4.488}, 3);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_dead, 1));
    const struct dead_window *d = &steps_of(&f.cx)->dead[0];
    CHECK_EQ_INT(d->dead_ns, 227757);
    CHECK_EQ_INT(d->usual_ns, 5521);
    CHECK_EQ_UINT(d->step, 0);
    CHECK_EQ_BYTES(trace_name(f.t, d->first_op), "aten::matmul");
    done(&f);

    f = first_op_after((const double[]){15, 5.521, 4.488}, 3); /* not three times */
    CHECK_EQ_UINT(steps_of(&f.cx)->n_dead, 0);
    done(&f);
    f = first_op_after((const double[]){40, 5.521, 4.488}, 3); /* nobody notices in 1 ms */
    CHECK_EQ_UINT(steps_of(&f.cx)->n_dead, 0);
    done(&f);
    f = first_op_after((const double[]){300, 240, 260}, 3); /* always so: not a cold start */
    CHECK_EQ_UINT(steps_of(&f.cx)->n_dead, 0);
    done(&f);
}

/* Frames and labels inside are no work: the window ends with the first operator or call. */
TEST(a_dead_window_ends_with_work)
{
    struct kit k = kit_begin();
    static const double us[] = {227, 5, 4};
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "matmul_add", i * 1000, 400);
        kit_python(&k, "run.py(3): load", i * 1000 + 1, 390);
        kit_label(&k, "inside", i * 1000 + 2, us[i] + 80);
        if (i == 0) kit_call(&k, "cudaLaunchKernel", us[i], 5);
        else kit_op(&k, "aten::matmul", i * 1000 + us[i], 50);
    }
    struct found f = find(&k);
    REQUIRE(steps_of(&f.cx)->n_dead > 0);
    CHECK_EQ_INT(steps_of(&f.cx)->dead[0].dead_ns, kit_ns(227));
    CHECK_EQ_BYTES(trace_name(f.t, steps_of(&f.cx)->dead[0].first_op), "cudaLaunchKernel");
    done(&f);
}

TEST(the_profilers_buffers_are_told_apart)
{
    struct kit k = diffusion(3);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 1100, 400, NULL);
    kit_row(&k, KIND_OVERHEAD, "Activity Buffer Request", 1400, 200, NULL);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 2100, 400, NULL);
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_INT(steps_of(&f.cx)->steps[0].profiler_ns, 500000);
    CHECK_EQ_INT(steps_of(&f.cx)->steps[1].profiler_ns, 0);
    done(&f);
}

/* Autograd's thread launches more than the one that calls it, which drives the program all the
 * same.
 */
TEST(the_thread_that_drives_is_not_autograds)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        k.tid = 1;
        kit_op(&k, "aten::mm", i * 1000, 100);
        kit_launch(&k, i * 1000 + 5, "forward", i * 1000 + 20, 50);
        k.tid = 2;
        kit_op(&k, "autograd::engine::evaluate_function: MmBackward0", i * 1000 + 200, 200);
        kit_launch(&k, i * 1000 + 210, "backward", i * 1000 + 230, 300);
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_INT(context_need(&f.cx, &outline_pass, NULL), 0));
    REQUIRE(outline_of(&f.cx)->lane != LANE_NONE);
    CHECK_EQ_INT(f.t->lanes[outline_of(&f.cx)->lane].tid, 1);
    done(&f);
}

TEST(work_of_other_threads_belongs_to_the_step_it_is_launched_in)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        k.tid = 1;
        kit_label(&k, "train_step", i * 1000, 900);
        kit_launch(&k, i * 1000 + 10, "forward", i * 1000 + 20, 50);
        k.tid = 2;
        kit_launch(&k, i * 1000 + 300, "backward", i * 1000 + 310, 50);
    }
    struct found f = find(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    CHECK_EQ_UINT(steps_of(&f.cx)->steps[1].gpu.kernels, 2);
    done(&f);
}

static int run_steps(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &steps_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct kit kits[] = {diffusion(3), unlabelled(3, 4, NULL), optimizer_labels(true)};
    for (size_t i = 0; i < sizeof kits / sizeof *kits; i++) {
        struct trace *t = kit_end(&kits[i]);
        REQUIRE(t != NULL);
        CHECK_EVERY_ALLOC(run_steps, t);
        trace_free(t);
    }
}

TEST_MAIN
