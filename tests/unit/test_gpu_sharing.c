/* test_gpu_sharing.c: other processes on the GPU, as the recorder has sampled them, and what a
 * trace with waits for their work says. */
#include "analyze/device/gpu_sharing.h"

#include "analyze/quality/integrity.h"
#include "base/mem.h"
#include "import/import.h"
#include "kit.h"
#include "scratch.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

/* Ten waits of 5 ms in 100 ms, each with `busy_us` of work that begins `late_us` after its launch;
 * how many others each sample has seen is given, -1 for one that cannot be read. As a file, since
 * samples are args of rows. */
static struct found late(int late_us, int busy_us, const char *title, const int *others, int n)
{
    struct found found = {0};
    FILE *f = fopen(scratch("sharing.json"), "w");
    arena_init(&found.mem);
    if (!CHECK(f != NULL)) return found;
    fprintf(f, "{\"strata_timeline\": 1, \"traceEvents\": [");
    for (int i = 0; i < 10; i++)
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuLaunchKernel\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},"
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%d,"
                "\"dur\":%d,\"args\":{\"correlation\":%d,\"device\":0,\"stream\":7}},"
                "{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuStreamSynchronize\","
                "\"pid\":9,\"tid\":9,\"ts\":%d,\"dur\":5000},",
                i * 10000, i + 1, i * 10000 + late_us, busy_us, i + 1, i * 10000 + 20);
    for (int i = 0; i < n; i++) {
        fprintf(f, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":9,\"tid\":9,\"ts\":%d,\"args\":{", title,
                i * 10000 + 9000);
        if (others[i] >= 0) fprintf(f, "\"value\":%d", others[i]);
        fprintf(f, "}},");
    }
    fprintf(f, "{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuCtxSynchronize\",\"pid\":9,"
               "\"tid\":9,\"ts\":100000,\"dur\":10}]}");
    fclose(f);
    CHECK_EQ_INT(import_open(scratch("sharing.json"), NULL, &found.t, NULL), 0);
    return found;
}

static struct found sampled(int busy_us, const char *title, const int *others, int n)
{
    return late(10, busy_us, title, others, n);
}

static const struct integrity *judge(struct found *f)
{
    context_init(&f->cx, f->t, &f->mem);
    CHECK_EQ_INT(context_need(&f->cx, &integrity_pass, NULL), 0);
    return integrity_of(&f->cx);
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static const struct problem *problem(const struct integrity *i, const char *id)
{
    for (uint32_t k = 0; k < i->n_problems; k++)
        if (strcmp(i->problems[k].kind->id, id) == 0) return &i->problems[k];
    return NULL;
}

#define OTHERS "GPU 0 other processes"

TEST(waits_of_a_shared_gpu_are_said_to_be)
{
    struct found f = sampled(100, OTHERS, (int[]){0, 1, 2, 1, 1, -1}, 6);
    const struct integrity *i = judge(&f);
    const struct problem *d = problem(i, "waits_without_work");
    CHECK_EQ_UINT(other_processes_of(&f.cx)->n, 5);
    CHECK_EQ_UINT(other_processes_of(&f.cx)->shared, 4);
    CHECK(!i->idle_trusted && i->shared);
    REQUIRE(d != NULL);
    CHECK_EQ_STR(d->means,
                 "GPU 0 was shared with up to 2 other processes during 80 % of this time: "
                 "waits include whatever ran there, so idle time cannot be trusted");
    CHECK(strstr(d->instead, "while nothing else uses the GPU") != NULL);
    CHECK(problem(i, "gpu_shared") == NULL);
    done(&f);
}

TEST(one_other_process_is_another_process)
{
    struct found f = sampled(100, "GPU 3 other processes", (int[]){1}, 1);
    const struct problem *d = problem(judge(&f), "waits_without_work");
    REQUIRE(d != NULL);
    CHECK(strstr(d->means, "GPU 3 was shared with another process during 100 % of") != NULL);
    done(&f);
}

/* Nobody seen, or nobody looked: the waits have another reason, or it cannot be said. */
TEST(waits_without_anybody_else)
{
    static const struct {
        const char *title;
        int others, n;
    } all[] = {{OTHERS, 0, 1}, {OTHERS, -1, 1}, {"GPU 0 power (W)", 700, 1}, {OTHERS, 1, 0}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        struct found f = sampled(100, all[k].title, &all[k].others, all[k].n);
        const struct integrity *i = judge(&f);
        const struct problem *d = problem(i, "waits_without_work");
        CHECK(!i->idle_trusted && !i->shared);
        REQUIRE(d != NULL);
        CHECK(strstr(d->means, "not recorded, such as another process's work") != NULL);
        CHECK(strstr(d->instead, "nvidia-smi") != NULL && strstr(d->instead, "schedule") == NULL);
        done(&f);
    }
}

/* What is waited for is recorded, and begins late: with others there it may have waited for them;
 * so it may where nobody looked. */
TEST(work_that_begins_late_is_waited_for)
{
    static const struct {
        int others, late_us;
        bool is_trusted;
    } all[] = {{0, 4900, true}, {1, 4900, false}, {-1, 4900, false}, {0, 1000, false}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        struct found f = late(all[k].late_us, 100, OTHERS, &all[k].others, 1);
        const struct integrity *i = judge(&f);
        CHECK_EQ_INT(i->idle_trusted, all[k].is_trusted);
        CHECK_EQ_INT(problem(i, "waits_without_work") == NULL, all[k].is_trusted);
        done(&f);
    }
}

/* An open context alone disturbs nobody. */
TEST(another_process_that_delays_nobody_is_only_noted)
{
    struct found f = sampled(4990, OTHERS, (int[]){1, 1}, 2);
    const struct integrity *i = judge(&f);
    const struct problem *d = problem(i, "gpu_shared");
    CHECK(i->idle_trusted && !i->shared && i->quality == QUALITY_GOOD);
    REQUIRE(d != NULL);
    CHECK_EQ_STR(d->what, "GPU 0 was also open in another process during 100 % of this time");
    done(&f);
}

/* Memory that runs out is an error, never another answer. */
TEST(out_of_memory_anywhere)
{
    struct found f = sampled(100, OTHERS, (int[]){0, 1, 1}, 3);
    bool reached = true;
    for (long k = 1; reached && k < 2000; k++) {
        context_init(&f.cx, f.t, &f.mem);
        mem_fail_at(k);
        int rc = context_need(&f.cx, &integrity_pass, NULL);
        reached = mem_count() >= k;
        mem_fail_at(0);
        CHECK(rc == 0 || rc == ERR_NOMEM);
        if (rc == 0) CHECK(integrity_of(&f.cx)->shared && other_processes_of(&f.cx)->shared == 2);
        context_done(&f.cx);
        arena_done(&f.mem);
        arena_init(&f.mem);
    }
    CHECK(!reached);
    judge(&f);
    done(&f);
}

TEST_MAIN
