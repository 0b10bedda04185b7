/* page_story.c: see page_story.h. Stories of syncs come from report/lists/sync_moments.h, those of
 * other findings from their evidence. */
#include "page/page_story.h"

#include <stdlib.h>

#include "base/human.h"
#include "report/lists/sync_moments.h"

#define LEAST_MARGIN_NS 5000

struct teller {
    const struct context *cx;
    const struct trace *t;
    struct source_places *where;
    struct arena *mem;
};

/* A new step of the story; NULL when there is no room left. */
static struct page_step *page_story_tell(struct page_story *s, const char *text, struct span about)
{
    if (s->n == PAGE_STORY_STEPS) return NULL;
    struct page_step *step = &s->steps[s->n++];
    *step = (struct page_step){
        .text = text ? text : "", .view = about, .from = ROW_NONE, .to = ROW_NONE};
    return step;
}

/* Lights up a row; one that launches, or was launched, brings the arrow along. */
static void page_story_show(const struct trace *t, struct page_step *step, row_t r)
{
    uint32_t n = 0;
    if (!step || r == ROW_NONE || step->n_rows == PAGE_STEP_ROWS) return;
    step->rows[step->n_rows++] = r;
    if (step->to != ROW_NONE) return;
    if (trace_is_work(t, r)) {
        step->from = trace_launch_of(t, r);
        step->to = step->from == ROW_NONE ? ROW_NONE : r;
    } else if (trace_call(t, r)) {
        const row_t *work = trace_launched(t, r, &n);
        step->from = n ? r : ROW_NONE;
        step->to = n ? work[0] : ROW_NONE;
    }
}

static int64_t page_story_clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Room around what a step is about: a sixth on either side, and for a moment as much as still lets
 * one see where in the story it is. */
static struct span with_margin(const struct trace *t, struct span s, int64_t whole_ns)
{
    int64_t len = s.end_ns - s.begin_ns;
    int64_t margin = len ? len / 6 : page_story_clamp(whole_ns / 50, LEAST_MARGIN_NS, 1000000);
    if (margin < LEAST_MARGIN_NS) margin = LEAST_MARGIN_NS;
    return (struct span){page_story_clamp(s.begin_ns - margin, t->begin_ns, t->end_ns),
                         page_story_clamp(s.end_ns + margin, t->begin_ns, t->end_ns)};
}

/* Sets the extent of the story and gives every view its margin. */
static void frame_views(const struct trace *t, struct page_story *s)
{
    struct span all = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < s->n; i++) {
        const struct span *v = &s->steps[i].view;
        if (v->begin_ns < all.begin_ns) all.begin_ns = v->begin_ns;
        if (v->end_ns > all.end_ns) all.end_ns = v->end_ns;
    }
    if (!s->n) all = (struct span){t->begin_ns, t->end_ns};
    for (uint32_t i = 0; i < s->n; i++)
        s->steps[i].view = with_margin(t, s->steps[i].view, all.end_ns - all.begin_ns);
    s->all = with_margin(t, all, all.end_ns - all.begin_ns);
}

static void take_frames(const struct teller *k, struct page_story *s, row_t r)
{
    size_t n = source_places_stack(k->where, r, s->frames, PAGE_STORY_FRAMES);
    s->n_frames = (uint32_t)(n < PAGE_STORY_FRAMES ? n : PAGE_STORY_FRAMES);
}

/* ---- sync sites */

static const char *mark_name(enum moment_mark m)
{
    return m == MARK_BLOCKED ? "blocked" : m == MARK_EXPOSED ? "exposed" : NULL;
}

static int page_story_longest_first(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int64_t p = x->end_ns - x->begin_ns, q = y->end_ns - y->begin_ns;
    if (p != q) return p > q ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The idle times caused by the wait, up to the launches that ended them; the launch that ended the
 * longest is shown. */
static int page_story_take_gaps(const struct teller *k, const struct sync_story *story,
                                struct page_step *step)
{
    uint32_t wait = (uint32_t)(story->wait - waits_of(k->cx)->all);
    struct span *gaps = arena_zalloc(k->mem, story->n_gaps + 1, sizeof *gaps);
    const struct idle_gap *longest = NULL;
    uint32_t n = 0;
    if (!gaps) return ERR_NOMEM;
    for (uint32_t d = 0; d < timeline_of(k->cx)->n_devices; d++)
        for (uint32_t i = 0; i < idle_of(k->cx)->of[d].n_gaps && n < story->n_gaps; i++) {
            const struct idle_gap *g = &idle_of(k->cx)->of[d].gaps[i];
            if (exposed_of(k->cx)->payers[d][i] != wait) continue;
            gaps[n++] = (struct span){g->begin_ns, g->late_ns};
            if (!longest || idle_gap_ns(g) > idle_gap_ns(longest)) longest = g;
        }
    if (longest) page_story_show(k->t, step, longest->launch);
    if (longest) page_story_show(k->t, step, longest->next);
    if (n) qsort(gaps, n, sizeof *gaps, page_story_longest_first);
    step->gaps = gaps;
    step->n_gaps = n < PAGE_STEP_GAPS ? n : PAGE_STEP_GAPS;
    return 0;
}

static void page_story_tell_moment(const struct teller *k, struct page_story *s,
                                   const struct moment *m)
{
    struct span about = m->about;
    if (m->ts_ns == ID_NONE) about = s->n ? s->steps[s->n - 1].view : (struct span){0, 0};
    struct page_step *step = page_story_tell(s, m->text, about);
    if (!step) return;
    step->mark = mark_name(m->mark);
    for (int i = 0; i < 2; i++) page_story_show(k->t, step, m->rows[i]);
}

/* What the CPU did in the gaps, as one more step over the same view. */
static int page_story_tell_meanwhile(const struct teller *k, struct page_story *s,
                                     const struct sync_story *story)
{
    struct buf text;
    char name[64];
    if (!story->n_causes) return 0;
    buf_init(&text);
    buf_adds(&text, "meanwhile, on the CPU:");
    for (uint32_t i = 0; i < story->n_causes; i++)
        buf_printf(&text, "%s %s %s", i ? "," : "",
                   human_cut(story->causes[i].name, 40, name, sizeof name),
                   human_time(story->causes[i].ns).s);
    char *kept = buf_ok(&text) ? arena_strdup(k->mem, buf_str(&text)) : NULL;
    buf_done(&text);
    if (!kept) return ERR_NOMEM;
    struct page_step *step =
        page_story_tell(s, kept, (struct span){story->wait->end_ns, story->caught_up_ns});
    for (uint32_t i = 0; i < story->n_causes; i++)
        page_story_show(k->t, step, story->causes[i].row);
    if (step) step->from = step->to = ROW_NONE;
    return 0;
}

static int shade_gaps(const struct teller *k, const struct sync_story *story, struct page_story *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const char *mark = s->steps[i].mark;
        if (mark && strcmp(mark, "exposed") == 0) TRY(page_story_take_gaps(k, story, &s->steps[i]));
    }
    return 0;
}

/* The whole wait from afar, before single moments of it. */
static int page_story_tell_whole(const struct teller *k, struct page_story *s,
                                 const struct sync_story *story)
{
    const struct wait *w = story->wait;
    int64_t end_ns = story->caught_up_ns > w->end_ns ? story->caught_up_ns : w->end_ns;
    char *text = arena_printf(k->mem, "the whole wait: the CPU is blocked for %s",
                              human_time(w->end_ns - w->begin_ns).s);
    if (text && story->exposed_ns > 0)
        text = arena_printf(k->mem, "%s, and the GPU is then idle for %s", text,
                            human_time(story->exposed_ns).s);
    if (!text) return ERR_NOMEM;
    struct page_step *step = page_story_tell(s, text, (struct span){w->begin_ns, end_ns});
    if (!step) return 0;
    step->mark = mark_name(MARK_BLOCKED);
    page_story_show(k->t, step, w->call);
    step->from = step->to = ROW_NONE;
    return 0;
}

static int tell_site(const struct teller *k, const struct sync_site *site, struct page_story *s)
{
    struct sync_story story;
    struct moments moments;
    const struct context *cx = k->cx;
    TRY(sync_story_run(cx, site, &story));
    struct view_syncs v = {.t = k->t, .cx = cx, .syncs = syncs_of(cx), .story = &story};
    TRY(sync_moments_run(&v, k->mem, &moments));
    TRY(page_story_tell_whole(k, s, &story));
    for (uint32_t i = 0; i < moments.n; i++) page_story_tell_moment(k, s, &moments.list[i]);
    TRY(shade_gaps(k, &story, s));
    TRY(page_story_tell_meanwhile(k, s, &story));
    take_frames(k, s, story.wait->call);
    return 0;
}

/* ---- other findings */

/* The site a finding is about, or NULL. */
static const struct sync_site *page_story_site_of(const struct context *cx, const struct finding *f)
{
    for (uint32_t i = 0; i < f->n_edits; i++) {
        const struct sim_edit *edit = &f->edits[i];
        if (edit->kind != EDIT_DROP_SYNC || !edit->n_rows) continue;
        size_t wait = syncs_wait_of(syncs_of(cx), cx->t, edit->rows[0]);
        uint32_t site = wait == SIZE_MAX ? SYNCS_NO_SITE : syncs_of(cx)->site_of[wait];
        if (site != SYNCS_NO_SITE) return &syncs_of(cx)->sites[site];
    }
    return NULL;
}

/* The listed gap that shares most time with the row, or NULL. */
static const struct gap *gap_at(const struct context *cx, row_t r)
{
    const struct gap *best = NULL;
    int64_t most_ns = 0;
    struct span s = trace_span(cx->t, r);
    for (uint32_t i = 0; i < gaps_of(cx)->n_all; i++) {
        const struct idle_gap *g = gaps_of(cx)->all[i].at;
        int64_t shared_ns = span_ns(span_both(s, (struct span){g->begin_ns, g->end_ns}));
        if (shared_ns <= most_ns) continue;
        most_ns = shared_ns;
        best = &gaps_of(cx)->all[i];
    }
    return best;
}

static void tell_gap(const struct teller *k, struct page_story *s, const struct idle_gap *g)
{
    char name[160] = "the next work";
    if (g->next != ROW_NONE) sync_moments_work(k->t, g->next, 60, name, sizeof name);
    const char *text =
        arena_printf(k->mem, "meanwhile the GPU is idle for %s", human_time(idle_gap_ns(g)).s);
    struct page_step *step = page_story_tell(s, text, (struct span){g->begin_ns, g->end_ns});
    struct span *shaded = arena_zalloc(k->mem, 1, sizeof *shaded);
    if (step && shaded) {
        *shaded = step->view;
        step->mark = "exposed";
        step->gaps = shaded;
        step->n_gaps = 1;
        page_story_show(k->t, step, g->prev);
        step->from = step->to = ROW_NONE; /* the arrow belongs to what ends the gap */
    }
    text = arena_printf(k->mem, "until %s is launched and starts", name);
    int64_t from = g->launch != ROW_NONE ? k->t->ts_ns[g->launch] : g->late_ns;
    step = page_story_tell(s, text, (struct span){from < g->end_ns ? from : g->end_ns, g->end_ns});
    page_story_show(k->t, step, g->launch);
    page_story_show(k->t, step, g->next);
}

/* Where there is neither a row nor a time, the view stays; the first shows a steady step. */
static struct span view_of(const struct teller *k, const struct page_story *s,
                           const struct evidence *ev)
{
    const struct steps *steps = steps_of(k->cx);
    if (ev->row != ROW_NONE) return trace_span(k->t, ev->row);
    if (ev->ts_ns != ID_NONE) return (struct span){ev->ts_ns, ev->ts_ns};
    if (s->n) return s->steps[s->n - 1].view;
    if (steps->n_steps) return steps->steps[steps->n_steps / 2].cpu;
    return (struct span){k->t->begin_ns, k->t->end_ns};
}

/* A remark on the step before it shows what that one did. */
static void show_same(struct page_step *step, const struct page_step *before)
{
    memcpy(step->rows, before->rows, sizeof step->rows);
    step->n_rows = before->n_rows;
    step->from = before->from;
    step->to = before->to;
}

static void tell_finding(const struct teller *k, const struct finding *f, struct page_story *s)
{
    row_t heart = ROW_NONE;
    for (uint32_t i = 0; i < f->n_evidence; i++) {
        const struct evidence *ev = &f->evidence[i];
        struct page_step *step = page_story_tell(s, ev->text, view_of(k, s, ev));
        if (step && i && ev->row == ROW_NONE && ev->ts_ns == ID_NONE) show_same(step, step - 1);
        page_story_show(k->t, step, ev->row);
        if (heart == ROW_NONE) heart = ev->row;
    }
    if (heart == ROW_NONE) return;
    row_t launch = trace_launch_of(k->t, heart);
    const struct gap *g = launch == ROW_NONE ? gap_at(k->cx, heart) : NULL;
    if (g) tell_gap(k, s, g->at);
    if (!kind_is_device((enum row_kind)k->t->kind[heart])) take_frames(k, s, heart);
    else if (launch != ROW_NONE) take_frames(k, s, launch);
}

/* The step of the loop that a moment lies in, on the device or on the CPU; else the whole trace. */
static struct span page_story_around(const struct teller *k, struct span s, bool device)
{
    const struct steps *steps = steps_of(k->cx);
    for (uint32_t i = 0; i < steps->n_steps; i++) {
        const struct step *step = &steps->steps[i];
        struct span all = device ? step->gpu.extent : step->cpu;
        if (s.begin_ns >= all.begin_ns && s.begin_ns < all.end_ns) return all;
    }
    return (struct span){k->t->begin_ns, k->t->end_ns};
}

/* The first of several steps shows where in the loop it is; the others go near. */
static void page_story_from_afar(const struct teller *k, struct page_story *s)
{
    struct page_step *first = &s->steps[0];
    if (s->n < 2 || !first->n_rows) return;
    bool device = kind_is_device((enum row_kind)k->t->kind[first->rows[0]]);
    struct span all = page_story_around(k, trace_span(k->t, first->rows[0]), device);
    if (all.begin_ns < first->view.begin_ns) first->view.begin_ns = all.begin_ns;
    if (all.end_ns > first->view.end_ns) first->view.end_ns = all.end_ns;
}

/* ---- all of them */

static bool new_story(const struct teller *k, struct page_story *s)
{
    *s = (struct page_story){.steps = arena_zalloc(k->mem, PAGE_STORY_STEPS, sizeof *s->steps)};
    return !s->steps;
}

static int tell_all(const struct teller *k, struct page_stories *ret)
{
    const struct context *cx = k->cx;
    for (uint32_t i = 0; i < ret->n_sites; i++) {
        if (new_story(k, &ret->sites[i])) return ERR_NOMEM;
        TRY(tell_site(k, &syncs_of(cx)->sites[i], &ret->sites[i]));
        frame_views(k->t, &ret->sites[i]);
    }
    for (uint32_t i = 0; i < ret->n_findings; i++) {
        const struct sync_site *site = page_story_site_of(cx, findings_of(cx)->items[i]);
        if (new_story(k, &ret->findings[i])) return ERR_NOMEM;
        if (site) TRY(tell_site(k, site, &ret->findings[i]));
        else tell_finding(k, findings_of(cx)->items[i], &ret->findings[i]);
        frame_views(k->t, &ret->findings[i]);
        if (!site) page_story_from_afar(k, &ret->findings[i]);
    }
    return 0;
}

int page_stories_run(const struct context *cx, struct arena *mem, struct page_stories *ret,
                     struct err *e)
{
    struct teller k = {cx, cx->t, places_of(cx), mem};
    uint32_t n = syncs_of(cx)->n_sites < PAGE_SITES_TOLD ? syncs_of(cx)->n_sites : PAGE_SITES_TOLD;
    *ret = (struct page_stories){.n_findings = findings_of(cx)->n, .n_sites = n};
    ret->findings = arena_zalloc(mem, findings_of(cx)->n + 1, sizeof *ret->findings);
    ret->sites = arena_zalloc(mem, n + 1, sizeof *ret->sites);
    if (!ret->findings || !ret->sites) return err_nomem(e);
    int rc = tell_all(&k, ret);
    return err_grow(e, rc);
}
