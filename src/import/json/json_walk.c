/* json_walk.c: see json_scan.h. */
#include "import/json/json_scan.h"

#include <stdlib.h>

struct walk walk_open(struct str value)
{
    struct walk w = {.first = true};
    w.scan.text = value.p;
    w.scan.end = value.p + value.n;
    scan_begin(&w.scan, value.p, SCAN_STRICT);
    if (scan_peek(&w.scan) != SCAN_NESTED) return w;
    w.close = *w.scan.p == '{' ? '}' : ']';
    w.scan.p++;
    return w;
}

bool walk_next(struct walk *w, struct str *ret_key, struct str *ret_value)
{
    struct scan *s = &w->scan;
    bool more = true;
    *ret_key = str_c("");
    if (!w->close) return false;
    if (w->first) {
        scan_blanks(s);
        more = s->p < s->end && *s->p != w->close;
    } else if (scan_next(s, w->close, &more) != SCAN_OK) {
        more = false;
    }
    w->first = false;
    s->n_notes = 0;
    if (more && w->close == '}') {
        struct scan_text key;
        more = scan_peek(s) == SCAN_STRING && scan_string(s, true, &key) == SCAN_OK &&
               scan_expect(s, ':') == SCAN_OK;
        if (more) *ret_key = str_from(key.p, key.n);
    }
    scan_blanks(s);
    const char *begin = s->p;
    if (!more || scan_skip(s) != SCAN_OK) {
        w->close = 0;
        return false;
    }
    *ret_value = str_from(begin, (size_t)(s->p - begin));
    return true;
}

struct str walk_find(struct str object, const char *key)
{
    struct walk w = walk_open(object);
    struct str name, value;
    while (walk_next(&w, &name, &value))
        if (str_is(name, key)) return value;
    return str_c("");
}

int64_t walk_int(struct str value, int64_t otherwise)
{
    char digits[32], *end;
    if (value.n == 0 || value.n >= sizeof digits) return otherwise;
    memcpy(digits, value.p, value.n);
    digits[value.n] = '\0';
    unsigned long long u = strtoull(digits, &end, 10);
    if (end == digits || (*end && *end != '.')) return otherwise;
    return *digits == '-' ? strtoll(digits, NULL, 10) : (int64_t)u;
}

struct str walk_text(struct str value)
{
    if (value.n < 2 || *value.p != '"') return str_c("");
    return str_from(value.p + 1, value.n - 2);
}
