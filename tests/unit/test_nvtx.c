/* test_nvtx.c: a copy of NVTX as a library has it: tables of function pointers that ask us to fill
 * them, and ranges that then come out of the recording. */
#include "backend/program/nvtx.h"

#include <pthread.h>
#include <wchar.h>

#include "recording.h"

typedef void (*any_fn)(void);

enum { CORE = 1, CORE2 = 5, N = 16 };

static any_fn core[N], core2[N];
static any_fn *core_places[N], *core2_places[N];

static int module_table(uint32_t module, any_fn ***ret, unsigned *ret_n)
{
    if (module != CORE && module != CORE2) return 0;
    for (int i = 1; i < N; i++) { /* number 0 is nobody's, and has no place */
        core_places[i] = &core[i];
        core2_places[i] = &core2[i];
    }
    *ret = module == CORE ? core_places : core2_places;
    *ret_n = N;
    return 1;
}

static const struct {
    size_t bytes;
    int (*module)(uint32_t, any_fn ***, unsigned *);
} table = {sizeof table, module_table}, old_table = {4, NULL};

static const void *export_table(uint32_t id)
{
    return id == 1 ? &table : NULL;
}

static const void *export_old_table(uint32_t id)
{
    return id == 1 ? &old_table : NULL;
}

static const void *export_nothing(uint32_t id)
{
    (void)id;
    return NULL;
}

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static struct attributes message(int type, const void *text)
{
    return (struct attributes){
        .version = 3, .size = sizeof(struct attributes), .message_type = type, .message = text};
}

static int push(const char *text)
{
    return ((int (*)(const char *))core[9])(text);
}

static int pop(void)
{
    return ((int (*)(void))core[11])();
}

static uint64_t range;

static void *end_on_another_thread(void *unused)
{
    (void)unused;
    ((void (*)(uint64_t))core[7])(range);
    return NULL;
}

static void use_everything(const char *dir)
{
    strata_start(dir);
    CHECK_EQ_INT(nvtx_attach(export_table), 1);
    push("outer");
    struct attributes wide = message(2, L"größer");
    ((int (*)(const void *))core[8])(&wide);
    ((void (*)(const char *))core[2])("a mark");
    pop();
    void *domain = ((void *(*)(const char *))core2[12])("lib");
    void *text = ((void *(*)(void *, const char *))core2[10])(domain, "registered");
    struct attributes by_handle = message(3, text);
    ((int (*)(void *, const void *))core2[4])(domain, &by_handle);
    ((int (*)(void *))core2[5])(domain);
    range = ((uint64_t(*)(const char *))core[5])("long one");
    pop();
    pop(); /* one too many */
    pthread_t other;
    CHECK_EQ_INT(pthread_create(&other, NULL, end_on_another_thread, NULL), 0);
    pthread_join(other, NULL);
    ((void (*)(uint32_t, const char *))core[14])(0, "named thread");
}

TEST(ranges_marks_and_names_come_out)
{
    struct folder f;
    struct trace *t = record_in_child(use_everything, &f);
    REQUIRE(t != NULL);
    row_t outer = find_row(t, "outer"), inner = find_row(t, "größer");
    row_t of_domain = find_row(t, "lib: registered"), long_one = find_row(t, "long one");
    REQUIRE(outer != ROW_NONE && inner != ROW_NONE && of_domain != ROW_NONE);
    CHECK_EQ_INT(t->kind[outer], KIND_ANNOTATION);
    CHECK_EQ_INT(t->kind[of_domain], KIND_OTHER); /* a library's: no stage of the program */
    CHECK_EQ_INT(t->parent[inner], outer);
    CHECK_EQ_INT(t->parent[of_domain], outer);
    CHECK_EQ_INT(t->parent[find_row(t, "a mark")], inner);
    REQUIRE(long_one != ROW_NONE);
    CHECK(t->ts_ns[long_one] < trace_end_ns(t, outer));
    CHECK(trace_end_ns(t, long_one) > trace_end_ns(t, outer));
    CHECK(t->lane[long_one] != t->lane[outer]);
    CHECK_EQ_STR(trace_str(t, t->lanes[t->lane[outer]].name).p, "named thread");
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

TEST(other_copies_of_nvtx_are_left_alone)
{
    CHECK_EQ_INT(nvtx_attach(NULL), 0);
    CHECK_EQ_INT(nvtx_attach(export_nothing), 0);
    CHECK_EQ_INT(nvtx_attach(export_old_table), 0);
}

TEST_MAIN
