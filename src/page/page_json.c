/* page_json.c: see page_private.h. */
#include "page/page_private.h"

#include <stdint.h>

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

/* ---- data inside HTML */

void page_json_escape(struct str json, struct buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < json.n; i++) {
        if (json.p[i] != '<') continue;
        buf_add(out, json.p + from, i - from);
        buf_adds(out, "\\u003c");
        from = i + 1;
    }
    if (json.n > from) buf_add(out, json.p + from, json.n - from);
}

static void page_json_encode3(const unsigned char *p, char to[4])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    for (int i = 0; i < 4; i++) to[i] = digits[v >> (18 - 6 * i) & 63];
}

void page_json_base64(struct str bytes, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    char *to = buf_room(out, (bytes.n + 2) / 3 * 4 + 1);
    if (!to) return;
    size_t i = 0, n = 0;
    for (; i + 3 <= bytes.n; i += 3, n += 4) page_json_encode3(p + i, to + n);
    if (i < bytes.n) {
        unsigned char rest[3] = {p[i], i + 1 < bytes.n ? p[i + 1] : 0, 0};
        page_json_encode3(rest, to + n);
        to[n + 3] = '=';
        if (i + 1 == bytes.n) to[n + 2] = '=';
        n += 4;
    }
    out->n += n;
}
