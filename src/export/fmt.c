/* fmt.c: two digits at a time, from the end. */
#include "export/export_private.h"

#include <string.h>

enum { MOST_DIGITS = 20 };

/* Writes the digits of `v` so that they end at `end`; returns where they begin. */
static char *fmt_digits(char *end, uint64_t v)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
                                "31323334353637383940414243444546474849505152535455565758596061"
                                "62636465666768697071727374757677787980818283848586878889909192"
                                "93949596979899";
    for (; v >= 100; v /= 100) memcpy(end -= 2, pairs + v % 100 * 2, 2);
    if (v >= 10) memcpy(end -= 2, pairs + v * 2, 2);
    else *--end = (char)('0' + v);
    return end;
}

static uint64_t fmt_magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

void fmt_u64(struct buf *b, uint64_t v)
{
    char text[MOST_DIGITS];
    char *end = text + sizeof text, *p = fmt_digits(end, v);
    buf_add(b, p, (size_t)(end - p));
}

void fmt_i64(struct buf *b, int64_t v)
{
    char text[MOST_DIGITS + 1];
    char *end = text + sizeof text, *p = fmt_digits(end, fmt_magnitude(v));
    if (v < 0) *--p = '-';
    buf_add(b, p, (size_t)(end - p));
}

void fmt_us(struct buf *b, int64_t ns)
{
    char text[MOST_DIGITS + 5];
    char *end = text + sizeof text, *p = end - 4;
    uint64_t v = fmt_magnitude(ns);
    unsigned rest = (unsigned)(v % 1000);
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    p[2] = (char)('0' + rest / 10 % 10);
    p[3] = (char)('0' + rest % 10);
    p = fmt_digits(p, v / 1000);
    if (ns < 0) *--p = '-';
    buf_add(b, p, (size_t)(end - p));
}
