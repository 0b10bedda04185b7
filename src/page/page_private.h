/* page_private.h: the parts of the page. */
#ifndef STRATA_PAGE_PAGE_PRIVATE_H
#define STRATA_PAGE_PAGE_PRIVATE_H

#include "analyze/findings/rule.h"
#include "base/buf.h"
#include "base/jout.h"
#include "page/page_set.h"

/* page_docs.c: the documents of the commands, as --json prints them, cut to what a page needs. */

/* Puts report, stages, steps ... into the open object. */
int page_docs_put(const struct page_set *s, struct jout *j, struct err *e) MUST_USE;

/* "cut": which of them hold fewer rows than there are. */
void page_docs_cut(const struct page_set *s, struct jout *j);

/* Steps, sites and gaps that the documents hold. */
uint32_t page_docs_steps(const struct page_set *s);
uint32_t page_docs_sites(const struct page_set *s);
uint32_t page_docs_gaps(const struct page_set *s);

/* page_head.c: the head of a page: one JSON document, described in docs/format/page.md. */

/* Where the columns of the set lie among the packed ones of all sets. */
struct page_place {
    uint64_t offset, packed_bytes;
};

/* One trace as an object. */
int page_head_set(const struct page_set *s, const struct page_place *place, struct jout *j,
                  struct err *e) MUST_USE;

/* page_marks.c: what the reader of a page is led to: stories of findings, sync sites, gaps. */

/* "stories", "sites" and "gaps" into the open object. */
void page_marks_put(const struct page_set *s, struct jout *j);

/* page_json.c: values of a page as JSON: times count from the start of the trace, rows become
 * numbers of spans. */

void page_json_time(struct jout *j, const char *key, const struct page_set *s, int64_t ts_ns);

/* "t0_ns" and "t1_ns". */
void page_json_times(struct jout *j, const struct page_set *s, struct span at);

/* The number of the row's span; null when it is not in the page. */
void page_json_span(struct jout *j, const char *key, const struct page_set *s, row_t r);

/* Those of the rows that are in the page. */
void page_json_spans(struct jout *j, const char *key, const struct page_set *s, const row_t *rows,
                     uint32_t n);

void page_json_int_or_null(struct jout *j, const char *key, bool known, int64_t v);

/* page_json.c: putting data inside an HTML file so that it stays data. */

/* Appends JSON for the inside of a script element: `<` can only stand in strings, and is written
 * as \u003c there, so that nothing ends the element. */
void page_json_escape(struct str json, struct buf *out);

/* Appends base64 with padding, without line breaks. Pieces of 3 n bytes can be joined. */
void page_json_base64(struct str bytes, struct buf *out);

#endif
