/* page_marks.c: see page_private.h. */
#include "page/page_private.h"

static void put_idle(struct jout *j, const struct page_set *s, const struct page_step *step)
{
    jout_arr(j, "gaps");
    for (uint32_t i = 0; i < step->n_gaps; i++) {
        jout_arr(j, NULL);
        page_json_time(j, NULL, s, step->gaps[i].begin_ns);
        page_json_time(j, NULL, s, step->gaps[i].end_ns);
        jout_end_arr(j);
    }
    jout_end_arr(j);
}

static void put_story_step(struct jout *j, const struct page_set *s, const struct page_step *step)
{
    jout_obj(j, NULL);
    jout_cstr(j, "text", step->text);
    jout_cstr(j, "mark", step->mark);
    page_json_times(j, s, step->view);
    page_json_spans(j, "spans", s, step->rows, step->n_rows);
    put_idle(j, s, step);
    jout_arr(j, "arrows");
    if (page_detail_span(&s->detail, step->from) != PAGE_NO_SPAN &&
        page_detail_span(&s->detail, step->to) != PAGE_NO_SPAN) {
        jout_obj(j, NULL);
        page_json_span(j, "from", s, step->from);
        page_json_span(j, "to", s, step->to);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void put_story(struct jout *j, const char *key, const struct page_set *s,
                      const struct page_story *story)
{
    jout_obj(j, key);
    page_json_times(j, s, story->all);
    jout_arr(j, "steps");
    for (uint32_t i = 0; i < story->n; i++) put_story_step(j, s, &story->steps[i]);
    jout_end_arr(j);
    page_json_spans(j, "frames", s, story->frames, story->n_frames);
    jout_end_obj(j);
}

static void put_stories(struct jout *j, const struct page_set *s)
{
    jout_arr(j, "stories");
    for (uint32_t i = 0; i < s->stories.n_findings; i++)
        put_story(j, NULL, s, &s->stories.findings[i]);
    jout_end_arr(j);
}

static void put_sites(struct jout *j, const struct page_set *s)
{
    enum { ROWS_A_SITE = 200 };
    jout_arr(j, "sites");
    for (uint32_t i = 0; i < page_docs_sites(s); i++) {
        const struct sync_site *site = &syncs_of(s->cx)->sites[i];
        jout_obj(j, NULL);
        jout_uint(j, "id", i + 1);
        page_json_spans(j, "spans", s, site->rows,
                        site->n_rows < ROWS_A_SITE ? site->n_rows : ROWS_A_SITE);
        if (i < s->stories.n_sites) put_story(j, "story", s, &s->stories.sites[i]);
        else jout_null(j, "story");
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void page_marks_put_gaps(struct jout *j, const struct page_set *s)
{
    const struct gaps *gaps = gaps_of(s->cx);
    jout_arr(j, "gaps");
    for (uint32_t i = 0; i < page_docs_gaps(s); i++) {
        const struct idle_gap *g = gaps->all[i].at;
        jout_obj(j, NULL);
        page_json_time(j, "t0_ns", s, g->begin_ns);
        page_json_time(j, "late_ns", s, g->late_ns);
        page_json_time(j, "t1_ns", s, g->end_ns);
        jout_int(j, "device", gaps->devices[gaps->all[i].device].device);
        page_json_span(j, "prev", s, g->prev);
        page_json_span(j, "next", s, g->next);
        page_json_span(j, "launch", s, g->launch);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void page_marks_put(const struct page_set *s, struct jout *j)
{
    put_stories(j, s);
    put_sites(j, s);
    page_marks_put_gaps(j, s);
}
