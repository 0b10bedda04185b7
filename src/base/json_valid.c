/* json_valid.c: a recursive descent over the grammar of RFC 8259 that keeps
 * nothing. Each function takes the position where its part begins and returns where it ends, or
 * NULL. */
#include "base/json_valid.h"

#include "base/utf8.h"

static const char *json_valid_value(const char *p, const char *end, int depth);

static bool json_valid_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *json_valid_escape(const char *p, const char *end)
{
    if (end - p < 2) return NULL;
    if (p[1] && strchr("\"\\/bfnrt", p[1])) return p + 2;
    if (p[1] != 'u' || end - p < 6) return NULL;
    for (int i = 2; i < 6; i++)
        if (utf8_hex(p[i]) < 0) return NULL;
    return p + 6;
}

static const char *json_valid_string(const char *p, const char *end)
{
    if (p >= end || *p != '"') return NULL;
    for (p++; p < end;) {
        unsigned char c = (unsigned char)*p;
        if (c == '"') return p + 1;
        if (c == '\\') {
            p = json_valid_escape(p, end);
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

static const char *json_valid_digits(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && json_valid_is_digit(*p)) p++;
    return p > from ? p : NULL;
}

static const char *json_valid_number(const char *p, const char *end)
{
    if (p < end && *p == '-') p++;
    if (p < end && *p == '0') p++;
    else if (!(p = json_valid_digits(p, end))) return NULL;
    if (p < end && *p == '.' && !(p = json_valid_digits(p + 1, end))) return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        p = json_valid_digits(p, end);
    }
    return p;
}

static const char *json_valid_word(const char *p, const char *end, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(end - p) >= n && memcmp(p, text, n) == 0 ? p + n : NULL;
}

static const char *json_valid_member(const char *p, const char *end, int depth)
{
    p = json_valid_string(p, end);
    if (!p) return NULL;
    p = json_past_blanks(p, end);
    return p < end && *p == ':' ? json_valid_value(p + 1, end, depth) : NULL;
}

static const char *json_valid_container(const char *p, const char *end, int depth)
{
    char close = *p == '{' ? '}' : ']';
    if (depth >= JSON_VALID_DEPTH) return NULL;
    p = json_past_blanks(p + 1, end);
    if (p < end && *p == close) return p + 1;
    for (;;) {
        p = close == '}' ? json_valid_member(json_past_blanks(p, end), end, depth + 1)
                         : json_valid_value(p, end, depth + 1);
        if (!p) return NULL;
        p = json_past_blanks(p, end);
        if (p < end && *p == close) return p + 1;
        if (p >= end || *p != ',') return NULL;
        p++;
    }
}

static const char *json_valid_value(const char *p, const char *end, int depth)
{
    p = json_past_blanks(p, end);
    if (p >= end) return NULL;
    switch (*p) {
    case '{':
    case '[': return json_valid_container(p, end, depth);
    case '"': return json_valid_string(p, end);
    case 't': return json_valid_word(p, end, "true");
    case 'f': return json_valid_word(p, end, "false");
    case 'n': return json_valid_word(p, end, "null");
    default: return json_valid_number(p, end);
    }
}

bool json_valid(struct str s)
{
    const char *end = s.p + s.n;
    const char *p = json_valid_value(s.p, end, 0);
    return p && json_past_blanks(p, end) == end;
}

bool json_next_member(struct str *rest, struct json_member *ret)
{
    const char *end = rest->p + rest->n, *p = json_past_blanks(rest->p, end);
    if (p < end && (*p == '{' || *p == ',')) p = json_past_blanks(p + 1, end);
    const char *key = p;
    p = json_valid_string(p, end);
    if (!p) return false;
    ret->key = str_from(key + 1, (size_t)(p - key - 2));
    p = json_past_blanks(p, end);
    if (p >= end || *p != ':') return false;
    const char *begin = json_past_blanks(p + 1, end);
    p = json_valid_value(begin, end, 0);
    if (!p) return false;
    ret->value = str_from(begin, (size_t)(p - begin));
    *rest = str_from(p, (size_t)(end - p));
    return true;
}

bool json_next_item(struct str *rest, struct str *ret)
{
    const char *end = rest->p + rest->n, *p = json_past_blanks(rest->p, end);
    if (p < end && (*p == '[' || *p == ',')) p = json_past_blanks(p + 1, end);
    const char *begin = p;
    p = p < end ? json_valid_value(p, end, 0) : NULL;
    if (!p) return false;
    *ret = str_from(begin, (size_t)(p - begin));
    *rest = str_from(p, (size_t)(end - p));
    return true;
}
