/* json_valid.c: a recursive descent over the grammar of RFC 8259 that keeps
 * nothing. Each function takes the position where its part begins and returns where it ends, or
 * NULL. */
#include "base/json_valid.h"

#include "base/utf8.h"

static const char *value(const char *p, const char *end, int depth);

static const char *blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    return p;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *escape(const char *p, const char *end)
{
    if (end - p < 2) return NULL;
    if (p[1] && strchr("\"\\/bfnrt", p[1])) return p + 2;
    if (p[1] != 'u' || end - p < 6) return NULL;
    for (int i = 2; i < 6; i++)
        if (!is_hex(p[i])) return NULL;
    return p + 6;
}

static const char *string(const char *p, const char *end)
{
    if (p >= end || *p != '"') return NULL;
    for (p++; p < end;) {
        unsigned char c = (unsigned char)*p;
        if (c == '"') return p + 1;
        if (c == '\\') {
            p = escape(p, end);
            if (!p) return NULL;
        } else if (c >= 0x20 && c < 0x80) {
            p++;
        } else {
            size_t n = c < 0x20 ? 0 : utf8_len(str_from(p, (size_t)(end - p)), 0);
            if (!n) return NULL;
            p += n;
        }
    }
    return NULL;
}

static const char *digits(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && is_digit(*p)) p++;
    return p > from ? p : NULL;
}

static const char *number(const char *p, const char *end)
{
    if (p < end && *p == '-') p++;
    if (p < end && *p == '0') p++;
    else if (!(p = digits(p, end))) return NULL;
    if (p < end && *p == '.' && !(p = digits(p + 1, end))) return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        p = digits(p, end);
    }
    return p;
}

static const char *word(const char *p, const char *end, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(end - p) >= n && memcmp(p, text, n) == 0 ? p + n : NULL;
}

static const char *member(const char *p, const char *end, int depth)
{
    p = string(p, end);
    if (!p) return NULL;
    p = blanks(p, end);
    return p < end && *p == ':' ? value(p + 1, end, depth) : NULL;
}

static const char *container(const char *p, const char *end, int depth)
{
    char close = *p == '{' ? '}' : ']';
    if (depth >= JSON_VALID_DEPTH) return NULL;
    p = blanks(p + 1, end);
    if (p < end && *p == close) return p + 1;
    for (;;) {
        p = close == '}' ? member(blanks(p, end), end, depth + 1) : value(p, end, depth + 1);
        if (!p) return NULL;
        p = blanks(p, end);
        if (p < end && *p == close) return p + 1;
        if (p >= end || *p != ',') return NULL;
        p++;
    }
}

static const char *value(const char *p, const char *end, int depth)
{
    p = blanks(p, end);
    if (p >= end) return NULL;
    switch (*p) {
    case '{':
    case '[': return container(p, end, depth);
    case '"': return string(p, end);
    case 't': return word(p, end, "true");
    case 'f': return word(p, end, "false");
    case 'n': return word(p, end, "null");
    default: return number(p, end);
    }
}

bool json_valid(struct str s)
{
    const char *end = s.p + s.n;
    const char *p = value(s.p, end, 0);
    return p && blanks(p, end) == end;
}

bool json_next_member(struct str *rest, struct json_member *ret)
{
    const char *end = rest->p + rest->n, *p = blanks(rest->p, end);
    if (p < end && (*p == '{' || *p == ',')) p = blanks(p + 1, end);
    const char *key = p;
    p = string(p, end);
    if (!p) return false;
    ret->key = str_from(key + 1, (size_t)(p - key - 2));
    p = blanks(p, end);
    if (p >= end || *p != ':') return false;
    const char *begin = blanks(p + 1, end);
    p = value(begin, end, 0);
    if (!p) return false;
    ret->value = str_from(begin, (size_t)(p - begin));
    *rest = str_from(p, (size_t)(end - p));
    return true;
}

bool json_next_item(struct str *rest, struct str *ret)
{
    const char *end = rest->p + rest->n, *p = blanks(rest->p, end);
    if (p < end && (*p == '[' || *p == ',')) p = blanks(p + 1, end);
    const char *begin = p;
    p = p < end ? value(p, end, 0) : NULL;
    if (!p) return false;
    *ret = str_from(begin, (size_t)(p - begin));
    *rest = str_from(p, (size_t)(end - p));
    return true;
}
