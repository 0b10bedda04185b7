/* documents.c: see built_in.h. */
#include "report/built_in.h"

#include <string.h>
#include <strings.h>

#include "results/result_json.h"
#include "results/results.h"

extern const struct result document_report, document_stages, document_steps_view,
    document_gaps_view, document_launches, document_syncs, document_memory, document_kernels,
    documents_table[], document_info, document_lint, document_whatif, document_check, document_diff,
    document_compare, document_ranks, document_run, document_offload, document_dive,
    document_snapshot, document_snapshot_info, document_long_recording;

/* A view whose document depends on its options has several, one after the other. */
static const struct document {
    const char *view;
    const struct result *of;
} documents[] = {
    {"report", &document_report},
    {"report", &document_ranks},
    {"report", &document_long_recording},
    {"stages", &document_stages},
    {"stages", &document_run},
    {"steps", &document_steps_view},
    {"steps", &document_long_recording},
    {"gaps", &document_gaps_view},
    {"gaps", &document_launches},
    {"launches", &document_launches},
    {"syncs", &document_syncs},
    {"memory", &document_memory},
    {"memory", &document_snapshot},
    {"kernels", &document_kernels},
    {"kernels", &document_long_recording},
    {"table", &documents_table[OP_BY_NAME]},
    {"table", &documents_table[OP_BY_SHAPE]},
    {"table", &documents_table[OP_BY_STACK]},
    {"table", &documents_table[OP_BY_MODULE]},
    {"table", &document_long_recording},
    {"info", &document_info},
    {"info", &document_snapshot_info},
    {"info", &document_lint},
    {"lint", &document_lint},
    {"whatif", &document_whatif},
    {"check", &document_check},
    {"diff", &document_diff},
    {"diff", &document_compare},
    {"compare", &document_compare},
    {"ranks", &document_ranks},
    {"run", &document_run},
    {"offload", &document_offload},
    {"dive", &document_dive},
    {"long_recording", &document_long_recording},
    {NULL, NULL},
};

static bool document_is(const struct document *d, const char *view)
{
    return d->view && strcmp(d->view, view) == 0;
}

void documents_list(struct buf *out)
{
    for (const struct document *d = documents; d->view; d++)
        if (d == documents || !document_is(d - 1, d->view))
            buf_printf(out, "  %-11s %s\n", d->view, d->of->of);
}

bool document_schema(struct buf *out, const char *view)
{
    const struct document *d = documents;
    struct jout j;
    while (d->view && !document_is(d, view)) d++;
    if (!d->view) return false;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    jout_cstr(&j, "title", view);
    jout_arr(&j, "anyOf");
    for (; document_is(d, view); d++) result_json_schema(&j, NULL, d->of);
    jout_end_arr(&j);
    jout_end_obj(&j);
    return true;
}

/* ---- headings of columns ---- */

enum { HEADING_MEANINGS = 16, HEADING_INDENT = 4 };

/* The fields with it: each meaning once, of the first view that has it. */
struct heading {
    const char *word;
    const struct field *fields[HEADING_MEANINGS];
    const char *before[HEADING_MEANINGS]; /* what "the same" means; "" where that is not said */
    int n;
};

static bool heading_is_new(const struct heading *h, const char *means)
{
    for (int i = 0; i < h->n; i++)
        if (strcmp(field_means(h->fields[i]), means) == 0) return false;
    return *means && strcmp(means, "see below") != 0 && h->n < HEADING_MEANINGS;
}

static void heading_find(struct heading *h, const struct result *of)
{
    const struct field *f;
    const char *before = "";
    for (uint32_t i = 0; (f = result_nth(of, i)); i++) {
        bool same = strncmp(field_means(f), "the same", 8) == 0;
        if (f->inner) heading_find(h, f->inner);
        if (strcasecmp(field_heading(f), h->word) == 0 && heading_is_new(h, field_means(f))) {
            h->before[h->n] = same ? before : "";
            h->fields[h->n++] = f;
        }
        if (!same) before = field_means(f);
    }
}

static void heading_put(struct buf *out, const struct heading *h, int i, int width)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "%s%s%s", h->before[i], *h->before[i] ? "; " : "", field_means(h->fields[i]));
    buf_pad(out, ' ', HEADING_INDENT);
    text_wrap(out, buf_c(&text), HEADING_INDENT, width);
    if (text.failed) out->failed = true;
    buf_done(&text);
}

bool documents_heading(struct buf *out, const char *heading, int width)
{
    struct heading h = {.word = heading};
    const char *view = "";
    for (const struct document *d = documents; d->view; d++) {
        int before = h.n;
        heading_find(&h, d->of);
        if (h.n > before && strcmp(view, d->view) != 0)
            buf_printf(out, "  in strata %s:\n", d->view);
        for (int i = before; i < h.n; i++) heading_put(out, &h, i, width);
        if (h.n > before) view = d->view;
    }
    return h.n > 0;
}
