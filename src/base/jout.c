/* jout.c: see jout.h. Invalid UTF-8 becomes U+FFFD, so that every reader accepts the output. */
#include "base/jout.h"

#include <assert.h>
#include <math.h>

#include "base/utf8.h"

void jout_init(struct jout *j, struct buf *out, bool pretty)
{
    *j = (struct jout){.out = out, .pretty = pretty};
}

void jout_quote(struct buf *out, struct str s)
{
    buf_addc(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t len = utf8_len(s, i);
        if (c >= 0x20 && c != '"' && c != '\\' && len) {
            i += len;
            continue;
        }
        buf_add(out, s.p + from, i - from);
        if (c == '"' || c == '\\') buf_printf(out, "\\%c", c);
        else if (c == '\n') buf_adds(out, "\\n");
        else if (c == '\t') buf_adds(out, "\\t");
        else if (c < 0x20) buf_printf(out, "\\u%04x", c);
        else buf_adds(out, "\xef\xbf\xbd");
        from = ++i;
    }
    if (from < s.n) buf_add(out, s.p + from, s.n - from);
    buf_addc(out, '"');
}

static void new_line(struct jout *j)
{
    if (!j->pretty) return;
    buf_addc(j->out, '\n');
    buf_pad(j->out, ' ', 2 * j->depth);
}

static void before(struct jout *j, const char *key)
{
    if (j->used[j->depth]) buf_addc(j->out, ',');
    if (j->depth > 0) new_line(j);
    j->used[j->depth] = true;
    if (!key) return;
    jout_quote(j->out, str_c(key));
    buf_adds(j->out, j->pretty ? ": " : ":");
}

static void open(struct jout *j, const char *key, char bracket)
{
    before(j, key);
    buf_addc(j->out, bracket);
    assert(j->depth + 1 < JOUT_DEPTH);
    j->used[++j->depth] = false;
}

static void close(struct jout *j, char bracket)
{
    bool used = j->used[j->depth--];
    if (used) new_line(j);
    buf_addc(j->out, bracket);
    if (j->depth == 0 && j->pretty) buf_addc(j->out, '\n');
}

void jout_obj(struct jout *j, const char *key)
{
    open(j, key, '{');
}

void jout_end_obj(struct jout *j)
{
    close(j, '}');
}

void jout_arr(struct jout *j, const char *key)
{
    open(j, key, '[');
}

void jout_end_arr(struct jout *j)
{
    close(j, ']');
}

void jout_str(struct jout *j, const char *key, struct str s)
{
    before(j, key);
    jout_quote(j->out, s);
}

void jout_cstr(struct jout *j, const char *key, const char *s)
{
    if (s) jout_str(j, key, str_c(s));
    else jout_null(j, key);
}

void jout_int(struct jout *j, const char *key, int64_t v)
{
    before(j, key);
    buf_printf(j->out, "%lld", (long long)v);
}

void jout_uint(struct jout *j, const char *key, uint64_t v)
{
    before(j, key);
    buf_printf(j->out, "%llu", (unsigned long long)v);
}

void jout_num(struct jout *j, const char *key, double v, int decimals)
{
    before(j, key);
    if (isfinite(v)) buf_printf(j->out, "%.*f", decimals, v);
    else buf_adds(j->out, "null");
}

void jout_bool(struct jout *j, const char *key, bool v)
{
    before(j, key);
    buf_adds(j->out, v ? "true" : "false");
}

void jout_null(struct jout *j, const char *key)
{
    before(j, key);
    buf_adds(j->out, "null");
}

void jout_us(struct jout *j, const char *key, int64_t ns)
{
    before(j, key);
    uint64_t u = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    buf_printf(j->out, "%s%llu.%03u", ns < 0 ? "-" : "", (unsigned long long)(u / 1000),
               (unsigned)(u % 1000));
}

void jout_raw(struct jout *j, const char *key, struct str json)
{
    before(j, key);
    buf_add_str(j->out, json);
}
