/* event_fast_scan.c: one version of event_fast, compiled once for each instruction set under the
 * name EVENT_FAST.
 *
 * The cursor is a plain pointer that every step takes and gives back; NULL means "not ordinary".
 * A step may look at SCAN_PADDING bytes past the end but never moves there unnoticed: the loops
 * over keys, strings and arrays check. Members of the event are written only when read. */
#include "import/event_fast.h"
#include "import/simd.h"
#include "trace/trace.h"

event_fast_fn EVENT_FAST;

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

/* A key with its closing quote and colon, as load64 sees it. */
#define KEY2(a, b)       ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)'"' << 16 | (uint64_t)':' << 24)
#define KEY3(a, b, c)    ((uint64_t)(a) | KEY2(b, c) << 8)
#define KEY4(a, b, c, d) ((uint64_t)(a) | KEY3(b, c, d) << 8)
#define BYTES(n)         (((uint64_t)1 << 8 * (n)) - 1)

/* Most often there is no blank, or one. */
static inline const char *blanks(const char *p, const char *end)
{
    if ((unsigned char)p[0] > ' ') return p;
    if (p[0] == ' ' && (unsigned char)p[1] > ' ') return p + 1;
    for (; p < end; p += SIMD_WIDTH) {
        uint64_t solid = simd_solid(p);
        if (solid) return p + __builtin_ctzll(solid);
    }
    return p;
}

/* From an opening quote to after the closing one. */
static inline const char *string(const char *p, const char *end, struct scan_text *ret)
{
    const char *begin = ++p;
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
        if (*p == '"') break;
        if (*p != '\\' || p + 2 >= end) return NULL;
        high |= (unsigned char)p[1] & 0x80;
        if ((unsigned char)p[1] < 0x20) return NULL;
        escaped = true;
        p += 2;
    }
    *ret = (struct scan_text){begin, (uint32_t)(p - begin), escaped, high != 0};
    return p < end && p - begin <= SCAN_MOST_STRING ? p + 1 : NULL;
}

static inline bool ends_value(char c)
{
    return c == ',' || c == '}' || c == ']' || (unsigned char)c <= ' ';
}

static const uint64_t power_of_10[] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};

/* The digits among the first eight bytes from `p` on: their value, and how many they are. */
static inline unsigned digits8(const char *p, uint64_t *ret)
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
static inline const char *digits(const char *p, uint64_t *ret)
{
    uint64_t v, more;
    unsigned n = digits8(p, &v), total = n;
    while (UNLIKELY(n == 8)) {
        n = digits8(p + total, &more);
        if (total + n > 18) return NULL;
        v = v * power_of_10[n] + more;
        total += n;
    }
    *ret = v;
    return total ? p + total : NULL;
}

static inline const char *integer(const char *p, int64_t *ret)
{
    bool negative = *p == '-';
    uint64_t v;
    p = digits(p + negative, &v);
    if (!p || !ends_value(*p)) return NULL;
    *ret = negative ? -(int64_t)v : (int64_t)v;
    return p;
}

/* An integer, or null. */
static inline const char *integer_or_null(const char *p, int64_t *ret, bool *ret_have)
{
    *ret_have = *p != 'n';
    if (*ret_have) return integer(p, ret);
    return memcmp(p, "null", 4) == 0 && ends_value(p[4]) ? p + 4 : NULL;
}

/* Microseconds with up to three decimals, as nanoseconds. */
static inline const char *micros(const char *p, int64_t *ret_ns)
{
    bool negative = *p == '-';
    uint64_t us, fraction;
    p = digits(p + negative, &us);
    if (!p || us >= 9200000000000000u) return NULL;
    uint64_t ns = us * 1000;
    if (*p == '.') {
        unsigned n = digits8(p + 1, &fraction);
        if (n == 0 || n > 3) return NULL;
        ns += fraction * power_of_10[3 - n];
        p += 1 + n;
    }
    *ret_ns = negative ? -(int64_t)ns : (int64_t)ns;
    return ends_value(*p) ? p : NULL;
}

static inline const char *real(const char *p, double *ret)
{
    bool negative = *p == '-';
    uint64_t whole, fraction = 0;
    p = digits(p + negative, &whole);
    if (!p) return NULL;
    const char *begin = p;
    if (*p == '.') {
        begin = ++p;
        p = digits(p, &fraction);
        if (!p) return NULL;
    }
    int decimals = (int)(p - begin);
    uint64_t all = whole;
    for (int i = 0; i < decimals; i++)
        if (__builtin_mul_overflow(all, 10u, &all)) return NULL;
    if (__builtin_add_overflow(all, fraction, &all)) return NULL;
    double v = scan_to_double(all, -decimals);
    *ret = negative ? -v : v;
    return ends_value(*p) ? p : NULL;
}

/* An array of numbers, strings and arrays, passed over. Anything else is not ordinary. */
static const char *array(const char *p, const char *end)
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

static const char *array_or_any(const char *p, const char *end)
{
    const char *after = array(p, end);
    return after ? after : event_skip_nested(p, end);
}

/* Any value, passed over. */
static inline const char *skip(const char *p, const char *end)
{
    struct scan_text ignored;
    switch (*p) {
    case '"': return string(p, end, &ignored);
    case '[': return array_or_any(p, end);
    case '{': return event_skip_nested(p, end);
    case 't': return memcmp(p, "true", 4) == 0 && ends_value(p[4]) ? p + 4 : NULL;
    case 'f': return memcmp(p, "false", 5) == 0 && ends_value(p[5]) ? p + 5 : NULL;
    case 'n': return memcmp(p, "null", 4) == 0 && ends_value(p[4]) ? p + 4 : NULL;
    default: break;
    }
    uint64_t ignored_digits;
    p = digits(p + (*p == '-'), &ignored_digits);
    if (p && *p == '.') p = digits(p + 1, &ignored_digits);
    return p && ends_value(*p) ? p : NULL;
}

static inline const char *dim3(const char *p, const char *end, uint32_t ret[3])
{
    if (*p != '[') return NULL;
    for (int i = 0; i < 3; i++) {
        uint64_t v;
        p = digits(blanks(p + 1, end), &v);
        if (!p || v > UINT32_MAX) return NULL;
        ret[i] = (uint32_t)v;
        p = blanks(p, end);
        if (*p != (i < 2 ? ',' : ']')) return NULL;
    }
    return p + 1;
}

/* The value of a known arg. */
static inline const char *arg_value(const char *p, const char *end, const struct event_arg_key *key,
                                    struct event *ev)
{
    union event_value *v = &ev->args[key->arg];
    bool have = true;
    switch ((enum event_arg_type)key->type) {
    case ARG_INTEGER: p = integer_or_null(p, &v->number, &have); break;
    case ARG_REAL: p = real(p, &v->real); break;
    case ARG_DIM3: p = dim3(p, end, v->dim3); break;
    case ARG_TEXT: p = *p == '"' ? string(p, end, &v->text) : NULL; break;
    case ARG_RAW: {
        const char *begin = p;
        if (*p != '[') return NULL;
        p = array_or_any(p, end);
        if (p) v->text = (struct scan_text){begin, (uint32_t)(p - begin), false, false};
        break;
    }
    case ARG_BOOLEAN:
        v->number = *p == 't';
        p = *p == 't' || *p == 'f' ? skip(p, end) : NULL;
        break;
    }
    if (have) ev->have_args |= (uint64_t)1 << key->arg;
    return p;
}

/* After a value: over the comma to the next key, or onto the closing brace. */
static inline const char *next(const char *p, const char *end)
{
    p = blanks(p, end);
    if (*p == ',') {
        p = blanks(p + 1, end);
        return *p == '"' && p < end ? p : NULL;
    }
    return *p == '}' && p < end ? p : NULL;
}

/* From a key's opening quote to its value. */
static inline const char *key(const char *p, const char *end, struct scan_text *ret)
{
    p = string(p, end, ret);
    if (!p || *p != ':') return NULL;
    return blanks(p + 1, end);
}

static inline const char *args(const char *p, const char *end, struct event *ev)
{
    if (*p != '{') return NULL;
    p = blanks(p + 1, end);
    if (*p != '"' && *p != '}') return NULL;
    while (*p != '}') {
        struct scan_text text;
        p = key(p, end, &text);
        if (UNLIKELY(!p)) return NULL;
        const struct event_arg_key *known = event_find_arg(text.p, text.n);
        if (known && UNLIKELY(event_has_arg(ev, known->arg))) return NULL;
        p = known ? arg_value(p, end, known, ev) : skip(p, end);
        if (UNLIKELY(!p)) return NULL;
        p = next(p, end);
        if (UNLIKELY(!p)) return NULL;
    }
    return p + 1;
}

static inline const char *id(const char *p, const char *end, struct event_id *ret)
{
    if (*p == '"') {
        struct scan_text text;
        p = string(p, end, &text);
        if (p) event_id_from_text(ret, text);
        return p;
    }
    ret->text.p = NULL;
    return integer(p, &ret->number);
}

/* A key nobody asked for, with its value. */
static const char *skip_member(const char *p, const char *end)
{
    struct scan_text text;
    p = key(p, end, &text);
    return p ? skip(p, end) : NULL;
}

/* One member of the event; `p` is at the opening quote of its key. */
static inline const char *member(const char *p, const char *end, struct event *ev, uint32_t *have)
{
    uint64_t w = load64(p + 1);
    const char *q;
#define MEMBER(bit, call)                            \
    {                                                \
        if (UNLIKELY(*have >> (bit)&1)) return NULL; \
        *have |= 1u << (bit);                        \
        return call;                                 \
    }
    switch (w & BYTES(4)) {
    case KEY2('p', 'h'):
        q = blanks(p + 5, end);
        ev->phase = q[1];
        if (q[0] != '"' || q[2] != '"' || q[1] == '\\' || q[1] == '"') return NULL;
        MEMBER(EVENT_PH, (unsigned char)q[1] >= ' ' ? q + 3 : NULL)
    case KEY2('t', 's'): MEMBER(EVENT_TS, micros(blanks(p + 5, end), &ev->ts_ns))
    case KEY2('i', 'd'): MEMBER(EVENT_ID, integer(blanks(p + 5, end), &ev->id))
    default: break;
    }
    switch (w & BYTES(5)) {
    case KEY3('c', 'a', 't'):
        q = blanks(p + 6, end);
        MEMBER(EVENT_CAT, *q == '"' ? string(q, end, &ev->cat) : NULL)
    case KEY3('p', 'i', 'd'): MEMBER(EVENT_PID, id(blanks(p + 6, end), end, &ev->pid))
    case KEY3('t', 'i', 'd'): MEMBER(EVENT_TID, id(blanks(p + 6, end), end, &ev->tid))
    case KEY3('d', 'u', 'r'): MEMBER(EVENT_DUR, micros(blanks(p + 6, end), &ev->dur_ns))
    default: break;
    }
    switch (w & BYTES(6)) {
    case KEY4('n', 'a', 'm', 'e'):
        q = blanks(p + 7, end);
        MEMBER(EVENT_NAME, *q == '"' ? string(q, end, &ev->name) : NULL)
    case KEY4('a', 'r', 'g', 's'): MEMBER(EVENT_ARGS, args(blanks(p + 7, end), end, ev))
    default: return skip_member(p, end);
    }
#undef MEMBER
}

const char *EVENT_FAST(const char *p, const char *end, struct event *ev)
{
    uint32_t have = 0;
    ev->begin = p;
    ev->have_args = 0;
    p = blanks(p + 1, end);
    if (*p != '"' || p >= end) return NULL;
    while (*p != '}') {
        p = member(p, end, ev, &have);
        if (UNLIKELY(!p)) return NULL;
        p = next(p, end);
        if (UNLIKELY(!p)) return NULL;
    }
    ev->have = have;
    return p + 1;
}
