/* test_census.c: what info says of a trace. */
#include "analyze/quality/census.h"
#include "kit.h"

struct outcome {
    struct trace *t;
    struct arena mem;
    struct census c;
};

static struct outcome take(struct kit *k)
{
    struct outcome o = {.t = kit_end(k)};
    arena_init(&o.mem);
    if (o.t) CHECK_EQ_INT(census_run(o.t, &o.mem, &o.c, NULL), 0);
    return o;
}

static void done(struct outcome *o)
{
    arena_done(&o->mem);
    trace_free(o->t);
}

TEST(versions_are_unpacked)
{
    struct kit k = kit_begin();
    kit_meta(&k, "cuda_runtime_version", "12090");
    kit_meta(&k, "hip_runtime_version", "60443483");
    kit_meta(&k, "cupti_version", "28");
    kit_meta(&k, "torch_version", "\"2.13.0\"");
    struct outcome o = take(&k);
    REQUIRE(CHECK_EQ_INT(o.c.n_versions, 4));
    CHECK_EQ_STR(o.c.versions[0].text, "2.13.0");
    CHECK_EQ_STR(o.c.versions[1].text, "12.9");
    CHECK_EQ_STR(o.c.versions[2].text, "28");
    CHECK_EQ_STR(o.c.versions[3].text, "6.4.43483");
    done(&o);
}

TEST(unknown_metadata_is_known_by_name_only)
{
    struct kit k = kit_begin();
    kit_meta(&k, "environment", "{\"TOKEN\": \"secret\"}");
    kit_meta(&k, "trace_id", "\"ABC\"");
    struct outcome o = take(&k);
    REQUIRE(CHECK_EQ_UINT(o.c.n_other_keys, 1));
    CHECK_EQ_BYTES(o.c.other_keys[0], "environment");
    done(&o);
}

TEST(flags_come_from_the_file_or_from_what_is_there)
{
    struct kit k = kit_begin();
    kit_meta(&k, "record_shapes", "1");
    kit_op(&k, "aten::add", 0, 10);
    kit_python(&k, "a.py(1): f", 0, 20);
    struct outcome o = take(&k);
    CHECK_EQ_INT(o.c.shapes, FLAG_ON);
    CHECK_EQ_INT(o.c.stacks, FLAG_ON);
    CHECK_EQ_INT(o.c.memory, FLAG_OFF);
    done(&o);
}

TEST(counts_and_ranks)
{
    struct kit k = kit_begin();
    kit_meta(&k, "distributedInfo", "{\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8}");
    kit_label(&k, "ProfilerStep#4", 0, 100);
    kit_op(&k, "aten::add", 0, 10);
    kit_op(&k, "aten::add", 20, 10);
    k.tid = 2;
    kit_op(&k, "aten::add", 20, 10);
    kit_launch(&k, 25, "k", 40, 5);
    struct outcome o = take(&k);
    CHECK_EQ_INT(o.c.rank, 3);
    CHECK_EQ_INT(o.c.world_size, 8);
    CHECK_EQ_UINT(o.c.n_events, 6);
    CHECK_EQ_UINT(o.c.n_threads, 2);
    CHECK_EQ_UINT(o.c.n_streams, 1);
    CHECK_EQ_UINT(o.c.n_processes, 1);
    CHECK_EQ_UINT(o.c.counts.step_marks, 1);
    REQUIRE(CHECK_EQ_UINT(o.c.n_cats, 4));
    CHECK_EQ_BYTES(o.c.cats[0].name, "cpu_op");
    CHECK_EQ_UINT(o.c.cats[0].events, 3);
    CHECK_EQ_INT(o.c.span_ns, 100000);
    CHECK_EQ_INT(o.c.wall_begin_ns, -1);
    done(&o);
}

TEST_MAIN
