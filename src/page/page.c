/* page.c: see page.h. The viewer is copied; its two marks are replaced on the way. */
#include "page/page.h"

#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "page/page_private.h"
#include "report/built_in.h"
#include "report/offload/views_offload.h"
#include "results/results.h"

#define HEAD_MARK    "@STRATA_HEAD@"
#define COLUMNS_MARK "@STRATA_COLUMNS@"

enum { VERSION = 1, PIECE = 3 << 16 };

int page_check_viewer(struct err *e)
{
    if (page_viewer_bytes) return 0;
    return FAIL(e, ERR_UNSUPPORTED,
                "this strata was built without the HTML viewer; install esbuild (Debian: apt "
                "install esbuild) and build it again");
}

static const char *page_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void page_put_doc(struct jout *j, const char *key, struct str doc)
{
    if (doc.p) jout_raw(j, key, doc);
}

/* Pairs the steps of both sets, as far as both have steps. */
static void put_align(struct jout *j, const struct page *p)
{
    uint32_t n[2];
    for (int i = 0; i < 2; i++) n[i] = steps_of(p->sets[i]->cx)->n_steps;
    uint32_t both = n[0] < n[1] ? n[0] : n[1];
    jout_obj(j, "align");
    jout_cstr(j, "by", both ? "step" : "start");
    jout_arr(j, "pairs");
    for (uint32_t i = 0; i < both && i < PAGE_DOC_STEPS; i++) {
        jout_arr(j, NULL);
        jout_uint(j, NULL, i);
        jout_uint(j, NULL, i);
        jout_end_arr(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

/* The plan made from the trace. */
static void put_offload(struct jout *j, const struct page *p)
{
    const struct scene *scene = p->n_sets == 1 ? p->sets[0]->scene : NULL;
    if (scene && scene->plan.n_rows) view_offload_page(j, "offload", &scene->plan);
}

static bool page_is_first_of_rule(const struct findings *f, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (f->items[k]->rule == f->items[i]->rule) return false;
    return true;
}

/* The pages of the rules that found something. */
static void page_put_rules(struct jout *j, const struct page *p)
{
    if (p->n_sets != 1) return;
    const struct findings *f = findings_of(p->sets[0]->cx);
    jout_obj(j, "rules");
    for (uint32_t i = 0; i < f->n; i++) {
        const char *id = f->items[i]->rule->id;
        const struct rule_page *page = rule_page_find(id);
        if (page && page_is_first_of_rule(f, i)) jout_cstr(j, id, page->text);
    }
    jout_end_obj(j);
}

/* The day on which the page is written. */
static void page_put_made(struct jout *j)
{
    char day[16] = "";
    time_t now = time(NULL);
    struct tm t;
    if (gmtime_r(&now, &t)) strftime(day, sizeof day, "%Y-%m-%d", &t);
    jout_cstr(j, "made", day);
}

static int page_put_head(const struct page *p, const struct page_place *places, struct buf *out,
                         struct err *e)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_uint(&j, "version", VERSION);
    jout_cstr(&j, "kind", p->kind);
    jout_cstr(&j, "title", page_file_name(p->title));
    jout_cstr(&j, "strata", STRATA_VERSION);
    page_put_made(&j);
    view_glossary_json(&j, "glossary");
    results_json_columns(&j, "columns");
    page_put_rules(&j, p);
    jout_arr(&j, "sets");
    for (uint32_t i = 0; i < p->n_sets; i++) TRY(page_head_set(p->sets[i], &places[i], &j, e));
    jout_end_arr(&j);
    page_put_doc(&j, "diff", p->diff);
    if (p->n_sets == 2) put_align(&j, p);
    put_offload(&j, p);
    page_put_doc(&j, "dive", p->dive);
    page_put_doc(&j, "flame", p->flame);
    page_put_doc(&j, "flames", p->flames);
    page_put_doc(&j, "ranks", p->ranks);
    jout_end_obj(&j);
    return buf_ok(out) ? 0 : err_nomem(e);
}

/* ---- the file */

static int write_head(struct file_out *f, struct str json, struct err *e)
{
    struct buf safe;
    buf_init(&safe);
    page_json_escape(json, &safe);
    int rc = buf_ok(&safe) ? file_out_write(f, safe.p, safe.n, e) : err_nomem(e);
    buf_done(&safe);
    return rc;
}

static int page_write_columns(struct file_out *f, struct str packed, struct err *e)
{
    struct buf text;
    int rc = 0;
    buf_init(&text);
    for (size_t at = 0; at < packed.n && rc == 0; at += PIECE) {
        size_t n = packed.n - at < PIECE ? packed.n - at : PIECE;
        buf_reset(&text);
        page_json_base64(str_from(packed.p + at, n), &text);
        rc = buf_ok(&text) ? file_out_write(f, text.p, text.n, e) : err_nomem(e);
    }
    buf_done(&text);
    return rc;
}

static int write_parts(struct file_out *f, struct str viewer, struct str head, struct str columns,
                       struct err *e)
{
    long a = str_find(viewer, HEAD_MARK), b = str_find(viewer, COLUMNS_MARK);
    if (a < 0 || b < a) return FAIL(e, ERR_INTERNAL, "the viewer has no place for the data");
    size_t after_head = (size_t)a + strlen(HEAD_MARK), after = (size_t)b + strlen(COLUMNS_MARK);
    TRY(file_out_write(f, viewer.p, (size_t)a, e));
    TRY(write_head(f, head, e));
    TRY(file_out_write(f, viewer.p + after_head, (size_t)b - after_head, e));
    TRY(page_write_columns(f, columns, e));
    return file_out_write(f, viewer.p + after, viewer.n - after, e);
}

static int page_write_file(const struct page *p, const char *file, struct str head,
                           struct str columns, struct err *e)
{
    struct file_out f;
    TRY(file_out_begin(&f, file, e));
    int rc = write_parts(&f, p->viewer, head, columns, e);
    if (rc == 0) return file_out_commit(&f, e);
    file_out_abort(&f);
    return rc;
}

int page_write(const struct page *p, const char *file, struct err *e)
{
    struct buf head, packed;
    struct page_place places[2] = {{0}};
    int rc = 0;
    buf_init(&head);
    buf_init(&packed);
    for (uint32_t i = 0; i < p->n_sets && rc == 0; i++) {
        places[i].offset = packed.n;
        rc = page_block_pack(&p->sets[i]->block, pool_size(), &packed, e);
        places[i].packed_bytes = packed.n - places[i].offset;
    }
    if (rc == 0 && !buf_ok(&packed)) rc = err_nomem(e);
    if (rc == 0) rc = page_put_head(p, places, &head, e);
    if (rc == 0) rc = page_write_file(p, file, buf_str(&head), buf_str(&packed), e);
    buf_done(&head);
    buf_done(&packed);
    return rc;
}
