/* test_comm.c: communication as a class of its own: split, exposed time, messages, verdict, rule.
 */
#include "analyze/comm/messages.h"
#include "diagnosis.h"
#include "import/import.h"
#include "report/diagnosis/view_report.h"

#define NCCL "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

/* One collective on a stream of its own. */
static void talk(struct kit *k, double us, double gpu_us, double gpu_dur_us)
{
    k->stream = 20;
    kit_launch(k, us, NCCL, gpu_us, gpu_dur_us);
    k->stream = 7;
}

struct split {
    struct trace *t;
    struct arena mem;
    struct context cx;
    const struct comm *c;
    struct comm_device d;
};

static void split(struct split *s, struct trace *t)
{
    s->t = t;
    arena_init(&s->mem);
    context_init(&s->cx, t, &s->mem);
    CHECK_EQ_INT(context_need(&s->cx, &messages_pass, NULL), 0);
    s->c = comm_of(&s->cx);
    s->d = comm_main(s->c);
}

static void split_done(struct split *s)
{
    context_done(&s->cx);
    arena_done(&s->mem);
    trace_free(s->t);
}

TEST(time_splits_into_compute_communication_and_copies)
{
    struct kit k = kit_begin();
    struct split s;
    kit_launch(&k, 0, "gemm", 10, 100); /* 10 to 110 */
    talk(&k, 10, 60, 100);              /* 60 to 160: 50 hidden */
    kit_call(&k, "cudaMemcpyAsync", 20, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoD", 150, 30); /* 150 to 180: hides 10 */
    kit_launch(&k, 30, "gemm", 200, 20);
    split(&s, kit_end(&k));
    CHECK_EQ_INT(s.d.compute_ns, 120000);
    CHECK_EQ_INT(s.d.comm_ns, 100000);
    CHECK_EQ_INT(s.d.exposed_ns, 40000);
    CHECK_EQ_INT(s.d.copy_ns, 30000);
    CHECK_EQ_INT(s.d.busy_ns, s.d.compute_ns + s.d.exposed_ns + s.d.copy_ns);
    CHECK_EQ_INT(s.c->wall_ns, 220000);
    CHECK_NEAR(comm_exposed_pct(s.c), 100.0 * 40 / 220, 1e-9);
    split_done(&s);
}

TEST(an_exposed_moment_counts_for_one_kernel)
{
    struct kit k = kit_begin();
    struct split s;
    talk(&k, 0, 10, 100);
    k.stream = 21;
    kit_launch(&k, 10, NCCL, 50, 100); /* 60 of it under the first */
    k.stream = 7;
    kit_launch(&k, 20, "gemm", 140, 5); /* splits what is left */
    split(&s, kit_end(&k));
    REQUIRE(s.c->n_works == 2);
    CHECK_EQ_INT(s.d.comm_ns, 140000);
    CHECK_EQ_INT(s.d.exposed_ns, 135000);
    CHECK_EQ_INT(s.c->works[0].exposed_ns, 100000);
    CHECK_EQ_INT(s.c->works[1].exposed_ns, 35000);
    split_done(&s);
}

TEST(a_trace_without_communication_has_none)
{
    struct kit k = kit_begin();
    struct split s;
    kit_launch(&k, 0, "gemm", 10, 100);
    split(&s, kit_end(&k));
    CHECK_EQ_UINT(s.c->n_works, 0);
    CHECK_EQ_UINT(messages_of(&s.cx)->n_kinds, 0);
    CHECK_EQ_INT(s.d.exposed_ns, 0);
    split_done(&s);
    k = kit_begin();
    kit_op(&k, "aten::add", 0, 10);
    split(&s, kit_end(&k));
    CHECK_EQ_INT(s.d.device, -1);
    CHECK_NEAR(comm_exposed_pct(s.c), 0, 1e-9);
    split_done(&s);
}

TEST(messages_are_read_from_kernels_operators_and_annotations)
{
    static const char text[] =
        "{\"distributedInfo\": {\"rank\": 0, \"world_size\": 4}, \"traceEvents\": [\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":0,\"tid\":20,"
        "\"ts\":100,\"dur\":10,\"args\":{\"device\":0,\"stream\":20,\"correlation\":1,"
        "\"Collective name\":\"_allgather_base\",\"In msg nelems\":1000,\"Out msg nelems\":4000,"
        "\"Group size\":4,\"dtype\":\"BFloat16\",\"Process Group Name\":\"3\",\"Seq\":7,"
        "\"Process Group Description\":\"tp\"}},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":0,\"tid\":20,"
        "\"ts\":200,\"dur\":20,\"args\":{\"device\":0,\"stream\":20,\"correlation\":2}},\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
        "\"ts\":52,\"dur\":5,\"args\":{\"correlation\":2}},\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":1,\"tid\":1,"
        "\"ts\":50,\"dur\":10,\"args\":{\"Collective name\":\"allreduce\",\"In msg nelems\":5000,"
        "\"Out msg nelems\":5000,\"dtype\":\"Float\",\"Process Group Name\":\"0\","
        "\"Group size\":8}},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_SendRecv_Sum_int8_t\",\"pid\":0,"
        "\"tid\":20,\"ts\":300,\"dur\":5,\"args\":{\"device\":0,\"stream\":20,\"correlation\":3}},"
        "\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
        "\"ts\":72,\"dur\":5,\"args\":{\"correlation\":3}},\n"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:all_to_all\",\"pid\":1,"
        "\"tid\":1,\"ts\":70,\"dur\":10,\"args\":{\"Input Dims\":[[6144]],"
        "\"Input type\":[\"float\"]}}]}";
    struct split s;
    struct trace *t = NULL;
    REQUIRE(import_bytes(str_c(text), "x", NULL, &t, NULL) == 0);
    split(&s, t);
    const struct messages *m = messages_of(&s.cx);
    REQUIRE(m->n == 3 && m->n_kinds == 3 && m->n_groups == 3);
    CHECK_EQ_INT(m->list[0].what, COLLECTIVE_ALL_GATHER);
    CHECK_EQ_INT(m->list[0].bytes, 8000);
    CHECK_EQ_INT(m->list[0].seq, 7);
    const struct message_group *g = &m->groups[m->list[0].group];
    CHECK_EQ_BYTES(g->name, "3");
    CHECK_EQ_BYTES(g->description, "tp");
    CHECK_EQ_INT(g->ranks, 4);
    const struct message_kind *k = &m->kinds[m->list[0].kind];
    CHECK_NEAR(k->algo_bytes_per_s, 8e8, 1);
    CHECK_NEAR(k->bus_factor, 0.75, 1e-9);
    CHECK_EQ_INT(m->list[1].what, COLLECTIVE_ALL_REDUCE);
    CHECK_EQ_INT(m->list[1].bytes, 20000);
    CHECK_EQ_INT(m->groups[m->list[1].group].ranks, 8);
    CHECK_EQ_INT(m->list[2].what, COLLECTIVE_ALL_TO_ALL);
    CHECK_EQ_INT(m->list[2].bytes, 6144 * 4);
    CHECK_EQ_INT(m->groups[m->list[2].group].ranks, 4); /* of all ranks */
    CHECK_EQ_INT(m->list[2].seq, -1);
    split_done(&s);
}

/* Sender and receiver name the pair alike, so that their messages match. */
TEST(a_message_between_two_ranks_belongs_to_the_pair)
{
    static const char *const ends[] = {"\"Collective name\":\"send\",\"Dst Rank\":3",
                                       "\"Collective name\":\"recv\",\"Src Rank\":1"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"distributedInfo\": {\"rank\": %d, \"world_size\": 4}, \"traceEvents\": ["
                 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\",\"pid\":0,"
                 "\"tid\":20,\"ts\":100,\"dur\":10,\"args\":{\"device\":0,\"stream\":20,%s,"
                 "\"In msg nelems\":8,\"dtype\":\"Float\",\"Process Group Name\":\"pp\"}}]}",
                 i ? 3 : 1, ends[i]);
        struct split s;
        struct trace *t = NULL;
        REQUIRE(import_bytes(str_c(text), "x", NULL, &t, NULL) == 0);
        split(&s, t);
        REQUIRE(messages_of(&s.cx)->n_groups == 1);
        CHECK_EQ_BYTES(messages_of(&s.cx)->groups[0].members, "1 to 3");
        split_done(&s);
    }
}

TEST(sizes_that_cannot_be_are_not_known)
{
    static const char text[] =
        "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\","
        "\"pid\":0,\"tid\":20,\"ts\":100,\"dur\":10,\"args\":{\"device\":0,\"stream\":20,"
        "\"In msg nelems\":1e300,\"Out msg nelems\":-5,\"Group size\":-1,\"dtype\":\"Float\","
        "\"Seq\":\"x\",\"Process Group Name\":[1]}}]}";
    struct split s;
    struct trace *t = NULL;
    REQUIRE(import_bytes(str_c(text), "x", NULL, &t, NULL) == 0);
    split(&s, t);
    const struct messages *m = messages_of(&s.cx);
    REQUIRE(m->n == 1);
    CHECK_EQ_INT(m->list[0].bytes, -1);
    CHECK_EQ_INT(m->list[0].seq, -1);
    CHECK_EQ_INT(m->groups[0].ranks, 0);
    CHECK_EQ_UINT(m->kinds[0].n_sized, 0);
    split_done(&s);
}

/* Steps of 400 us of compute and an all-reduce of `comm` us that begins `after` us into it; the
 * next step's compute waits for it. The CPU launches ahead of all of it. */
static struct trace *training(double after, double comm)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < 6; s++) {
        double end = after + comm > 400 ? after + comm : 400, cpu = s * 60;
        kit_label(&k, "step", cpu, 60);
        for (int i = 0; i < 4; i++) kit_launch(&k, cpu + 1 + i * 6, "gemm", at + 20 + i * 100, 100);
        talk(&k, cpu + 40, at + 20 + after, comm);
        at += end + 2;
    }
    kit_call(&k, "cudaDeviceSynchronize", 370, at + 30 - 370);
    return kit_end(&k);
}

TEST(exposed_comm_fires_and_names_the_bound)
{
    struct diagnosis d;
    struct buf said;
    buf_init(&said);
    diagnose(&d, training(400, 600));
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_COMM);
    CHECK_EQ_STR(bound_name(wall_of(&d.cx)->bound), "communication");
    const struct finding *f = found(&d, "exposed_comm");
    REQUIRE(f != NULL);
    /* 400 us of 1000 are compute: no more hides */
    if (!CHECK(f->gain_pct > 30 && f->gain_pct < 45)) printf("%f\n", f->gain_pct);
    CHECK_EQ_INT(f->exposed_ns, 6 * 600000);
    CHECK_EQ_INT(answer_of(&d.cx)->limit, LIMIT_COMM);
    view_report_verdict(&said, &d.cx);
    if (!CHECK(str_has(buf_str(&said),
                       "1.7x faster with overlapped communication: 6.03 -> 3.63 ms (-40 %)")))
        printf("%s\n", buf_c(&said));
    buf_done(&said);
    done(&d);
}

TEST(exposed_comm_near_miss_hidden_under_compute)
{
    struct diagnosis d;
    diagnose(&d, training(10, 380));
    CHECK(found(&d, "exposed_comm") == NULL);
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_GPU);
    done(&d);
}

TEST(exposed_comm_near_miss_a_few_per_cent)
{
    struct diagnosis d;
    diagnose(&d, training(300, 115));
    CHECK(comm_main(comm_of(&d.cx)).exposed_ns > 0);
    CHECK(found(&d, "exposed_comm") == NULL);
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_GPU);
    done(&d);
}

/* One of eight calls is short. Their sizes are not recorded: the others may carry more. */
TEST(exposed_comm_of_unknown_size_is_not_waiting)
{
    struct kit k = kit_begin();
    struct diagnosis d;
    double at = 0;
    for (int s = 0; s < 8; s++) {
        double comm = s == 3 ? 20 : 500, cpu = s * 60;
        kit_label(&k, "step", cpu, 60);
        for (int i = 0; i < 4; i++) kit_launch(&k, cpu + 1 + i * 6, "gemm", at + 20 + i * 50, 50);
        talk(&k, cpu + 40, at + 220, comm);
        at += 200 + comm + 2;
    }
    kit_call(&k, "cudaDeviceSynchronize", 490, at + 30 - 490);
    diagnose(&d, kit_end(&k));
    const struct finding *f = found(&d, "exposed_comm");
    REQUIRE(f != NULL && f->n_options == 1);
    CHECK_EQ_STR(f->options[0].name, "overlap");
    CHECK(strstr(f->why, "comes late") == NULL);
    done(&d);
}

/* Buckets of two sizes in turns: each waits, compared with the shortest of its own size. */
TEST(exposed_comm_compares_calls_of_the_same_size)
{
    struct buf json;
    struct trace *t = NULL;
    struct diagnosis d;
    buf_init(&json);
    buf_printf(&json, "{\"traceEvents\": [");
    for (int i = 0; i < 8; i++) {
        int large = i % 2, dur = large ? (i == 1 ? 1000 : 3000) : i == 0 ? 100 : 2100;
        buf_printf(&json,
                   "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" NCCL
                   "\",\"pid\":0,\"tid\":20,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,"
                   "\"stream\":20,\"Collective name\":\"allreduce\",\"In msg nelems\":%d,"
                   "\"Out msg nelems\":%d,\"dtype\":\"Float\",\"Group size\":4}}",
                   i ? "," : "", i * 4000, dur, large ? 50000 : 5000, large ? 50000 : 5000);
    }
    buf_printf(&json, "]}");
    REQUIRE(import_bytes(buf_str(&json), "x", NULL, &t, NULL) == 0);
    buf_done(&json);
    diagnose(&d, t);
    const struct finding *f = found(&d, "exposed_comm");
    REQUIRE(f != NULL && f->n_options == 2);
    CHECK_EQ_STR(f->options[1].name, "ranks_in_time");
    REQUIRE(f->options[1].edit.n_rows == 8);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQ_INT(f->options[1].edit.row_ns[i], i % 2 ? 1000000 : 100000);
    done(&d);
}

static int run_split(void *t)
{
    struct arena mem;
    struct context cx;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    context_init(&cx, t, &mem);
    int rc = context_need(&cx, &messages_pass, &e);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct trace *t = training(300, 115);
    CHECK_EVERY_ALLOC(run_split, t);
    trace_free(t);
}

TEST_MAIN
