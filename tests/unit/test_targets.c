/* test_targets.c: which kernels of a trace are looked at, how ncu is asked for them, and which of
 * the launches it measured are meant. */
#include "dive/dive.h"
#include "dive/ncu_args.h"
#include "kit.h"

struct chosen {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct targets targets;
};

static struct chosen choose(struct kit *k, struct targets_wish wish)
{
    struct chosen c = {.t = kit_end(k)};
    arena_init(&c.mem);
    context_init(&c.cx, c.t, &c.mem);
    if (!c.t || !CHECK_EQ_INT(context_need(&c.cx, &steps_pass, NULL), 0)) return c;
    CHECK_EQ_INT(targets_select(&c.cx, wish, &c.mem, &c.targets, NULL), 0);
    return c;
}

static void done(struct chosen *c)
{
    context_done(&c->cx);
    arena_done(&c->mem);
    trace_free(c->t);
}

/* A long kernel that runs beside another one is not what the run waits for. */
TEST(hidden_time_does_not_count)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm_kernel", 10, 100);
    k.stream = 8;
    kit_launch(&k, 5, "copy_kernel", 20, 80);
    k.stream = 7;
    kit_launch(&k, 100, "norm_kernel", 200, 30);
    struct chosen c = choose(&k, (struct targets_wish){5, NULL});
    REQUIRE(CHECK_EQ_UINT(c.targets.n, 3));
    CHECK_EQ_BYTES(c.targets.all[0].name, "norm_kernel");
    CHECK_EQ_INT(c.targets.all[0].exposed_ns, 30000);
    CHECK_EQ_BYTES(c.targets.all[1].name, "gemm_kernel");
    CHECK_EQ_INT(c.targets.all[1].exposed_ns, 20000); /* 10 before and 10 after the copy */
    CHECK_EQ_INT(c.targets.all[2].exposed_ns, 0);
    CHECK_NEAR(c.targets.all[0].share_pct, 60, 1e-9);
    CHECK_NEAR(c.targets.covered_pct, 100, 1e-9);
    done(&c);
}

static struct kit two_steps(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 2; i++) {
        double at = i * 1000;
        char step[32];
        snprintf(step, sizeof step, "ProfilerStep#%d", i);
        kit_label(&k, step, at, 900);
        kit_launch(&k, at + 10, "void f<Add>(int)", at + 20, 5); /* a short one first */
        kit_launch(&k, at + 110, "void f<Add>(int)", at + 120, 40);
        kit_launch(&k, at + 210, "void f<Mul>(int)", at + 220, 20);
    }
    return k;
}

/* Behind the first step, and none of the short ones. */
TEST(a_typical_launch_behind_the_warm_up)
{
    struct kit k = two_steps();
    struct chosen c = choose(&k, (struct targets_wish){1, NULL});
    REQUIRE(CHECK_EQ_UINT(c.targets.n, 1));
    const struct target *t = &c.targets.all[0];
    CHECK_EQ_BYTES(t->short_name, "f<Add>");
    CHECK_EQ_UINT(t->calls, 4);
    CHECK_EQ_UINT(t->ordinal, 3);
    CHECK_EQ_INT(t->row_ns, 40000);
    CHECK_EQ_UINT(c.targets.n_kernels, 2);
    CHECK_EQ_UINT(ncu_args_skip(&c.targets), 3);
    CHECK_EQ_UINT(ncu_args_count(&c.targets), 1);
    done(&c);
    k = two_steps();
    c = choose(&k, (struct targets_wish){2, NULL});
    CHECK_EQ_UINT(ncu_args_skip(&c.targets), 1);
    CHECK_EQ_UINT(ncu_args_count(&c.targets), 3);
    done(&c);
}

TEST(filters_and_kernels_of_several_gpus)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "ncclDevKernel_AllReduce", 10, 500);
    kit_launch(&k, 5, "gemm_kernel", 600, 100);
    kit_launch(&k, 6, "norm_kernel", 800, 30);
    struct chosen c = choose(&k, (struct targets_wish){5, "norm|nccl"});
    REQUIRE(CHECK_EQ_UINT(c.targets.n, 1));
    CHECK_EQ_BYTES(c.targets.all[0].name, "norm_kernel");
    CHECK_EQ_UINT(c.targets.n_unmeasured, 1);
    done(&c);
}

TEST(names_for_ncu)
{
    struct target all[] = {{.short_name = str_c("vectorized_elementwise_kernel<CUDAFunctor_add>")},
                           {.short_name = str_c("nvjet_sm90_tst_64x32_64x16")},
                           {.short_name = str_c("odd $(rm -rf) name|.*")}};
    struct targets t = {.all = all, .n = 3};
    struct buf b;
    buf_init(&b);
    ncu_args_names(&t, &b);
    CHECK_EQ_STR(buf_c(&b), "regex:vectorized_elementwise_kernel.*CUDAFunctor_add|"
                            "nvjet_sm90_tst_64x32_64x16|odd.*rm.*rf.*name");
    buf_done(&b);
}

static bool has(char **args, const char *option, const char *value)
{
    for (int i = 0; args[i]; i++)
        if (strcmp(args[i], option) == 0 && args[i + 1] && strcmp(args[i + 1], value) == 0)
            return true;
    return false;
}

static const char *metrics_for(int major, struct arena *mem)
{
    struct target one = {.short_name = str_c("k")};
    struct targets t = {.all = &one, .n = 1};
    char *command[] = {(char[]){"prog"}, NULL}, **args = NULL;
    struct ncu_wish w = {.ncu = "ncu",
                         .report = "r",
                         .log = "l",
                         .replay = "kernel",
                         .count = 1,
                         .major = major,
                         .command = command};
    CHECK_EQ_INT(ncu_args_profile(&t, &w, mem, &args, NULL), 0);
    CHECK(has(args, "--clock-control", "none"));
    CHECK(has(args, "--log-file", "l"));
    CHECK(!has(args, "--profile-from-start", "off"));
    for (int i = 0; args[i]; i++)
        if (strcmp(args[i], "--metrics") == 0) return args[i + 1];
    return "";
}

TEST(metrics_of_each_generation)
{
    struct arena mem;
    arena_init(&mem);
    CHECK(strstr(metrics_for(0, &mem), "dram__bytes") == NULL);
    CHECK(strstr(metrics_for(7, &mem), "ops_path_tensor") == NULL);
    CHECK(strstr(metrics_for(8, &mem), "src_fp16_dst_fp32") != NULL);
    CHECK(strstr(metrics_for(9, &mem), "src_fp16.sum") != NULL);
    CHECK(strstr(metrics_for(10, &mem), "src_fp4_fp6_fp8") != NULL);
    CHECK(strstr(metrics_for(12, &mem), "dram__bytes_op_read") != NULL);
    CHECK(strstr(metrics_for(13, &mem), "dram__bytes_op_read") != NULL);
    arena_done(&mem);
}

/* ---- which launch is which ---- */

static struct ncu_launch launch(const char *name, uint32_t grid, double time_ns)
{
    struct ncu_launch l = {.name = str_c(name), .grid = {grid, 1, 1}, .block = {128, 1, 1}};
    for (int i = 0; i < NCU_METRICS; i++) l.value[i] = NAN;
    l.value[NCU_TIME_NS] = time_ns;
    return l;
}

TEST(pairs_by_name_size_and_time)
{
    struct target all[] = {
        {.short_name = str_c("norm_kernel<Op>"),
         .row_ns = 1000,
         .config = {.grid = {10, 1, 1}, .block = {128, 1, 1}}},
        {.short_name = str_c("other"),
         .row_ns = 50,
         .config = {.grid = {4, 1, 1}, .block = {128, 1, 1}}},
        {.short_name = str_c("never_seen")},
    };
    struct ncu_launch launches[] = {
        launch("void at::<unnamed>::norm_kernel<Op>(int)", 99, 1000),
        launch("void at::<unnamed>::norm_kernel<Op>(int)", 10, 300),
        launch("void at::<unnamed>::norm_kernel<Op>(int)", 10, 1100),
        launch("other", 5, 50),
    };
    struct targets t = {.all = all, .n = 3};
    struct ncu_report r = {.launches = launches, .n_launches = 4};
    struct arena mem;
    struct pair *pairs;
    arena_init(&mem);
    REQUIRE(pairing_run(&t, &r, &mem, &pairs, NULL) == 0);
    CHECK_EQ_INT(pairs[0].how, PAIRING_SAME);
    CHECK(pairs[0].launch == &launches[2]);
    CHECK_NEAR(pairs[0].time_ratio, 1.1, 1e-9);
    CHECK_EQ_INT(pairs[1].how, PAIRING_OTHER_SIZE);
    CHECK_EQ_INT(pairs[2].how, PAIRING_ABSENT);
    CHECK(pairs[2].launch == NULL);
    arena_done(&mem);
}

/* ---- what it says when it could not ---- */

TEST(troubles_have_remedies)
{
    static const char *const logs[] = {
        "==PROF== x\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n",
        "==WARNING== No kernels were profiled.\n",
        "==ERROR== LibraryNotLoaded\n",
        "==ERROR== unrecognised option '--filter-mode'. Use --help for further details.\n",
        "==ERROR== What is this?",
    };
    struct arena mem;
    arena_init(&mem);
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct ncu_trouble t = ncu_log_trouble(str_c(logs[i]), &mem);
        CHECK(t.what && t.remedy && strlen(t.remedy) > 20);
    }
    CHECK(strstr(ncu_log_trouble(str_c(logs[4]), &mem).what, "What is this?") != NULL);
    CHECK_EQ_STR(ncu_log_trouble(str_c("==ERROR== red\033[31m"), &mem).what,
                 "Nsight Compute says: red?[31m");
    CHECK(ncu_log_trouble(str_c("==PROF== fine\n==WARNING== clocks\n"), &mem).what == NULL);
    CHECK(ncu_log_trouble(str_c(""), &mem).what == NULL);
    arena_done(&mem);
}

TEST_MAIN
