/* page_docs.c: see page_docs.h. Views print what they are given: to cut a document is to give its
 * view a copy of the result with a lower count. */
#include "page/page_docs.h"
#include "page/page_stages.h"

#include "page/page_text.h"
#include "report/view_gaps.h"
#include "report/view_info.h"
#include "report/view_kernels.h"
#include "report/view_launches.h"
#include "report/view_memory.h"
#include "report/view_report.h"
#include "report/view_stages.h"
#include "report/view_steps.h"
#include "report/view_syncs.h"
#include "report/view_table.h"

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

uint32_t page_docs_steps(const struct page_set *s)
{
    return at_most(steps_of(s->cx)->n_steps, PAGE_DOC_STEPS);
}

uint32_t page_docs_sites(const struct page_set *s)
{
    return at_most(syncs_of(s->cx)->n_sites, PAGE_DOC_ROWS);
}

uint32_t page_docs_gaps(const struct page_set *s)
{
    return at_most(gaps_of(s->cx)->n_all, PAGE_DOC_ROWS);
}

/* ---- one function a document */

typedef int doc_fn(const struct page_set *s, struct buf *out, struct err *e);

static int put_info(const struct page_set *s, struct buf *out, struct err *e)
{
    struct census c;
    TRY(census_run(s->cx->t, s->mem, &c, e));
    view_info_json(out, s->cx->t, &c, -1);
    return 0;
}

static int put_report(const struct page_set *s, struct buf *out, struct err *e)
{
    view_report_json(out, s->cx);
    return 0;
}

static int put_checklist(const struct page_set *s, struct buf *out, struct err *e)
{
    view_checklist_json(out, s->cx);
    return 0;
}

static int put_stages(const struct page_set *s, struct buf *out, struct err *e)
{
    struct view_stages v = {s->cx->t, integrity_of(s->cx), stages_of(s->cx)};
    view_stages_json(out, &v);
    return 0;
}

static int put_steps(const struct page_set *s, struct buf *out, struct err *e)
{
    view_steps_json(out, s->cx, PAGE_DOC_STEPS);
    return 0;
}

static int put_syncs(const struct page_set *s, struct buf *out, struct err *e)
{
    struct syncs shown = (*syncs_of(s->cx));
    shown.n_sites = page_docs_sites(s);
    struct view_syncs v = {.t = s->cx->t, .cx = s->cx, .syncs = &shown, .where = places_of(s->cx)};
    view_syncs_json(out, &v);
    return 0;
}

/* The gaps shown, each with its main causes: some have hundreds. */
static int put_gaps(const struct page_set *s, struct buf *out, struct err *e)
{
    enum { CAUSES_A_GAP = 6 };
    struct gaps shown = (*gaps_of(s->cx));
    shown.n_all = page_docs_gaps(s);
    shown.all = arena_zalloc(s->mem, shown.n_all + 1, sizeof *shown.all);
    if (!shown.all) return err_nomem(e);
    for (uint32_t i = 0; i < shown.n_all; i++) {
        shown.all[i] = gaps_of(s->cx)->all[i];
        shown.all[i].n_parts = at_most(shown.all[i].n_parts, CAUSES_A_GAP);
    }
    shown.n_causes = at_most(shown.n_causes, PAGE_DOC_ROWS);
    struct view_gaps v = {s->cx->t, s->cx, syncs_of(s->cx), &shown};
    view_gaps_json(out, &v);
    return 0;
}

static int put_kernels(const struct page_set *s, struct buf *out, struct err *e)
{
    view_kernels_json(out, s->cx, &s->kernels, PAGE_DOC_ROWS);
    return 0;
}

static int put_table(const struct page_set *s, struct buf *out, struct err *e)
{
    struct view_table_opts by_name = {.by = OP_BY_NAME, .focus = FOCUS_TIME};
    view_table_json(out, s->cx, &s->table, &by_name, PAGE_DOC_ROWS);
    return 0;
}

static int put_launches(const struct page_set *s, struct buf *out, struct err *e)
{
    struct view_launches v = {s->cx->t, integrity_of(s->cx), stages_of(s->cx), launches_of(s->cx)};
    view_launches_json(out, &v);
    return 0;
}

static int put_memory(const struct page_set *s, struct buf *out, struct err *e)
{
    struct memory shown = (*memory_of(s->cx));
    shown.n_sites = at_most(shown.n_sites, PAGE_DOC_ROWS);
    struct view_memory v = {s->cx, integrity_of(s->cx), stages_of(s->cx), &shown, PAGE_DOC_STEPS};
    view_memory_json(out, &v);
    return 0;
}

static const struct {
    const char *name;
    doc_fn *put;
} docs[] = {
    {"info", put_info},       {"report", put_report},       {"stages", put_stages},
    {"steps", put_steps},     {"syncs", put_syncs},         {"gaps", put_gaps},
    {"kernels", put_kernels}, {"table", put_table},         {"launches", put_launches},
    {"memory", put_memory},   {"checklist", put_checklist},
};

enum { N_DOCS = sizeof docs / sizeof *docs };

static int put_doc(const struct page_set *s, struct jout *j, int i, struct err *e)
{
    struct buf pretty, compact;
    buf_init(&pretty);
    buf_init(&compact);
    int rc = docs[i].put(s, &pretty, e);
    if (rc == 0) page_text_compact(buf_str(&pretty), &compact);
    if (rc == 0 && (!buf_ok(&pretty) || !buf_ok(&compact))) rc = err_nomem(e);
    if (rc == 0) jout_raw(j, docs[i].name, buf_str(&compact));
    buf_done(&pretty);
    buf_done(&compact);
    return rc;
}

int page_docs_put(const struct page_set *s, struct jout *j, struct err *e)
{
    for (int i = 0; i < N_DOCS; i++) TRY(put_doc(s, j, i, e));
    return 0;
}

/* ---- what was cut */

static void put_cut(struct jout *j, const char *key, uint32_t most, uint32_t n)
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
    put_cut(j, "tracks", PAGE_TRACKS, s->tracks.n + s->tracks.n_left_out);
    put_cut(j, "steps", PAGE_DOC_STEPS, steps_of(cx)->n_steps);
    put_cut(j, "sites", PAGE_DOC_ROWS, syncs_of(cx)->n_sites);
    put_cut(j, "gaps", PAGE_DOC_ROWS, gaps_of(cx)->n_all);
    put_cut(j, "causes", PAGE_DOC_ROWS, gaps_of(cx)->n_causes);
    put_cut(j, "kernels", PAGE_DOC_ROWS, s->kernels.n_rows);
    put_cut(j, "table", PAGE_DOC_ROWS, s->table.n_rows);
    put_cut(j, "memory_sites", PAGE_DOC_ROWS, memory_of(cx)->n_sites);
    put_cut(j, "stage_calls", PAGE_STAGE_CALLS, stages_of(cx)->tree.n_calls);
    jout_end_obj(j);
}
