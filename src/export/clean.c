/* clean.c: see clean.h. */
#include "export/clean.h"

#include "base/utf8.h"

/* Text as a terminal shows it: bytes that would command the terminal do not count as text. */
static size_t clean_shown_len(struct str s, size_t i)
{
    return s.p[i] == '\n' || s.p[i] == '\t' ? 1 : utf8_safe_len(s, i);
}

/* `len` says how long the character at a place is, 0 where there is none that may stay. */
static struct str clean(struct str s, struct buf *scratch, size_t (*len)(struct str s, size_t i))
{
    size_t i = 0, n = 1;
    for (; i < s.n && n; i += n) n = len(s, i);
    if (n) return s;
    buf_reset(scratch);
    for (i = 0; i < s.n; i += n ? n : 1) {
        n = len(s, i);
        if (n) buf_add(scratch, s.p + i, n);
        else buf_adds(scratch, "\xef\xbf\xbd");
        if (!n && utf8_len(s, i)) n = utf8_len(s, i);
    }
    return buf_str(scratch);
}

struct str clean_utf8(struct str s, struct buf *scratch)
{
    return clean(s, scratch, utf8_len);
}

struct str clean_shown(struct str s, struct buf *scratch)
{
    return clean(s, scratch, clean_shown_len);
}
