/* page_docs.c: see page_private.h. Views print what they are given: to cut a document is to give
 * its view a copy of the result with a lower count. */
#include "page/page_private.h"

#include "report/diagnosis/view_report.h"
#include "report/lists/views_file.h"
#include "report/lists/views_kernels.h"
#include "report/lists/views_memory.h"
#include "report/lists/views_time.h"
#include "report/lists/views_waits.h"

static uint32_t page_docs_at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

uint32_t page_docs_steps(const struct page_set *s)
{
    return page_docs_at_most(steps_of(s->cx)->n_steps, PAGE_DOC_STEPS);
}

uint32_t page_docs_sites(const struct page_set *s)
{
    return page_docs_at_most(syncs_of(s->cx)->n_sites, PAGE_DOC_ROWS);
}

uint32_t page_docs_gaps(const struct page_set *s)
{
    return page_docs_at_most(gaps_of(s->cx)->n_all, PAGE_DOC_ROWS);
}

/* ---- one function a document */

typedef int doc_fn(const struct page_set *s, struct jout *j, const char *key, struct err *e);

static int put_info(const struct page_set *s, struct jout *j, const char *key, struct err *e)
{
    struct census c;
    TRY(census_run(s->cx->t, s->mem, &c, e));
    view_info_json(j, key, s->cx->t, &(struct view_info){.c = &c, .file_bytes = -1});
    return 0;
}

static int put_report(const struct page_set *s, struct jout *j, const char *key, struct err *e)
{
    view_report_json(j, key, s->cx);
    return 0;
}

static int page_docs_put_checklist(const struct page_set *s, struct jout *j, const char *key,
                                   struct err *e)
{
    view_checklist_json(j, key, s->cx);
    return 0;
}

static int page_docs_put_stages(const struct page_set *s, struct jout *j, const char *key,
                                struct err *e)
{
    view_stages_json(j, key, s->cx);
    return 0;
}

static int page_docs_put_steps(const struct page_set *s, struct jout *j, const char *key,
                               struct err *e)
{
    view_steps_json(j, key, s->cx, PAGE_DOC_STEPS);
    return 0;
}

static int page_docs_put_syncs(const struct page_set *s, struct jout *j, const char *key,
                               struct err *e)
{
    struct syncs shown = (*syncs_of(s->cx));
    shown.n_sites = page_docs_sites(s);
    struct view_syncs v = {.t = s->cx->t, .cx = s->cx, .syncs = &shown, .where = places_of(s->cx)};
    view_syncs_json(j, key, &v);
    return 0;
}

/* The gaps shown, each with its main causes: some have hundreds. */
static int page_docs_put_gaps(const struct page_set *s, struct jout *j, const char *key,
                              struct err *e)
{
    enum { CAUSES_PER_GAP = 6 };
    struct gaps shown = (*gaps_of(s->cx));
    shown.n_all = page_docs_gaps(s);
    shown.all = arena_zalloc(s->mem, shown.n_all + 1, sizeof *shown.all);
    if (!shown.all) return err_nomem(e);
    for (uint32_t i = 0; i < shown.n_all; i++) {
        shown.all[i] = gaps_of(s->cx)->all[i];
        shown.all[i].n_parts = page_docs_at_most(shown.all[i].n_parts, CAUSES_PER_GAP);
    }
    shown.n_causes = page_docs_at_most(shown.n_causes, PAGE_DOC_ROWS);
    struct view_gaps v = {s->cx->t, s->cx, syncs_of(s->cx), &shown};
    view_gaps_json(j, key, &v);
    return 0;
}

static int page_docs_put_kernels(const struct page_set *s, struct jout *j, const char *key,
                                 struct err *e)
{
    view_kernels_json(j, key, s->cx, &s->kernels, PAGE_DOC_ROWS);
    return 0;
}

static int page_docs_put_table(const struct page_set *s, struct jout *j, const char *key,
                               struct err *e)
{
    struct view_table_opts by_name = {.by = OP_BY_NAME, .focus = FOCUS_TIME};
    view_table_json(j, key, s->cx, &s->table, &by_name, PAGE_DOC_ROWS);
    return 0;
}

static int page_docs_put_launches(const struct page_set *s, struct jout *j, const char *key,
                                  struct err *e)
{
    view_launches_json(j, key, s->cx);
    return 0;
}

static int page_docs_put_memory(const struct page_set *s, struct jout *j, const char *key,
                                struct err *e)
{
    struct memory shown = (*memory_of(s->cx));
    shown.n_sites = page_docs_at_most(shown.n_sites, PAGE_DOC_ROWS);
    struct view_memory v = {s->cx, integrity_of(s->cx), stages_of(s->cx), &shown, PAGE_DOC_STEPS};
    view_memory_json(j, key, &v);
    return 0;
}

static const struct {
    const char *name;
    doc_fn *put;
} docs[] = {
    {"info", put_info},
    {"report", put_report},
    {"stages", page_docs_put_stages},
    {"steps", page_docs_put_steps},
    {"syncs", page_docs_put_syncs},
    {"gaps", page_docs_put_gaps},
    {"kernels", page_docs_put_kernels},
    {"table", page_docs_put_table},
    {"launches", page_docs_put_launches},
    {"memory", page_docs_put_memory},
    {"checklist", page_docs_put_checklist},
};

enum { N_DOCS = sizeof docs / sizeof *docs };

int page_docs_put(const struct page_set *s, struct jout *j, struct err *e)
{
    for (int i = 0; i < N_DOCS; i++) TRY(docs[i].put(s, j, docs[i].name, e));
    return 0;
}

/* ---- what was cut */

static void page_docs_put_cut(struct jout *j, const char *key, uint32_t most, uint32_t n)
{
    if (n <= most) return;
    jout_obj(j, key);
    jout_uint(j, "shown", most);
    jout_uint(j, "of", n);
    jout_end_obj(j);
}

void page_docs_cut(const struct page_set *s, struct jout *j)
{
    const struct context *cx = s->cx;
    jout_obj(j, "cut");
    page_docs_put_cut(j, "tracks", PAGE_TRACKS, s->tracks.n + s->tracks.n_left_out);
    page_docs_put_cut(j, "steps", PAGE_DOC_STEPS, steps_of(cx)->n_steps);
    page_docs_put_cut(j, "sites", PAGE_DOC_ROWS, syncs_of(cx)->n_sites);
    page_docs_put_cut(j, "gaps", PAGE_DOC_ROWS, gaps_of(cx)->n_all);
    page_docs_put_cut(j, "causes", PAGE_DOC_ROWS, gaps_of(cx)->n_causes);
    page_docs_put_cut(j, "kernels", PAGE_DOC_ROWS, s->kernels.n_rows);
    page_docs_put_cut(j, "table", PAGE_DOC_ROWS, s->table.n_rows);
    page_docs_put_cut(j, "memory_sites", PAGE_DOC_ROWS, memory_of(cx)->n_sites);
    page_docs_put_cut(j, "stage_calls", PAGE_STAGE_CALLS, stages_of(cx)->tree.n_calls);
    jout_end_obj(j);
}
