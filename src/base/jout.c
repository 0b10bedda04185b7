/* jout.c: see jout.h. Invalid UTF-8 becomes U+FFFD, so that every reader accepts the output. */
#include "base/jout.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/json_valid.h"
#include "base/utf8.h"

void jout_init(struct jout *j, struct buf *out, bool pretty)
{
    *j = (struct jout){.out = out, .pretty = pretty};
}

void jout_init_page(struct jout *j, struct buf *out, struct jout_page *p)
{
    *j = (struct jout){.out = out, .page = p};
    p->n = p->n_left = 0;
    p->left_inside = false;
    p->silent = 0;
    p->level[0] = (struct jout_level){0};
}

/* ---- pages */

static bool jout_is(const char *key, const char *name)
{
    return key && name && strcmp(key, name) == 0;
}

static bool jout_is_left_out(const struct jout *j, const char *key)
{
    const struct jout_page *p = j->page;
    if (p->silent) return true;
    const struct jout_level *l = &p->level[j->depth];
    if (l->is_list) return l->n < l->from || l->n >= l->to;
    return p->alone && j->depth == 1 && !jout_is(key, p->list);
}

bool jout_skips(struct jout *j, const char *key)
{
    if (!j->page || !jout_is_left_out(j, key)) return false;
    j->page->level[j->depth].n++;
    return true;
}

/* Counts the value; whether it is written. */
static bool jout_takes(struct jout *j, const char *key)
{
    if (!j->page) return true;
    bool takes = !jout_is_left_out(j, key);
    if (!j->page->silent) j->page->level[j->depth].n++;
    return takes;
}

/* The object around a page that stands alone, and the brackets of its list. */
static bool jout_is_around(const struct jout *j, int depth)
{
    return j->page && j->page->alone && depth <= 2;
}

static void jout_page_open(struct jout *j, const char *key, bool is_list, bool taken)
{
    struct jout_page *p = j->page;
    const struct jout_level *around = &p->level[j->depth - 1];
    if (p->silent) return;
    if (!taken) p->silent = j->depth;
    struct jout_level l = {.is_list = is_list};
    bool top = is_list && j->depth == 2 && !around->is_list;
    l.is_main = top && jout_is(key, p->list);
    uint32_t most = !top ? p->inner : l.is_main ? p->limit : p->others;
    if (top) l.key = key;
    if (top && jout_is(key, p->hidden)) most = 0;
    if (l.is_main) l.from = p->offset;
    l.to = l.from > UINT32_MAX - most ? UINT32_MAX : l.from + most;
    p->level[j->depth] = l;
    if (taken && !is_list && around->is_main) {
        p->level[j->depth].to = UINT32_MAX;
        jout_uint(j, "number", around->n);
    }
}

static void jout_page_close_list(struct jout_page *p, const struct jout_level *l)
{
    uint32_t end = l->n < l->to ? l->n : l->to, shown = end > l->from ? end - l->from : 0;
    if (l->is_main) p->n = l->n;
    if (shown == l->n) return;
    if (!l->key) p->left_inside = true;
    else if (p->n_left < sizeof p->left / sizeof *p->left)
        p->left[p->n_left++] = (struct jout_left){l->key, l->from, shown, l->n};
}

/* At the end of the document. */
static void jout_page_end(struct jout *j)
{
    struct jout_page *p = j->page;
    if (p->alone || (!p->n_left && !p->left_inside)) return;
    j->page = NULL;
    jout_obj(j, "left_out");
    for (uint32_t i = 0; i < p->n_left; i++) {
        const struct jout_left *l = &p->left[i];
        jout_obj(j, l->key);
        jout_uint(j, "shown", l->shown);
        jout_uint(j, "of", l->of);
        if (jout_is(l->key, p->list) && l->from + l->shown < l->of)
            jout_uint(j, "next_offset", l->from + l->shown);
        jout_end_obj(j);
    }
    if (p->left_inside) jout_bool(j, "cut_inside", true);
    jout_end_obj(j);
    j->page = p;
}

/* Before the container ends; whether its bracket is written. */
static bool jout_page_close(struct jout *j)
{
    struct jout_page *p = j->page;
    if (p->silent) {
        if (p->silent == j->depth) p->silent = 0;
        return false;
    }
    if (p->level[j->depth].is_list) jout_page_close_list(p, &p->level[j->depth]);
    if (j->depth == 1) jout_page_end(j);
    return !jout_is_around(j, j->depth);
}

/* ---- values */

/* Of a sequence of at most three bytes, as all that is unsafe on a terminal has. */
static unsigned jout_code_point(const char *p, size_t len)
{
    unsigned a = (unsigned char)p[0];
    if (len == 1) return a;
    unsigned b = (unsigned char)p[1] & 0x3f;
    if (len == 2) return (a & 0x1f) << 6 | b;
    return ((a & 0xf) << 12 | b << 6 | ((unsigned char)p[2] & 0x3f)) & 0xffff;
}

void jout_quote(struct buf *out, struct str s)
{
    buf_addc(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t len = utf8_len(s, i);
        bool safe = c < 0x7f || utf8_safe_len(s, i); /* its printer has a terminal */
        if (c >= 0x20 && c != '"' && c != '\\' && len && safe) {
            i += len;
            continue;
        }
        buf_add(out, s.p + from, i - from);
        if (len && !safe) {
            buf_printf(out, "\\u%04x", jout_code_point(s.p + i, len));
            from = i += len;
            continue;
        }
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

/* Whether the value is to be written. */
static bool jout_before(struct jout *j, const char *key)
{
    if (!jout_takes(j, key)) return false;
    if (j->used[j->depth]) buf_addc(j->out, ',');
    if (j->depth > 0) new_line(j);
    j->used[j->depth] = true;
    if (!key) return true;
    jout_quote(j->out, str_c(key));
    buf_adds(j->out, j->pretty ? ": " : ":");
    return true;
}

static void jout_open(struct jout *j, const char *key, char bracket)
{
    assert(j->depth + 1 < JOUT_DEPTH);
    bool around = jout_is_around(j, j->depth + 1);
    bool taken = around ? jout_takes(j, key) : jout_before(j, key);
    if (taken && !around) buf_addc(j->out, bracket);
    j->used[++j->depth] = false;
    if (j->page) jout_page_open(j, key, bracket == '[', taken);
}

static void jout_close(struct jout *j, char bracket)
{
    bool written = !j->page || jout_page_close(j);
    bool used = j->used[j->depth--];
    if (!written) return;
    if (used) new_line(j);
    buf_addc(j->out, bracket);
    if (j->depth == 0 && j->pretty) buf_addc(j->out, '\n');
}

void jout_obj(struct jout *j, const char *key)
{
    jout_open(j, key, '{');
}

void jout_end_obj(struct jout *j)
{
    jout_close(j, '}');
}

void jout_arr(struct jout *j, const char *key)
{
    jout_open(j, key, '[');
}

void jout_end_arr(struct jout *j)
{
    jout_close(j, ']');
}

static bool jout_inside(struct str s, size_t at)
{
    return at > 0 && at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

/* A text cut in the middle, where no character is. */
static void jout_quote_ends(struct jout *j, struct str s)
{
    struct buf ends;
    size_t half = j->page->most_bytes / 2, head = half, tail = s.n - half;
    while (jout_inside(s, head)) head--;
    while (jout_inside(s, tail)) tail++;
    buf_init(&ends);
    buf_add(&ends, s.p, head);
    buf_adds(&ends, "...");
    buf_add(&ends, s.p + tail, s.n - tail);
    jout_quote(j->out, buf_str(&ends));
    if (!buf_ok(&ends)) j->out->failed = true;
    buf_done(&ends);
    j->page->left_inside = true;
}

void jout_str(struct jout *j, const char *key, struct str s)
{
    if (!jout_before(j, key)) return;
    if (j->page && j->page->most_bytes && s.n > j->page->most_bytes) jout_quote_ends(j, s);
    else jout_quote(j->out, s);
}

void jout_cstr(struct jout *j, const char *key, const char *s)
{
    if (s) jout_str(j, key, str_c(s));
    else jout_null(j, key);
}

void jout_int(struct jout *j, const char *key, int64_t v)
{
    if (!jout_before(j, key)) return;
    buf_printf(j->out, "%lld", (long long)v);
}

void jout_uint(struct jout *j, const char *key, uint64_t v)
{
    if (!jout_before(j, key)) return;
    buf_printf(j->out, "%llu", (unsigned long long)v);
}

void jout_num(struct jout *j, const char *key, double v, int decimals)
{
    if (!jout_before(j, key)) return;
    if (isfinite(v)) buf_printf(j->out, "%.*f", decimals, v);
    else buf_adds(j->out, "null");
}

void jout_bool(struct jout *j, const char *key, bool v)
{
    if (!jout_before(j, key)) return;
    buf_adds(j->out, v ? "true" : "false");
}

void jout_null(struct jout *j, const char *key)
{
    if (!jout_before(j, key)) return;
    buf_adds(j->out, "null");
}

void jout_us(struct jout *j, const char *key, int64_t ns)
{
    if (!jout_before(j, key)) return;
    uint64_t u = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    buf_printf(j->out, "%s%llu.%03u", ns < 0 ? "-" : "", (unsigned long long)(u / 1000),
               (unsigned)(u % 1000));
}

void jout_raw(struct jout *j, const char *key, struct str json)
{
    struct str item;
    if (j->page && json.n && *json.p == '[') { /* of lists that are written already, too */
        jout_arr(j, key);
        while (json_next_item(&json, &item)) jout_raw(j, NULL, item);
        jout_end_arr(j);
        return;
    }
    if (!jout_before(j, key)) return;
    buf_add_str(j->out, json);
}
