/* test_torch_ops.c: operators and ranges of a torch that is none (tests/fake/torch_cpu.c); the real
 * one is compared with its own profiler in tests/python. */
#include "backend/program/torch_ops.h"

#include <dlfcn.h>
#include <pthread.h>

#include "recording.h"

enum { FUNCTION = 0, BACKWARD = 1, USER = 7 };

struct function {
    const char *name;
    int scope;
};

static int (*begin)(const struct function *);
static void (*end)(const struct function *);
static int (*n_callbacks)(void);

static void find(void *library, const char *symbol, void *ret)
{
    void *at = dlsym(library, symbol);
    CHECK(at != NULL);
    memcpy(ret, &at, sizeof at);
}

/* A torch of that version in `dir`, loaded as Python does it: by path, and for itself. */
static void load_torch(const char *dir, const char *version)
{
    char path[512];
    snprintf(path, sizeof path, "%s/torch", dir);
    CHECK_EQ_INT(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/torch/lib", dir);
    CHECK_EQ_INT(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/torch/version.py", dir);
    FILE *f = fopen(path, "w");
    if (f && version) fprintf(f, "__all__ = []\n__version__ = '%s'\ndebug = False\n", version);
    if (f) fclose(f);
    snprintf(path, sizeof path, "%s/torch/lib/libtorch_cpu.so", dir);
    CHECK_EQ_INT(symlink(FAKE_TORCH, path), 0);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        CHECK_EQ_STR(dlerror(), "");
        exit(1);
    }
    find(library, "fake_begin", &begin);
    find(library, "fake_end", &end);
    find(library, "fake_callbacks", &n_callbacks);
}

static const struct function step = {"step", USER}, mul = {"aten::mul", FUNCTION},
                             copy = {"aten::copy_", FUNCTION}, back = {"MulBackward0", BACKWARD},
                             lost = {"lost", FUNCTION};

static void *end_elsewhere(void *f)
{
    end(f);
    return NULL;
}

static void run_all(void)
{
    pthread_t other;
    CHECK_EQ_INT(begin(&step), 0);
    begin(&mul);
    begin(&copy);
    end(&copy);
    begin(&lost); /* ends on another thread, if at all: closed by what is around it */
    pthread_create(&other, NULL, end_elsewhere, (void *)(uintptr_t)&lost);
    pthread_join(other, NULL);
    end(&mul);
    begin(&back);
    end(&back);
    end(&step);
    end(&mul); /* of nobody */
}

static void record(const char *dir, enum torch_ops_level level)
{
    struct err e;
    err_init(&e);
    strata_start(dir);
    CHECK_EQ_INT(torch_ops_start(level, &e), 0);
    CHECK(!torch_ops_on()); /* no torch yet */
    load_torch(dir, "2.13.0+cpu");
    CHECK_EQ_INT(torch_ops_start(level, &e), 0);
    CHECK_EQ_INT(torch_ops_start(level, &e), 0);
    CHECK(torch_ops_on());
    CHECK_EQ_INT(n_callbacks(), level == TORCH_OPS_ALL ? 2 : 1);
    run_all();
    torch_ops_stop();
    run_all();
    CHECK_EQ_INT(torch_ops_start(level, &e), 0);
    CHECK_EQ_INT(n_callbacks(), level == TORCH_OPS_ALL ? 2 : 1);
    run_all();
}

static void record_all(const char *dir)
{
    record(dir, TORCH_OPS_ALL);
}

static void record_user(const char *dir)
{
    record(dir, TORCH_OPS_USER);
}

TEST(operators_and_ranges)
{
    struct folder f;
    struct trace *t = record_in_child(record_all, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "step"), 2);
    row_t s = find_row(t, "step"), m = find_row(t, "aten::mul");
    REQUIRE(s != ROW_NONE && m != ROW_NONE);
    CHECK_EQ_INT(t->kind[s], KIND_ANNOTATION);
    CHECK_EQ_INT(t->kind[m], KIND_OP);
    CHECK_EQ_INT(t->parent[m], s);
    CHECK_EQ_INT(t->parent[find_row(t, "aten::copy_")], m);
    CHECK_EQ_INT(t->parent[find_row(t, "lost")], m);
    CHECK_EQ_INT(t->parent[find_row(t, "MulBackward0")], s);
    CHECK_EQ_INT(t->n_rows, 10);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

TEST(ranges_alone)
{
    struct folder f;
    struct trace *t = record_in_child(record_user, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "step"), 2);
    CHECK_EQ_INT(t->n_rows, 2);
    trace_free(t);
    folder_done(&f);
}

/* A program that pauses inside its ranges, more often than ranges can be open. */
static void pause_inside(const char *dir)
{
    strata_start(dir);
    load_torch(dir, "2.13.0+cpu");
    for (int i = 0; i < 700; i++) {
        CHECK_EQ_INT(torch_ops_start(TORCH_OPS_USER, NULL), 0);
        begin(&step);
        torch_ops_stop();
        end(&step);
    }
}

TEST(ranges_end_while_nothing_is_recorded)
{
    struct folder f;
    struct trace *t = record_in_child(pause_inside, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "step"), 700);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

/* Operators are recorded while a graph is captured, and cost nothing before and after. */
static void capture_graphs(const char *dir)
{
    strata_start(dir);
    load_torch(dir, "2.13.0+cpu");
    CHECK_EQ_INT(torch_ops_start(TORCH_OPS_USER, NULL), 0);
    for (int i = 0; i < 3; i++) {
        run_all();
        CHECK_EQ_INT(n_callbacks(), 1);
        torch_ops_capture(true);
        begin(&mul);
        CHECK(torch_ops_innermost() != 0);
        torch_ops_capture(true); /* another stream */
        torch_ops_capture(false);
        CHECK_EQ_INT(n_callbacks(), 2);
        torch_ops_capture(false);
        end(&mul);
        CHECK_EQ_UINT(torch_ops_innermost(), 0);
    }
    torch_ops_capture(false); /* of one that nobody saw begin */
    torch_ops_capture(true);
    torch_ops_stop(); /* and one that nobody sees end */
    CHECK_EQ_INT(n_callbacks(), 1);
    CHECK_EQ_INT(torch_ops_start(TORCH_OPS_USER, NULL), 0);
    run_all();
    CHECK_EQ_INT(torch_ops_start(TORCH_OPS_ALL, NULL), 0);
    torch_ops_capture(true);
    torch_ops_capture(false);
    CHECK_EQ_INT(n_callbacks(), 2);
}

TEST(operators_while_a_graph_is_captured)
{
    struct folder f;
    struct trace *t = record_in_child(capture_graphs, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "step"), 4);
    CHECK_EQ_INT(count_rows(t, "aten::mul"), 3);
    CHECK_EQ_INT(count_rows(t, "aten::copy_"), 0);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

static void check_refused(const char *dir, const char *version, const char *why)
{
    struct err e;
    err_init(&e);
    strata_start(dir);
    load_torch(dir, version);
    CHECK_EQ_INT(torch_ops_start(TORCH_OPS_ALL, &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, why) != NULL);
    CHECK_EQ_INT(n_callbacks(), 0);
    err_init(&e);
    CHECK_EQ_INT(torch_ops_start(TORCH_OPS_ALL, &e), ERR_UNSUPPORTED); /* and so it stays */
    CHECK(strstr(e.msg, why) != NULL);
}

static void refuse_next_major(const char *dir)
{
    check_refused(dir, "3.0.0", "torch 3.0.0");
}

static void refuse_no_version(const char *dir)
{
    check_refused(dir, NULL, "version of torch is unknown");
}

TEST(another_torch_is_refused)
{
    struct folder f = folder_new(), g = folder_new();
    CHECK_EQ_INT(in_child(refuse_next_major, f.path), 0);
    CHECK_EQ_INT(in_child(refuse_no_version, g.path), 0);
    folder_done(&f);
    folder_done(&g);
}

TEST_MAIN
