/* test_cpu_hot.c: time of operators and functions themselves, and in the DataLoader. */
#include "analyze/ops/cpu_hot.h"

#include "kit.h"

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static struct trace *on_cpu(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        double at = i * 1000;
        kit_python(&k, "train.py(5): main", at, 900);
        kit_label(&k, LOADER, at + 10, 300);
        kit_python(&k, "data.py(9): decode", at + 20, 200);
        kit_op(&k, "aten::linear", at + 400, 300);
        kit_op(&k, "aten::addmm", at + 420, 250);
    }
    return kit_end(&k);
}

static int64_t self_of(const struct context *cx, const struct cpu_hot_list *l, const char *name)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (str_is(trace_str(cx->t, l->top[i].name), name)) return l->top[i].self_ns;
    return -1;
}

TEST(time_is_charged_to_what_spends_it)
{
    struct arena mem;
    struct context cx;
    struct trace *t = on_cpu();
    arena_init(&mem);
    context_init(&cx, t, &mem);
    REQUIRE(CHECK_EQ_INT(context_need(&cx, &cpu_hot_pass, NULL), 0));
    const struct cpu_hot *h = cpu_hot_of(&cx);
    CHECK_EQ_INT(self_of(&cx, &h->operators, "aten::addmm"), kit_ns(1000));
    CHECK_EQ_INT(self_of(&cx, &h->operators, "aten::linear"), kit_ns(200));
    CHECK_EQ_INT(self_of(&cx, &h->functions, "data.py(9): decode"), kit_ns(800));
    CHECK_EQ_INT(self_of(&cx, &h->functions, "train.py(5): main"), kit_ns(1200));
    CHECK_EQ_STR(trace_str(t, h->operators.top[0].name).p, "aten::addmm");
    CHECK_EQ_INT(h->data_ns, kit_ns(1200));
    CHECK_EQ_UINT(h->data_waits, 4);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

/* Two threads run an operator beside each other: together longer than the clock on the wall says,
 * but no share of it is more than all. */
TEST(shares_are_of_one_thread)
{
    struct arena mem;
    struct context cx;
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 900);
    kit_op(&k, "aten::mm", 920, 50);
    k.tid = 2;
    kit_op(&k, "aten::mm", 10, 800);
    struct trace *t = kit_end(&k);
    arena_init(&mem);
    context_init(&cx, t, &mem);
    REQUIRE(CHECK_EQ_INT(context_need(&cx, &cpu_hot_pass, NULL), 0));
    const struct cpu_hot_item *mm = &cpu_hot_of(&cx)->operators.top[0];
    CHECK_EQ_INT(mm->self_ns, kit_ns(1750));
    CHECK_EQ_INT(mm->thread_ns, kit_ns(950));
    CHECK_EQ_UINT(mm->calls, 3);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

/* A wait inside a wait is the same wait; batches that a worker makes are waited for by nobody. */
TEST(waits_for_data_count_once)
{
    struct arena mem;
    struct context cx;
    struct kit k = kit_begin();
    kit_label(&k, LOADER, 10, 300);
    kit_label(&k, LOADER, 20, 200);
    kit_label(&k, LOADER, 400, 100);
    struct trace *t = kit_end(&k);
    arena_init(&mem);
    context_init(&cx, t, &mem);
    REQUIRE(CHECK_EQ_INT(context_need(&cx, &cpu_hot_pass, NULL), 0));
    CHECK_EQ_INT(cpu_hot_of(&cx)->data_ns, kit_ns(400));
    CHECK_EQ_UINT(cpu_hot_of(&cx)->data_waits, 2);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST(only_the_largest_are_listed)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "op%d", i);
        kit_op(&k, name, i * 100, i * 7 % 40 + 1);
    }
    struct arena mem;
    struct context cx;
    struct trace *t = kit_end(&k);
    arena_init(&mem);
    context_init(&cx, t, &mem);
    REQUIRE(CHECK_EQ_INT(context_need(&cx, &cpu_hot_pass, NULL), 0));
    const struct cpu_hot_list *l = &cpu_hot_of(&cx)->operators;
    CHECK_EQ_UINT(l->n, CPU_HOT_TOP);
    CHECK_EQ_UINT(l->n_names, 40);
    for (uint32_t i = 0; i < l->n; i++) CHECK_EQ_INT(l->top[i].self_ns, kit_ns(40 - i));
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST_MAIN
