/* test_page_story.c: findings told in steps, and where they lead the reader. Times in us. */
#include "page/page_story.h"

#include "diagnosis.h"
#include "page/page_set.h"

static struct page_stories tell(struct diagnosis *d)
{
    struct page_stories s = {0};
    CHECK_EQ_INT(page_stories_run(&d->cx, &d->mem, &s, NULL), 0);
    return s;
}

static const struct page_step *step_with(const struct page_story *s, const char *words)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (strstr(s->steps[i].text, words)) return &s->steps[i];
    return NULL;
}

static row_t row_named(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    return ROW_NONE;
}

static bool shows(const struct page_step *step, row_t r)
{
    for (uint32_t i = 0; step && i < step->n_rows; i++)
        if (step->rows[i] == r) return true;
    return false;
}

/* Six steps: ten kernels are queued, a value is read back, and the GPU idles until the CPU is back.
 */
static struct trace *drains(void)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 6; s++) {
        double at = 20000 * s;
        kit_label(&k, "step", at, 19000);
        kit_python(&k, "pipe.py(10): sample", at + 1, 18000);
        for (int i = 0; i < 10; i++)
            kit_launch(&k, at + 10 + 10 * i, "gemm", at + 100 + 1000 * i, 1000);
        kit_item(&k, at + 200, at + 10102, 10);
        kit_launch(&k, at + 14000, "late", at + 14010, 6000);
    }
    return kit_end(&k);
}

TEST(a_sync_is_told_from_the_call_to_the_launch_that_came_late)
{
    struct diagnosis d;
    diagnose(&d, drains());
    struct page_stories s = tell(&d);
    REQUIRE(CHECK(s.n_findings > 0));
    REQUIRE(CHECK(s.n_sites > 0));
    CHECK_EQ_STR(findings_of(&d.cx)->items[0]->rule->id, "sync_in_loop");
    const struct page_story *story = &s.findings[0];
    const struct page_step *stops = step_with(story, "the CPU stops");
    const struct page_step *idle = step_with(story, "of GPU idle time");
    REQUIRE(CHECK(stops && idle));
    CHECK_EQ_STR(stops->mark, "blocked");
    CHECK(str_is(trace_name(d.t, stops->rows[0]), "cudaStreamSynchronize"));
    CHECK_EQ_STR(idle->mark, "exposed");
    REQUIRE(CHECK(idle->n_gaps > 0)); /* the longest first */
    CHECK_EQ_INT(idle->gaps[0].end_ns - idle->gaps[0].begin_ns, kit_ns(14000 - 10102));
    REQUIRE(CHECK(idle->to != ROW_NONE));
    CHECK(str_is(trace_name(d.t, idle->to), "late"));
    CHECK_EQ_UINT(trace_launch_of(d.t, idle->to), idle->from);
    REQUIRE(CHECK_EQ_UINT(story->n_frames, 1));
    CHECK(str_is(trace_name(d.t, story->frames[0]), "pipe.py(10): sample"));
    done(&d);
}

TEST(a_story_begins_with_the_whole_wait)
{
    struct diagnosis d;
    diagnose(&d, drains());
    struct page_stories s = tell(&d);
    REQUIRE(CHECK(s.n_findings > 0 && s.findings[0].n > 1));
    const struct page_step *whole = &s.findings[0].steps[0];
    const struct page_step *stops = step_with(&s.findings[0], "the CPU stops");
    CHECK(strstr(whole->text, "the whole wait: the CPU is blocked for ") == whole->text);
    CHECK_EQ_STR(whole->mark, "blocked");
    REQUIRE(CHECK(stops));
    CHECK_EQ_UINT(whole->rows[0], stops->rows[0]);
    struct span wait = trace_span(d.t, whole->rows[0]);
    CHECK(whole->view.begin_ns <= wait.begin_ns && whole->view.end_ns >= wait.end_ns);
    done(&d);
}

TEST(steps_come_in_order_and_show_what_they_are_about)
{
    struct diagnosis d;
    diagnose(&d, drains());
    struct page_stories s = tell(&d);
    REQUIRE(CHECK(s.n_findings > 0));
    for (uint32_t i = 0; i < s.findings[0].n; i++) {
        const struct page_step *step = &s.findings[0].steps[i];
        CHECK(step->view.begin_ns < step->view.end_ns);
        CHECK(step->view.begin_ns >= d.t->begin_ns && step->view.end_ns <= d.t->end_ns);
        CHECK(step->n_rows > 0);
        for (uint32_t r = 0; r < step->n_rows; r++)
            CHECK(d.t->ts_ns[step->rows[r]] < s.findings[0].all.end_ns);
    }
    done(&d);
}

/* Python that launches nothing and leaves the GPU idle, in every step. */
static struct trace *late(void)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 8; s++) {
        double at = 10000 * s;
        kit_label(&k, "step", at, 9900);
        kit_python(&k, "pipe.py(20): prepare", at + 1000, 6000);
        kit_launch(&k, at + 10, "before", at + 20, 900);
        kit_launch(&k, at + 7100, "after", at + 7110, 900);
    }
    return kit_end(&k);
}

TEST(a_late_launch_is_told_with_the_gap_and_the_arrow_that_ends_it)
{
    struct diagnosis d;
    diagnose(&d, late());
    struct page_stories s = tell(&d);
    REQUIRE(CHECK(s.n_findings > 0));
    CHECK_EQ_STR(findings_of(&d.cx)->items[0]->rule->id, "late_launch");
    const struct page_story *story = &s.findings[0];
    CHECK(str_is(trace_name(d.t, story->steps[0].rows[0]), "pipe.py(20): prepare"));
    const struct page_step *gap = step_with(story, "meanwhile the GPU is idle for");
    const struct page_step *end = step_with(story, "is launched and starts");
    REQUIRE(CHECK(gap && end));
    CHECK_EQ_STR(gap->mark, "exposed");
    CHECK_EQ_UINT(gap->n_gaps, 1);
    CHECK(gap->to == ROW_NONE);
    CHECK(str_is(trace_name(d.t, end->to), "after"));
    CHECK(shows(end, end->from) && shows(end, end->to));
    CHECK(str_is(trace_name(d.t, story->frames[0]), "pipe.py(20): prepare"));
    done(&d);
}

TEST(a_healthy_trace_wishes_for_a_steady_step_only)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 6; s++) {
        kit_label(&k, "step", 1000 * s, 900);
        kit_launch(&k, 1000 * s + 10, "gemm", 1000 * s + 20, 980);
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    struct page_stories s = tell(&d);
    struct page_detail_in in = {.t = d.t};
    CHECK_EQ_UINT(s.n_findings, 0);
    CHECK_EQ_INT(page_detail_choice_run(&s, &d.cx, &d.mem, &in, NULL), 0);
    REQUIRE(CHECK_EQ_UINT(in.n_wishes, 1));
    CHECK_EQ_STR(in.wishes[0].why, "one steady step");
    CHECK_EQ_INT(in.wishes[0].begin_ns, kit_ns(3000));
    CHECK_EQ_UINT(in.n_rows, 0);
    done(&d);
}

TEST(stories_lead_the_choice_of_what_is_kept)
{
    struct diagnosis d;
    diagnose(&d, drains());
    struct page_stories s = tell(&d);
    struct page_detail_in in = {.t = d.t, .budget = 20};
    struct page_tracks tracks;
    struct page_detail detail;
    CHECK_EQ_INT(page_tracks_run(d.t, &d.mem, &tracks, NULL), 0);
    CHECK_EQ_INT(page_detail_choice_run(&s, &d.cx, &d.mem, &in, NULL), 0);
    in.tracks = &tracks;
    CHECK_EQ_INT(page_detail_run(&in, &d.mem, &detail, NULL), 0);
    CHECK(!detail.complete);
    CHECK_EQ_STR(in.wishes[0].why, "finding 1");
    for (uint32_t i = 0; i < s.findings[0].n; i++)
        for (uint32_t r = 0; r < s.findings[0].steps[i].n_rows; r++)
            CHECK(page_detail_span(&detail, s.findings[0].steps[i].rows[r]) != PAGE_NO_SPAN);
    CHECK(page_detail_span(&detail, row_named(d.t, "gemm")) == PAGE_NO_SPAN ||
          detail.n_kept < detail.n_spans);
    done(&d);
}

TEST_MAIN
