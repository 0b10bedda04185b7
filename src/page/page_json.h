/* page_json.h: values of a page as JSON: times count from the start of the trace, rows become
 * numbers of spans. */
#ifndef STRATA_PAGE_PAGE_JSON_H
#define STRATA_PAGE_PAGE_JSON_H

#include "base/jout.h"
#include "page/page_set.h"

void page_json_time(struct jout *j, const char *key, const struct page_set *s, int64_t ts_ns);

/* "t0_ns" and "t1_ns". */
void page_json_times(struct jout *j, const struct page_set *s, struct span at);

/* The number of the row's span; null when it is not in the page. */
void page_json_span(struct jout *j, const char *key, const struct page_set *s, row_t r);

/* Those of the rows that are in the page. */
void page_json_spans(struct jout *j, const char *key, const struct page_set *s, const row_t *rows,
                     uint32_t n);

void page_json_int_or_null(struct jout *j, const char *key, bool known, int64_t v);

#endif
