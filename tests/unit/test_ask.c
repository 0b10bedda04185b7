/* test_ask.c: SQL over a trace: the events as they are, the tables of the analysis, and nothing
 * else. */
#include "tables/tables.h"

#include "kit.h"

static struct arena mem;
static struct context cx;
static struct trace *t;
static struct ask *ask;
static struct err e;
static struct rank_store store;

static void make(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) kit_launch(&k, 100 * i, i ? "gemm" : "relu", 100 * i + 20, 50);
    t = kit_end(&k);
    arena_init(&mem);
    err_init(&e);
    context_init(&cx, t, &mem);
    static struct rank_summary rank;
    CHECK_EQ_INT(rank_store_init(&store, &e), 0);
    CHECK_EQ_INT(rank_summary_run(&cx, "x.json", &store, &rank, &e), 0);
    struct tables_in in = {&cx, &rank};
    CHECK_EQ_INT(ask_new(&in, &ask, &e), 0);
}

static void done(void)
{
    ask_free(ask);
    rank_store_done(&store);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

static const char *answer(const char *query, uint32_t offset, uint32_t limit)
{
    static struct buf out;
    buf_done(&out);
    buf_init(&out);
    err_init(&e);
    struct ask_page page = {offset, limit, 12};
    return ask_run(ask, query, &page, &out, &e) == 0 ? buf_c(&out) : e.msg;
}

TEST(events_and_tables)
{
    make();
    CHECK_EQ_STR(
        answer("SELECT name, count(*), sum(dur_ns) FROM events WHERE kind = 'kernel' "
               "GROUP BY name ORDER BY 2 DESC",
               0, 10),
        "{\"columns\":[\"name\",\"count(*)\",\"sum(dur_ns)\"],\"rows\":[[\"gemm\",2,100000],"
        "[\"relu\",1,50000]],\"more\":false}");
    CHECK_EQ_STR(answer("SELECT k.name, l.kind, k.device, k.stream FROM events k JOIN events l "
                        "ON l.row = k.launch WHERE k.name = 'relu'",
                        0, 10),
                 "{\"columns\":[\"name\",\"kind\",\"device\",\"stream\"],\"rows\":[[\"relu\","
                 "\"cuda_runtime\",0,7]],\"more\":false}");
    CHECK_EQ_STR(answer("SELECT name, calls, total_ns FROM kernels ORDER BY total_ns DESC", 0, 1),
                 "{\"columns\":[\"name\",\"calls\",\"total_ns\"],\"rows\":[[\"gemm\",2,100000]],"
                 "\"more\":true,\"next_offset\":1}");
    CHECK_EQ_STR(answer("SELECT row FROM events WHERE row = -1 OR row = 99", 0, 1),
                 "{\"columns\":[\"row\"],\"rows\":[],\"more\":false}");
    CHECK_EQ_STR(answer("SELECT 'a text that is too long', NULL, 0.5", 0, 1),
                 "{\"columns\":[\"'a text that is too long'\",\"NULL\",\"0.5\"],\"rows\":[["
                 "\"a text...o long\",null,0.500000]],\"more\":false}");
    done();
}

TEST(pages_follow_each_other)
{
    make();
    CHECK_EQ_STR(answer("SELECT row FROM events ORDER BY row", 2, 2),
                 "{\"columns\":[\"row\"],\"rows\":[[2],[3]],\"more\":true,\"next_offset\":4}");
    CHECK_EQ_STR(answer("SELECT row FROM events ORDER BY row", 4, 2),
                 "{\"columns\":[\"row\"],\"rows\":[[4],[5]],\"more\":false}");
    done();
}

TEST(nothing_but_reading)
{
    static const char *const refused[] = {
        "ATTACH '/etc/passwd' AS x",
        "CREATE TABLE x(y)",
        "CREATE VIRTUAL TABLE x USING fts5(y)",
        "DELETE FROM gaps",
        "INSERT INTO gaps DEFAULT VALUES",
        "DROP TABLE gaps",
        "PRAGMA writable_schema=1",
        "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')",
        "SELECT * FROM pragma_database_list",
        "BEGIN",
        "SELECT readfile('/etc/passwd')",
        "SELECT 1; SELECT 2",
        "",
        "SELECT",
        "SELECT * FROM nothing",
    };
    struct buf out = {0};
    struct ask_page page = {0, 10, 0};
    make();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err_init(&e);
        if (!CHECK_EQ_INT(ask_run(ask, refused[i], &page, &out, &e), ERR_USAGE))
            printf("%s\n", refused[i]);
        CHECK(e.msg[0]);
    }
    buf_done(&out);
    done();
}

TEST_MAIN
