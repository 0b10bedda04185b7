/* json_scan.c: see json_scan.h. */
#include "import/json/json_scan.h"

#include <stdlib.h>

#include "base/utf8.h"

void scan_begin(struct scan *s, const char *p, enum scan_mode mode)
{
    s->p = p;
    s->mode = mode;
    s->depth = 0;
    s->n_notes = 0;
}

void scan_note(struct scan *s, enum damage_reason reason, const char *at)
{
    if (s->n_notes == sizeof s->notes / sizeof *s->notes) return;
    s->notes[s->n_notes++] = (struct scan_note){reason, (uint64_t)(at - s->text)};
}

void scan_accept(const struct scan *s, struct damage *d)
{
    for (int i = 0; i < s->n_notes; i++) damage_note(d, s->notes[i].reason, s->notes[i].offset);
}

static bool json_scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum scan_result json_scan_bad(const struct scan *s)
{
    return s->p >= s->end ? SCAN_CUT : SCAN_BAD;
}

enum scan_type scan_peek(struct scan *s)
{
    scan_blanks(s);
    if (s->p >= s->end) return SCAN_NOTHING;
    switch (*s->p) {
    case '"': return SCAN_STRING;
    case '{':
    case '[': return SCAN_NESTED;
    case ',':
    case ':':
    case '}':
    case ']': return SCAN_NOTHING;
    default: return json_scan_is_digit(*s->p) || *s->p == '-' ? SCAN_NUMBER : SCAN_WORD;
    }
}

enum scan_result scan_expect(struct scan *s, char c)
{
    scan_blanks(s);
    if (s->p >= s->end || *s->p != c) return json_scan_bad(s);
    s->p++;
    return SCAN_OK;
}

enum scan_result scan_next(struct scan *s, char close, bool *ret_more)
{
    scan_blanks(s);
    if (s->p >= s->end) return SCAN_CUT;
    if (*s->p == close) {
        s->p++;
        *ret_more = false;
        return SCAN_OK;
    }
    if (*s->p != ',') return SCAN_BAD;
    const char *comma = s->p++;
    scan_blanks(s);
    if (s->p < s->end && *s->p == close) {
        scan_note(s, DAMAGE_TRAILING_COMMA, comma);
        s->p++;
        *ret_more = false;
        return SCAN_OK;
    }
    *ret_more = true;
    return SCAN_OK;
}

/* Whether a quote at `q` can end a string: what may follow it does follow it. */
static bool quote_closes(const struct scan *s, const char *q, bool is_key)
{
    for (q++; q < s->end && scan_is_blank(*q);) q++;
    if (q >= s->end) return true;
    return is_key ? *q == ':' : *q == ',' || *q == '}' || *q == ']';
}

enum scan_result scan_string(struct scan *s, bool is_key, struct scan_text *ret)
{
    const char *begin = s->p + 1, *p = begin;
    bool escaped = false, non_ascii = false, control = false, repaired = false;
    for (;; p++) {
        unsigned char c = (unsigned char)*p;
        if (p >= s->end) {
            s->p = s->end;
            return SCAN_CUT;
        }
        if (c == '"') {
            if (s->mode == SCAN_STRICT || quote_closes(s, p, is_key)) break;
            repaired = true;
        } else if (c == '\\' && s->mode != SCAN_RAW) {
            escaped = true;
            p++;
            control |= (unsigned char)*p < 0x20 && p < s->end;
            non_ascii |= (unsigned char)*p >= 0x80;
        } else if (c == '\\') {
            repaired = true;
        } else if (c < 0x20) {
            control = true;
        } else if (c >= 0x80) {
            non_ascii = true;
        }
    }
    if (p - begin > SCAN_MOST_STRING) return SCAN_BAD;
    if (control && s->mode == SCAN_STRICT) return SCAN_BAD;
    if (control) scan_note(s, DAMAGE_CONTROL_CHAR, begin);
    if (repaired) scan_note(s, DAMAGE_BAD_STRING, begin);
    *ret = (struct scan_text){begin, (uint32_t)(p - begin), escaped, non_ascii};
    s->p = p + 1;
    return SCAN_OK;
}

static bool ends_word(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' || c == '[' ||
           scan_is_blank(c);
}

/* true, false and null are words JSON knows; all others are noted. */
static enum scan_result skip_word(struct scan *s)
{
    const char *begin = s->p;
    while (s->p < s->end && !ends_word(*s->p)) s->p++;
    if (s->p >= s->end) return SCAN_CUT;
    struct str word = str_from(begin, (size_t)(s->p - begin));
    if (word.n == 0) return SCAN_BAD;
    if (!str_is(word, "null") && !str_is(word, "true") && !str_is(word, "false"))
        scan_note(s, DAMAGE_BARE_WORD, begin);
    return SCAN_OK;
}

static enum scan_result skip_nested(struct scan *s)
{
    char close = *s->p == '{' ? '}' : ']';
    if (++s->depth > SCAN_MOST_DEPTH) return SCAN_BAD;
    s->p++;
    scan_blanks(s);
    bool more = !(s->p < s->end && *s->p == close);
    if (!more) s->p++;
    while (more) {
        if (close == '}') {
            struct scan_text key;
            if (scan_peek(s) != SCAN_STRING) return json_scan_bad(s);
            TRY(scan_string(s, true, &key));
            TRY(scan_expect(s, ':'));
        }
        TRY(scan_skip(s));
        TRY(scan_next(s, close, &more));
    }
    s->depth--;
    return SCAN_OK;
}

static enum scan_result skip_number(struct scan *s)
{
    double ignored;
    bool have;
    return scan_double(s, &ignored, &have);
}

enum scan_result scan_skip(struct scan *s)
{
    struct scan_text ignored;
    switch (scan_peek(s)) {
    case SCAN_STRING: return scan_string(s, false, &ignored);
    case SCAN_NESTED: return skip_nested(s);
    case SCAN_NUMBER: return skip_number(s);
    case SCAN_WORD: return skip_word(s);
    case SCAN_NOTHING: break;
    }
    return json_scan_bad(s);
}

/* A decimal number in parts: (-1)^negative * digits * 10^exponent. */
struct decimal {
    bool negative;
    bool inexact; /* more digits than fit; `half_up` tells the first lost one */
    bool half_up;
    uint64_t digits;
    int exponent;
};

static bool push_digit(struct decimal *d, char c)
{
    uint64_t digit = (uint64_t)(c - '0');
    if (d->inexact) return false;
    if (d->digits > (UINT64_MAX - digit) / 10) {
        d->inexact = true;
        d->half_up = digit >= 5;
        return false;
    }
    d->digits = d->digits * 10 + digit;
    return true;
}

static void parse_exponent(const char **p, const char *end, int *exponent)
{
    const char *q = *p + 1;
    bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q >= end || !json_scan_is_digit(*q)) return;
    int value = 0;
    for (; q < end && json_scan_is_digit(*q); q++)
        if (value < 10000) value = value * 10 + (*q - '0');
    *exponent += negative ? -value : value;
    *p = q;
}

/* The number in [p, end); the place after it, or NULL when there is none. */
static const char *parse_decimal(const char *p, const char *end, struct decimal *d)
{
    *d = (struct decimal){0};
    if (p < end && *p == '-') {
        d->negative = true;
        p++;
    }
    if (p >= end || !json_scan_is_digit(*p)) return NULL;
    for (; p < end && json_scan_is_digit(*p); p++) d->exponent += !push_digit(d, *p);
    if (p < end && *p == '.')
        for (p++; p < end && json_scan_is_digit(*p); p++) d->exponent -= push_digit(d, *p);
    if (p < end && (*p == 'e' || *p == 'E')) parse_exponent(&p, end, &d->exponent);
    return p;
}

/* The number a whole text is, decimal or 0x...; false if it is not one. */
static bool text_to_decimal(struct scan_text text, struct decimal *d)
{
    const char *p = text.p, *end = text.p + text.n;
    if (text.n > 2 && text.n <= 18 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        *d = (struct decimal){0};
        for (p += 2; p < end && utf8_hex(*p) >= 0; p++)
            d->digits = d->digits << 4 | (uint64_t)utf8_hex(*p);
        return p == end;
    }
    return text.n && parse_decimal(p, end, d) == end;
}

/* The number at the cursor, bare or as the whole of a string. *ret_have is false for anything else,
 * which is passed over. */
static enum scan_result scan_decimal(struct scan *s, struct decimal *d, bool *ret_have)
{
    *ret_have = false;
    struct scan_text text;
    const char *end;
    switch (scan_peek(s)) {
    case SCAN_NUMBER:
        end = parse_decimal(s->p, s->end, d);
        if (!end || (end < s->end && !ends_word(*end))) return skip_word(s);
        s->p = end;
        if (end >= s->end) return SCAN_CUT;
        *ret_have = true;
        return SCAN_OK;
    case SCAN_STRING:
        TRY(scan_string(s, false, &text));
        *ret_have = text_to_decimal(text, d);
        return SCAN_OK;
    default: return scan_skip(s);
    }
}

/* d * 10^shift rounded half up, as an integer below 2^63 (or 2^64 if `wraps`). */
static bool decimal_to_int(const struct decimal *d, int shift, bool wraps, int64_t *ret)
{
    uint64_t v = d->digits;
    int e = d->exponent + shift;
    bool half = d->inexact && d->half_up && e == 0;
    for (; e > 0 && v; e--)
        if (__builtin_mul_overflow(v, 10u, &v)) return false;
    for (; e < 0 && (v || half); e++) {
        half = v % 10 >= 5;
        v /= 10;
    }
    if (half && __builtin_add_overflow(v, 1u, &v)) return false;
    if (v > INT64_MAX && (d->negative || !wraps)) return false;
    *ret = d->negative ? -(int64_t)v : (int64_t)v;
    return true;
}

static enum scan_result scan_scaled(struct scan *s, int shift, bool wraps, int64_t *ret,
                                    bool *ret_have)
{
    struct decimal d;
    const char *begin = s->p;
    TRY(scan_decimal(s, &d, ret_have));
    if (!*ret_have || decimal_to_int(&d, shift, wraps, ret)) return SCAN_OK;
    *ret_have = false;
    scan_note(s, DAMAGE_BAD_NUMBER, begin);
    return SCAN_OK;
}

enum scan_result scan_int(struct scan *s, int64_t *ret, bool *ret_have)
{
    return scan_scaled(s, 0, true, ret, ret_have);
}

enum scan_result scan_micros(struct scan *s, int64_t *ret_ns, bool *ret_have)
{
    enum scan_type type = scan_peek(s);
    const char *begin = s->p;
    int notes = s->n_notes;
    TRY(scan_scaled(s, 3, false, ret_ns, ret_have));
    if (!*ret_have && s->n_notes == notes && type != SCAN_WORD)
        scan_note(s, DAMAGE_BAD_NUMBER, begin);
    return SCAN_OK;
}

double scan_to_double(uint64_t digits, int exponent)
{
    double v = (double)digits, power = 1;
    int n = exponent < 0 ? -exponent : exponent;
    for (n = n < 400 ? n : 400; n > 0; n--) power *= 10; /* exact up to 10^22 */
    return exponent < 0 ? v / power : v * power;
}

enum scan_result scan_double(struct scan *s, double *ret, bool *ret_have)
{
    struct decimal d;
    TRY(scan_decimal(s, &d, ret_have));
    if (!*ret_have) return SCAN_OK;
    double v = d.digits ? scan_to_double(d.digits, d.exponent) : 0;
    *ret = d.negative ? -v : v;
    return SCAN_OK;
}

static void add_utf8(struct buf *b, uint32_t c)
{
    char bytes[4];
    buf_add(b, bytes, utf8_put(bytes, c));
}

/* Four hex digits at `p`, or -1. */
static int32_t json_scan_hex4(const char *p, const char *end)
{
    int32_t v = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = utf8_hex(p[i]);
        if (digit < 0) return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* Decodes \uXXXX at `p` (on the u); returns the last character used, NULL if it is not one. */
static const char *unescape_u(const char *p, const char *end, struct buf *out)
{
    int32_t c = json_scan_hex4(p + 1, end);
    if (c < 0) return NULL;
    p += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - p > 2 && p[1] == '\\' && p[2] == 'u') {
        int32_t low = json_scan_hex4(p + 3, end);
        if (low >= 0xdc00 && low < 0xe000) {
            add_utf8(out, 0x10000 + ((uint32_t)(c - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
            return p + 6;
        }
    }
    add_utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : (uint32_t)c);
    return p;
}

/* Appends the decoded text; true when an escape was not one JSON knows (kept as written). */
static bool json_scan_unescape(struct scan_text text, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    bool odd = false;
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end; p++) {
        if (*p != '\\' || p + 1 >= end) {
            buf_addc(out, *p);
            continue;
        }
        const char *known = memchr(from, p[1], sizeof from - 1);
        const char *used = known ? p + 1 : p[1] == 'u' ? unescape_u(p + 1, end, out) : NULL;
        if (known) buf_addc(out, to[known - from]);
        odd |= !used;
        if (used) p = used;
        else buf_addc(out, *p);
    }
    return odd;
}

static bool is_utf8(struct str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_len(s, i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

str_id scan_intern(struct scan *s, struct scan_text text, struct intern *strings,
                   struct buf *scratch)
{
    struct str plain = str_from(text.p, text.n);
    if (text.escaped) {
        buf_reset(scratch);
        if (json_scan_unescape(text, scratch)) scan_note(s, DAMAGE_BAD_STRING, text.p);
        if (!buf_ok(scratch)) return STR_NONE;
        plain = buf_str(scratch);
    }
    if (text.non_ascii && !is_utf8(plain)) scan_note(s, DAMAGE_BAD_UTF8, text.p);
    return intern_add(strings, plain);
}
