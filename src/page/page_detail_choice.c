/* page_detail_choice.c: see page_set.h. */
#include "page/page_set.h"

static void page_detail_choice_wish(struct page_detail_in *in, struct page_wish *to, struct span s,
                                    int64_t at_ns, const char *why)
{
    to[in->n_wishes++] = (struct page_wish){s.begin_ns, s.end_ns, at_ns, why};
}

/* The step in the middle: warm, and as good as any. */
static void wish_step(const struct context *cx, struct page_detail_in *in, struct page_wish *to)
{
    const struct steps *s = steps_of(cx);
    if (!s->n_steps) return;
    const struct step *step = &s->steps[s->n_steps / 2];
    struct span both = step->cpu;
    if (work_sum_count(&step->gpu) && step->gpu.extent.end_ns > both.end_ns)
        both.end_ns = step->gpu.extent.end_ns;
    page_detail_choice_wish(in, to, both, step->cpu.begin_ns, "one steady step");
}

static void collect_rows(const struct page_story *s, row_t *rows, uint32_t *n)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct page_step *step = &s->steps[i];
        for (uint32_t r = 0; r < step->n_rows; r++) rows[(*n)++] = step->rows[r];
        rows[(*n)++] = step->to;
    }
    for (uint32_t i = 0; i < s->n_frames; i++) rows[(*n)++] = s->frames[i];
}

int page_detail_choice_run(const struct page_stories *s, const struct context *cx,
                           struct arena *mem, struct page_detail_in *ret, struct err *e)
{
    enum { A_STORY = PAGE_STORY_STEPS * (PAGE_STEP_ROWS + 1) + PAGE_STORY_FRAMES };
    uint32_t n = s->n_findings + s->n_sites;
    struct page_wish *wishes = arena_zalloc(mem, n + 2, sizeof *wishes);
    row_t *rows = arena_alloc(mem, ((size_t)n + 1) * A_STORY * sizeof *rows);
    if (!wishes || !rows) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) {
        const struct page_story *story =
            i < s->n_findings ? &s->findings[i] : &s->sites[i - s->n_findings];
        bool finding = i < s->n_findings;
        const char *why = finding ? arena_printf(mem, "finding %u", i + 1) : "a sync site";
        /* The end is where the device runs dry: the part that costs. */
        page_detail_choice_wish(ret, wishes, story->all, story->all.end_ns,
                                why ? why : "a finding");
        collect_rows(story, rows, &ret->n_rows);
        if (i + 1 == s->n_findings || (i == 0 && !s->n_findings)) wish_step(cx, ret, wishes);
    }
    if (!n) wish_step(cx, ret, wishes);
    ret->wishes = wishes;
    ret->rows = rows;
    return 0;
}
