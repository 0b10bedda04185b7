/* clean.c: see clean.h. */
#include "export/clean.h"

#include "base/utf8.h"

struct str clean_utf8(struct str s, struct buf *scratch)
{
    size_t i = 0, n = 1;
    for (; i < s.n && n; i += n) n = utf8_len(s, i);
    if (n) return s;
    buf_reset(scratch);
    for (i = 0; i < s.n; i += n ? n : 1) {
        n = utf8_len(s, i);
        if (n) buf_add(scratch, s.p + i, n);
        else buf_adds(scratch, "\xef\xbf\xbd");
    }
    return buf_str(scratch);
}
