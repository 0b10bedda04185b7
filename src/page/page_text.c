/* page_text.c: see page_text.h. */
#include "page/page_text.h"

#include <stdint.h>

void page_text_compact(struct str json, struct buf *out)
{
    bool quoted = false;
    size_t from = 0;
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
            buf_add(out, json.p + from, i - from);
            from = i + 1;
        }
    }
    if (json.n > from) buf_add(out, json.p + from, json.n - from);
}

void page_text_escape(struct str json, struct buf *out)
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

static void encode3(const unsigned char *p, char to[4])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    for (int i = 0; i < 4; i++) to[i] = digits[v >> (18 - 6 * i) & 63];
}

void page_text_base64(struct str bytes, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    char *to = buf_room(out, (bytes.n + 2) / 3 * 4 + 1);
    if (!to) return;
    size_t i = 0, n = 0;
    for (; i + 3 <= bytes.n; i += 3, n += 4) encode3(p + i, to + n);
    if (i < bytes.n) {
        unsigned char rest[3] = {p[i], i + 1 < bytes.n ? p[i + 1] : 0, 0};
        encode3(rest, to + n);
        to[n + 3] = '=';
        if (i + 1 == bytes.n) to[n + 2] = '=';
        n += 4;
    }
    out->n += n;
}
