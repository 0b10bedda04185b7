/* jdoc.c: see jdoc.h. Recursive descent; items are gathered in scratch and copied to their place
 * when their number is known. */
#include "base/jdoc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_valid.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

struct reader {
    const char *begin, *p, *end;
    struct arena *mem;
    struct err *e;
    int depth;
};

struct gathered {
    struct jdoc *items;
    struct str *keys;
    size_t n, cap_items, cap_keys;
};

static int jdoc_fail(struct reader *r, const char *what)
{
    err_at(r->e, NULL, r->p - r->begin);
    return FAIL(r->e, ERR_FORMAT, "expected %s", what);
}

static int jdoc_no_memory(struct reader *r)
{
    return err_nomem(r->e);
}

static void jdoc_skip_blanks(struct reader *r)
{
    r->p = json_past_blanks(r->p, r->end);
}

static int jdoc_value(struct reader *r, struct jdoc *ret);

static int jdoc_hex4(struct reader *r, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        int digit = r->p < r->end ? utf8_hex(*r->p) : -1;
        if (digit < 0) return jdoc_fail(r, "four hexadecimal digits");
        *ret = *ret << 4 | (uint32_t)digit;
    }
    return 0;
}

/* After the u; halves of a pair are joined, lone ones become the replacement character. */
static int jdoc_unicode(struct reader *r, char **out)
{
    uint32_t c, low;
    TRY(jdoc_hex4(r, &c));
    if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        TRY(jdoc_hex4(r, &low));
        if (low >= 0xdc00 && low < 0xe000) c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else r->p -= 6;
    }
    *out += utf8_put(*out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    return 0;
}

static int jdoc_escape(struct reader *r, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->p < r->end ? *r->p : 0;
    if (c == 'u') {
        r->p++;
        return jdoc_unicode(r, out);
    }
    const char *at = c ? strchr(from, c) : NULL;
    if (!at) return jdoc_fail(r, "an escape sequence");
    *(*out)++ = to[at - from];
    r->p++;
    return 0;
}

static int jdoc_string(struct reader *r, struct str *ret)
{
    const char *close = ++r->p; /* decoding never makes a string longer */
    while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= r->end) return jdoc_fail(r, "the end of a string");
    char *text = arena_alloc(r->mem, (size_t)(close - r->p) + 1), *out = text;
    if (!text) return jdoc_no_memory(r);
    while (r->p < close) {
        if ((unsigned char)*r->p < ' ') return jdoc_fail(r, "no control character in a string");
        if (*r->p != '\\') {
            *out++ = *r->p++;
            continue;
        }
        r->p++;
        TRY(jdoc_escape(r, &out));
    }
    r->p = close + 1;
    *out = 0;
    *ret = str_from(text, (size_t)(out - text));
    return 0;
}

static int jdoc_do_number(struct reader *r, double *ret)
{
    char text[512]; /* the largest number there is, with all its digits, and decimals */
    size_t n = 0;
    while (r->p + n < r->end && n + 1 < sizeof text && r->p[n] &&
           strchr("+-.eE0123456789", r->p[n]))
        n++;
    memcpy(text, r->p, n);
    text[n] = 0;
    char *end;
    *ret = strtod(text, &end);
    bool begins_well = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    if (!n || *end || !begins_well || !isfinite(*ret)) return jdoc_fail(r, "a number");
    r->p += n;
    return 0;
}

static bool jdoc_word(struct reader *r, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n) != 0) return false;
    r->p += n;
    return true;
}

static int one_item(struct reader *r, struct gathered *g, bool with_key)
{
    if (VEC_RESERVE(g->items, g->n, g->cap_items, 1)) return jdoc_no_memory(r);
    if (with_key) {
        if (VEC_RESERVE(g->keys, g->n, g->cap_keys, 1)) return jdoc_no_memory(r);
        jdoc_skip_blanks(r);
        if (r->p >= r->end || *r->p != '"') return jdoc_fail(r, "a key in quotes");
        TRY(jdoc_string(r, &g->keys[g->n]));
        jdoc_skip_blanks(r);
        if (r->p >= r->end || *r->p != ':') return jdoc_fail(r, "':'");
        r->p++;
    }
    TRY(jdoc_value(r, &g->items[g->n]));
    g->n++;
    jdoc_skip_blanks(r);
    return 0;
}

static int jdoc_gather(struct reader *r, struct gathered *g, char close)
{
    r->p++;
    jdoc_skip_blanks(r);
    if (r->p < r->end && *r->p == close) {
        r->p++;
        return 0;
    }
    for (;;) {
        TRY(one_item(r, g, close == '}'));
        if (r->p < r->end && *r->p == close) break;
        if (r->p >= r->end || *r->p != ',')
            return jdoc_fail(r, close == '}' ? "',' or '}'" : "',' or ']'");
        r->p++;
    }
    r->p++;
    return 0;
}

static int jdoc_keep(struct reader *r, const struct gathered *g, struct jdoc *ret)
{
    struct jdoc *items = arena_alloc(r->mem, g->n * sizeof *items);
    struct str *keys = g->keys ? arena_alloc(r->mem, g->n * sizeof *keys) : NULL;
    if (!items || (g->keys && !keys)) return jdoc_no_memory(r);
    if (g->n) memcpy(items, g->items, g->n * sizeof *items);
    if (g->n && keys) memcpy(keys, g->keys, g->n * sizeof *keys);
    ret->items = items;
    ret->keys = keys;
    ret->n = (uint32_t)g->n;
    return 0;
}

static int jdoc_container(struct reader *r, struct jdoc *ret, char close)
{
    struct gathered g = {0};
    if (++r->depth > JDOC_DEEPEST) return jdoc_fail(r, "less nesting");
    ret->kind = close == '}' ? JDOC_OBJECT : JDOC_ARRAY;
    int rc = jdoc_gather(r, &g, close);
    if (rc == 0) rc = jdoc_keep(r, &g, ret);
    mem_free(g.items);
    mem_free(g.keys);
    r->depth--;
    return rc;
}

static int jdoc_value(struct reader *r, struct jdoc *ret)
{
    *ret = (struct jdoc){0};
    jdoc_skip_blanks(r);
    char c = r->p < r->end ? *r->p : 0;
    if (c == '{') return jdoc_container(r, ret, '}');
    if (c == '[') return jdoc_container(r, ret, ']');
    if (c == '"') {
        ret->kind = JDOC_STRING;
        return jdoc_string(r, &ret->text);
    }
    if (jdoc_word(r, "null")) return 0;
    ret->kind = JDOC_BOOL;
    if ((ret->yes = jdoc_word(r, "true")) || jdoc_word(r, "false")) return 0;
    ret->kind = JDOC_NUMBER;
    if (c == '-' || (c >= '0' && c <= '9')) return jdoc_do_number(r, &ret->number);
    return jdoc_fail(r, "a JSON value");
}

int jdoc_parse(struct str text, struct arena *mem, struct jdoc *ret, struct err *e)
{
    if (text.n > JDOC_MOST_BYTES) return FAIL(e, ERR_LIMIT, "the file is too large");
    struct reader r = {text.p, text.p, text.p + text.n, mem, e, 0};
    struct jdoc found;
    TRY(jdoc_value(&r, &found));
    jdoc_skip_blanks(&r);
    if (r.p < r.end) return jdoc_fail(&r, "the end of the document");
    *ret = found;
    return 0;
}

const struct jdoc *jdoc_get(const struct jdoc *d, const char *key)
{
    if (!d || d->kind != JDOC_OBJECT) return NULL;
    for (uint32_t i = 0; i < d->n; i++)
        if (str_is(d->keys[i], key)) return &d->items[i];
    return NULL;
}

double jdoc_number(const struct jdoc *d, const char *key, double otherwise)
{
    const struct jdoc *v = jdoc_get(d, key);
    return v && v->kind == JDOC_NUMBER ? v->number : otherwise;
}

const char *jdoc_text(const struct jdoc *d, const char *key, const char *otherwise)
{
    const struct jdoc *v = jdoc_get(d, key);
    return v && v->kind == JDOC_STRING ? v->text.p : otherwise;
}
