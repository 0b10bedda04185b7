/* built_in.h: texts that are built in: pages of rules, the glossary, schemas of documents. */
#ifndef STRATA_REPORT_BUILT_IN_H
#define STRATA_REPORT_BUILT_IN_H

#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/jout.h"
#include "base/text.h"

/* Docs/rules, built in: the page of each rule and its id. */

struct rule_page {
    const char *id, *text;
};
extern const struct rule_page rule_pages[]; /* by id, ends with a NULL id */

static inline const struct rule_page *rule_page_find(const char *id)
{
    for (const struct rule_page *p = rule_pages; p->id; p++)
        if (strcmp(p->id, id) == 0) return p;
    return NULL;
}

/* documents.c: every document that a view writes with --json, and its JSON Schema. */

/* A line per view: its name, and what it is about. */
void documents_list(struct buf *out);

/* The JSON Schema of a view; false: there is none of that name. */
bool document_schema(struct buf *out, const char *view);

/* What a column with this heading means, in the views that have one; false: none has. */
bool documents_heading(struct buf *out, const char *heading, int width);

/* view_glossary.c: the glossary, for people and for programs. */

/* One term per line with its meaning, wrapped to `width` columns. */
void view_glossary_text(struct buf *out, bool color, int width);

/* An array of {"term", "also", "meaning"} under `key`. */
void view_glossary_json(struct jout *j, const char *key);

#endif
