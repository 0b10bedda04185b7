/* test_requests.c: which calls are requests, and what the slow ones spend their time in. */
#include "analyze/stages/stages.h"

#include "kit.h"

struct seen {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static const struct requests *look(struct seen *x, struct kit *k)
{
    x->t = kit_end(k);
    arena_init(&x->mem);
    context_init(&x->cx, x->t, &x->mem);
    CHECK_EQ_INT(context_need(&x->cx, &requests_pass, NULL), 0);
    return requests_of(&x->cx);
}

static void done(struct seen *x)
{
    context_done(&x->cx);
    arena_done(&x->mem);
    trace_free(x->t);
}

/* A request of 10 ms: it waits, is prefilled and decoded. */
static void request(struct kit *k, double at, double waits_us)
{
    kit_label(k, "request", at, 10000 + waits_us);
    kit_label(k, "queue", at, waits_us + 500);
    kit_label(k, "prefill", at + waits_us + 600, 2000);
    kit_label(k, "decode", at + waits_us + 3000, 6000);
}

/* Three threads, each with a request after the other; the last of each waits long. */
static struct kit server(void)
{
    struct kit k = kit_begin();
    for (k.tid = 1; k.tid <= 3; k.tid++)
        for (int i = 0; i < 20; i++)
            request(&k, i * 12000 + k.tid * 1000, i == 19 ? 40000 : i * 10);
    return k;
}

TEST(slow_requests_against_those_in_the_middle)
{
    struct kit k = server();
    struct seen x;
    const struct requests *r = look(&x, &k);
    const struct stages *s = stages_of(&x.cx);
    REQUIRE(r->found);
    CHECK(str_is(s->list[r->stage].name, "request"));
    CHECK_EQ_INT(r->n, 60);
    CHECK_EQ_INT(r->most_at_once, 3);
    CHECK_EQ_INT(r->n_slow, 3);
    CHECK_EQ_INT(r->slow_ns, 50000000);
    CHECK(r->usual_ns > 10000000 && r->usual_ns < 10200000);
    REQUIRE(r->n_parts == 4);
    CHECK(str_is(s->list[r->parts[0].stage].name, "queue"));
    CHECK_EQ_INT(r->parts[0].slow_ns, 40500000);
    CHECK(r->parts[0].usual_ns < 700000);
    for (uint32_t i = 1; i < 4; i++) CHECK_EQ_INT(r->parts[i].slow_ns, r->parts[i].usual_ns);
    done(&x);
}

/* One after the other they are steps of a loop, whatever they are called. */
TEST(calls_one_after_the_other_are_not_requests)
{
    struct kit k = kit_begin();
    struct seen x;
    for (int i = 0; i < 60; i++) request(&k, i * 60000, 100);
    CHECK(!look(&x, &k)->found);
    done(&x);
}

TEST(a_few_calls_are_not_requests)
{
    struct kit k = kit_begin();
    struct seen x;
    for (k.tid = 1; k.tid <= 3; k.tid++)
        for (int i = 0; i < 6; i++) request(&k, i * 12000 + k.tid * 1000, 0);
    CHECK(!look(&x, &k)->found);
    done(&x);
}

TEST_MAIN
