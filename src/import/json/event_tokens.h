/* event_tokens.h: the tokens of an event, each from its first byte to the byte after it.
 *
 * The cursor is a plain pointer that every function takes and gives back; NULL means "not
 * ordinary": damaged, or written in a way that is rare. A function may look at SCAN_PADDING bytes
 * past the end, and returns a place past it only where the caller checks.
 *
 * Included by event_fast_scan.c alone, once for each instruction set. */
#ifndef STRATA_IMPORT_JSON_EVENT_TOKENS_H
#define STRATA_IMPORT_JSON_EVENT_TOKENS_H

#include "import/json/event.h"
#include "import/json/simd.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline uint64_t load64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* Most often there is no blank, or one. */
static inline const char *token_blanks(const char *p, const char *end)
{
    if ((unsigned char)p[0] > ' ') return p;
    if (p[0] == ' ' && (unsigned char)p[1] > ' ') return p + 1;
    for (; p < end; p += SIMD_WIDTH) {
        uint64_t solid = simd_solid(p);
        if (solid) return p + __builtin_ctzll(solid);
    }
    return p;
}

/* The inside of a string, up to its closing quote. */
static inline const char *token_inside(const char *p, const char *end, struct scan_text *ret)
{
    const char *begin = p;
    bool escaped = false;
    uint64_t high = 0;
    for (;;) {
        struct simd_string s = simd_string(p);
        if (!s.stop) {
            high |= s.high;
            p += SIMD_WIDTH;
            if (UNLIKELY(p >= end)) return NULL;
            continue;
        }
        high |= s.high & (s.stop ^ (s.stop - 1));
        p += __builtin_ctzll(s.stop);
        if (LIKELY(*p == '"')) break;
        if (*p != '\\' || p + 2 >= end) return NULL;
        high |= (unsigned char)p[1] & 0x80;
        if ((unsigned char)p[1] < 0x20) return NULL;
        escaped = true;
        p += 2;
    }
    *ret = (struct scan_text){begin, (uint32_t)(p - begin), escaped, high != 0};
    return p < end && p - begin <= SCAN_MOST_STRING ? p : NULL;
}

/* The string whose opening quote is at `p`. */
static inline const char *token_string(const char *p, const char *end, struct scan_text *ret)
{
    p = token_inside(p + 1, end, ret);
    return p ? p + 1 : NULL;
}

static inline bool token_ends(char c)
{
    return c == ',' || c == '}' || c == ']' || (unsigned char)c <= ' ';
}

static const uint64_t power_of_10[] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};

/* The digits among the first eight bytes from `p` on: their value, and how many they are. */
static inline unsigned token_digits8(const char *p, uint64_t *ret)
{
    uint64_t w = load64(p) ^ 0x3030303030303030u; /* digits become 0 .. 9 */
    uint64_t others = ((w + 0x7676767676767676u) | w) & 0x8080808080808080u;
    unsigned n = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    w = n ? w << (64 - 8 * n) : 0; /* leading zeros for what is missing */
    w = (w * 2561 >> 8) & 0x00ff00ff00ff00ffu;
    w = (w * 6553601 >> 16) & 0x0000ffff0000ffffu;
    *ret = w * 42949672960001u >> 32;
    return n;
}

/* Digits from `p` on; at most 18, which fit without looking. */
static inline const char *token_digits(const char *p, uint64_t *ret)
{
    uint64_t v, more;
    unsigned n = token_digits8(p, &v), total = n;
    while (n == 8) {
        n = token_digits8(p + total, &more);
        if (total + n > 18) return NULL;
        v = v * power_of_10[n] + more;
        total += n;
    }
    *ret = v;
    return total ? p + total : NULL;
}

static inline const char *token_integer(const char *p, int64_t *ret)
{
    bool negative = *p == '-';
    uint64_t v;
    p = token_digits(p + negative, &v);
    if (!p || !token_ends(*p)) return NULL;
    *ret = negative ? -(int64_t)v : (int64_t)v;
    return p;
}

/* Microseconds with up to three decimals, as nanoseconds. */
static inline const char *token_micros(const char *p, int64_t *ret_ns)
{
    bool negative = *p == '-';
    uint64_t us, fraction;
    p = token_digits(p + negative, &us);
    if (!p || us >= 9200000000000000u) return NULL;
    uint64_t ns = us * 1000;
    if (*p == '.') {
        unsigned n = token_digits8(p + 1, &fraction);
        if (n == 0 || n > 3) return NULL;
        ns += fraction * power_of_10[3 - n];
        p += 1 + n;
    }
    *ret_ns = negative ? -(int64_t)ns : (int64_t)ns;
    return token_ends(*p) ? p : NULL;
}

static inline const char *token_real(const char *p, double *ret)
{
    bool negative = *p == '-';
    uint64_t whole, fraction = 0;
    p = token_digits(p + negative, &whole);
    if (!p) return NULL;
    const char *begin = p;
    if (*p == '.') {
        begin = ++p;
        p = token_digits(p, &fraction);
        if (!p) return NULL;
    }
    int decimals = (int)(p - begin);
    uint64_t all = whole;
    for (int i = 0; i < decimals; i++)
        if (__builtin_mul_overflow(all, 10u, &all)) return NULL;
    if (__builtin_add_overflow(all, fraction, &all)) return NULL;
    double v = scan_to_double(all, -decimals);
    *ret = negative ? -v : v;
    return token_ends(*p) ? p : NULL;
}

/* Digits that are not needed, however many. */
static inline const char *token_skip_digits(const char *p, const char *end)
{
    const char *begin = p;
    uint64_t ignored;
    unsigned n = 8;
    while (n == 8 && p < end) p += n = token_digits8(p, &ignored);
    return p > begin ? p : NULL;
}

/* A number that is not needed. */
static inline const char *token_number(const char *p, const char *end)
{
    p = token_skip_digits(p + (*p == '-'), end);
    if (p && *p == '.') p = token_skip_digits(p + 1, end);
    return p && token_ends(*p) ? p : NULL;
}

static inline const char *token_word(const char *p, const char *word, size_t n)
{
    return memcmp(p, word, n) == 0 && token_ends(p[n]) ? p + n : NULL;
}

/* An array of numbers, strings and arrays; NULL for any other. */
static const char *token_plain_array(const char *p, const char *end)
{
    uint64_t in_string = 0; /* all ones when a string runs on from the last 64 bytes */
    int depth = 0;
    for (; p < end; p += 64) {
        struct simd_array a = simd_array(p);
        uint64_t inside = simd_inside(a.quote) ^ in_string;
        uint64_t outside = ~inside & ~a.quote;
        uint64_t closes = a.close & outside, opens = a.open & outside;
        uint64_t odd = (outside & ~a.plain) | (inside & a.stop);
        in_string = 0 - (inside >> 63);
        for (; closes; closes &= closes - 1) {
            uint64_t before = (closes & -closes) - 1;
            if (depth + __builtin_popcountll(opens & before) > 1) {
                depth--;
                continue;
            }
            if (odd & before) return NULL;
            p += __builtin_ctzll(closes) + 1;
            return p <= end ? p : NULL;
        }
        if (odd) return NULL;
        depth += __builtin_popcountll(opens);
        if (depth > SCAN_MOST_DEPTH) return NULL;
    }
    return NULL;
}

/* Any array. */
static inline const char *token_array(const char *p, const char *end)
{
    const char *after = *p == '[' ? token_plain_array(p, end) : NULL;
    return after ? after : *p == '[' ? event_skip_nested(p, end) : NULL;
}

/* [x, y, z] */
static inline const char *token_dim3(const char *p, const char *end, uint32_t ret[3])
{
    if (*p != '[') return NULL;
    for (int i = 0; i < 3; i++) {
        uint64_t v;
        p = token_digits(token_blanks(p + 1, end), &v);
        if (!p || v > UINT32_MAX) return NULL;
        ret[i] = (uint32_t)v;
        p = token_blanks(p, end);
        if (*p != (i < 2 ? ',' : ']')) return NULL;
    }
    return p + 1;
}

#endif
