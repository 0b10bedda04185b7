/* test_consistency.c: the check itself: silent on a sound analysis, and not on one that was changed
 * afterwards in each way it looks for. */
#include "analyze/compare/diff.h"

#include "diagnosis.h"

/* Waits, copies, idle time, stages and a loop. */
static void make(struct diagnosis *d)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 6; i++) {
        double at = i * 400.0;
        kit_label(&k, "forward", at, 390);
        kit_launch(&k, at + 10, "gemm", at + 20, 100);
        kit_call(&k, "cudaStreamSynchronize", at + 30, 95);
        kit_launch(&k, at + 300, "add", at + 310, 50);
    }
    diagnose(d, kit_end(&k));
}

static uint32_t contradictions(const struct diagnosis *d, const char *word)
{
    struct buf text;
    buf_init(&text);
    uint32_t n = consistency_check(&d->cx, &text);
    buf_addc(&text, '\0');
    if (n && (!word || !CHECK(strstr(text.p, word) != NULL))) printf("%s", text.p);
    buf_done(&text);
    return n;
}

TEST(a_sound_analysis_does_not_contradict_itself)
{
    struct diagnosis d;
    make(&d);
    REQUIRE(d.cx.kept[PASS_GAPS] != NULL);
    CHECK(gaps_of(&d.cx)->n_devices == 1 && gaps_of(&d.cx)->devices[0].idle_ns > 0);
    CHECK(syncs_of(&d.cx)->n_sites > 0);
    CHECK_EQ_UINT(contradictions(&d, NULL), 0);
    done(&d);
}

static int run_all(void *trace)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, trace, &mem);
    int rc = context_need(&cx, &findings_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

/* Every pass and every rule, with any block refused. */
TEST(an_analysis_without_memory_fails_and_says_so)
{
    struct kit k = kit_begin();
    kit_python(&k, "train.py(3): main", 0, 1300);
    for (int i = 0; i < 3; i++) {
        double at = i * 400.0;
        kit_label(&k, "forward", at, 390);
        kit_op(&k, "aten::mm", at + 5, 20);
        kit_launch(&k, at + 10, "gemm", at + 20, 100);
        kit_item(&k, at + 30, at + 125, 5);
        kit_launch(&k, at + 300, "add", at + 310, 50);
    }
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_all, t);
    trace_free(t);
}

TEST(causes_must_add_up)
{
    struct diagnosis d;
    make(&d);
    REQUIRE(gaps_of(&d.cx)->n_causes > 0);
    gaps_of(&d.cx)->causes[0].idle_ns++;
    CHECK(contradictions(&d, "causes of idle time") > 0);
    done(&d);
}

TEST(exposed_is_not_more_than_idle)
{
    struct diagnosis d;
    make(&d);
    REQUIRE(waits_of(&d.cx)->n > 0);
    exposed_of(&d.cx)->ns[0] += d.t->end_ns;
    CHECK(contradictions(&d, "waits expose more") > 0);
    done(&d);
}

TEST(a_gain_is_not_more_than_the_wall_clock)
{
    struct diagnosis d;
    make(&d);
    const struct findings *f = findings_of(&d.cx);
    REQUIRE(f->n > 0);
    f->items[0]->gain_ns = undistort_of(&d.cx)->plain_ns + 1;
    CHECK(contradictions(&d, "gains more than the wall clock") > 0);
    f->items[0]->gain_ns = 0;
    f->items[0]->exposed_ns = 2 * d.t->end_ns;
    CHECK(contradictions(&d, "exposes more than devices are idle") > 0);
    done(&d);
}

TEST(parts_of_the_wall_clock_must_add_up)
{
    struct diagnosis d;
    make(&d);
    struct wall *w = d.cx.kept[PASS_WALL];
    REQUIRE(w != NULL);
    w->parts.kernel_ns -= 5;
    CHECK(contradictions(&d, "parts of the wall clock") > 0);
    done(&d);
}

TEST(parts_of_a_comparison_must_add_up)
{
    struct diagnosis d;
    struct diff x;
    struct buf text;
    buf_init(&text);
    make(&d);
    REQUIRE(CHECK_EQ_INT(diff_run(&d.cx, &d.cx, &d.mem, &x, NULL), 0));
    REQUIRE(x.n_parts > 0);
    CHECK_EQ_UINT(consistency_check_diff(&x, &text), 0);
    x.parts[0].ns[DIFF_AFTER]++;
    CHECK_EQ_UINT(consistency_check_diff(&x, &text), 1);
    buf_done(&text);
    done(&d);
}

TEST_MAIN
