/* test_notes.c: notes on collectives find the range or the kernel they are about. */
#include "analyze/comm/host_messages.h"
#include "analyze/comm/notes.h"
#include "import/import.h"
#include "test.h"

struct fixture {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static void begin(struct fixture *f, const char *events, const struct pass *pass)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "{\"distributedInfo\":{\"rank\":1,\"world_size\":2},\"traceEvents\":[%s]}",
               events);
    for (char *p = text.p; p < text.p + text.n; p++)
        if (*p == '\'') *p = '"';
    f->t = NULL;
    REQUIRE(import_bytes(buf_str(&text), "x", NULL, &f->t, NULL) == 0);
    buf_done(&text);
    arena_init(&f->mem);
    context_init(&f->cx, f->t, &f->mem);
    REQUIRE(context_need(&f->cx, pass, NULL) == 0);
}

static void end(struct fixture *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

#define RANGE(ts, name) \
    "{'ph':'X','cat':'user_annotation','name':'" name "','pid':1,'tid':7,'ts':" #ts ",'dur':50}"
#define NOTE(pid, ts, name, seq, group)                                                        \
    "{'ph':'X','cat':'collective','name':'" name "','pid':" #pid ",'tid':'9 ranges','ts':" #ts \
    ",'dur':0,'args':{'Process Group Name':'" group "','Seq':" #seq ",'In msg nelems':" #seq   \
    "00,'Out msg nelems':" #seq "00,'dtype':'Float'}}"

static void check(const struct host_message *m, int64_t seq, int64_t bytes)
{
    CHECK_EQ_INT(m->seq, seq);
    CHECK_EQ_INT(m->bytes, bytes);
}

/* Two are handed over before the first begins; another process has notes of its own. */
TEST(notes_belong_to_the_next_range_of_their_name)
{
    struct fixture f;
    begin(
        &f,
        NOTE(1, 100, "gloo:all_reduce", 1, "0") "," NOTE(1, 110, "gloo:all_reduce", 2, "0") "," NOTE(
            1, 120, "gloo:broadcast", 3,
            "0") "," NOTE(2, 90, "gloo:all_reduce", 8,
                          "0") "," RANGE(130,
                                         "gloo:all_reduce") "," RANGE(200,
                                                                      "gloo:all_reduce") "," RANGE(300,
                                                                                                   "gloo:broadcast"),
        &host_messages_pass);
    const struct host_messages *m = host_messages_of(&f.cx);
    REQUIRE(m->n == 3 && m->n_groups == 1);
    check(&m->list[0], 1, 400);
    check(&m->list[1], 2, 800);
    check(&m->list[2], 3, 1200);
    CHECK_EQ_INT(m->list[2].what, COLLECTIVE_BROADCAST);
    CHECK_EQ_BYTES(m->groups[0].name, "0");
    CHECK_EQ_INT(m->groups[0].ranks, 2); /* of all ranks */
    CHECK_EQ_INT(m->groups[0].calls, 3);
    end(&f);
}

/* The note of the first was lost: the second one's, made 5 ms later, is not its own. */
TEST(a_range_before_its_note_has_none)
{
    struct fixture f;
    begin(&f,
          NOTE(1, 5100, "gloo:all_reduce", 2,
               "0") "," RANGE(100, "gloo:all_reduce") "," RANGE(5200, "gloo:all_reduce"),
          &host_messages_pass);
    const struct host_messages *m = host_messages_of(&f.cx);
    REQUIRE(m->n == 2);
    check(&m->list[0], -1, -1);
    check(&m->list[1], 2, 800);
    end(&f);
}

TEST(groups_are_told_apart)
{
    struct fixture f;
    begin(&f,
          NOTE(1, 100, "gloo:all_reduce", 1, "0") "," NOTE(
              1, 200, "gloo:all_reduce", 1,
              "5") "," RANGE(110, "gloo:all_reduce") "," RANGE(210, "gloo:all_reduce"),
          &host_messages_pass);
    const struct host_messages *m = host_messages_of(&f.cx);
    REQUIRE(m->n == 2 && m->n_groups == 2);
    CHECK_EQ_BYTES(m->groups[m->list[0].group].name, "0");
    CHECK_EQ_BYTES(m->groups[m->list[1].group].name, "5");
    end(&f);
}

#define LAUNCH(ts, id, kernel)                                                                    \
    "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':7,'ts':" #ts          \
    ",'dur':5,'args':{'correlation':" #id "}},{'ph':'X','cat':'kernel','name':'" kernel           \
    "','pid':0,'tid':20,'ts':1" #ts ",'dur':20,'args':{'device':0,'stream':20,'correlation':" #id \
    "}}"
#define SAID(ts, name, count)                                                       \
    "{'ph':'X','cat':'collective_kernel','name':'nccl:" name                        \
    "','pid':1,'tid':'7 ranges','ts':" #ts                                          \
    ",'dur':0,'args':{'Process Group Name':'0xabc','Seq':3,'In msg nelems':" #count \
    ",'Out msg nelems':" #count ",'dtype':'Half','Group size':4}}"

TEST(what_is_said_after_a_launch_is_about_its_kernel)
{
    struct fixture f;
    begin(
        &f,
        LAUNCH(100, 1, "ncclDevKernel_AllReduce_Sum_f16") "," SAID(106, "AllReduce", 50) "," LAUNCH(
            200, 2, "gemm") "," LAUNCH(300, 3,
                                       "ncclDevKernel_SendRecv") "," SAID(306, "Send",
                                                                          7) "," SAID(307, "Recv",
                                                                                      8),
        &messages_pass);
    const struct messages *m = messages_of(&f.cx);
    REQUIRE(m->n == 2);
    CHECK_EQ_INT(m->list[0].bytes, 100);
    CHECK_EQ_INT(m->list[0].seq, 3);
    CHECK_EQ_BYTES(m->groups[m->list[0].group].name, "0xabc");
    CHECK_EQ_INT(m->groups[m->list[0].group].ranks, 4);
    CHECK_EQ_INT(m->list[1].bytes, 30); /* both ways, by one kernel */
    end(&f);
}

/* Of a graph's replay, or of a kernel that was not recorded. */
TEST(what_cannot_be_about_the_last_kernel_is_about_none)
{
    struct fixture f;
    begin(&f,
          LAUNCH(100, 1, "ncclDevKernel_AllReduce_Sum_f16") "," SAID(106, "AllGather", 50) "," SAID(
              50, "AllReduce", 60) "," SAID(200200, "AllReduce", 70),
          &messages_pass);
    const struct messages *m = messages_of(&f.cx);
    REQUIRE(m->n == 1);
    CHECK_EQ_INT(m->list[0].bytes, -1);
    end(&f);
}

TEST_MAIN
