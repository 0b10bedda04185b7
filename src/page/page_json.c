/* page_json.c: see page_json.h. */
#include "page/page_json.h"

void page_json_time(struct jout *j, const char *key, const struct page_set *s, int64_t ts_ns)
{
    jout_int(j, key, trace_since_ns(s->cx->t, ts_ns));
}

void page_json_times(struct jout *j, const struct page_set *s, struct span at)
{
    page_json_time(j, "t0_ns", s, at.begin_ns);
    page_json_time(j, "t1_ns", s, at.end_ns);
}

/* The number of the row's span, or null. */
void page_json_span(struct jout *j, const char *key, const struct page_set *s, row_t r)
{
    uint32_t span = page_detail_span(&s->detail, r);
    if (span == PAGE_NO_SPAN) jout_null(j, key);
    else jout_uint(j, key, span);
}

void page_json_spans(struct jout *j, const char *key, const struct page_set *s, const row_t *rows,
                     uint32_t n)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < n; i++)
        if (page_detail_span(&s->detail, rows[i]) != PAGE_NO_SPAN)
            page_json_span(j, NULL, s, rows[i]);
    jout_end_arr(j);
}

void page_json_int_or_null(struct jout *j, const char *key, bool known, int64_t v)
{
    if (known) jout_int(j, key, v);
    else jout_null(j, key);
}
